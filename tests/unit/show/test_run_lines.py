"""Where there is no terminal, every change that matters is one plain line."""

from datetime import UTC, timedelta, timezone
from typing import Any

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.evidence import Problem, ProblemCode
from amelia.model.findings import Disposition, Ruling
from amelia.model.journal import Recorded
from amelia.model.outcome import Cause, Outcome, Reason, Result
from amelia.model.plan import Mode, TaskId, UnitId
from amelia.show.run.lines import draw_change
from amelia.show.run.spans import ASCII
from runs import BASE, Story, chain, commit, finding, four_phases, started, unit, work

PHASE = UnitId("phase-2")
AT = four_phases().now
RULINGS = (
    Ruling(finding("a").id, Disposition.IMPLEMENT),
    Ruling(finding("b").id, Disposition.IMPLEMENT),
    Ruling(finding("c").id, Disposition.REJECT),
)


def line_of(event: ev.Event) -> str | None:
    return draw_change(Recorded(2, AT, event), four_phases().run, zone=UTC)


def ended(ending: Ending, **more: Any) -> ev.AttemptEnded:
    return ev.AttemptEnded(unit=PHASE, attempt=1, ending=ending, work=work("x"), **more)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ev.UnitStarted(PHASE, 1, BASE), "phase-2  started: Write API tests"),
        (ev.SubtaskFailed(PHASE, TaskId("3"), 1), "phase-2  turn 1  task 3 was not done"),
        (ended(Ending.OK), "phase-2  turn 1  written"),
        (ended(Ending.OK, summary="12 tests\nadded"), "phase-2  turn 1  written: 12 tests added"),
        (
            ended(Ending.OK, refused="too long a line"),
            "phase-2  turn 1  refused by a commit hook: too long a line",
        ),
        (
            ended(Ending.TIMED_OUT_SILENCE, summary="no sign of life"),
            "phase-2  turn 1  the agent did not finish (timed out silence): no sign of life",
        ),
        (
            ended(Ending.LIMITED, until="2026-11-02T14:05:00+00:00"),
            "phase-2  turn 1  the agent has to wait, goes on at 14:05",
        ),
        (ended(Ending.LIMITED), "phase-2  turn 1  the agent has to wait"),
        (
            ev.AttemptVerified(unit=PHASE, attempt=1, passed=True),
            "phase-2  turn 1  checks passed",
        ),
        (
            ev.AttemptVerified(
                unit=PHASE,
                attempt=1,
                passed=False,
                problems=(Problem(ProblemCode.NO_CHANGES, "nothing was changed"),),
                feedback="long",
            ),
            "phase-2  turn 1  checks failed: nothing was changed",
        ),
        (
            ev.AttemptVerified(unit=PHASE, attempt=1, passed=False, feedback="3 failed"),
            "phase-2  turn 1  checks failed: 3 failed",
        ),
        (
            ev.AttemptReviewed(unit=PHASE, attempt=1, approved=False, findings=(finding("a"), finding("b"))),
            "phase-2  turn 1  rejected: 2 findings",
        ),
        (
            ev.AttemptReviewed(unit=PHASE, attempt=1, approved=True, findings=(finding("a"),)),
            "phase-2  turn 1  approved: 1 finding",
        ),
        (ev.AttemptReviewed(unit=PHASE, attempt=1, approved=True), "phase-2  turn 1  approved"),
        (
            ev.ReviewFailed(unit=PHASE, attempt=1, detail="no JSON"),
            "phase-2  turn 1  no review: no JSON",
        ),
        (
            ev.AnswerDelayed(PHASE, 1, "2026-11-03T14:05:00Z"),
            "phase-2  turn 1  no answer yet, goes on at 2026-11-03 14:05",
        ),
        (
            ev.FindingsEvaluated(unit=PHASE, attempt=1, rulings=RULINGS),
            "phase-2  turn 1  findings ruled: 2 implement, 1 reject",
        ),
        (
            ev.FindingsEvaluated(unit=PHASE, attempt=1, rulings=()),
            "phase-2  turn 1  findings ruled: none",
        ),
        (
            ev.LandingRefused(PHASE, 1, Cause.CONFLICT, "a.py"),
            "phase-2  turn 1  cannot land: conflict: a.py",
        ),
        (ev.UnitLanded(PHASE, 1, commit("x")), "phase-2  turn 1  landed as 7800000000"),
        (
            ev.UnitParked(PHASE, Reason.REVIEW_LIMIT, ""),
            "phase-2  waits for you: the reviewer still asked for changes after the last attempt",
        ),
        (
            ev.StepBroke(PHASE, ev.Step.DRIVE, "no space left"),
            "phase-2  waits for you: a step could not be carried out: drive: no space left",
        ),
        (ev.UnitReset(PHASE), "phase-2  to be tried again"),
        (ev.UnitSkipped(PHASE, satisfies=True), "phase-2  skipped; what needs it goes on"),
        (ev.UnitSkipped(PHASE, satisfies=False), "phase-2  skipped, with what needs it"),
        (ev.UnitFixed(PHASE, work("x")), "phase-2  done by hand, to be checked"),
        (four_phases().run.facts, "demo  started: 4 units, phased: Build the API"),
        (ev.RunResumed(7), "demo  resumed"),
        (ev.PauseRequested(), "demo  pausing: what is under way is finished first"),
        (ev.RunPaused(), "demo  paused: amelia resume demo"),
        (ev.CancelRequested(), "demo  stopping"),
        (ev.AbortRequested(), "demo  stopping"),
        (ev.BranchCheckStarted(BASE), "demo  testing the whole branch"),
        (ev.BranchVerified(passed=True), "demo  the whole branch passes"),
        (ev.BranchVerified(passed=False, feedback="1 failed"), "demo  the whole branch fails: 1 failed"),
        (ev.RunFinished(Outcome(Result.COMPLETED)), "demo  completed"),
        (
            ev.RunFinished(Outcome(Result.HALTED, Reason.NO_CHANGES)),
            "demo  halted: the agent changed nothing",
        ),
    ],
)
def test_a_change_is_one_line(event: ev.Event, line: str) -> None:
    assert line_of(event) == f"12:00:00  {line}"


@pytest.mark.parametrize(
    "event",
    [
        ev.SubtaskStarted(PHASE, TaskId("3"), 1),
        ev.SubtaskCompleted(PHASE, TaskId("3"), 1),
        ev.StepStarted(PHASE, 1, ev.Step.VERIFY),
        ev.RestEnded(PHASE),
    ],
)
def test_noise_is_no_line(event: ev.Event) -> None:
    assert line_of(event) is None


def test_times_are_those_of_the_zone() -> None:
    recorded = Recorded(2, AT, ev.RunResumed(7))
    assert draw_change(recorded, chain(1).run, zone=timezone(timedelta(hours=2))) == "14:00:00  demo  resumed"
    assert draw_change(recorded, chain(1).run) == f"{AT.astimezone():%H:%M:%S}  demo  resumed"


def test_a_run_without_a_goal_starts_all_the_same() -> None:
    story = Story(started(unit("1"), goal="", mode=Mode.LIFECYCLE))
    assert draw_change(story.records[0], story.run, zone=UTC) == "12:00:00  demo  started: 1 unit, lifecycle"


def test_a_line_is_safe_short_and_in_the_letters_of_its_stream() -> None:
    event = ended(Ending.OK, summary="\x1b[2Jgrün\n" + "x" * 500)
    line = draw_change(Recorded(2, AT, event), four_phases().run, zone=UTC, charset=ASCII)
    assert line is not None
    assert line.startswith("12:00:00  phase-2  turn 1  written: [2Jgr?n xxx")
    assert line.endswith("...")
    assert len(line) == 160


def test_a_line_tells_turns_attempts_and_iterations_apart() -> None:
    story = chain(1, mode=Mode.LIFECYCLE).start("1").write("1").verify("1", passed=False, feedback="red")
    story.tell(ev.UnitIterated(UnitId("1"), 2, 2, work("11").commit)).drive("1")
    story.write("1", Ending.FAILED).retry("1", Cause.AGENT_FAILED)
    lines = [draw_change(each, story.run, zone=UTC) or "" for each in story.records]
    assert [line.partition("  1  ")[2] for line in lines if "attempt" in line or "iteration" in line] == [
        "turn 2  goes on from what there is, iteration 2/10",
        "turn 3  tries again, attempt 2/3: agent failed",
    ]


def test_a_state_that_is_further_than_the_event_does_no_harm() -> None:
    story = four_phases().whole("phase-1").start("phase-2").fail("phase-2").end(Result.HALTED)
    lines = [draw_change(each, story.run, zone=UTC) for each in story.records]
    assert [line for line in lines if line][-3:] == [
        "12:00:22  phase-2  turn 1  checks failed: 2 tests fail",
        "12:00:23  phase-2  waits for you: the checks still failed after the last attempt",
        "12:00:24  demo  halted",
    ]
