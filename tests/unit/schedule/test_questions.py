"""A unit that asks a person: how it waits, what an answer leads to, and when the default counts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending, SessionId
from amelia.model.errors import InternalError
from amelia.model.findings import Disposition, Ruling
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode, TaskId, UnitId
from amelia.model.policy import POLICIES, OnFailure
from amelia.model.questions import LEAVE_IT, Answered, Question
from amelia.model.state import Landing, Parked
from amelia.schedule.machine import fold
from amelia.schedule.questions import awaits_default, overdue
from unit.schedule.worlds import BASE, Story, facts, finding, rulings, unit, with_policy, work_of

A = UnitId("a")
NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
WHICH = Question(text="Which one?", options=("this", "that"), default="this")
LEAKS, NAMING = finding("leaks"), finding("naming")


def in_mode(mode: Mode, **changes: int) -> Story:
    return Story(facts(unit("a"), unit("b", "a"), mode=mode, policy=with_policy(POLICIES[mode], **changes)))


def asks(story: Story, question: Question = WHICH, *finished: str) -> Story:
    attempt = story.attempt("a")
    return story.hears(
        ev.AttemptEnded(
            unit=A,
            attempt=attempt,
            ending=Ending.OK,
            work=work_of(A, attempt),
            session=SessionId(f"a:{attempt}"),
            question=question,
            finished=tuple(TaskId(task) for task in finished),
        )
    )


def asked(story: Story) -> Question:
    state = story["a"]
    assert isinstance(state, Parked)
    assert state.asking is not None
    return state.asking.question


@pytest.mark.parametrize("mode", Mode)
def test_a_question_of_the_developer_waits_for_a_person_and_nothing_of_the_turn_is_judged(mode: Mode) -> None:
    story = asks(in_mode(mode))
    assert asked(story) == WHICH
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.QUESTION)
    assert story.steps("a", ev.Step.VERIFY) == 0


@pytest.mark.parametrize("mode", Mode)
def test_an_answer_goes_to_the_session_that_asked_on_the_work_as_it_is_and_costs_no_attempt(
    mode: Mode,
) -> None:
    story = asks(in_mode(mode), WHICH, "a").hears(ev.QuestionAnswered(A, "that"))
    turn = story.turns("a")[-1]
    assert (turn.at.attempt, turn.session, turn.start) == (2, "a:1", work_of(A, 1).commit)
    assert turn.is_answer
    assert turn.answers == (Answered("Which one?", "that"),)
    assert turn.finished == ("a",)
    state = story["a"]
    assert not isinstance(state, Parked)
    assert story.run.outcome is None
    story.finishes("a", "b").hears(ev.BranchVerified(passed=True))
    assert story.run.outcome == Outcome(Result.COMPLETED)


def test_an_answer_leaves_all_attempts() -> None:
    story = asks(in_mode(Mode.PHASED)).hears(ev.QuestionAnswered(A, "that"))
    story.drives("a").verifies("a", passed=False)
    assert not isinstance(story["a"], Parked)
    turn = story.turns("a")[-1]
    assert (turn.start, turn.session, turn.is_answer) == (BASE, None, False)
    assert turn.answers == (Answered("Which one?", "that"),)
    story.drives("a").verifies("a", passed=False)
    assert isinstance(story["a"], Parked)


def test_a_session_that_is_known_in_another_lane_is_not_gone_on_with() -> None:
    policy = with_policy(POLICIES[Mode.LIFECYCLE], workers=2)
    story = asks(Story(facts(unit("a"), unit("b"), unit("c"), policy=policy)))
    story.finishes("b")
    assert story.turns("c")[0].at.lane == 1
    story.hears(ev.QuestionAnswered(A, "that"))
    turn = story.turns("a")[-1]
    assert (turn.at.lane, turn.session, turn.start) == (2, None, work_of(A, 1).commit)
    assert turn.answers


def test_what_a_person_said_is_known_after_a_reset_too() -> None:
    story = asks(in_mode(Mode.PHASED)).hears(ev.QuestionAnswered(A, "that"))
    story.drives("a", Ending.FAILED).drives("a", Ending.FAILED)
    assert isinstance(story["a"], Parked)
    story.hears(ev.UnitReset(A))
    assert story.turns("a")[-1].answers == (Answered("Which one?", "that"),)


def test_a_turn_cut_off_after_an_answer_goes_on_as_any_other() -> None:
    story = asks(in_mode(Mode.TASKS)).hears(ev.QuestionAnswered(A, "that"))
    story.drives("a", Ending.OUT_OF_BUDGET)
    assert (story.turns("a")[-1].is_again, story.turns("a")[-1].is_answer) == (True, False)


def test_questions_are_bounded_and_a_reset_gives_them_back() -> None:
    story = in_mode(Mode.TASKS)
    for _ in range(POLICIES[Mode.TASKS].questions):
        asks(story).hears(ev.QuestionAnswered(A, "that"))
    asks(story)
    state = story["a"]
    assert isinstance(state, Parked)
    assert (state.reason, state.asking) == (Reason.QUESTION_LIMIT, None)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.QUESTION_LIMIT)
    with pytest.raises(InternalError):
        story.hears(ev.QuestionAnswered(A, "that"))
    asks(story.hears(ev.UnitReset(A)))
    assert asked(story) == WHICH


def unclear(*ruled: Ruling) -> Story:
    story = in_mode(Mode.TASKS).drives("a").verifies("a", red=("red",)).rejects("a", LEAKS, NAMING)
    return story.rules("a", *ruled)


def test_findings_that_only_a_person_can_rule_are_a_question_with_two_answers() -> None:
    story = unclear(*rulings(Disposition.IMPLEMENT, LEAKS), *rulings(Disposition.CLARIFY, NAMING))
    question = asked(story)
    assert question.text == "- a.py:1: naming"
    assert question.options == ("do it", "leave it")
    assert question.about == (NAMING.id,)


def test_an_answer_to_a_finding_goes_to_the_developer_with_all_that_is_open() -> None:
    story = unclear(*rulings(Disposition.IMPLEMENT, LEAKS), *rulings(Disposition.CLARIFY, NAMING))
    turn = story.hears(ev.QuestionAnswered(A, "call it b")).turns("a")[-1]
    assert (turn.session, turn.feedback) == ("a:1", "- a.py:1: leaks\n- a.py:1: naming")
    assert turn.answers[-1].answer == "call it b"


def test_a_finding_that_a_person_leaves_does_not_come_back_and_is_in_the_report() -> None:
    story = unclear(*rulings(Disposition.IMPLEMENT, LEAKS), *rulings(Disposition.CLARIFY, NAMING))
    story.hears(ev.QuestionAnswered(A, LEAVE_IT, dismissed=(NAMING.id,)))
    assert story.turns("a")[-1].feedback == "- a.py:1: leaks"
    assert [(found, ruling.disposition) for _, found, ruling in story.run.rulings] == [
        (NAMING, Disposition.REJECT)
    ]
    story.drives("a").verifies("a").rejects("a", NAMING)
    assert isinstance(story["a"], Landing)


def test_work_of_which_a_person_leaves_every_finding_is_accepted_as_it_was_reviewed() -> None:
    story = unclear(*rulings(Disposition.CLARIFY, LEAKS, NAMING))
    story.hears(ev.QuestionAnswered(A, LEAVE_IT, dismissed=(LEAKS.id, NAMING.id)))
    state = story["a"]
    assert isinstance(state, Landing)
    assert (state.work, state.red) == (work_of(A, 1), ("red",))
    story.lands("a")
    assert story.run.red == {"a": ("red",)}
    assert fold(story.journal) == story.run


def test_a_unit_that_asked_nothing_cannot_be_answered() -> None:
    story = in_mode(Mode.TASKS).breaks("a", ev.Step.DRIVE)
    with pytest.raises(InternalError):
        story.hears(ev.QuestionAnswered(A, "that"))


def test_a_question_keeps_nothing_independent_from_going_on_where_failures_do_not() -> None:
    policy = with_policy(POLICIES[Mode.LIFECYCLE])
    assert policy.on_failure is OnFailure.CONTINUE
    story = asks(Story(facts(unit("a"), unit("b"), policy=policy)))
    assert story.turns("b")


@pytest.mark.parametrize(
    ("default", "deadline", "is_late"),
    [
        ("this", NOW, True),
        ("this", NOW + timedelta(seconds=1), False),
        ("this", None, False),
        (None, NOW, False),
    ],
)
def test_the_default_counts_once_the_deadline_has_passed(
    default: str | None, deadline: datetime | None, *, is_late: bool
) -> None:
    until = None if deadline is None else deadline.isoformat()
    story = asks(in_mode(Mode.TASKS), Question(text="?", default=default, deadline=until))
    late = list(overdue(story.run, NOW))
    assert late == ([ev.QuestionAnswered(A, "this", by_default=True)] if is_late else [])


def test_a_run_that_is_over_answers_nothing() -> None:
    story = asks(in_mode(Mode.TASKS), Question(text="?", default="this", deadline=NOW.isoformat()))
    assert not list(overdue(story.hears(ev.AbortRequested()).run, NOW))


def test_a_run_goes_on_by_itself_only_if_a_question_has_a_default_and_a_deadline() -> None:
    timed = asks(in_mode(Mode.TASKS), Question(text="?", default="this", deadline=NOW.isoformat()))
    assert awaits_default(timed.run)
    assert not awaits_default(asks(in_mode(Mode.TASKS), WHICH).run)
    assert not awaits_default(in_mode(Mode.TASKS).run)
    assert not awaits_default(replace(timed.run, is_paused=True))
    assert not awaits_default(timed.hears(ev.AbortRequested()).run)


def test_a_question_about_findings_says_why_the_evaluator_asks_it_and_keeps_the_words_it_was_asked_in() -> (
    None
):
    story = unclear(
        Ruling(LEAKS.id, Disposition.CLARIFY, "Who  knows\nwhere?"), Ruling(NAMING.id, Disposition.CLARIFY)
    )
    assert asked(story).text == f"- {LEAKS}\n  The evaluator says: Who knows where?\n- {NAMING}"
    old = replace(asked(story), text="in the words of an older version")
    parked = next(event for event in story.journal if isinstance(event, ev.UnitParked))
    then = replace(parked, question=old, detail=old.text)
    journal = [then if event is parked else event for event in story.journal]
    state = fold(journal).units[A]
    assert isinstance(state, Parked)
    assert state.asking is not None
    assert (state.asking.question, state.feedback) == (old, old.text)
