"""What the evidence means for a unit: receipts and git's facts in, a verdict out.

Pure. A verdict passes only without problems. What could not be seen is never taken for good: without a run
that can be believed, work that tests have to prove does not pass, and without one on the tree before the unit
every failure counts as the unit's own.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from amelia.judge.blame import Case, Red, findings
from amelia.judge.globs import covers
from amelia.judge.licence import Evidence, JudgeTree, Trial, is_declared, of_trial
from amelia.judge.outcomes import Outcomes, has_single_tests, observed, outcomes
from amelia.judge.scope import protected_paths, undeclared, unknown_submodules
from amelia.judge.trusted import is_test_code
from amelia.model.evidence import (
    THE_COMMAND,
    ChangeStatus,
    Delta,
    Demands,
    Note,
    NoteCode,
    Problem,
    ProblemCode,
    Receipt,
    RunnerKind,
    TestEdits,
    Verdict,
    VerifySettings,
)
from amelia.model.plan import PROVED_BY_TESTS, TaskType
from amelia.plan.declared import Asked, asked_for

MAY_BE_CHANCE = frozenset(
    {
        ProblemCode.BROKEN_TEST,
        ProblemCode.CONTRADICTION,
        ProblemCode.CRASHED,
        ProblemCode.FAILING_TESTS,
        ProblemCode.REGRESSION,
        ProblemCode.STILL_RED,
        ProblemCode.TIMED_OUT,
        ProblemCode.UNREADABLE_RESULTS,
        ProblemCode.WEAKENED_TESTS,
    }
)
"""The problems that a second run on the same tree may turn out not to have."""

_LISTED = 25
_BUILT_FIRST = frozenset({RunnerKind.CARGO, RunnerKind.GO})
_Finding = Problem | Note | Red | Evidence
_Said = TypeVar("_Said", Problem, Note)


def judge(
    *,
    demands: Demands,
    delta: Delta,
    settings: VerifySettings,
    baseline: Receipt | None,
    result: Receipt | None,
    again: Receipt | None = None,
    judges: JudgeTree | None = None,
    trusted: Sequence[Receipt] = (),
) -> Verdict:
    """Judges a unit by its changes, and by the tests on the trees before and after it.

    `again` is a second run on the unit's own tree, made because the first was held against the unit.
    `judges` says what of the tests it changed, and `trusted` are the runs of the tests as they were.
    """
    before = outcomes(baseline)
    found: list[_Finding] = [
        *of_files(demands, delta, settings),
        *_of_receipts(demands, baseline, result),
    ]
    if TaskType.TEST in demands.types and not _has_new_tests(delta, before, outcomes(result)):
        found.append(
            Problem(ProblemCode.NO_NEW_TESTS, "The unit is to write tests, and changed no test file.")
        )
    changed = frozenset(change.path for change in delta.changes)
    as_they_were = _settled(trusted)
    if judges is not None and result is not None:
        trial = Trial(
            demands=demands,
            judges=judges,
            before=before,
            now=observed(result, again).outcomes,
            texts=delta.before,
        )
        found.extend(_tried(trial, trusted, is_frozen=settings.tests == "frozen"))
    verdict = _verdict(
        demands, found, changed=changed, receipts=(baseline, result, again), as_they_were=as_they_were
    )
    return replace(verdict, edits=_edits(judges, found, demands))


def _tried(
    trial: Trial, trusted: Sequence[Receipt], *, is_frozen: bool
) -> Iterator[Problem | Note | Evidence]:
    """Finds what the runs of the tests as they were say; if all have a fault, that they say nothing."""
    faults = [one.fault for one in trusted]
    fault = faults[-1] if faults and all(faults) else None
    return of_trial(replace(trial, trusted=_settled(trusted), fault=fault, is_frozen=is_frozen))


def _edits(judges: JudgeTree | None, found: Iterable[_Finding], demands: Demands) -> TestEdits:
    if judges is None:
        return TestEdits()
    evidence = [one for one in found if isinstance(one, Evidence)]
    touched, ruled = judges.touched, [file for one in evidence for file in one.files]
    declared = [path for path in touched.foreign if is_declared(path, demands, touched)]
    unasked = touched.tests if not demands.declared else ()
    licensed = dict.fromkeys([*touched.own, *declared, *unasked, *ruled])
    return TestEdits(
        ruled=_named(evidence),
        licensed=tuple(licensed),
        others=tuple(path for path in touched.foreign if path not in licensed),
    )


def _settled(trusted: Sequence[Receipt]) -> Outcomes:
    """Returns what one run of the tests as they were says, or two; one with a fault says nothing."""
    return observed(trusted[0], trusted[1] if len(trusted) > 1 else None).outcomes if trusted else {}


def judge_branch(
    *,
    base: Receipt | None,
    result: Receipt | None,
    open_red: tuple[str, ...],
    waived: tuple[str, ...] = (),
    again: Receipt | None = None,
    judges: JudgeTree | None = None,
    trusted: Sequence[Receipt] = (),
) -> Verdict:
    """Judges the whole branch: no test waits any longer, and none fails that did not at the run's base.

    `waived` are tests that a person gave up by skipping what would have made them pass. `judges` says which
    tests units changed without a licence, and `trusted` are the runs with those as they were.
    """
    required = tuple(name for name in open_red if name not in waived)
    demands = Demands(types=(), required_green=required, open_red=waived)
    found: list[_Finding] = [*_of_receipts(demands, base, result)]
    if judges is not None and result is not None:
        given = {*waived, *judges.touched.own}
        before = {name: one for name, one in outcomes(base).items() if given.isdisjoint((name, one.file))}
        now = observed(result, again).outcomes
        trial = Trial(demands=Demands(types=()), judges=judges, before=before, now=now)
        found.extend(_tried(trial, trusted, is_frozen=True))
    return _verdict(demands, found, changed=frozenset(), receipts=(base, result, again))


def of_files(demands: Demands, delta: Delta, settings: VerifySettings) -> Iterator[Problem | Note]:
    """Yields what is to be said of the files that a unit changed, before anything runs."""
    if not delta.changes:
        yield Problem(ProblemCode.NO_CHANGES, "The unit changed nothing.")
    for wanted in demands.required_files:
        yield from _of_required(wanted, delta)
    yield from protected_paths(delta.changes, settings.protected)
    yield from undeclared(delta.changes, demands.declared, enforce=settings.scope == "enforce")
    yield from unknown_submodules(delta.changes)


def _of_required(wanted: str, delta: Delta) -> Iterator[Problem | Note]:
    """Finds what is to be said of one declared path; a pattern asks for a file that matches it."""
    asked = asked_for(wanted)
    pattern = asked.pattern if asked.asked is Asked.PATTERN else wanted
    if wanted not in delta.files and not any(covers(pattern, path) for path in delta.files):
        missing = "it does not exist" if pattern == wanted else f"no file matches {pattern}"
        yield Problem(ProblemCode.MISSING_FILE, f"The plan declares {wanted}, and {missing}.", wanted)
    elif asked.asked is Asked.PATTERN:
        changed = (change.path for change in delta.changes if change.status is not ChangeStatus.DELETED)
        if not any(covers(pattern, path) for path in changed):
            text = f"The plan declares {wanted}; files match {pattern}, and this unit changed none of them."
            yield Note(NoteCode.UNCHANGED_PATTERN, text, wanted)


def _of_receipts(
    demands: Demands, baseline: Receipt | None, result: Receipt | None
) -> Iterator[Problem | Note]:
    """Finds what is to be said about the runs themselves."""
    if result is None:
        if demands.required_green or _needs_tests(demands):
            text = "This unit has to be proved by tests, and no command to run them is known."
            yield Problem(ProblemCode.NOT_EXECUTED, text)
        else:
            yield Note(NoteCode.NOTHING_EXECUTED, "No tests were run; only files were looked at.")
        return
    if result.fault is None and result.results is None:
        yield Note(
            NoteCode.EXIT_CODE_ONLY, "The runner reports no single tests; only its exit code was judged."
        )
    if baseline is None or baseline.fault is not None:
        why = (
            baseline.fault.message
            if baseline is not None and baseline.fault is not None
            else "They never ran."
        )
        text = f"The tests could not be run on what this unit started from. {why}"
        if TaskType.REFACTOR in demands.types and not demands.tests_waived:
            yield Problem(ProblemCode.NO_BASELINE, text)
        else:
            yield Note(NoteCode.NO_BASELINE, text)


def _needs_tests(demands: Demands) -> bool:
    return not demands.tests_waived and not PROVED_BY_TESTS.isdisjoint(demands.types)


def _has_new_tests(delta: Delta, before: Outcomes, now: Outcomes) -> bool:
    is_changed = any(
        is_test_code(change.path) and change.status is not ChangeStatus.DELETED for change in delta.changes
    )
    # Rust keeps its tests beside the code, where no path tells of them.
    return is_changed or bool(now.keys() - before.keys() - {THE_COMMAND})


def _verdict(
    demands: Demands,
    found: list[_Finding],
    *,
    changed: frozenset[str],
    receipts: tuple[Receipt | None, Receipt | None, Receipt | None],
    as_they_were: Outcomes | None = None,
) -> Verdict:
    baseline, result, again = receipts
    if result is None:
        return _assembled(found)
    seen = observed(result, again)
    found.extend(Note(NoteCode.FLAKY, f"{name} failed and passed on the same tree.") for name in seen.flaky)
    if not seen.outcomes:
        assert result.fault is not None
        return _assembled([*found, result.fault])
    believed = again if result.fault is not None and again is not None else result
    case = Case(
        demands=demands,
        kind=result.kind,
        before=outcomes(baseline),
        now=seen.outcomes,
        changed=changed,
        is_whole=_is_whole(believed),
        as_they_were=as_they_were or {},
    )
    found.extend(findings(case))
    found.extend(_of_absent_tests(case))
    if demands.must_be_red and not any(map(_explains_no_red, found)):
        text = (
            "No test of this unit fails, though what it tests is implemented later: it would prove nothing."
        )
        found.append(Problem(ProblemCode.NOT_RED, text))
    return replace(_assembled(found), flaky=seen.flaky)


def _explains_no_red(found: _Finding) -> bool:
    match found:
        case Red():
            return True
        case Problem(code=code):
            return code in {ProblemCode.BROKEN_TEST, ProblemCode.NO_NEW_TESTS, ProblemCode.NO_TESTS}
        case Note() | Evidence():
            return False


def _is_whole(receipt: Receipt) -> bool:
    is_unbuilt = receipt.kind in _BUILT_FIRST and not receipt.results and receipt.exit_code != 0
    return receipt.results is None or is_unbuilt


def _of_absent_tests(case: Case) -> Iterator[Problem | Note]:
    """Says that there were no tests at all, where there had to be some."""
    if case.is_whole or has_single_tests(case.now):
        return
    if _needs_tests(case.demands) or has_single_tests(case.before):
        yield Problem(ProblemCode.NO_TESTS, "The command ran and found no tests.")
    else:
        yield Note(NoteCode.NO_TESTS, "The command ran and found no tests; none were asked for.")


def _assembled(found: Collection[_Finding]) -> Verdict:
    problems = tuple(_listed(one for one in found if isinstance(one, Problem)))
    return Verdict(
        passed=not problems,
        problems=problems,
        notes=tuple(_listed(one for one in found if isinstance(one, Note))),
        red=tuple(sorted({one.id for one in found if isinstance(one, Red)})),
    )


def _named(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Returns the tests that a reviewer rules on; where they are too many to read, the files they are in."""
    names = dict.fromkeys(one.test for one in evidence)
    files = dict.fromkeys(file for one in evidence for file in one.files)
    return tuple(names if len(names) <= _LISTED else files)


def _listed(found: Iterable[_Said]) -> Iterator[_Said]:
    """Keeps the first of each kind and counts the rest: a verdict is stored, and read by people."""
    counts: Counter[ProblemCode | NoteCode] = Counter()
    last: dict[ProblemCode | NoteCode, _Said] = {}
    for one in found:
        counts[one.code] += 1
        last[one.code] = one
        if counts[one.code] <= _LISTED:
            yield one
    for code, count in counts.items():
        if count > _LISTED:
            yield replace(last[code], message=f"{count - _LISTED} more of this kind.", file=None)
