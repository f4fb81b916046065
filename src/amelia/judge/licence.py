"""What a unit may do to tests: by what the plan says of it, and by what the tests as they were say now.

Pure. Everything that decides what is tested is as it was before the unit when the judge tests its work, but
for what is the unit's own: files of its test tasks, and files that a person granted. The first that fits:

- A test that the unit was to make pass passes as it was written.
- A test that passes as it was is fine, whatever the unit made of it; that is noted.
- A test that fails as it was, and that the unit was to change by what the plan says, is evidence: the
  reviewer rules on it by name. So it is where a plan declares no files.
- Any other test that fails as it was sends the unit back.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from amelia.judge.globs import covered
from amelia.judge.outcomes import Outcomes, has_single_tests
from amelia.judge.trusted import Custody, is_source
from amelia.model.evidence import (
    THE_COMMAND,
    Change,
    ChangeStatus,
    Demands,
    Note,
    NoteCode,
    Problem,
    ProblemCode,
    TestResult,
    TestStatus,
)
from amelia.model.plan import TaskType

_MOVES = re.compile(
    r"\b(?:renam|mov|remov|delet|drop|replac|split|merg|inlin)(?:e|es|ed|ing|s)?\b", re.IGNORECASE
)
_CHANGES = re.compile(r"\b(?:updat|adapt|adjust|chang|rewrit|extend|migrat|fix|modif)\w*\b", re.IGNORECASE)
_FORBIDS = re.compile(r"\b(?:not|never|without|no|don't|untouched|unchanged)\b", re.IGNORECASE)
_SHOWS = re.compile(
    r"\b(?:outputs?|messages?|texts?|format\w*|snapshots?|render\w*|display\w*|prints?|wording|labels?|golden)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n")
_NAME = re.compile(r"[A-Za-z_][\w.-]*[\w]")
_RECORDED = re.compile(r"(?:^|/)(?:__snapshots__|golden|goldens|snapshots|testdata)/|\.(?:snap|ambr|golden)$")
_SHORTEST = 3
_NAMED = 5
_WAY_OUT = (
    "Restore what the test asks for. If the plan is meant to change it, ask for {files} in "
    "`needs_clarification`: a person can grant it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What a unit changed of the judge's; `own` are the files that it may change, `replaced` those of before.

    `tests` are test files that it changed or removed, `new_tests` those it added; `others` are support,
    settings, and files of which parts are the judge's; `inside` are sources with tests inside, of which
    those that are `unclear` cannot be told from the source; `mixed` are files that build and test at once,
    and those that are `excused` among them made no difference.
    """

    own: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    new_tests: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()

    @property
    def foreign(self) -> tuple[str, ...]:
        """All files of the judge's that are not the unit's own."""
        return (*self.tests, *self.new_tests, *self.others, *self.inside, *self.mixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTree:
    """The work of a unit with everything of the judge's as it was.

    Without a tree there is nothing to run: nothing of the judge's is different. Where nothing but test files
    is different and the runner can be told which to run, `apart` are those that the unit left, and only they
    are run on its own tree. Files that build and test at once are as the unit left them; with `stricter`
    they are as they were, too, and if all passes there nobody has to rule on them.
    """

    touched: Touched = Touched()
    tree: str | None = None
    apart: tuple[str, ...] | None = None
    stricter: "JudgeTree | None" = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A test that passed before and fails as it was, and the files that the unit changed of it.

    The reviewer rules on it.
    """

    test: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The tests before the unit, those it left, and those as they were, on its work.

    `texts` are those of changed test files before the unit; a `fault` is why the tests as they were say
    nothing.
    """

    demands: Demands
    judges: JudgeTree
    before: Outcomes
    now: Outcomes
    trusted: Outcomes = field(default_factory=dict[str, TestResult])
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    fault: Problem | None = None
    is_frozen: bool = False

    @property
    def touched(self) -> Touched:
        """What the unit changed of the judge's."""
        return self.judges.touched


def touched(
    changes: Iterable[Change],
    demands: Demands,
    *,
    custody: Callable[[str], Custody],
    guarded: Iterable[str] = (),
) -> Touched:
    """Sorts the changes of a unit; `guarded` are the files of the tests that it was to make pass."""
    found: dict[str, list[str]] = defaultdict(list)
    kept = frozenset(guarded)
    for change in changes:
        path, whose = change.path, custody(change.path)
        if whose is not Custody.SOURCE:
            is_own = path not in kept and _is_own(path, whose, demands)
            found["own" if is_own else _kind(change, whose)].append(path)
            if is_own and change.status is not ChangeStatus.ADDED:
                found["replaced"].append(path)
    return Touched(**{kind: tuple(paths) for kind, paths in found.items()})


def _kind(change: Change, whose: Custody) -> str:
    if whose is Custody.MIXED:
        return "mixed"
    if whose is Custody.PART and is_source(change.path):
        return "inside"
    if whose is not Custody.TEST:
        return "others"
    return "new_tests" if change.status is ChangeStatus.ADDED else "tests"


def without_mixed(
    judges: JudgeTree, before: Outcomes, strictly: Outcomes, *, owed: Iterable[str] = ()
) -> JudgeTree:
    """Returns what is to be judged if files that build and test at once, as they were, make no difference.

    `owed` are tests that the unit was to make pass.
    """
    passed = {name for name, one in before.items() if one.status is TestStatus.PASSED}
    single = passed - {THE_COMMAND} if has_single_tests(before) else passed
    wanted = {*single, *owed}
    if not wanted or any(
        name not in strictly or strictly[name].status is not TestStatus.PASSED for name in wanted
    ):
        return judges
    found = judges.touched
    return replace(judges, touched=replace(found, mixed=(), excused=(*found.excused, *found.mixed)))


def _is_own(path: str, whose: Custody, demands: Demands) -> bool:
    """Says whether a file of the judge's is the unit's all the same."""
    if covered(path, demands.granted):
        return True
    if TaskType.TEST not in demands.types:
        return False
    if covered(path, demands.own_tests):
        return True
    return not demands.own_tests and whose in {Custody.TEST, Custody.SUPPORT}


def of_trial(trial: Trial) -> Iterator[Problem | Note | Evidence]:
    """Finds what the tests as they were say of the unit."""
    touched = trial.touched
    for path in (*touched.mixed, *touched.unclear):
        yield Evidence(path, (path,))
    for path in touched.replaced:
        text = f"This unit changed {path}, as it was to; what passed there before is not asked for any more."
        yield Note(NoteCode.CHANGED_TESTS, text, path)
    for path in touched.excused:
        text = f"This unit changed {path}; what passed before passes with it as it was, too."
        yield Note(NoteCode.CHANGED_TESTS, text, path)
    if trial.judges.tree is None:
        return
    if trial.fault is not None:
        text = f"With the tests as they were: {trial.fault.message}"
        yield Problem(trial.fault.code, text, trial.fault.file)
        return
    found = [each for was in _asked_for(trial) for each in _of_test(trial, was)]
    yield from found
    blamed = {path for each in found if isinstance(each, Evidence) for path in each.files}
    if not any(isinstance(each, Problem) for each in found):
        for path in (*touched.tests, *touched.others, *touched.inside):
            if path not in blamed:
                text = f"This unit changed {path}; what passed before passes without that, too."
                yield Note(NoteCode.CHANGED_TESTS, text, path)


def _asked_for(trial: Trial) -> Iterator[TestResult]:
    """Yields the tests that have to end well as they were: those before the unit, or what stands for them.

    Where nothing was seen before, or only that nothing could be built, every test as it was is one.
    """
    yield from trial.before.values()
    is_built_now = THE_COMMAND in trial.demands.required_green
    if not trial.before or is_built_now:
        for name, one in trial.trusted.items():
            if name not in trial.before and name not in trial.demands.open_red:
                yield replace(one, status=TestStatus.ERROR if is_built_now else TestStatus.PASSED, message="")


def _of_test(trial: Trial, was: TestResult) -> Iterator[Problem | Evidence]:
    """Finds what is to be said of one test, as it was before the unit."""
    name, now = was.id, trial.now.get(was.id)
    if name == THE_COMMAND and has_single_tests(trial.trusted):
        return  # what single tests say counts, not a limit of coverage that new tests were to reach
    found = _as_it_was(trial.trusted, was)
    if found is not None and found.status is TestStatus.PASSED:
        return
    is_failing = now is not None and now.status.is_failing
    owed, later = trial.demands.required_green, trial.demands.open_red
    if not {name, was.file}.isdisjoint(owed) or (THE_COMMAND in owed and was.status is TestStatus.ERROR):
        text = f"{name} is to pass after this unit as it was written, and does not"
        yield Problem(ProblemCode.STILL_RED, _told(text, found), was.file)
    elif not {name, was.file}.isdisjoint(later) and now is not None and now.status is TestStatus.PASSED:
        text = f"{name} is for another unit to make pass as it was written, and this one changed it"
        yield Problem(ProblemCode.WEAKENED_TESTS, _told(text, found), was.file)
    elif was.status is TestStatus.PASSED and not is_failing:
        yield from _ruled(trial, was, found)  # one that fails now is held against the unit already


def _as_it_was(trusted: Outcomes, was: TestResult) -> TestResult | None:
    """Returns how a test ended as it was; a file that could not be loaded before stands for all its tests."""
    if (found := trusted.get(was.id) or trusted.get(was.file or "")) is not None or not was.is_module:
        return found
    inside = [one for one in trusted.values() if one.file == was.file]
    return next((one for one in inside if one.status is not TestStatus.PASSED), next(iter(inside), None))


def _ruled(trial: Trial, was: TestResult, found: TestResult | None) -> Iterator[Problem | Evidence]:
    """Decides about a test that fails as it was, and not as the unit left it."""
    blamed = _blamed(trial.touched, was.file)
    # Who declares a new test declares no test that was there. The tests as a whole may need the new ones.
    is_new = was.id != THE_COMMAND and not set(trial.touched.new_tests).isdisjoint(blamed)
    is_licensed = not is_new and all(_is_licensed(trial, path) for path in blamed)
    may_change = not trial.demands.declared or is_licensed
    if may_change and not trial.is_frozen:
        # The tests as a whole have no name to rule on.
        yield from (
            [Evidence(path, (path,)) for path in blamed]
            if was.id == THE_COMMAND
            else [Evidence(was.id, blamed)]
        )
        return
    files = ", ".join(blamed[:_NAMED])
    text = f"{was.id} passed before this unit and fails on this work as it was: the unit changed {files}"
    way_out = _WAY_OUT.format(files=files)
    yield Problem(ProblemCode.WEAKENED_TESTS, f"{_told(text, found)}\n{way_out}", was.file)


def _blamed(touched: Touched, file: str | None) -> tuple[str, ...]:
    """Returns the files that may have made a test pass: its own, and those that more tests read."""
    own = [file] if file in touched.tests else []
    found = (*own, *touched.others, *touched.inside)
    return found if found and file is not None else touched.foreign


def is_declared(path: str, demands: Demands, touched: Touched) -> bool:
    """Says whether the plan names a file of tests; with a source it does not name the tests inside."""
    return covered(path, demands.declared) and path not in touched.inside


def _is_licensed(trial: Trial, path: str) -> bool:
    """Says whether the plan lets the unit change a file."""
    text = trial.texts.get(path, "")
    return is_declared(path, trial.demands, trial.touched) or _is_spoken_of(path, trial.demands.section, text)


def _is_spoken_of(path: str, section: str, text: str) -> bool:
    """Says whether a section says to change a test, what it names, or the output that a snapshot holds."""
    if _RECORDED.search(path):
        return _SHOWS.search(section) is not None
    known, file = set(_NAME.findall(text)), path.rpartition("/")[2]
    for sentence in _SENTENCE.split(section):
        if _FORBIDS.search(sentence):
            continue
        moves = _MOVES.search(sentence)
        if file in sentence and (moves or _CHANGES.search(sentence)):
            return True
        if moves and not known.isdisjoint(_names_of_code(sentence)):
            return True
    return False


def _names_of_code(sentence: str) -> set[str]:
    """Returns the names of a sentence that look like names in a program, and their parts."""
    names = {name for name in _NAME.findall(sentence) if len(name) >= _SHORTEST and _is_code(name)}
    return names | {part for name in names for part in name.split(".")}


def _is_code(name: str) -> bool:
    """Says whether a word looks like a name in a program, and not like one of a sentence."""
    return "_" in name or "." in name or not (name.islower() or name.istitle())


def _told(text: str, result: TestResult | None) -> str:
    return f"{text}:\n{result.message}" if result is not None and result.message else f"{text}."
