"""What a pull request says of a run."""

from amelia.context.letter import letter_body, letter_title, one_line
from amelia.model import events as ev
from amelia.model.findings import Disposition, Ruling
from amelia.model.outcome import Result
from amelia.model.plan import UnitId
from runs import BASE, chain, finding, work


def test_it_tells_what_landed_what_was_executed_and_what_was_left_out() -> None:
    late, wrong = finding("Later, please."), finding("Wrong.")
    story = chain(2).start("1").write("1").verify("1").review("1", late, wrong)
    rulings = Ruling(late.id, Disposition.DEFER, "Not now."), Ruling(wrong.id, Disposition.REJECT)
    story.rule("1", *rulings).land("1")
    story.tell(ev.UnitSkipped(UnitId("2"), satisfies=True)).end(Result.COMPLETED)
    body = letter_body(story.run)
    assert "- Task 1: Work of 1 (31" in body
    assert "- Task 2: Work of 2: skipped" in body
    assert "passes `python -m pytest`" in body
    assert "\n- defer: a.py:3: Later, please. (Not now.)\n- reject: a.py:3: Wrong.\n" in body
    assert body.count("Findings of the review that were not implemented:") == 1
    assert "Run `demo`." in body
    assert letter_title(story.run) == "Build the API"


def test_it_says_which_work_a_person_did_by_hand() -> None:
    one = UnitId("1")
    story = chain(1).start("1").fail("1").tell(ev.UnitFixed(one, work("fix")), ev.UnitStarted(one, 1, BASE))
    assert "): done by hand, not reviewed\n" in letter_body(story.verify("1").land("1").run)


def test_it_says_when_nothing_was_executed() -> None:
    story = chain(1, test_command=None, goal="").start("1")
    assert "Nothing was executed" in letter_body(story.run)
    assert "Task 1" not in letter_body(story.run)
    assert letter_title(story.run) == "Run demo"


def test_it_says_which_tests_are_still_red_and_how_many_units_are_not_named() -> None:
    story = chain(201).start("1").write("1").verify("1", red=("t",)).review("1").land("1")
    body = letter_body(story.run)
    assert "- and 1 more" in body
    assert "1 tests are still red" in body


def test_a_line_is_one_line_and_starts_no_block() -> None:
    assert one_line("## a\n- b\x1b[31m") == "a - b[31m"
    assert one_line("x" * 20, 10) == "x" * 9 + "…"
