from typing import Any
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from amelia.land.message import is_landed, read_trailers, sealed, trailers, unit_message
from amelia.model.commands import Place
from amelia.model.git import CommitId
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId


def unit(title: str, *tasks: str, name: str = "phase-2") -> Unit:
    pieces = tuple(Task(id=TaskId(str(at)), title=task) for at, task in enumerate(tasks, start=1))
    return Unit(UnitId(name), title, tuple(piece.id for piece in pieces), (), 1, pieces)


def place(name: str = "phase-2", *, turn: int = 1, **more: Any) -> Place:
    return Place(unit("Core", name=name), lane=1, attempt=turn, base=CommitId("b" * 40), **more)


MARKS = trailers(run="r1", at=place())


def test_a_phase_lists_its_tasks() -> None:
    text = unit_message(
        unit("Core", "Write tests", "Make them pass"), mode=Mode.PHASED, goal="g", marks=MARKS
    )
    assert text == (
        "Phase 2: Core\n"
        "\n"
        "- Write tests\n"
        "- Make them pass\n"
        "\n"
        "Amelia-Run: r1\n"
        "Amelia-Unit: phase-2\n"
        "Amelia-Attempt: 1\n"
        "Amelia-Turn: 1\n"
    )


def test_a_single_task_needs_no_list() -> None:
    text = unit_message(unit("Login", "Login", name="T-3"), mode=Mode.TASKS, goal="g", marks=MARKS)
    assert text.startswith("Task T-3: Login\n\nAmelia-Run: r1\n")
    assert (
        unit_message(unit("Login", "Login", name="T-3"), mode=Mode.LIFECYCLE, goal="g", marks=MARKS) == text
    )


def test_a_whole_plan_is_named_by_its_goal() -> None:
    goal = unit_message(unit("Plan", "a"), mode=Mode.SINGLE, goal="Build it", marks=MARKS)
    assert goal.startswith("Build it\n\nAmelia-Run")
    title = unit_message(unit("Plan", "a"), mode=Mode.SINGLE, goal="", marks=MARKS)
    assert title.startswith("Plan\n\nAmelia-Run")


def test_a_title_without_anything_to_show_is_untitled() -> None:
    text = unit_message(unit("\x1b\u202e", "\n"), mode=Mode.SINGLE, goal="", marks=MARKS)
    assert text.startswith("Untitled\n\n")


def test_a_long_list_is_cut() -> None:
    text = unit_message(unit("Core", *["x"] * 150), mode=Mode.PHASED, goal="", marks=MARKS)
    assert text.count("\n- x\n") + text.count("\n- x") >= 100
    assert "- and 50 more\n" in text


def test_a_long_title_is_cut_at_the_end_of_the_line() -> None:
    first = unit_message(unit("word " * 100), mode=Mode.PHASED, goal="", marks=MARKS).splitlines()[0]
    assert len(first) <= 100
    assert first.startswith("Phase 2: word word")
    assert first[-1] == "…"


def test_names_of_units_are_one_word() -> None:
    marks = trailers(run="r", at=place("a\nAmelia-Run: forged", turn=2))
    assert marks["Amelia-Unit"] == "a%0AAmelia-Run%3A%20forged"


def test_what_a_hook_added_to_the_trailers_stays() -> None:
    text = sealed("Subject", MARKS) + "Change-Id: I1\n\n"
    assert sealed(text, MARKS) == text.rstrip() + "\n"
    assert read_trailers(text)["Change-Id"] == "I1"


def test_trailers_that_a_hook_dropped_or_changed_are_there_again() -> None:
    assert read_trailers(sealed("Subject\n\nBody", MARKS)) == MARKS
    other = sealed("Subject", trailers(run="r2", at=place("x", turn=9)))
    assert read_trailers(sealed(other, MARKS)) == MARKS


def test_a_first_paragraph_holds_no_trailers() -> None:
    assert read_trailers("Amelia-Run: r1") == {}
    assert read_trailers("Amelia-Run: r1\n\n") == {}


@given(title=st.text(), tasks=st.lists(st.text()), goal=st.text(), mode=st.sampled_from(Mode))
def test_no_title_can_forge_a_trailer_or_break_the_form(
    title: str, tasks: list[str], goal: str, mode: Mode
) -> None:
    text = unit_message(unit(title, *tasks), mode=mode, goal=goal, marks=MARKS)
    subject, blank, *rest = text.split("\n")
    assert 0 < len(subject) <= 100
    assert not blank
    assert not {category(char) for char in text.replace("\n", "")} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert read_trailers(text) == MARKS
    assert sum(line.startswith("Amelia-Run:") for line in rest) == 1
    assert all(len(line) <= 202 for line in rest)
    assert text.encode()


@given(text=st.text())
def test_a_sealed_text_stays_as_it_is(text: str) -> None:
    once = sealed(text, MARKS)
    assert sealed(once, MARKS) == once


def test_attempt_and_turn_are_two_numbers_and_work_by_hand_says_so() -> None:
    marks = trailers(run="r1", at=place(turn=5, number=2, by_person=True))
    assert (marks["Amelia-Attempt"], marks["Amelia-Turn"]) == ("2", "5")
    assert (marks["Amelia-Fixed-By"], marks["Amelia-Reviewed"]) == ("person", "no")
    assert "Amelia-Fixed-By" not in MARKS


def test_a_landed_commit_is_found_by_its_turn_also_one_from_before_turns_had_a_trailer() -> None:
    text = sealed("Subject", trailers(run="r1", at=place(turn=5, number=2)))
    assert is_landed(text, run="r1", at=place(turn=5, number=3))
    assert not is_landed(text, run="r1", at=place(turn=2))
    old = "Subject\n\nAmelia-Run: r1\nAmelia-Unit: phase-2\nAmelia-Attempt: 5\n"
    assert is_landed(old, run="r1", at=place(turn=5, number=2))
    assert not is_landed(old, run="r1", at=place(turn=2, number=5))
    assert not is_landed("Subject", run="r1", at=place())
