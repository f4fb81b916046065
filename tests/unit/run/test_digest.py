"""The digest of a round of checks: the same for what is the same, whatever the order and the texts."""

from amelia.model.evidence import Problem, ProblemCode, Receipt, RunnerKind, TestResult, TestStatus, Verdict
from amelia.run.checks import Checked

PASSED, FAILED = TestStatus.PASSED, TestStatus.FAILED
RED = Problem(ProblemCode.REGRESSION, "a test fails", "tests/test_a.py")


def receipt(*results: tuple[str, TestStatus], message: str = "") -> Receipt:
    return Receipt(
        tree="t",
        kind=RunnerKind.PYTEST,
        command=("pytest",),
        exit_code=1,
        seconds=1.0,
        results=tuple(TestResult(name, status, message=message) for name, status in results),
    )


def digest(seen: Receipt | None, *problems: Problem) -> str:
    return Checked(Verdict(passed=not problems, problems=problems), seen).results


def test_the_order_of_tests_and_their_messages_do_not_matter() -> None:
    one = receipt(("a", PASSED), ("b", FAILED), message="after 1.3 seconds")
    two = receipt(("b", FAILED), ("a", PASSED), message="after 1.4 seconds")
    assert digest(one, RED) == digest(two, RED)


def test_a_test_that_ends_otherwise_is_another_result() -> None:
    digests = {
        digest(receipt(("a", PASSED))),
        digest(receipt(("a", FAILED))),
        digest(receipt(("b", PASSED))),
        digest(receipt(("a", PASSED), ("b", PASSED))),
        digest(receipt(("a", PASSED)), RED),
        digest(None),
        digest(None, RED),
        digest(None, Problem(ProblemCode.REGRESSION, "a test fails", "tests/test_b.py")),
    }
    assert len(digests) == 8


def test_names_that_are_no_unicode_have_a_digest() -> None:
    odd = Problem(ProblemCode.OUT_OF_SCOPE, "\udcff", "src/\udcff.py")
    assert len(digest(receipt(("\udcff", PASSED)), odd)) == 16
