"""Tests of what is reported about tasks and units."""

from typing import Any

import pytest

from amelia.model.diagnostics import Diagnostic, Severity
from amelia.model.plan import Task, TaskId, TaskStatus, TaskType, Unit, UnitId
from amelia.plan.check import check_shared_files, check_tasks


def make(task_id: str, needs: str = "", **fields: Any) -> Task:
    fields = {"title": task_id, **fields}
    return Task(id=TaskId(task_id), depends_on=tuple(map(TaskId, needs.split())), **fields)


def only(found: list[Diagnostic]) -> Diagnostic:
    (diagnostic,) = found
    return diagnostic


def test_tasks_in_order_have_no_problems() -> None:
    assert check_tasks([make("A", files_to_create=("src/a.py",)), make("B", "A")]) == []


def test_a_duplicate_id_names_both_lines() -> None:
    found = only(check_tasks([make("A", line=3), make("A", line=9)]))
    assert (found.severity, found.code, found.line) == (Severity.ERROR, "duplicate-id", 9)
    assert "line 3 and in line 9" in found.message


def test_an_unknown_dependency_gets_a_suggestion() -> None:
    found = only(check_tasks([make("setup-db"), make("B", "setup-bd", line=4)]))
    assert (found.severity, found.code, found.line) == (Severity.ERROR, "unknown-dependency", 4)
    assert found.message == "Task 'B' depends on 'setup-bd', which does not exist."
    assert found.hint == "Did you mean 'setup-db'?"


def test_an_unknown_dependency_like_nothing_gets_a_plain_hint() -> None:
    assert only(check_tasks([make("A", "zzzzzz")])).hint == "Write the id of a task of this plan."


def test_suggestions_stop_after_a_few_so_that_checking_stays_fast() -> None:
    found = check_tasks([make(f"task-{n}", f"tsk-{n}") for n in range(100)])
    assert len(found) == 100
    assert "Did you mean" in (found[0].hint or "")
    assert "Did you mean" not in (found[-1].hint or "")


def test_a_task_may_not_depend_on_itself() -> None:
    found = only(check_tasks([make("A", "A")]))
    assert (found.severity, found.code) == (Severity.ERROR, "self-dependency")


def test_a_cycle_is_reported_with_its_path() -> None:
    found = only(check_tasks([make("A", "B", line=5), make("B", "A", line=7)]))
    assert (found.severity, found.code, found.line) == (Severity.ERROR, "dependency-cycle", 5)
    assert "A → B → A" in found.message


def test_a_long_cycle_is_shown_in_part() -> None:
    found = only(check_tasks([make(f"T{n}", f"T{(n + 1) % 100}") for n in range(100)]))
    assert found.message.startswith("Tasks wait for each other: T0 → T1")
    assert "(81 more)" in found.message
    assert found.message.endswith("T99 → T0.")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/passwd", "path-outside-repository"),
        ("../x", "path-outside-repository"),
        ("~/x", "path-outside-repository"),
        ("C:\\x", "path-outside-repository"),
        (".git/config", "path-in-git"),
        ("sub/.Git /config", "path-in-git"),
        ("a\x00b", "bad-path"),
        ("", "bad-path"),
    ],
)
@pytest.mark.parametrize("field", ["files_to_create", "files_to_modify", "test_files"])
def test_a_bad_path_is_an_error_in_every_list(field: str, path: str, code: str) -> None:
    fields: dict[str, Any] = {field: (path,)}
    found = only(check_tasks([make("A", line=2, **fields)]))
    assert (found.severity, found.code, found.line) == (Severity.ERROR, code, 2)


def test_an_unusual_path_is_no_problem() -> None:
    assert check_tasks([make("A", files_to_modify=(".github/workflows/x y.yml", "src\\a.py"))]) == []


@pytest.mark.parametrize(
    ("title", "code"),
    [("x" * 81, "long-title"), ("", "empty-title"), ("  ", "empty-title"), ("x" * 80, None)],
)
def test_titles_should_say_something_and_be_short(title: str, code: str | None) -> None:
    found = check_tasks([make("A", title=title)])
    assert [each.code for each in found] == ([code] if code else [])
    assert all(each.severity is Severity.WARNING for each in found)


def unit(name: str, needs: str = "", files: str = "") -> Unit:
    piece = make(name, files_to_modify=tuple(files.split()), line=7)
    return Unit(UnitId(name), name, (piece.id,), tuple(map(UnitId, needs.split())), 1, (piece,))


@pytest.mark.parametrize(
    "units",
    [
        [],
        [unit("A", files="x"), unit("B", files="y")],
        [unit("A", files="x"), unit("B", "A", files="x")],
        [unit("A", files="x"), unit("M", "A"), unit("B", "M", files="./x")],
        [unit("A", files="x"), unit("B", "A", "x"), unit("C", "B", "x")],
    ],
)
def test_units_that_wait_for_each_other_may_share_files(units: list[Unit]) -> None:
    assert check_shared_files(units) == []


def test_units_side_by_side_should_not_share_files() -> None:
    found = only(check_shared_files([unit("A", files="x"), unit("B", files="./x")]))
    assert (found.severity, found.code, found.line) == (Severity.WARNING, "shared-file", 7)
    assert found.message == "'A' and 'B' touch 'x', and neither of the two waits for the other."


def test_many_units_on_one_file_are_one_warning() -> None:
    units = [unit("A", files="x y"), unit("B", "A", "x"), unit("C", "A", "x"), unit("D", "B C", "x y")]
    found = only(check_shared_files(units))
    assert found.message.startswith("'B' and 'C' and 2 more touch 'x'")


SAYS_SO = "Adapt the existing tests to the new signature."


@pytest.mark.parametrize("section", [SAYS_SO, "Remove the parser.\nDelete its old unit tests."])
def test_a_task_that_says_to_change_tests_and_declares_none_is_told(section: str) -> None:
    found = only(check_tasks([make("A", files_to_modify=("src/a.py",), section=section, line=2)]))
    assert (found.severity, found.code, found.line) == (Severity.WARNING, "undeclared-tests", 2)


@pytest.mark.parametrize(
    "fields",
    [
        {"section": "Update the parser and run the tests.", "files_to_modify": ("src/a.py",)},
        {"section": SAYS_SO, "files_to_modify": ("src/a.py", "tests/test_a.py")},
        {"section": SAYS_SO},
        {"section": SAYS_SO, "files_to_modify": ("src/a.py",), "type": TaskType.TEST},
        {"section": SAYS_SO, "files_to_modify": ("src/a.py",), "status": TaskStatus.COMPLETED},
    ],
    ids=["only runs them", "declares one", "declares nothing", "is a test task", "is done"],
)
def test_a_task_needs_to_declare_no_test_file_if_it(fields: dict[str, Any]) -> None:
    assert check_tasks([make("A", **fields)]) == []
