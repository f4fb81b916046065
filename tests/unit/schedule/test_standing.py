"""Where a run stands in words and numbers: one status for a unit, and attempts, iterations and turns apart."""

from dataclasses import replace
from typing import Any

import pytest

from amelia.model import events as ev
from amelia.model.agents import Allowance, Ending, Role, Usage
from amelia.model.commands import Place, StartTurn
from amelia.model.interventions import Accepted
from amelia.model.outcome import Cause, Reason, Result
from amelia.model.plan import Milestone, Mode, TaskId, TaskStatus, UnitId
from amelia.model.policy import BUDGET, POLICIES, Budget, SessionScope
from amelia.model.questions import Question
from amelia.model.standing import Counters, UnitStanding, UnitStatus, by_hand
from amelia.schedule.decide import opening
from amelia.schedule.standing import (
    blocked_units,
    get_task_summary,
    run_standing,
    run_status,
    task_standings,
    unit_status,
)
from runs import BASE, Story, chain, four_phases, started, task, unit, work

ONE, TWO = UnitId("1"), UnitId("2")
PHASE = UnitId("phase-1")
WHICH = Question(text="Which?")


def standing(story: Story, name: str = "1") -> UnitStanding:
    return run_standing(story.run).units[UnitId(name)]


def numbers(story: Story, name: str = "1") -> tuple[int, int, int]:
    counters = standing(story, name).counters
    return counters.attempts, counters.iterations, counters.turns


def red(story: Story, name: str = "1") -> Story:
    return story.write(name).verify(name, passed=False, feedback="red")


def iterate(story: Story, turn: int, iteration: int) -> Story:
    start = work(f"1{turn - 1}").commit
    return story.tell(ev.UnitIterated(ONE, turn, iteration, start)).drive("1")


def ask(story: Story, name: str = "1", **more: Any) -> Story:
    story.write(name, question=WHICH, **more)
    return story.tell(ev.UnitParked(UnitId(name), Reason.QUESTION, "Which?", WHICH))


def test_nothing_was_tried_before_the_first_turn() -> None:
    assert standing(chain(1)).counters == Counters()
    assert numbers(chain(1).start("1")) == (1, 1, 1)


def test_iterations_are_rounds_of_one_attempt() -> None:
    story = iterate(red(chain(1, mode=Mode.LIFECYCLE).start("1")), 2, 2)
    assert numbers(story) == (1, 2, 2)
    assert standing(story).status is UnitStatus.RUNNING
    red(story).retry("1")
    assert numbers(story) == (2, 1, 3)
    assert standing(story).status is UnitStatus.RETRYING
    assert numbers(story.finish_unit("1")) == (2, 1, 3)
    assert standing(story).counters.failed == 1


def test_an_attempt_that_failed_is_counted_once_also_when_it_was_the_last() -> None:
    story = red(chain(1).start("1")).retry("1").fail("1")
    assert standing(story).counters == Counters(attempts=2, failed=2, iterations=1, turns=2)


def test_an_answer_is_a_turn_but_no_attempt() -> None:
    story = ask(chain(1).start("1"))
    assert (numbers(story), standing(story).status) == ((1, 1, 1), UnitStatus.ASKING)
    story.tell(ev.QuestionAnswered(ONE, "this"))
    assert (numbers(story), standing(story).status) == ((1, 1, 1), UnitStatus.PENDING)
    story.start("1")
    assert (numbers(story), standing(story).status) == ((1, 1, 2), UnitStatus.RUNNING)


def test_an_answer_in_a_later_attempt_goes_on_with_it() -> None:
    story = ask(red(chain(1).start("1")).retry("1")).tell(ev.QuestionAnswered(ONE, "this"))
    assert (numbers(story), standing(story).status) == ((2, 1, 2), UnitStatus.RETRYING)


def test_a_landing_that_does_not_fit_is_no_attempt_against_the_limit() -> None:
    story = chain(1).start("1").write("1").verify("1").review("1").step("1", ev.Step.LAND)
    story.tell(ev.LandingRefused(ONE, 1, Cause.CONFLICT, "a.py")).retry("1", Cause.CONFLICT)
    assert numbers(story) == (1, 1, 2)


def test_a_person_resets_attempts_and_the_unit_is_retrying_from_then_on() -> None:
    story = red(chain(1).start("1")).retry("1").fail("1").tell(ev.UnitReset(ONE))
    assert (numbers(story), standing(story).status) == ((0, 0, 2), UnitStatus.RETRYING)
    assert standing(story).task_status is TaskStatus.PENDING
    story.start("1")
    assert (numbers(story), standing(story).status) == ((1, 1, 3), UnitStatus.RETRYING)


def test_a_fix_by_hand_is_no_attempt() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitFixed(ONE, work("fix")))
    assert (numbers(story), standing(story).by_person) == ((1, 1, 1), True)
    story.tell(ev.UnitStarted(ONE, 1, BASE)).verify("1", passed=False).park("1", Reason.FIX_REFUSED)
    assert (numbers(story), standing(story).by_person) == ((1, 1, 1), True)
    story.tell(ev.UnitFixed(ONE, work("fix")), ev.UnitStarted(ONE, 1, BASE)).verify("1").land("1")
    assert (numbers(story), standing(story).by_person) == ((1, 1, 1), True)
    assert not standing(chain(1).whole("1")).by_person


def test_a_skipped_unit_keeps_its_numbers() -> None:
    skip = ev.UnitSkipped(ONE, satisfies=False)
    story = chain(1).start("1").fail("1").tell(skip)
    assert (numbers(story), standing(story).status) == ((1, 1, 1), UnitStatus.SKIPPED)
    assert numbers(story.tell(ev.UnitSkipped(ONE, satisfies=True))) == (1, 1, 1)
    assert numbers(chain(1).tell(skip)) == (0, 0, 0)


def test_a_unit_says_why_it_waits_for_a_person_and_who_blocks_another() -> None:
    story = chain(3).start("1").fail("1")
    first, _, last = run_standing(story.run).units.values()
    assert (first.status, first.reason, first.detail) == (
        UnitStatus.FAILED,
        Reason.VERIFY_LIMIT,
        "2 tests fail",
    )
    assert (last.status, last.reason, last.blocked_by) == (UnitStatus.BLOCKED, None, ("1",))


def test_a_unit_rests_while_an_agents_limit_is_waited_out() -> None:
    story = chain(1).start("1").write("1", Ending.LIMITED, until="2026-11-02T14:00:00+00:00")
    assert standing(story).status is UnitStatus.RESTING


def test_a_unit_is_held_for_want_of_budget_once_it_has_begun() -> None:
    budget = Budget(unit=Allowance(cost=1.0), run=BUDGET.run)
    story = chain(2, budget=budget).start("1")
    used = ev.UsageReported(unit=ONE, attempt=1, role=Role.DEVELOPER, session=None, usage=Usage(1, 1, 2.0))
    story.tell(used).write("1", Ending.OUT_OF_BUDGET).tell(ev.UnitHeld(ONE))
    assert standing(story).status is UnitStatus.HELD
    assert standing(story, "2").status is UnitStatus.PENDING


def test_whatever_was_under_way_when_the_run_stopped_is_stopped() -> None:
    paused = chain(2).start("1").tell(ev.PauseRequested(), ev.RunPaused())
    for story in (paused, chain(2).start("1").tell(ev.CancelRequested()).end(Result.CANCELLED)):
        assert standing(story).status is UnitStatus.STOPPED
        assert standing(story).task_status is TaskStatus.PENDING
        assert standing(story, "2").status is UnitStatus.PENDING
    again = chain(1).start("1").fail("1").tell(ev.UnitReset(ONE), ev.PauseRequested(), ev.RunPaused())
    assert standing(again).status is UnitStatus.STOPPED


def test_a_run_has_a_status_of_its_own() -> None:
    story = chain(1)
    assert run_status(story.run) == run_standing(story.run).in_words == "running"
    assert run_status(story.tell(ev.PauseRequested(), ev.RunPaused()).run) == "paused"
    story.tell(ev.RunResumed(1)).end(Result.HALTED, Reason.BUDGET)
    assert run_status(story.run) == "halted(budget)"
    assert run_standing(story.run).in_words == "halted: the budget is used up"


def test_nobody_is_blocked_while_nothing_failed() -> None:
    assert blocked_units(chain(3).whole("1").run) == {}
    assert unit_status(chain(1).run, ONE, {}) is UnitStatus.PENDING


def test_tasks_of_a_phase_are_as_far_as_the_present_turn_reports() -> None:
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(PHASE, TaskId("1"), 1))
    assert standing(story, "phase-1").subtasks == {"1": "completed", "2": "running"}
    assert standing(story, "phase-2").subtasks == {"3": "pending", "4": "pending"}
    red(story, "phase-1")
    story.tell(ev.UnitRetried(PHASE, 2, Cause.CHECKS_FAILED, base=BASE, start=BASE))
    assert standing(story, "phase-1").subtasks == {"1": "pending", "2": "pending"}
    story.drive("phase-1").tell(ev.SubtaskFailed(PHASE, TaskId("2"), 2))
    assert standing(story, "phase-1").subtasks == {"1": "running", "2": "failed"}
    story.tell(ev.SubtaskCompleted(PHASE, TaskId("1"), 2)).write("phase-1", Ending.FAILED)
    story.park("phase-1", Reason.AGENT_LIMIT)
    assert standing(story, "phase-1").subtasks == {"1": "completed", "2": "failed"}


def test_tasks_of_a_phase_that_landed_or_was_skipped_are_what_it_is() -> None:
    assert set(standing(four_phases().whole("phase-1"), "phase-1").subtasks.values()) == {"completed"}
    skipped = four_phases().tell(ev.UnitSkipped(PHASE, satisfies=True))
    assert set(standing(skipped, "phase-1").subtasks.values()) == {"skipped"}


def test_a_task_that_a_turn_ended_well_without_a_word_of_is_not_reported() -> None:
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(PHASE, TaskId("1"), 1))
    assert standing(story, "phase-1").unreported == ()
    story.tell(ev.AttemptEnded(unit=PHASE, attempt=1, ending=Ending.OK, work=work("w")))
    assert standing(story, "phase-1").unreported == ("2",)
    story.verify("phase-1").review("phase-1").land("phase-1")
    assert standing(story, "phase-1").unreported == ("2",)
    assert standing(four_phases().whole("phase-1"), "phase-1").unreported == ()


def test_a_task_that_a_turn_asks_about_or_a_person_did_owes_no_report() -> None:
    story = four_phases().start("phase-1")
    story.tell(
        ev.AttemptEnded(unit=PHASE, attempt=1, ending=Ending.OK, work=work("w"), question=WHICH),
        ev.UnitParked(PHASE, Reason.QUESTION, "Which?", WHICH),
    )
    assert standing(story, "phase-1").unreported == ()
    story.tell(ev.UnitFixed(PHASE, work("fix")), ev.UnitStarted(PHASE, 1, BASE))
    assert (standing(story, "phase-1").by_person, standing(story, "phase-1").unreported) == (True, ())


def test_what_was_done_of_a_phase_before_its_question_stays_done() -> None:
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(PHASE, TaskId("1"), 1))
    ending = {"ending": Ending.FAILED, "finished": (TaskId("1"),)}
    ask(story, "phase-1", **ending)
    assert standing(story, "phase-1").subtasks == {"1": "completed", "2": "asking"}
    story.tell(ev.QuestionAnswered(PHASE, "this"))
    assert standing(story, "phase-1").subtasks == {"1": "completed", "2": "pending"}


def test_what_is_said_of_a_task_after_its_turn_changes_nothing() -> None:
    story = four_phases().start("phase-1").write("phase-1").tell(ev.SubtaskFailed(PHASE, TaskId("1"), 1))
    assert standing(story, "phase-1").subtasks[TaskId("1")] == "completed"


def test_in_other_modes_a_task_is_where_its_unit_is() -> None:
    assert standing(chain(1).start("1")).subtasks == {"1": "running"}


def split_task() -> Story:
    pieces = [unit("T-a", task("T-a")), unit("T-b", task("T-b"), after=["T-a"], group=2)]
    return Story(started(*(replace(each, tasks=(TaskId("T"),)) for each in pieces), mode=Mode.LIFECYCLE))


@pytest.mark.parametrize(
    ("story", "status"),
    [
        (split_task(), TaskStatus.PENDING),
        (split_task().whole("T-a"), TaskStatus.IN_PROGRESS),
        (split_task().whole("T-a", "T-b"), TaskStatus.COMPLETED),
        (split_task().start("T-a").fail("T-a"), TaskStatus.FAILED),
        (split_task().tell(ev.UnitSkipped(UnitId("T-a"), satisfies=False)), TaskStatus.BLOCKED),
        (
            split_task().whole("T-a").tell(ev.UnitSkipped(UnitId("T-b"), satisfies=True)),
            TaskStatus.SKIPPED,
        ),
    ],
)
def test_a_split_task_is_as_far_as_all_its_pieces(story: Story, status: TaskStatus) -> None:
    [(name, found)] = task_standings(story.run, run_standing(story.run).units).items()
    assert (name, found.status, [each.id for each in found.units]) == ("T", status, ["T-a", "T-b"])


@pytest.mark.rows("L31")
def test_the_summary_lists_tasks_by_status() -> None:
    statuses = dict(zip(map(TaskId, "ABCDEF"), [*TaskStatus], strict=True))
    assert get_task_summary(statuses) == {
        "total": 6,
        "pending": ["A"],
        "in_progress": ["B"],
        "completed": ["C"],
        "failed": ["D"],
        "blocked": ["E"],
        "skipped": ["F"],
        "current_task_id": "B",
    }
    assert get_task_summary({})["current_task_id"] is None


@pytest.mark.rows("L28")
def test_milestones_are_as_far_as_their_tasks() -> None:
    stones = (
        Milestone("M1", "Core", "", (TaskId("0"), TaskId("1")), TaskStatus.PENDING),
        Milestone("M2", "Rest", "", (TaskId("2"),), TaskStatus.PENDING),
    )
    story = chain(2, milestones=stones)
    assert [(each.status, each.done) for each in run_standing(story.run).milestones] == [
        (TaskStatus.IN_PROGRESS, 1),
        (TaskStatus.PENDING, 0),
    ]
    story.whole("1").start("2").fail("2")
    assert [(each.status, each.done) for each in run_standing(story.run).milestones] == [
        (TaskStatus.COMPLETED, 2),
        (TaskStatus.FAILED, 0),
    ]


@pytest.mark.rows("L28")
@pytest.mark.parametrize("named", ["1", "1-a"])
def test_a_task_of_a_milestone_that_was_split_is_done_with_all_its_pieces(named: str) -> None:
    stone = Milestone("M1", "Core", "", (TaskId(named),), TaskStatus.PENDING)
    story = chain(1, mode=Mode.LIFECYCLE, milestones=(stone,)).start("1").fail("1")
    pieces = (unit("1-a-a"), unit("1-a-b", after=["1-a-a"]))
    story.tell(ev.UnitSplit(ONE, tuple(replace(piece, tasks=(TaskId("1"),)) for piece in pieces)))
    seen = [run_standing(story.run).milestones]
    seen += [run_standing(story.whole(name).run).milestones for name in ("1-a-a", "1-a-b")]
    assert [(each.status, each.done) for (each,) in seen] == [
        (TaskStatus.PENDING, 0),
        (TaskStatus.IN_PROGRESS, 0),
        (TaskStatus.COMPLETED, 1),
    ]


@pytest.mark.parametrize(
    ("accepted", "words"),
    [
        ((), "done by hand, not reviewed"),
        ((Accepted.MISSING_FILES,), "done by hand, not reviewed; declared files are missing"),
        (
            (Accepted.UNCHANGED,),
            "accepted by hand as the agent left it, without an approving review",
        ),
    ],
)
def test_work_by_hand_says_what_nobody_looked_at(accepted: tuple[Accepted, ...], words: str) -> None:
    assert by_hand(accepted) == words


@pytest.mark.rows("D15")
def test_tasks_of_a_phase_begin_once_together_or_each_with_its_session() -> None:
    def begun(story: Story, **changes: Any) -> list[str]:
        place = Place(story.run.facts.units[0], lane=1, attempt=1, base=BASE)
        turn = StartTurn(place, start=BASE, session=None, feedback="", is_again=False, **changes)
        return [event.task for event in opening(story.run, turn) if isinstance(event, ev.SubtaskStarted)]

    assert begun(four_phases()) == ["1", "2"]
    assert begun(four_phases(), begun=(TaskId("1"),)) == ["2"]
    each = replace(POLICIES[Mode.PHASED], session_scope=SessionScope.SUBTASK)
    several, single = unit("phase-1", task("1"), task("2")), unit("phase-1", task("1"))
    assert begun(Story(started(several, mode=Mode.PHASED, policy=each))) == []
    assert begun(Story(started(single, mode=Mode.PHASED, policy=each))) == ["1"]
    assert begun(chain(1)) == []
