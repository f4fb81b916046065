"""What each test means for a unit, by what it said before the unit and what it says now.

Pure. The rules:

- A test that failed before the unit, waits for another unit's implementation, or was given up with it, is
  nobody's fault here.
- A test that passed before and fails now is a regression, whatever the types of the unit.
- Any other failure is the unit's own, unless the unit writes tests for something to come: then it is red by
  design. A file whose tests the unit changed may turn red as well: they asked for less before.
- A module that cannot be imported is red; one that fails for another reason is broken.
- A test the unit was to make pass must have passed. Skipped and missing are not passed.
- A unit without a test task may not make tests vanish or skip, but for tests that it changed and that have a
  result as they were: then that decides (`licence`). One with a test task may, and it is noted. A
  unit whose tasks have no type may be about anything: a test may vanish, but not be skipped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from amelia.judge.globs import covered
from amelia.judge.outcomes import Outcomes, has_single_tests
from amelia.model.evidence import (
    THE_COMMAND,
    Demands,
    Note,
    NoteCode,
    Problem,
    ProblemCode,
    RunnerKind,
    TestResult,
    TestStatus,
)
from amelia.model.plan import TaskType

_PYTHON = frozenset({RunnerKind.PYTEST, RunnerKind.UNITTEST})
# What a Python module says that fails on something which is still to be written.
_ABSENT = re.compile(r"^(?:E\s+)?(?:ImportError|ModuleNotFoundError|AttributeError)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Red:
    """A test that fails by design."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that the meaning of a test may depend on.

    `is_whole` says that only the run as a whole was seen: the runner has an exit code only, or nothing could
    be built. `as_they_were` is what the tests say that the unit changed, as they were before it.
    """

    demands: Demands
    kind: RunnerKind
    before: Outcomes
    now: Outcomes
    changed: frozenset[str]
    is_whole: bool
    as_they_were: Outcomes = field(default_factory=dict[str, TestResult])

    def waits_for_others(self, result: TestResult) -> bool:
        """Says whether the test, or all of its file, was written for a unit to come."""
        return result.id in self.demands.open_red or result.file in self.demands.open_red

    def is_owed(self, result: TestResult) -> bool:
        """Says whether the unit was to make this test, or all of its file, pass."""
        return result.id in self.demands.required_green or result.file in self.demands.required_green

    def failed_before(self, result: TestResult) -> bool:
        """Says whether the test, or all of its file, failed before the unit."""
        known = (self.before.get(result.id), self.before.get(result.file or ""))
        return any(one is not None and one.status.is_failing for one in known)

    def passed_before(self, result: TestResult) -> bool:
        """Says whether the test, or any test of the file it stands for, passed before the unit."""
        if result.is_module:
            return any(one.file == result.id and _passed(one) for one in self.before.values())
        known = self.before.get(result.id)
        return known is not None and _passed(known)

    def is_red_by_design(self, result: TestResult) -> bool:
        """Says whether the failure is what the unit's test tasks are for."""
        if not self.demands.must_be_red:
            return False
        if result.id == THE_COMMAND:
            return self.is_whole
        if result.file is not None and covered(result.file, self.demands.green_files):
            return False
        return not self.passed_before(result) or result.file in self.changed


def findings(case: Case) -> Iterator[Problem | Note | Red]:
    """Finds what is to be said about each test."""
    for result in case.now.values():
        if result.status.is_failing and not case.is_owed(result):
            yield _failure(case, result)
    for name in case.demands.required_green:
        yield from _debt(case, name)
    if case.is_whole and case.now[THE_COMMAND].status.is_failing and has_single_tests(case.before):
        yield Note(NoteCode.VANISHED_TEST, "The command failed as a whole, so no single test could be seen.")
        return
    yield from _lost(case)


def _failure(case: Case, result: TestResult) -> Problem | Note | Red:
    name = result.id
    if case.waits_for_others(result):
        # Where only the run as a whole is seen, one red test unit after another cannot be told apart.
        if name == THE_COMMAND and case.is_red_by_design(result):
            return Red(name)
        return Note(NoteCode.OPEN_RED, f"{name} fails, and is not for this work to make pass.", result.file)
    if case.failed_before(result):
        return Note(NoteCode.ALREADY_RED, f"{name} failed before this unit already.", result.file)
    if case.is_red_by_design(result):
        if result.is_module and case.kind in _PYTHON and not _ABSENT.search(result.message):
            text = f"{name} fails for a reason that no implementation can remove"
            return Problem(ProblemCode.BROKEN_TEST, _told(text, result), result.file)
        return Red(name)
    if case.passed_before(result):
        text = f"{name} passed before this unit and fails now"
        return Problem(ProblemCode.REGRESSION, _told(text, result), result.file)
    return Problem(ProblemCode.FAILING_TESTS, _told(f"{name} fails", result), result.file)


def _debt(case: Case, name: str) -> Iterator[Problem]:
    """Finds why a test, or the file that the name stands for, is not green as the unit owes it."""
    result = case.now.get(name)
    inside = [one for one in case.now.values() if one.file == name and one.id != name]
    if result is not None and not _passed(result):
        yield _still_red(result)
    elif inside:
        yield from (_still_red(one) for one in inside if one.status.is_failing)
        if not any(map(_passed, inside)):
            yield Problem(ProblemCode.STILL_RED, f"No test of {name} passed.", name)
    elif result is None:
        was = case.before.get(name)
        module = case.now.get(was.file) if was is not None and was.file else None
        if module is not None and module.status.is_failing:
            yield _still_red(module)
        else:
            text = f"{name} is to pass after this unit, and did not run. Tests may not be removed or renamed."
            yield Problem(ProblemCode.MISSING_TEST, text, was.file if was else None)


def _still_red(result: TestResult) -> Problem:
    text = f"{result.id} is to pass after this unit and ended as {result.status}"
    return Problem(ProblemCode.STILL_RED, _told(text, result), result.file)


def _lost(case: Case) -> Iterator[Problem | Note]:
    """Finds tests that passed before and did not run now."""
    types = case.demands.types
    may_edit = TaskType.TEST in types or not types
    is_untyped = all(kind is None for kind in types)
    for name, was in case.before.items():
        if not _passed(was) or name == THE_COMMAND:
            continue
        if was.file in case.changed and name in case.as_they_were:
            continue  # the unit changed it, so how it ends as it was decides
        result = case.now.get(name)
        if result is None and not _is_failing(case.now.get(was.file or "")):
            text = f"{name} passed before this unit and did not run now."
            is_given = may_edit or (is_untyped and covered(was.file or "", case.demands.declared))
            yield _held(NoteCode.VANISHED_TEST if is_given else ProblemCode.MISSING_TEST, text, was.file)
        elif result is not None and result.status is TestStatus.SKIPPED:
            text = f"{name} passed before this unit and is skipped now."
            yield _held(NoteCode.DISABLED_TEST if may_edit else ProblemCode.DISABLED_TEST, text, was.file)


def _held(code: ProblemCode | NoteCode, text: str, file: str | None) -> Problem | Note:
    return Problem(code, text, file) if isinstance(code, ProblemCode) else Note(code, text, file)


def _told(text: str, result: TestResult) -> str:
    return f"{text}:\n{result.message}" if result.message else f"{text}."


def _passed(result: TestResult) -> bool:
    return result.status is TestStatus.PASSED


def _is_failing(result: TestResult | None) -> bool:
    return result is not None and result.status.is_failing
