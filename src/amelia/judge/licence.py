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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from amelia.judge.globs import covered
from amelia.judge.outcomes import Outcomes
from amelia.judge.trusted import IS_JUDGES, Custody
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
_SHOWS = re.compile(
    r"\b(?:outputs?|messages?|texts?|format\w*|snapshots?|render\w*|display\w*|prints?|wording|labels?|golden)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n")
_NAME = re.compile(r"[A-Za-z_][\w.-]*[\w]")
_RECORDED = re.compile(r"(?:^|/)(?:__snapshots__|golden|goldens|snapshots|testdata)/|\.(?:snap|ambr|golden)$")
_SHORTEST = 3
_WAY_OUT = (
    "Restore what the test asks for. If the plan is meant to change it, ask for {files} in "
    "`needs_clarification`: a person can grant it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What a unit changed of the judge's, without what is its own.

    `tests` are test files that it changed or removed, `new_tests` those it added; `others` are support,
    settings, and files of which parts are the judge's; `mixed` are files that build and test at once.
    """

    tests: tuple[str, ...] = ()
    new_tests: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()

    @property
    def is_tried(self) -> bool:
        """Says whether the tests as they were have to be run: something of theirs is different now."""
        return bool(self.tests or self.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTree:
    """The work of a unit with everything of the judge's as it was.

    Without a tree there is nothing to run: nothing of the judge's that was there is different. `only` are the
    test files that are enough to run; none means all of them.
    """

    touched: Touched = Touched()
    tree: str | None = None
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A test that the unit itself changed, and that fails as it was: the reviewer rules on it."""

    test: str
    file: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The tests before the unit, those it left, and those as they were, on its work.

    `texts` are those of changed test files before the unit.
    """

    demands: Demands
    judges: JudgeTree
    before: Outcomes
    now: Outcomes
    trusted: Outcomes
    texts: Mapping[str, str]
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
    tests: list[str] = []
    new: list[str] = []
    others: list[str] = []
    mixed: list[str] = []
    kept = frozenset(guarded)
    for change in changes:
        path, whose = change.path, custody(change.path)
        if whose is Custody.MIXED:
            mixed.append(path)
        elif whose in IS_JUDGES and (path in kept or not _is_own(path, whose, demands)):
            is_new = change.status is ChangeStatus.ADDED
            where = others if whose is not Custody.TEST else new if is_new else tests
            where.append(path)
    return Touched(tests=tuple(tests), new_tests=tuple(new), others=tuple(others), mixed=tuple(mixed))


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
    if trial.judges.tree is not None:
        owed = set(trial.demands.required_green)
        named: set[str] = set()
        for name, was in trial.before.items():
            if not trial.judges.only or was.file in trial.judges.only:
                yield from _of_test(trial, name, was, is_owed=name in owed or was.file in owed, named=named)
    for path in trial.touched.mixed:
        yield Evidence(path, path)


def _of_test(
    trial: Trial, name: str, was: TestResult, *, is_owed: bool, named: set[str]
) -> Iterator[Problem | Note | Evidence]:
    is_single = name != THE_COMMAND
    if not is_single and trial.judges.only:
        return  # what a part of the tests says as a whole is nothing new
    found = trial.trusted.get(name) or trial.trusted.get(was.file or "")
    passes = found is not None and found.status is TestStatus.PASSED
    if is_owed:
        if not passes:
            text = f"{name} is to pass after this unit as it was written, and does not"
            yield Problem(ProblemCode.STILL_RED, _told(text, found), was.file)
        return
    if was.status is not TestStatus.PASSED:
        return
    now = trial.now.get(name)
    if passes:
        file = was.file or ""
        if file in trial.touched.tests and file not in named:
            named.add(file)
            text = f"This unit changed {file}; its tests pass as they were before, too."
            yield Note(NoteCode.WEAKENED_TESTS, text, file)
        return
    if now is not None and now.status.is_failing:
        return  # it is held against the unit already
    yield _ruled(trial, was, found)


def _ruled(trial: Trial, was: TestResult, found: TestResult | None) -> Problem | Evidence:
    """Decides about a test that fails as it was, and not as the unit left it."""
    name, file = was.id, was.file
    blamed = (file,) if file in trial.touched.tests else trial.touched.others or trial.touched.tests
    may_change = not trial.demands.declared or all(_is_licensed(trial, path) for path in blamed)
    if may_change and not trial.is_frozen:
        return Evidence(name, file)
    files = ", ".join(blamed[:5])
    text = f"{name} passed before this unit and fails on this work as it was: the unit changed {files}"
    way_out = _WAY_OUT.format(files=files)
    return Problem(ProblemCode.WEAKENED_TESTS, f"{_told(text, found)}\n{way_out}", file)


def _is_licensed(trial: Trial, path: str) -> bool:
    return covered(path, trial.demands.declared) or _is_spoken_of(
        path, trial.demands.section, trial.texts.get(path, "")
    )


def _is_spoken_of(path: str, section: str, text: str) -> bool:
    """Says whether a section says to change what a test names, or the output that a snapshot holds."""
    if _RECORDED.search(path):
        return _SHOWS.search(section) is not None
    known = set(_NAME.findall(text))
    for sentence in _SENTENCE.split(section):
        if _MOVES.search(sentence):
            names = {name for name in _NAME.findall(sentence) if len(name) >= _SHORTEST and _is_code(name)}
            if not known.isdisjoint(names | {part for name in names for part in name.split(".")}):
                return True
    return False


def _is_code(name: str) -> bool:
    """Says whether a word looks like a name in a program, and not like one of a sentence."""
    return "_" in name or "." in name or not (name.islower() or name.istitle())


def _told(text: str, result: TestResult | None) -> str:
    return f"{text}:\n{result.message}" if result is not None and result.message else f"{text}."
