"""Tests of the rule that tests come first."""

from typing import Any

import pytest

from amelia.model.diagnostics import Severity
from amelia.model.plan import Task, TaskId, TaskStatus, TaskType
from amelia.model.settings import TddRule
from amelia.plan.phases import compute_phases
from amelia.plan.tdd import validate_tdd_ordering

MESSAGE = "Impl subtask 'I' has no test dependency. TDD requires tests before implementation."


def make(task_id: str, kind: str = "", needs: str = "", **fields: Any) -> Task:
    return Task(
        id=TaskId(task_id),
        title=task_id,
        line=len(task_id),
        type=TaskType(kind) if kind else None,
        depends_on=tuple(map(TaskId, needs.split())),
        **fields,
    )


@pytest.mark.rows("R7")
@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([make("I", "impl")], False),
        ([make("T", "test"), make("I", "impl", "T")], True),
        ([make("T", "test"), make("M", "chore", "T"), make("I", "impl", "M")], True),
        ([make("T", "test"), make("I", "impl")], False),
        ([make("I", "impl", "X")], False),
        ([make("M", "", "I"), make("I", "impl", "M")], False),
        ([make("M", "", "I N"), make("N", "", "M"), make("I", "impl", "M N")], False),
    ],
)
def test_a_test_anywhere_before_an_implementation_counts(tasks: list[Task], expected: bool) -> None:  # noqa: FBT001
    found = [each.code for each in validate_tdd_ordering(tasks, TddRule.STRICT)]
    assert found == ([] if expected else ["tdd-violation"])


@pytest.mark.parametrize("kind", ["docs", "chore", "test", "refactor", ""])
def test_other_types_need_no_tests(kind: str) -> None:
    assert validate_tdd_ordering([make("I", kind)], TddRule.STRICT) == []


@pytest.mark.rows("R7")
@pytest.mark.parametrize(
    ("rule", "severity"), [(TddRule.STRICT, Severity.ERROR), (TddRule.WARN, Severity.WARNING)]
)
def test_the_rule_decides_how_bad_a_violation_is(rule: TddRule, severity: Severity) -> None:
    (found,) = validate_tdd_ordering([make("I", "impl")], rule)
    assert (found.severity, found.code, found.message, found.line) == (severity, "tdd-violation", MESSAGE, 1)
    assert "- TDD waiver: reason" in (found.hint or "")


def test_the_rule_may_be_off() -> None:
    assert validate_tdd_ordering([make("I", "impl"), make("J", "impl", waiver="x")], TddRule.OFF) == []


def test_a_waiver_is_accepted_and_shown_with_its_reason() -> None:
    tasks = [make("I", "impl", waiver="generated code")]
    (found,) = validate_tdd_ordering(tasks, TddRule.STRICT)
    assert (found.severity, found.code) == (Severity.INFO, "tdd-waiver")
    assert "generated code" in found.message


def test_what_is_done_is_not_judged() -> None:
    tasks = [
        make("I", "impl", status=TaskStatus.COMPLETED),
        make("J", "impl", status=TaskStatus.SKIPPED, waiver="x"),
    ]
    assert validate_tdd_ordering(tasks, TddRule.STRICT) == []


@pytest.mark.parametrize(
    ("test_files", "impl_files", "code"),
    [
        (("tests/test_user.py",), ("src/user.py",), None),
        (("tests/test_user_model.py",), ("src/models/user.py",), None),
        (("tests/test_post.py",), ("src/user.py",), "tdd-unrelated-test"),
        ((), ("src/user.py",), None),
        (("tests/test_post.py",), (), None),
    ],
)
def test_a_test_that_fits_nothing_is_a_warning(
    test_files: tuple[str, ...], impl_files: tuple[str, ...], code: str | None
) -> None:
    tasks = [
        make("T", "test", files_to_create=test_files),
        make("M", "chore", "T"),
        make("I", "impl", "M", files_to_modify=impl_files),
    ]
    found = validate_tdd_ordering(tasks, TddRule.STRICT)
    assert [each.code for each in found] == ([code] if code else [])
    assert all(each.severity is Severity.WARNING for each in found)


def test_a_test_without_files_may_be_about_anything() -> None:
    tasks = [
        make("T", "test", files_to_create=("test_post.py",)),
        make("U", "test"),
        make("I", "impl", "T U", files_to_modify=("user.py",)),
    ]
    assert validate_tdd_ordering(tasks, TddRule.STRICT) == []


def test_cycles_do_no_harm() -> None:
    tasks = [
        make("T", "test", "I", files_to_create=("t.py",)),
        make("I", "impl", "T", files_to_modify=("i.py",)),
    ]
    assert validate_tdd_ordering(tasks, TddRule.STRICT) == []


def test_a_chain_of_ten_thousand_is_walked_without_recursion() -> None:
    chain = [make("T0", "test"), *(make(f"T{n}", "impl", f"T{n - 1}") for n in range(1, 10_000))]
    assert validate_tdd_ordering(chain, TddRule.STRICT) == []


def test_a_test_in_a_phase_before_counts() -> None:
    tasks = [make("T", "test", phase="1"), make("I", "impl", phase="2"), make("J", "impl", phase="3")]
    phases, _ = compute_phases(tasks, {})
    assert validate_tdd_ordering(tasks, TddRule.STRICT, phases=phases) == []


def test_a_test_in_the_same_phase_or_a_later_one_does_not_count() -> None:
    tasks = [make("I", "impl", phase="1"), make("T", "test", phase="1"), make("U", "test", phase="2")]
    phases, _ = compute_phases(tasks, {})
    assert [found.code for found in validate_tdd_ordering(tasks, TddRule.STRICT, phases=phases)] == [
        "tdd-violation"
    ]
