"""The record of a run is put on its branch once, after the whole branch was verified."""

from dataclasses import replace

import pytest

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.errors import InternalError
from amelia.model.facts import RecordPlace
from amelia.model.git import CommitId
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.records import RecordCommitted, RecordRefused, RecordStarted
from amelia.model.state import Branch, RunState
from amelia.schedule.decide import decide, is_working, opening
from amelia.schedule.machine import evolve
from runs import Story, chain

RECORD = CommitId("f" * 40)


def verified(*, is_committed: bool = True) -> Story:
    """Tells of a run whose branch has just been verified."""
    story = chain(1, record=RecordPlace("docs/amelia/x", is_committed=is_committed)).whole("1")
    return story.tell(ev.BranchCheckStarted(story.run.tip), ev.BranchVerified(passed=True))


def begun() -> RunState:
    run = verified().run
    [command] = decide(run)
    assert isinstance(command, cmd.CommitRecord)
    [started] = opening(run, command)
    return evolve(run, started)


def finished(run: RunState) -> Outcome:
    [command] = decide(run)
    assert isinstance(command, cmd.Record)
    assert isinstance(command.event, ev.RunFinished)
    return command.event.outcome


def test_a_verified_branch_gets_its_record() -> None:
    run = verified().run
    assert decide(run) == [cmd.CommitRecord(run.tip)]
    assert opening(run, cmd.CommitRecord(run.tip)) == (RecordStarted(run.tip),)
    assert is_working(begun())
    assert not decide(begun())


def test_a_run_with_its_record_is_complete_and_ends_with_it() -> None:
    run = evolve(begun(), RecordCommitted(RECORD))
    assert run.tip == RECORD
    assert finished(run) == Outcome(Result.COMPLETED)


def test_a_record_that_has_no_place_keeps_nothing_from_being_complete() -> None:
    run = evolve(begun(), RecordCommitted(None, "docs is in the way"))
    assert run.tip == begun().tip
    assert finished(run) == Outcome(Result.COMPLETED)


def test_no_record_is_put_where_none_is_wanted() -> None:
    assert finished(verified(is_committed=False).run) == Outcome(Result.COMPLETED)
    assert finished(replace(verified().run, facts=replace(verified().run.facts, record=None))) == Outcome(
        Result.COMPLETED
    )


def test_a_run_in_which_nothing_landed_has_no_branch_to_put_it_on() -> None:
    run = verified().run
    assert finished(replace(run, tip=run.facts.base)) == Outcome(Result.COMPLETED)


def test_a_record_that_was_refused_halts_the_run_until_it_is_resumed() -> None:
    run = evolve(begun(), RecordRefused("checked out", Reason.BRANCH_MOVED))
    assert finished(run) == Outcome(Result.HALTED, Reason.BRANCH_MOVED)
    again = evolve(evolve(run, ev.RunFinished(finished(run))), ev.RunResumed(2))
    assert decide(again) == [cmd.CommitRecord(again.tip)]


def test_a_record_that_was_cut_off_is_put_again_and_one_that_is_there_is_not() -> None:
    cut_off = evolve(begun(), ev.RunResumed(2))
    assert decide(cut_off) == [cmd.CommitRecord(cut_off.tip)]
    there = evolve(evolve(begun(), RecordCommitted(RECORD)), ev.RunResumed(2))
    assert finished(there) == Outcome(Result.COMPLETED)


def test_who_cancels_while_the_record_is_put_hears_of_it_first() -> None:
    run = evolve(begun(), ev.CancelRequested())
    assert not decide(run)
    assert finished(evolve(run, RecordCommitted(RECORD))) == Outcome(Result.CANCELLED)


@pytest.mark.parametrize("event", [RecordCommitted(RECORD), RecordRefused("no")])
def test_nothing_becomes_of_a_record_that_was_not_begun(event: ev.Event) -> None:
    with pytest.raises(InternalError):
        evolve(verified().run, event)


def test_a_record_is_not_begun_twice() -> None:
    with pytest.raises(InternalError):
        evolve(begun(), RecordStarted(begun().tip))


def test_what_lands_later_is_verified_anew() -> None:
    assert evolve(begun(), ev.RunResumed(1)).branch is Branch.GREEN
