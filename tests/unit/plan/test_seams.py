"""Tests of where a task can be cut."""

from typing import Any

from amelia.model.plan import Complexity, Task, TaskId
from amelia.plan.seams import cut

LAYERS = Complexity(cross_file_deps=2.0)
FILES = Complexity(file_scope=5.0)
CRITERIA = Complexity(semantic_complexity=3.0)


def make(complexity: Complexity, **fields: Any) -> Task:
    return Task(id=TaskId("T"), title="x", complexity=complexity, **fields)


def files_of(parts: list[Task]) -> list[tuple[str, ...]]:
    return [part.files for part in parts]


def test_layers_go_from_data_to_presentation_and_keep_tests_with_what_they_test() -> None:
    task = make(
        LAYERS,
        files_to_create=("views/user_page.py", "services/login.py", "misc/helper.py"),
        files_to_modify=("models/user.py",),
        test_files=("tests/test_user.py", "tests/test_login.py", "tests/test_everything.py"),
    )
    assert files_of(cut(task)) == [
        ("models/user.py", "tests/test_user.py"),
        ("services/login.py", "misc/helper.py", "tests/test_login.py"),
        ("views/user_page.py", "tests/test_everything.py"),
    ]


def test_one_layer_falls_back_to_directories() -> None:
    task = make(LAYERS, files_to_modify=("a/models/x.py", "b/models/y.py"))
    assert files_of(cut(task)) == [("a/models/x.py",), ("b/models/y.py",)]


def test_directories_are_halved_whole_and_as_evenly_as_they_allow() -> None:
    task = make(FILES, files_to_modify=("a/1", "a/2", "a/3", "b/4", "c/5", "c/6"))
    assert files_of(cut(task)) == [("a/1", "a/2", "a/3"), ("b/4", "c/5", "c/6")]
    task = make(FILES, files_to_modify=("a/1", "b/2", "c/3", "c/4", "c/5", "c/6"))
    assert files_of(cut(task)) == [("a/1", "b/2"), ("c/3", "c/4", "c/5", "c/6")]


def test_a_directory_that_comes_back_stays_together() -> None:
    task = make(FILES, files_to_create=("a/1", "b/2"), files_to_modify=("a/3", "b/4"))
    assert files_of(cut(task)) == [("a/1", "a/3"), ("b/2", "b/4")]


def test_within_one_directory_files_of_one_name_stay_together() -> None:
    task = make(
        FILES, files_to_create=("s/user.py", "s/post.py", "s/user.css"), test_files=("t/test_post.py",)
    )
    assert files_of(cut(task)) == [("s/user.py", "s/user.css"), ("s/post.py", "t/test_post.py")]


def test_tests_alone_are_cut_like_other_files() -> None:
    task = make(FILES, test_files=("tests/a/test_x.py", "tests/b/test_y.py"))
    assert files_of(cut(task)) == [("tests/a/test_x.py",), ("tests/b/test_y.py",)]


def test_a_file_in_two_lists_stays_in_one_part() -> None:
    task = make(FILES, files_to_create=("a/x", "b/y"), files_to_modify=("./a/x",))
    first, second = cut(task)
    assert (first.files_to_create, first.files_to_modify) == (("a/x",), ("./a/x",))
    assert second.files == ("b/y",)


def test_criteria_are_halved_in_order_and_files_follow_their_mention() -> None:
    task = make(
        CRITERIA,
        acceptance_criteria=("posts are listed", "a post has a date", "a user logs in"),
        files_to_modify=("user.py", "post.py", "one.py", "two.py"),
        test_files=("test_user.py", "test_all.py"),
    )
    first, second = cut(task)
    assert first.acceptance_criteria == ("posts are listed", "a post has a date")
    assert first.files == ("post.py",)
    assert second.acceptance_criteria == ("a user logs in",)
    assert second.files == ("user.py", "one.py", "two.py", "test_user.py", "test_all.py")


def test_files_that_nobody_mentions_are_divided_by_position() -> None:
    task = make(
        CRITERIA, acceptance_criteria=("one", "two"), files_to_modify=("a.py", "b.py", "c.py", "d.py")
    )
    assert files_of(cut(task)) == [("a.py", "b.py"), ("c.py", "d.py")]


def test_too_few_criteria_fall_back_to_files() -> None:
    task = make(CRITERIA, acceptance_criteria=("one",), files_to_modify=("a.py", "b.py"))
    parts = cut(task)
    assert files_of(parts) == [("a.py",), ("b.py",)]
    assert [part.acceptance_criteria for part in parts] == [("one",), ()]


def test_a_task_without_seams_stays_whole() -> None:
    assert cut(make(FILES, files_to_modify=("a.py",), acceptance_criteria=("one",))) == []
    assert cut(make(CRITERIA)) == []


def test_no_part_is_without_criteria_where_there_are_enough() -> None:
    texts = ("user one", "user two", "user three")
    task = make(FILES, files_to_modify=("a/user.py", "b/post.py"), acceptance_criteria=texts)
    assert [part.acceptance_criteria for part in cut(task)] == [("user one", "user two"), ("user three",)]


def test_criteria_that_fit_nowhere_fill_up_and_then_go_in_turn() -> None:
    texts = ("one", "two", "three", "four", "five", "six")
    task = make(
        LAYERS, files_to_modify=("models/a.py", "services/b.py", "views/c.py"), acceptance_criteria=texts
    )
    assert [part.acceptance_criteria for part in cut(task)] == [
        ("one", "four"),
        ("two", "five"),
        ("three", "six"),
    ]
