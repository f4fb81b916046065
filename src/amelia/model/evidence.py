"""What the orchestrator saw when it checked a unit, and what it concludes from that.

Everything is made of plain values, so that it can be stored as JSON and read back the same. A receipt says
what happened; a verdict says what it means for one unit. Neither holds anything an agent claimed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, Literal

from amelia.model.plan import TaskType

THE_COMMAND = "<command>"
"""The id of the run itself, which is the only test of a runner that reports no tests of its own."""


class TestStatus(StrEnum):
    """How one test ended; `error` is a test that could not even be tried."""

    __test__ = False  # pytest takes names that start with "Test" for tests

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def is_failing(self) -> bool:
        """Says whether the test stands in the way of green."""
        return self in {TestStatus.FAILED, TestStatus.ERROR}


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test of a run. The id of a module that could not be read at all is the path of its file."""

    __test__: ClassVar[bool] = False

    id: str
    status: TestStatus
    file: str | None = None
    message: str = ""

    @property
    def is_module(self) -> bool:
        """Says whether this stands for a whole file, whose tests could not be found out."""
        return self.id == self.file


class RunnerKind(StrEnum):
    """The test runners whose results can be read."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    NODE = "node"
    GO = "go"
    CARGO = "cargo"
    MAKE = "make"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class TestCommand:
    """How a repository is tested. `junit` is a report that the command writes, relative to the tree.

    The word `python` at the start of `argv` stands for whichever interpreter fits the tree.
    `others` names what else the repository could be tested with.
    """

    __test__: ClassVar[bool] = False

    kind: RunnerKind
    argv: tuple[str, ...]
    junit: str | None = None
    others: tuple[str, ...] = ()


class ProblemCode(StrEnum):
    """Why a unit is not accepted as it is."""

    NO_CHANGES = "no_changes"
    """The unit changed nothing."""
    MISSING_FILE = "missing_file"
    """A file that the plan says is created, or holds the tests, is not there."""
    OUT_OF_SCOPE = "out_of_scope"
    """A changed file is declared by no task of the unit, and the scope is enforced."""
    PROTECTED_PATH = "protected_path"
    """A changed file is not an agent's to change."""
    UNKNOWN_SUBMODULE = "unknown_submodule"
    """A submodule points to a commit that nobody else can get."""
    NOT_EXECUTED = "not_executed"
    """The unit has to be proved by tests, and there is no command to run them."""
    NO_TESTS = "no_tests"
    """The command ran and found no tests."""
    NO_NEW_TESTS = "no_new_tests"
    """A task that is to write tests wrote none."""
    NOT_RED = "not_red"
    """Tests for something that is not there yet pass already."""
    BROKEN_TEST = "broken_test"
    """A test file fails for a reason that no implementation can remove."""
    STILL_RED = "still_red"
    """A test that the unit was to make pass does not."""
    MISSING_TEST = "missing_test"
    """A test that has to be there did not run."""
    REGRESSION = "regression"
    """A test that passed before the unit fails now."""
    FAILING_TESTS = "failing_tests"
    """A test fails that was not there, or was not run, before the unit."""
    DISABLED_TEST = "disabled_test"
    """A test that passed before the unit is skipped now."""
    WEAKENED_TESTS = "weakened_tests"
    """A test fails as it was before a unit that changed it, and had no business with that."""
    NO_BASELINE = "no_baseline"
    """The tests could not be run on what the unit started from, and the unit has to keep them the same."""
    TIMED_OUT = "timed_out"
    """The tests took longer than they may."""
    CRASHED = "crashed"
    """The tests were killed, or could not be started."""
    UNREADABLE_RESULTS = "unreadable_results"
    """The tests ran and their results cannot be read."""
    CONTRADICTION = "contradiction"
    """The exit code says that all is well, and the results say otherwise."""
    SETUP_FAILED = "setup_failed"
    """The command that prepares the environment failed."""
    TOOL_MISSING = "tool_missing"
    """The program that runs the tests is not installed."""
    PLANTED_TOOL = "planted_tool"
    """A file of the unit would be a program that the tests are run with."""
    FOREIGN_IMPORTS = "foreign_imports"
    """Code of the tree would be imported from another place, so its tests would prove something else."""


class NoteCode(StrEnum):
    """What is worth knowing about a verdict without being held against the unit."""

    NOTHING_EXECUTED = "nothing_executed"
    """No tests ran; only files were looked at."""
    LEFT_OUT = "left_out"
    """Generated files are in the worktree and no part of the work."""
    DENIED = "denied"
    """The wall kept the tests from writing something."""
    DECIDED_BY_PERSON = "decided_by_person"
    """Something that would be held against an agent, done by a person's own hand."""
    NO_TESTS = "no_tests"
    """The command found no tests, and none were asked for."""
    NO_BASELINE = "no_baseline"
    """The tests could not be run on what the unit started from, so every failure counts as its own."""
    EXIT_CODE_ONLY = "exit_code_only"
    """The runner does not report single tests."""
    ALREADY_RED = "already_red"
    """A test failed before the unit and still does."""
    OPEN_RED = "open_red"
    """A test fails that waits for another unit's implementation, or was given up with it."""
    FLAKY = "flaky"
    """A test failed and passed on the same tree."""
    VANISHED_TEST = "vanished_test"
    """A test that passed before the unit did not run."""
    DISABLED_TEST = "disabled_test"
    """A test that passed before is skipped now, by a unit that may edit tests."""
    CHANGED_TESTS = "changed_tests"
    """Tests were changed by the unit, and pass as they were before it, too."""
    OUT_OF_SCOPE = "out_of_scope"
    """A changed file is declared by no task of the unit."""
    UNCHANGED_PATTERN = "unchanged_pattern"
    """A declared path is a pattern, and only files match it that the unit did not change."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a unit is not accepted; the message is complete enough to act on."""

    code: ProblemCode
    message: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """One thing worth knowing about a verdict."""

    code: NoteCode
    message: str
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was seen when the tests ran on one tree.

    `results` is None where the runner has only an exit code. A receipt with a `fault` proves nothing. One
    that `is_joined` comes of two runs, of some test files and of the others.
    """

    tree: str
    kind: RunnerKind
    command: tuple[str, ...]
    exit_code: int | None
    seconds: float
    results: tuple[TestResult, ...] | None
    detail: str = ""
    fault: Problem | None = None
    is_joined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEdits:
    """What a unit changed of the tests, their support and their settings.

    `ruled` are tests that passed before and fail as they were: a reviewer rules on them by name. `licensed`
    are the files that it may change by the plan, by that ruling, or because a person granted them; `others`
    are those that it changed besides.
    """

    __test__ = False

    ruled: tuple[str, ...] = ()
    licensed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def files_to_grant(problems: Iterable[Problem], edits: TestEdits) -> tuple[str, ...]:
    """Returns the changed files that a person would have to grant to a unit which weakened tests."""
    weak = [each for each in problems if each.code is ProblemCode.WEAKENED_TESTS]
    tests = [each.file for each in weak if each.file is not None]
    changed = [*edits.others, *(file for file in tests if file in edits.licensed)] if weak else []
    return tuple(dict.fromkeys(changed or tests))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the evidence says of a unit; `red` are the tests that fail by design and wait for a later unit."""

    passed: bool
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    edits: TestEdits = field(default=TestEdits())


class ChangeStatus(StrEnum):
    """What happened to a path; `type` is a file that became a link or a submodule, or the reverse."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    TYPE = "type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path that differs between two trees; renames are a deletion and an addition.

    `was` is the mode and the id that git knew the path by before; empty for a new one.
    """

    path: str
    status: ChangeStatus
    was: str = ""
    added: int = 0
    deleted: int = 0
    is_binary: bool = False
    is_submodule: bool = False
    submodule_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What a unit did to the tree, as git tells it.

    `files` are all paths of the new tree; `before` are the texts of test files that changed.
    """

    base: str
    tree: str
    changes: tuple[Change, ...] = ()
    files: frozenset[str] = frozenset()
    before: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What a unit has to show, by the types of its tasks and their place in the plan.

    `must_be_red`: tests of the unit are implemented by a later one; `green_files` are test files that are not
    among those. `required_green` are the tests the unit must make pass, `open_red` those that are not.
    `required_files` must exist; `declared` is the scope, and empty if the tasks declare nothing. `own_tests`
    are the files of its test tasks, `granted` those that a person gave to it, `section` is the plan's text.
    """

    types: tuple[TaskType | None, ...]
    must_be_red: bool = False
    green_files: tuple[str, ...] = ()
    required_green: tuple[str, ...] = ()
    open_red: tuple[str, ...] = ()
    tests_waived: bool = False
    required_files: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    own_tests: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    section: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifySettings:
    """What a person decides about verification."""

    command: tuple[str, ...] | None = None
    junit: str | None = None
    setup: tuple[str, ...] | None = None
    timeout: timedelta = timedelta(minutes=20)
    scope: Literal["report", "enforce"] = "report"
    protected: tuple[str, ...] = ()
    tests: Literal["plan", "frozen"] = "plan"
