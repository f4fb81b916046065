"""What a journal becomes when it is to be played again."""

from dataclasses import replace

from amelia.app.replay.score import Cue, Reached, Resumed, Turn, playable, read_score
from amelia.model import events as ev
from amelia.model.agents import Allowance, Ending, Role, SessionId, Usage
from amelia.model.findings import Disposition, Finding, Ruling, Weight, finding_id
from amelia.model.outcome import Reason, Result
from amelia.model.plan import Mode, TaskId, UnitId
from amelia.model.policy import Budget
from runs import BASE, Story, commit, finding, started, task, unit, work

ONE = UnitId("1")


def story(*names: str) -> Story:
    return Story(started(*(unit(name) for name in names or ("1",)))).start("1")


def turns(told: Story) -> list[Turn]:
    return [cue for cue in read_score(told.records) if isinstance(cue, Turn)]


def others(told: Story) -> list[Cue]:
    return [cue for cue in read_score(told.records) if not isinstance(cue, Turn)]


def ended(ending: Ending, name: str = "w", until: str | None = None) -> ev.AttemptEnded:
    return ev.AttemptEnded(
        unit=ONE, attempt=1, ending=ending, work=work(name), summary="So it went.", until=until
    )


def used(role: Role, tokens: int) -> ev.UsageReported:
    usage = Usage(tokens, 1, 0.5)
    return ev.UsageReported(unit=ONE, attempt=1, role=role, session=SessionId("s"), usage=usage)


def under_review() -> Story:
    return story().write("1").verify("1").step("1", ev.Step.REVIEW)


def test_a_developers_turn_leads_from_what_it_started_from_to_what_it_left() -> None:
    (turn,) = turns(story().wait(9).tell(used(Role.DEVELOPER, 7), ended(Ending.OK)))
    assert turn == Turn(
        role=Role.DEVELOPER,
        unit=ONE,
        attempt=1,
        ending=Ending.OK,
        report={"status": "completed", "summary": "So it went."},
        usage=Usage(7, 1, 0.5),
        start=BASE,
        tree=work("w").tree,
        seconds=11.0,
    )


def test_an_agent_that_reported_nothing_reports_nothing_again() -> None:
    (turn,) = turns(story().tell(replace(ended(Ending.OK), reported=False)))
    assert (turn.ending, turn.report) == (Ending.NO_REPORT, None)


def test_an_agent_that_gave_up_reports_that_again() -> None:
    (turn,) = turns(story().tell(ended(Ending.FAILED)))
    assert turn.report == {"status": "failed", "summary": "So it went."}


def test_an_end_that_only_a_clock_could_bring_is_played_as_a_crash() -> None:
    for ending in (Ending.TIMED_OUT_SILENCE, Ending.KILLED, Ending.GARBAGE, Ending.CRASHED):
        (turn,) = turns(story().tell(ended(ending)))
        assert (turn.ending, turn.report, turn.said) == (Ending.CRASHED, None, "So it went.")


def test_limits_in_a_row_become_one_that_did_all_of_their_work() -> None:
    told = story()
    for name in ("first", "second"):
        told.tell(used(Role.DEVELOPER, 10), ended(Ending.LIMITED, name, until="2026-11-02T12:00:00+00:00"))
        told.step("1", ev.Step.REST).tell(ev.UnitRested(ONE)).start("1")
    told.tell(used(Role.DEVELOPER, 5), ended(Ending.OK, "third"))
    limited, done = turns(told)
    assert (limited.ending, limited.start, limited.tree) == (Ending.LIMITED, BASE, work("second").tree)
    assert limited.usage == Usage(20, 2, 1.0)
    assert (done.ending, done.start, done.usage) == (Ending.OK, commit("second"), Usage(5, 1, 0.5))


def test_a_turn_that_a_crash_cut_off_is_no_part_but_what_it_used_is() -> None:
    told = story().tell(used(Role.DEVELOPER, 10), ev.RunResumed(1)).drive("1")
    told.tell(used(Role.DEVELOPER, 5), ended(Ending.OK))
    (turn,) = turns(told)
    assert turn.usage == Usage(15, 2, 1.0)
    assert others(told) == []


def test_what_a_reviewer_found_is_found_again() -> None:
    minor = Finding(finding_id(None, "Nicer."), "Nicer.", weight=Weight.MINOR)
    told = under_review().tell(
        ev.AttemptReviewed(unit=ONE, attempt=1, approved=False, findings=(finding("Name it."), minor))
    )
    assert turns(told)[1].report == {
        "approved": False,
        "comments": [
            {"text": "Name it.", "severity": "blocking", "file": "a.py", "line": 3},
            {"text": "Nicer.", "severity": "minor"},
        ],
    }


def test_what_an_evaluator_ruled_is_ruled_again_by_number() -> None:
    found = (finding("One."), finding("Two."))
    told = under_review().tell(
        ev.AttemptReviewed(unit=ONE, attempt=1, approved=False, findings=found),
        ev.StepStarted(ONE, 1, ev.Step.EVALUATE),
        ev.FindingsEvaluated(
            unit=ONE,
            attempt=1,
            rulings=(
                Ruling(found[0].id, Disposition.REJECT, "No."),
                Ruling(found[1].id, Disposition.IMPLEMENT, "Yes."),
            ),
        ),
    )
    evaluator = turns(told)[2]
    assert evaluator.role is Role.EVALUATOR
    assert evaluator.report == {
        "items": [
            {"finding": 1, "disposition": "REJECT", "reason": "No."},
            {"finding": 2, "disposition": "IMPLEMENT", "reason": "Yes."},
        ]
    }


def test_reviewers_without_an_answer_late_ones_and_refused_ones_are_told_apart() -> None:
    told = under_review().tell(ev.ReviewFailed(unit=ONE, attempt=1, detail="Nothing came."))
    told.step("1", ev.Step.REVIEW).tell(ev.AnswerDelayed(ONE, 1, "2026-11-02T12:00:00+00:00"))
    told.step("1", ev.Step.REST).tell(ev.UnitRested(ONE), ev.UnitStarted(ONE, 1, BASE))
    told.step("1", ev.Step.REVIEW).tell(ev.StepBroke(ONE, ev.Step.REVIEW, "no", Reason.AUTH))
    _, failed, late, refused = turns(told)
    assert (failed.ending, failed.said) == (Ending.NO_REPORT, "Nothing came.")
    assert [turn.ending for turn in (late, refused)] == [Ending.LIMITED, Ending.AUTH]
    assert {turn.role for turn in (failed, late, refused)} == {Role.REVIEWER}


def test_a_step_that_broke_for_another_reason_is_nobodys_turn() -> None:
    told = story().tell(ev.StepBroke(ONE, ev.Step.DRIVE, "no room on the disk"))
    assert read_score(told.records) == []


def test_the_tasks_of_a_phase_are_reported_as_they_were() -> None:
    told = Story(started(unit("1", task("a"), task("b")), mode=Mode.PHASED)).start("1")
    told.tell(ev.SubtaskCompleted(ONE, TaskId("a"), 1), ev.SubtaskFailed(ONE, TaskId("b"), 1))
    (turn,) = turns(told.tell(ended(Ending.FAILED)))
    assert turn.report is not None
    assert turn.report["subtasks_completed"] == ["a"]
    assert turn.report["subtasks_failed"] == ["b"]


def test_wishes_stand_after_what_they_came_after() -> None:
    told = story("1", "2").tell(ended(Ending.OK), ev.PauseRequested(), ev.RunPaused(), ev.RunResumed(1))
    more = Budget(run=Allowance(cost=5.0))
    told.tell(ev.BudgetChanged(more), ev.UnitSkipped(UnitId("2"), satisfies=True))
    assert others(told) == [ev.BudgetChanged(more), ev.UnitSkipped(UnitId("2"), satisfies=True)]
    assert isinstance(read_score(told.records)[0], Turn)


def test_a_parked_unit_that_goes_on_after_a_stop() -> None:
    told = story().fail("1").end(Result.HALTED, Reason.VERIFY_LIMIT)
    told.tell(ev.RunResumed(1), ev.UnitReset(ONE, "Again."))
    assert others(told) == [Reached(ONE, is_landed=False), Resumed(), ev.UnitReset(ONE, "Again.")]


def test_turns_that_were_under_way_at_the_end_are_there_to_be_killed() -> None:
    told = story("1", "2").tell(ev.CancelRequested())
    assert read_score(told.records) == [
        ev.CancelRequested(),
        Turn(role=Role.DEVELOPER, unit=ONE, attempt=1, ending=Ending.KILLED),
    ]
    checking = story().tell(ended(Ending.OK)).step("1", ev.Step.VERIFY).tell(ev.AbortRequested())
    assert read_score(checking.records)[1:] == [ev.AbortRequested()]


def test_a_repair_by_hand_is_where_it_ends() -> None:
    told = story().fail("1").end(Result.HALTED, Reason.VERIFY_LIMIT)
    before = list(told.records)
    assert playable(before) == (before, None)
    told.tell(ev.RunResumed(1), ev.UnitFixed(ONE, work("mine")))
    assert playable(told.records) == (before, ONE)
