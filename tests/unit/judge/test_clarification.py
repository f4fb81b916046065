"""What a developer asks, as a person is asked it."""

from datetime import UTC, datetime

import pytest

from amelia.judge.answers import Clarification, Report, read_report
from amelia.judge.clarification import question_of
from amelia.model.questions import Question

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("asked", [None, Clarification(""), Clarification("  \n")])
def test_nothing_asked_is_no_question(asked: Clarification | None) -> None:
    assert question_of(asked, NOW) is None


def test_a_question_has_its_options_once_its_default_and_a_moment() -> None:
    asked = Clarification(" Which? ", ("a", " b ", "a", ""), "b", 30)
    assert question_of(asked, NOW) == Question(
        text="Which?", options=("a", "b"), default="b", deadline="2026-11-02T12:30:00+00:00"
    )


def test_a_default_that_is_not_offered_does_not_count_unless_nothing_is() -> None:
    offered, free = (question_of(Clarification("Which?", options, "c"), NOW) for options in (("a",), ()))
    assert offered is not None
    assert free is not None
    assert (offered.default, free.default) == (None, "c")


@pytest.mark.parametrize(("minutes", "deadline"), [(-5, "2026-11-02T12:00"), (10**9, "2026-11-09T12:00")])
def test_a_deadline_is_neither_past_nor_far(minutes: int, deadline: str) -> None:
    question = question_of(Clarification("Which?", deadline_minutes=minutes), NOW)
    assert question is not None
    assert (question.deadline or "").startswith(deadline)


def test_a_question_is_bounded() -> None:
    question = question_of(Clarification("x" * 10_000, tuple(f"{n}" * 300 for n in range(20))), NOW)
    assert question is not None
    assert len(question.text) == 4000
    assert len(question.options) == 9
    assert all(len(option) <= 200 for option in question.options)


def test_a_report_may_ask_or_not() -> None:
    assert isinstance(read_report({"status": "completed", "needs_clarification": None}), Report)
    asked = read_report({"status": "partial", "needs_clarification": {"question": "Which?"}})
    assert isinstance(asked, Report)
    assert asked.needs_clarification == Clarification("Which?")
