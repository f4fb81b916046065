"""A receipt of two runs: of all tests as they were, and of the test files that a unit left."""

from dataclasses import replace

import pytest

from amelia.judge.receipts import changed_by_unit, joined
from amelia.model.evidence import Problem, ProblemCode, Receipt, RunnerKind, TestResult, TestStatus

PASSED, FAILED = TestStatus.PASSED, TestStatus.FAILED
CHANGED = "tests/test_b.py"


def result(file: str, status: TestStatus = PASSED, name: str = "test_it") -> TestResult:
    return TestResult(f"{file}::{name}", status, file=file)


def receipt(*results: TestResult, exit_code: int = 0) -> Receipt:
    return Receipt(
        tree="judge",
        kind=RunnerKind.PYTEST,
        command=("pytest",),
        exit_code=exit_code,
        seconds=2.0,
        results=results,
        detail="said",
    )


WHOLE = receipt(result("tests/test_a.py"), result(CHANGED, FAILED), exit_code=1)
PART = receipt(result(CHANGED, name="test_new"))


def test_it_has_the_new_version_of_what_differs_and_the_rest_as_it_was() -> None:
    found = joined(WHOLE, PART, tree="landing", differing=(CHANGED,))
    assert found is not None
    assert found.results == (result("tests/test_a.py"), result(CHANGED, name="test_new"))
    assert (found.tree, found.exit_code, found.seconds, found.is_joined) == ("landing", 0, 4.0, True)


def test_it_is_red_if_a_test_is() -> None:
    red = receipt(result(CHANGED, FAILED), exit_code=1)
    found = joined(receipt(result("tests/test_a.py")), red, tree="landing", differing=(CHANGED,))
    assert found is not None
    assert found.exit_code == 1


def test_without_a_second_run_what_differs_is_gone() -> None:
    found = joined(WHOLE, None, tree="landing", differing=(CHANGED,))
    assert found is not None
    assert found.results == (result("tests/test_a.py"),)


def test_a_run_that_found_no_tests_is_fine() -> None:
    assert joined(receipt(exit_code=5), PART, tree="landing", differing=(CHANGED,)) is not None


@pytest.mark.parametrize(
    "unclear",
    [
        replace(PART, exit_code=1),
        replace(PART, fault=Problem(ProblemCode.TIMED_OUT, "no end")),
        replace(PART, results=None),
    ],
    ids=["failed without a failing test", "was cut off", "reports no single tests"],
)
def test_there_is_none_if_a_run(unclear: Receipt) -> None:
    assert joined(WHOLE, unclear, tree="landing", differing=(CHANGED,)) is None
    assert joined(unclear, PART, tree="landing", differing=(CHANGED,)) is None


def test_tests_that_a_unit_changed_are_counted_and_the_first_are_named() -> None:
    assert changed_by_unit(("a",)) == "1 test was changed by the unit itself: a"
    assert changed_by_unit(tuple("gfedcba")) == (
        "7 tests were changed by the unit itself: a, b, c, d, e and 2 more"
    )
