"""What a piece of a split task is called and told."""

from dataclasses import replace

import pytest

from amelia.model.plan import Task, TaskId
from amelia.plan.pieces import NOTE, own_sections, piece_titles, shortened
from amelia.plan.read import read_plan

SECTION = """\
### Task T1: Sign up
- Type: impl
- Files:
  - Create: `src/models/user.py` with the table
      - an index on name
  - Create: `src/services/auth.py`, `src/views/register.py`
  - Modify: src/views/login.py
- Acceptance criteria:
  - Passwords are hashed
    and never logged
  - Login is async

Mind src/services/auth.py, too.
"""


def task(section: str = SECTION) -> Task:
    (found,) = read_plan(section.encode())[0].tasks
    return found


def piece(whole: Task, *files: str, criteria: tuple[str, ...] = ()) -> Task:
    def own(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for path in paths if path in files)

    return replace(
        whole,
        files_to_create=own(whole.files_to_create),
        files_to_modify=own(whole.files_to_modify),
        test_files=own(whole.test_files),
        acceptance_criteria=criteria,
    )


def told(whole: Task, one: Task) -> str:
    (section,) = own_sections(whole, [one])
    assert section.startswith(f"{NOTE}\n\n")
    return section.removeprefix(f"{NOTE}\n\n")


def test_shortened_leaves_short_text_alone() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"


def test_a_piece_is_told_its_own_files_and_criteria_with_all_that_is_said_of_them() -> None:
    whole = task()
    assert told(whole, piece(whole, "src/models/user.py", criteria=("Passwords are hashed",))) == (
        "### Task T1: Sign up\n- Type: impl\n- Files:\n"
        "  - Create: `src/models/user.py` with the table\n      - an index on name\n"
        "- Acceptance criteria:\n  - Passwords are hashed\n    and never logged\n\n"
        "Mind src/services/auth.py, too.\n"
    )


def test_of_files_in_one_line_a_piece_is_told_its_own() -> None:
    whole = task()
    one = piece(whole, "src/views/register.py", "src/views/login.py", criteria=("Login is async",))
    assert told(whole, one) == (
        "### Task T1: Sign up\n- Type: impl\n- Files:\n  - Create: `src/views/register.py`\n"
        "  - Modify: src/views/login.py\n- Acceptance criteria:\n  - Login is async\n\n"
        "Mind src/services/auth.py, too.\n"
    )


def test_a_line_of_files_of_all_kinds_keeps_the_kinds() -> None:
    whole = task("### Task 1: A\n- Files: create a.py, modify b.py, test test_a.py, create c.py\n")
    one = piece(whole, "a.py", "b.py", "test_a.py")
    assert told(whole, one) == "### Task 1: A\n- Files: create `a.py`, modify `b.py`, test `test_a.py`\n"
    assert told(whole, piece(whole, "c.py")) == "### Task 1: A\n- Files: create `c.py`\n"


def test_a_field_of_which_nothing_is_left_goes_and_what_stands_beside_it_stays() -> None:
    whole = task(
        "### Task 1: A\n**Type:** impl | **Files:** a.py\n\n**Done when:**\n- x is 1\n- y is 2\n\nEnd.\n"
    )
    whole = replace(whole, files_to_create=("b.py",))
    assert told(whole, piece(whole, "b.py")) == (
        "### Task 1: A\n**Type:** impl | **Files:** none\n\n\nEnd.\n\n- Files:\n  - create: `b.py`\n"
    )


def test_what_the_section_does_not_name_is_told_all_the_same() -> None:
    whole = Task(
        id=TaskId("1"),
        title="A",
        section="# A\n\nJust do it.\n",
        files_to_modify=("a.py", "b.py"),
        test_files=("test_a.py",),
        acceptance_criteria=("x", "Just do it."),
    )
    one = piece(whole, "a.py", "test_a.py", criteria=("x is 1", "Just do it."))
    assert told(whole, one) == (
        "# A\n\nJust do it.\n\n- Files:\n  - modify: `a.py`\n  - test: `test_a.py`\n"
        "- Acceptance criteria:\n  - x is 1\n"
    )


def test_a_piece_of_a_piece_is_told_the_note_once() -> None:
    whole = task()
    one = piece(whole, "src/models/user.py", "src/services/auth.py", criteria=whole.acceptance_criteria)
    again = replace(one, section=own_sections(whole, [one])[0])
    assert NOTE not in told(again, piece(again, "src/models/user.py"))


def test_lines_that_speak_of_no_file_and_of_other_criteria_stay() -> None:
    whole = task("### Task 1: A\n- Files: all of them\n- Test: run the suite\n- Modify: a.py\n")
    section = told(whole, piece(whole))
    assert section == "### Task 1: A\n- Files: all of them\n- Test: run the suite\n"


@pytest.mark.parametrize(
    ("files", "scopes"),
    [
        (["src/models/a.py", "src/views/b.py"], ["data layer", "presentation layer"]),
        (["src/models/a.py src/models/test_a.py", "src/x/b.py"], ["data layer", "b.py"]),
        (["a/x.py a/y.py", "b/x.py"], ["a/", "x.py"]),
        (["a/x.py a/y.py", "a/z.py"], ["x.py, y.py", "z.py"]),
        (["x.py y.py", "a/z.py"], ["x.py, y.py", "z.py"]),
        (["x.py y.py z.py", "tests/test_x.py"], ["x.py … z.py", "test_x.py"]),
        (["src/models/a.py src/b.py", "src/views/c.py"], ["a.py, b.py", "presentation layer"]),
        (["src/services/a.py", "src/b.py"], ["a.py", "b.py"]),
    ],
)
def test_a_piece_is_called_by_what_no_other_piece_has(files: list[str], scopes: list[str]) -> None:
    whole = Task(id=TaskId("1"), title="Sign up", files_to_modify=tuple(" ".join(files).split()))
    pieces = [replace(whole, files_to_modify=tuple(each.split())) for each in files]
    count = len(files)
    assert piece_titles(whole, pieces) == [
        f"Sign up ({number}/{count}): {scope}" for number, scope in enumerate(scopes, start=1)
    ]


def test_without_files_a_piece_is_called_by_its_criteria() -> None:
    whole = Task(id=TaskId("1"), title="A", acceptance_criteria=tuple("abcdefg"))
    parts = ["abc", "d", "eg", "f", ""]
    pieces = [replace(whole, acceptance_criteria=tuple(part)) for part in parts]
    assert piece_titles(whole, pieces) == [
        "A (1/5): criteria 1–3",
        "A (2/5): criterion 4",
        "A (3/5): criteria 5, 7",
        "A (4/5): criterion 6",
        "A (5/5)",
    ]


def test_a_long_title_and_a_long_path_share_the_room() -> None:
    whole = Task(id=TaskId("1"), title="word " * 30, files_to_modify=("a" * 90 + ".py", "b.py"))
    pieces = [replace(whole, files_to_modify=(path,)) for path in whole.files_to_modify]
    first, second = piece_titles(whole, pieces)
    assert len(first) <= 80
    assert first.endswith(": " + "a" * 39 + "…")
    assert second.endswith("… (2/2): b.py")
