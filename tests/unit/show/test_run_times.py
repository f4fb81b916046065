"""A timeline tells when things happened, and the little else that the state of a run does not keep."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.outcome import Reason, Result
from amelia.model.plan import TaskId, TaskStatus, UnitId
from amelia.show.run.times import NEVER, Timeline, duration, instant, lasted
from runs import BASE, START, Story, chain, commit, finding, four_phases, work

ONE = UnitId("1")
SECOND = timedelta(seconds=1)


def test_a_unit_that_never_started_has_no_times() -> None:
    assert chain(1).timeline.of(ONE) == NEVER


def test_a_unit_starts_once_and_ends_when_it_lands() -> None:
    story = chain(1).start("1").wait(30).finish_unit("1")
    times = story.timeline.of(ONE)
    assert times.started_at == START + SECOND
    assert times.ended_at == story.now
    assert times.step_started_at is None
    assert times.attempts == 1


def test_the_step_under_way_has_a_start_of_its_own() -> None:
    story = chain(1).start("1").write("1").step("1", ev.Step.VERIFY)
    assert story.timeline.of(ONE).step_started_at == story.now


def test_a_step_that_is_over_has_no_start() -> None:
    assert chain(1).start("1").write("1").timeline.of(ONE).step_started_at is None
    assert chain(1).start("1").write("1").verify("1").review("1").timeline.of(ONE).step_started_at is None


def test_a_parked_unit_ended_until_a_person_acts() -> None:
    story = chain(1).start("1").fail("1")
    assert story.timeline.of(ONE).ended_at == story.now
    assert story.tell(ev.UnitReset(ONE)).timeline.of(ONE).ended_at is None


def test_a_unit_that_starts_again_keeps_its_first_start() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitReset(ONE)).wait(60).start("1")
    times = story.timeline.of(ONE)
    assert times.started_at == START + SECOND
    assert times.ended_at is None
    assert times.attempts == 2


def test_a_broken_step_ends_its_unit_and_a_skip_does() -> None:
    broken = chain(1).start("1").tell(ev.StepBroke(ONE, ev.Step.DRIVE, "no space left"))
    assert broken.timeline.of(ONE).ended_at == broken.now
    skipped = chain(1).tell(ev.UnitSkipped(ONE, satisfies=True))
    assert skipped.timeline.of(ONE).ended_at == skipped.now


def test_whoever_takes_a_run_over_finds_no_step_under_way() -> None:
    story = chain(2).whole("1").start("2").tell(ev.RunResumed(7))
    assert story.timeline.of(UnitId("2")).step_started_at is None


def test_a_landed_unit_remembers_what_it_was_put_on() -> None:
    timeline = chain(2).whole("1", "2").timeline
    assert timeline.of(ONE).landed_on == BASE
    assert timeline.of(UnitId("2")).landed_on == commit("1")
    assert timeline.tip == commit("2")


def test_the_last_review_is_kept() -> None:
    story = chain(1).start("1").write("1").verify("1").review("1", finding("no docstring"))
    review = story.timeline.of(ONE).review
    assert review is not None
    assert not review.approved


def test_a_run_is_finished_until_it_goes_on() -> None:
    story = chain(1).start("1").fail("1").end(Result.HALTED, Reason.VERIFY_LIMIT)
    assert story.timeline.started_at == START
    assert story.timeline.finished_at == story.now
    assert story.tell(ev.UnitReset(ONE)).timeline.finished_at is None


def test_a_paused_run_stands_still_until_it_is_resumed() -> None:
    story = chain(1).tell(ev.PauseRequested(), ev.RunPaused())
    assert story.timeline.finished_at == story.now
    resumed = story.tell(ev.RunResumed(7))
    assert resumed.timeline.finished_at is None
    assert resumed.timeline.last_at == resumed.now


def test_subtasks_have_times_of_their_own() -> None:
    phase = UnitId("phase-1")
    story = four_phases().start("phase-1").wait(5)
    story.tell(ev.SubtaskCompleted(phase, TaskId("1"), 1), ev.SubtaskFailed(phase, TaskId("2"), 1))
    first, second = story.timeline.of(phase).subtasks.values()
    assert first.status is TaskStatus.COMPLETED
    assert lasted(first.started_at, first.ended_at) == 7 * SECOND
    assert second.status is TaskStatus.FAILED
    assert second.ended_at == story.now


def test_a_subtask_that_a_turn_ended_without_a_word_of_is_not_reported() -> None:
    phase = UnitId("phase-1")
    ended = ev.AttemptEnded(unit=phase, attempt=1, ending=Ending.OK, work=work("w"))
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(phase, TaskId("1"), 1), ended)
    first, second = story.timeline.of(phase).subtasks.values()
    assert (first.is_unreported, second.is_unreported) == (False, True)


def test_a_report_on_a_subtask_that_was_not_handed_over_is_kept() -> None:
    story = chain(1).start("1").tell(ev.SubtaskCompleted(ONE, TaskId("1"), 1))
    subtask = story.timeline.of(ONE).subtasks[TaskId("1")]
    assert subtask.started_at is None
    assert subtask.ended_at == story.now


def everything() -> Story:
    story = four_phases().start("phase-1").start("phase-2", 2).finish_unit("phase-1").fail("phase-2")
    return story.tell(ev.UnitReset(UnitId("phase-2"))).tell(ev.RunResumed(7)).start("phase-2")


@pytest.mark.slow
@given(st.integers(min_value=0, max_value=60))
def test_a_timeline_does_not_depend_on_how_its_events_arrive(cut: int) -> None:
    records = everything().records
    assert Timeline().after(records[:cut]).after(records[cut:]) == Timeline().after(records)


def test_a_timeline_is_not_changed_by_what_comes_after_it() -> None:
    story = chain(1).start("1")
    before = story.timeline
    before.after(story.finish_unit("1").records)
    assert before.of(ONE).ended_at is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (42.9, "42s"),
        (60, "1m 00s"),
        (72, "1m 12s"),
        (3599, "59m 59s"),
        (7500, "2h 05m"),
        (273600, "3d 04h"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert duration(timedelta(seconds=seconds)) == text


def test_nothing_takes_less_than_no_time() -> None:
    assert lasted(START, START - SECOND) == timedelta(0)
    assert lasted(None, START) is None
    assert lasted(START, None) is None


def test_a_moment_is_written_in_utc() -> None:
    at = datetime(2026, 11, 2, 14, 4, 31, 120_999, tzinfo=timezone(timedelta(hours=2)))
    assert instant(at) == "2026-11-02T12:04:31.120Z"
    assert instant(datetime(2026, 11, 2, tzinfo=UTC)) == "2026-11-02T00:00:00.000Z"
