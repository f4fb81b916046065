"""Delivers a completed run as a person asked, and writes down what came of it.

Whoever holds the journal delivers, after the last event of the work: the run itself, one that is resumed, or
a person later. What was delivered before a crash is found delivered.
"""

from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

from anyio import to_thread

from amelia.context.letter import letter_body, letter_title
from amelia.land.deliver import Offer, again, find_merge, find_offer, merge_branch, refused
from amelia.land.preview import Preview, preview
from amelia.land.pull_request import Letter, open_pull_request
from amelia.model.delivery import DeliveryRefused, FinishChosen, RunDelivered
from amelia.model.errors import AmeliaError
from amelia.model.git import Stamp
from amelia.model.journal import Journal
from amelia.model.outcome import Result
from amelia.model.state import RunState
from amelia.record.journal import SqliteJournal
from amelia.record.runs import RunDirectory
from amelia.run.loop import Watcher
from amelia.run.requests import refusal
from amelia.schedule.machine import evolve, fold
from amelia.schedule.red import owed_and_waived
from amelia.workspace.source import open_source


def is_deliverable(run: RunState) -> bool:
    """Says whether a run is completed, and something is wanted of its branch that was not done."""
    return run.outcome is not None and run.outcome.result is Result.COMPLETED and run.delivery.is_due


def heard(journal: Journal, run: RunState) -> RunState:
    """Takes in what was wished of a run that is over, and returns where it stands then."""
    requests = [replace(each, refused=refusal(run, each.wanted)) for each in journal.requests()]
    wishes = [request.wanted for request in requests if request.refused is None]
    if requests:
        journal.append(wishes, answering=requests)
    return reduce(evolve, wishes, run)


def leave_branch(directory: RunDirectory, watcher: Watcher) -> None:
    """Lets a completed run hear that its branch stays as it is; its repository need not be there any more."""
    with SqliteJournal(directory.journal) as journal:
        past = journal.read()
        run = heard(journal, fold(recorded.event for recorded in past))
        watcher.show(journal.read()[len(past) :], run)


def foresee_delivery(run: RunState, wish: FinishChosen) -> Preview | None:
    """Returns what a wish would bring to a branch; None if it brings nothing, or something is in the way."""
    source = open_source(Path(run.facts.repository))
    find = find_merge if wish.finish.is_merge else find_offer
    offer = find(source, run.facts, wish)
    if not isinstance(offer, Offer):
        return None
    _, waived = owed_and_waived(run)
    return replace(preview(source, offer), red=waived)


async def deliver(directory: RunDirectory, journal: Journal, run: RunState, *, watcher: Watcher) -> RunState:
    """Delivers a run for which that is due, and returns where it stands then."""
    if not is_deliverable(run):
        return run
    try:
        event = await _deliver(directory, run)
    except (AmeliaError, OSError) as problem:
        event = refused(run.delivery.wanted, str(problem), again(run.facts.run, run.delivery.wish))
    after = evolve(run, event)
    watcher.show(journal.append([event]), after)
    return after


async def _deliver(directory: RunDirectory, run: RunState) -> RunDelivered | DeliveryRefused:
    source, wish = await to_thread.run_sync(open_source, Path(run.facts.repository)), run.delivery.wish
    if run.delivery.undone is not None and (revert := run.delivery.undone.revert) is not None:
        detail = f"the run was taken back by {revert}; reverting that brings it back"
        return refused(wish.finish, detail, ["git", "revert", revert])
    if wish.finish.is_merge:
        stamp = Stamp(source.identity, datetime.now(UTC))
        return await to_thread.run_sync(lambda: merge_branch(source, run.facts, wish, stamp=stamp))
    directory.letter.write_text(letter_body(run), encoding="utf-8", errors="backslashreplace")
    letter = Letter(letter_title(run), directory.letter)
    return await open_pull_request(source, run.facts, letter, without_record=wish.without_record)
