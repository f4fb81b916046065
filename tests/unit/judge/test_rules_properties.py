"""Promises of the rules, whatever was seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.rules import judge, judge_branch
from amelia.model.evidence import (
    THE_COMMAND,
    Change,
    ChangeStatus,
    Delta,
    Demands,
    Problem,
    ProblemCode,
    Receipt,
    RunnerKind,
    TestResult,
    TestStatus,
    Verdict,
    VerifySettings,
)
from amelia.model.plan import TaskType

pytestmark = pytest.mark.slow

FILES = ("tests/test_a.py", "tests/test_b.py")
IDS = tuple(f"{file}::{name}" for file in FILES for name in "xyz")
NAMES = st.sampled_from((*IDS, *FILES, THE_COMMAND))
CHANGE = Change(path="tests/test_a.py", status=ChangeStatus.MODIFIED, added=1)


@st.composite
def results(draw: st.DrawFn) -> tuple[TestResult, ...]:
    seen = draw(st.dictionaries(st.sampled_from(IDS), st.sampled_from(TestStatus), max_size=6))
    found = [TestResult(name, status, name.partition("::")[0], "said") for name, status in seen.items()]
    for file in draw(st.sets(st.sampled_from(FILES))):
        found = [one for one in found if one.file != file]
        found.append(TestResult(file, TestStatus.ERROR, file, "ImportError"))
    return tuple(found)


@st.composite
def receipts(draw: st.DrawFn) -> Receipt:
    seen = draw(st.none() | results())
    fault = draw(st.sampled_from([None, None, None, Problem(ProblemCode.CRASHED, "killed")]))
    failing = any(one.status.is_failing for one in seen or ())
    exit_code = 1 if failing else draw(st.sampled_from([0, 0, 1]))
    kind = RunnerKind.MAKE if seen is None else draw(st.sampled_from([RunnerKind.PYTEST, RunnerKind.CARGO]))
    return Receipt(
        tree="t", kind=kind, command=("c",), exit_code=exit_code, seconds=0, results=seen, fault=fault
    )


TYPES = st.lists(st.none() | st.sampled_from(TaskType), min_size=1, max_size=3).map(tuple)
DEMANDS = st.builds(
    Demands,
    types=TYPES,
    must_be_red=st.booleans(),
    required_green=st.lists(NAMES, max_size=2, unique=True).map(tuple),
    open_red=st.lists(NAMES, max_size=3, unique=True).map(tuple),
)


def verdict(
    demands: Demands, before: Receipt | None, now: Receipt | None, again: Receipt | None = None
) -> Verdict:
    return judge(
        demands=demands,
        delta=Delta(base="b", tree="t", changes=(CHANGE,)),
        settings=VerifySettings(),
        baseline=before,
        result=now,
        again=again,
    )


def statuses(receipt: Receipt | None) -> dict[str, TestStatus]:
    return {one.id: one.status for one in (receipt.results if receipt else None) or ()}


@given(DEMANDS, st.none() | receipts(), receipts())
def test_a_passed_verdict_has_no_problems_and_a_failed_one_has(
    demands: Demands, before: Receipt | None, now: Receipt
) -> None:
    found = verdict(demands, before, now)
    assert found.passed == (not found.problems)


@given(DEMANDS, receipts(), receipts())
def test_what_passes_broke_no_test_that_passed(demands: Demands, before: Receipt, now: Receipt) -> None:
    if before.fault or now.fault or not verdict(demands, before, now).passed:
        return
    was, seen = statuses(before), statuses(now)
    broken = {
        name for name, status in seen.items() if status.is_failing and was.get(name) is TestStatus.PASSED
    }
    # Only tests that the unit itself rewrote for a later implementation, or that wait for others, may fail.
    by_design = set(verdict(demands, before, now).red)
    waiting = {
        name for name in broken if name in demands.open_red or name.partition("::")[0] in demands.open_red
    }
    assert broken <= by_design | waiting
    assert demands.must_be_red or not by_design


@given(DEMANDS, st.none() | receipts(), receipts())
def test_what_passes_made_all_it_owed_pass(demands: Demands, before: Receipt | None, now: Receipt) -> None:
    if not verdict(demands, before, now).passed:
        return
    seen = statuses(now)
    for name in demands.required_green:
        if name == THE_COMMAND:
            assert now.exit_code == 0 or any(status.is_failing for status in seen.values())
        elif name in FILES:
            inside = [status for other, status in seen.items() if other.startswith(f"{name}::")]
            assert TestStatus.PASSED in inside
            assert not any(status.is_failing for status in inside)
        else:
            assert seen.get(name) is TestStatus.PASSED


@given(DEMANDS, receipts())
def test_a_run_with_a_fault_never_passes(demands: Demands, before: Receipt) -> None:
    crashed = Receipt(
        tree="t",
        kind=RunnerKind.PYTEST,
        command=("c",),
        exit_code=0,
        seconds=0,
        results=None,
        fault=Problem(ProblemCode.CRASHED, "killed"),
    )
    assert not verdict(demands, before, crashed).passed
    assert not verdict(demands, before, crashed, again=crashed).passed


@given(DEMANDS, receipts(), receipts())
def test_open_red_tests_are_never_blamed(demands: Demands, before: Receipt, now: Receipt) -> None:
    waiting = set(demands.open_red) - set(demands.required_green)
    found = verdict(demands, before, now)
    blamed = (ProblemCode.REGRESSION, ProblemCode.FAILING_TESTS, ProblemCode.BROKEN_TEST)
    for problem in found.problems:
        if problem.code in blamed:
            assert problem.message.split(maxsplit=1)[0].rstrip(":") not in waiting


@given(DEMANDS, receipts(), receipts(), st.sampled_from(IDS))
def test_one_more_failing_test_never_helps_a_unit_that_has_to_be_green(
    demands: Demands, before: Receipt, now: Receipt, name: str
) -> None:
    if demands.must_be_red or now.results is None or name in statuses(now) or now.exit_code == 0:
        return
    if now.kind is RunnerKind.CARGO and not now.results:
        return  # a broken build hides all tests
    if not any(one.status.is_failing for one in now.results):
        return  # the exit code would be explained by the new failure
    worse = TestResult(name, TestStatus.FAILED, name.partition("::")[0])
    was_lost = statuses(before).get(name) is TestStatus.PASSED
    more = Receipt(
        tree="t",
        kind=now.kind,
        command=("c",),
        exit_code=1,
        seconds=0,
        results=(*now.results, worse),
        fault=now.fault,
    )
    owes_the_file = any(file in demands.required_green for file in FILES)
    if not verdict(demands, before, now).passed and not was_lost and not owes_the_file:
        assert not verdict(demands, before, more).passed


@given(DEMANDS, receipts(), receipts())
def test_only_units_that_write_tests_for_others_leave_red_tests(
    demands: Demands, before: Receipt, now: Receipt
) -> None:
    found = verdict(demands, before, now)
    if not demands.must_be_red:
        assert found.red == ()
    elif found.passed:
        assert found.red


@given(DEMANDS, receipts(), receipts(), receipts())
def test_a_second_run_is_recorded_whenever_it_changes_the_verdict(
    demands: Demands, before: Receipt, now: Receipt, again: Receipt
) -> None:
    first, both = verdict(demands, before, now), verdict(demands, before, now, again)
    if first.passed != both.passed:
        assert both.flaky


@given(receipts(), receipts(), st.lists(NAMES, max_size=3, unique=True).map(tuple))
def test_a_good_branch_has_nothing_red_that_was_not_red_at_its_base(
    base: Receipt, now: Receipt, open_red: tuple[str, ...]
) -> None:
    if base.fault or not judge_branch(base=base, result=now, open_red=open_red).passed:
        return
    was = statuses(base)
    for name, status in statuses(now).items():
        if status.is_failing:
            assert name not in open_red
            module = was.get(name.partition("::")[0])
            assert was.get(name, TestStatus.PASSED).is_failing or (module is not None and module.is_failing)
