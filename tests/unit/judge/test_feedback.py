"""What a unit has to show, and what a developer is told."""

from amelia.judge.demands import demands_of
from amelia.judge.feedback import feedback
from amelia.model.evidence import Problem, ProblemCode, Verdict
from amelia.model.plan import Task, TaskId, TaskType


def task(name: str, kind: TaskType | None, **fields: tuple[str, ...]) -> Task:
    return Task(
        id=TaskId(name),
        title=name,
        type=kind,
        files_to_create=fields.get("create", ()),
        files_to_modify=fields.get("modify", ()),
        test_files=fields.get("tests", ()),
    )


def test_a_unit_has_to_show_what_each_of_its_tasks_declares() -> None:
    tasks = [
        task("1", TaskType.TEST, tests=("tests/test_a.py",)),
        task("2", TaskType.TEST, tests=("tests/test_b.py", "tests/test_a.py")),
        task("3", TaskType.IMPL, create=("src/b.py",), modify=("src/c.py",), tests=("tests/test_b.py",)),
    ]
    demands = demands_of(tasks, red_tasks=[TaskId("1")], must_be_green=("x",), may_be_red=("x", "y"))
    assert demands.types == (TaskType.TEST, TaskType.IMPL)
    assert demands.must_be_red
    assert demands.green_files == ("tests/test_b.py",)
    assert demands.required_green == ("x",)
    assert demands.open_red == ("y",)
    assert demands.required_files == ("tests/test_a.py", "tests/test_b.py", "src/b.py")
    assert demands.declared == ("tests/test_a.py", "tests/test_b.py", "src/b.py", "src/c.py")
    assert not demands.tests_waived


def test_a_waiver_excuses_from_tests_only_if_all_that_needs_them_has_one() -> None:
    waived = Task(id=TaskId("1"), title="1", type=TaskType.IMPL, waiver="a script")
    assert demands_of([waived]).tests_waived
    assert not demands_of([waived, task("2", TaskType.IMPL)]).tests_waived
    assert not demands_of([waived, task("2", TaskType.TEST)]).tests_waived


def of(*messages: str) -> str:
    problems = tuple(Problem(ProblemCode.REGRESSION, message) for message in messages)
    return feedback(Verdict(passed=not problems, problems=problems))


def test_a_developer_is_told_every_problem_in_full() -> None:
    assert of("a fails:\nassert 1 == 2", "b fails.") == (
        "The executed checks do not accept this work:\n\n"
        "1. regression: a fails:\nassert 1 == 2\n\n"
        "2. regression: b fails.\n"
    )


def test_nothing_is_said_of_a_verdict_without_problems() -> None:
    assert not of()


def test_what_does_not_fit_is_counted() -> None:
    text = of("a" * 15_000, "b" * 15_000, "c")
    assert "a" * 15_000 in text
    assert "bbb" not in text
    assert "2 more problems are not shown here." in text


def test_one_problem_too_long_for_all_room_is_cut() -> None:
    text = of("a" * 50_000, "b")
    assert len(text) < 21_000
    assert "[cut]" in text
    assert "1 more problems" in text
