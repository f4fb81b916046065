"""What a command does that asks something of a run: what somebody else prevented is not said to be done."""

from contextlib import suppress

import anyio
import click

from amelia.app.drafting import draft_of, drive_draft
from amelia.app.people import ask, start_in_background
from amelia.app.runs import drive_run
from amelia.model.errors import AmeliaError
from amelia.model.events import AbortRequested, CancelRequested
from amelia.model.journal import Wanted
from amelia.record.journal import JournalBusyError, SqliteJournal, is_driven
from amelia.record.runs import RunDirectory
from amelia.show.run.draft_lines import SilentDraft
from amelia.show.run.watchers import Silent
from amelia.show.text import printable


class NobodyThereError(AmeliaError):
    """A wish is in the mailbox, and nobody came to read it."""


def carry_wish(directory: RunDirectory, wanted: Wanted, *, said: str) -> None:
    """Leaves a wish for a run, and says what came of it.

    A run that nobody drives is ended here, or goes on in the background.
    """
    wish = ask(directory, wanted)
    is_ending = isinstance(wanted, CancelRequested | AbortRequested)
    is_alone = not is_driven(directory.journal)
    if is_alone and is_ending:
        _end(directory)
    elif is_alone:
        start_in_background(directory)
    if wish.is_fulfilled_soon():
        click.echo(printable(said))
    elif not is_driven(directory.journal):
        raise NobodyThereError(
            f"nobody has taken it up: run {directory.run} could not be driven in the background",
            hint=f"what it said is in {directory.log}; what you asked for is done once it goes on: "
            f"amelia resume {directory.run}",
        )
    else:
        click.echo(f"asked for, but not taken up yet; see what comes of it: amelia status {directory.run}")
    if is_alone and not is_ending:
        click.echo(f"the run goes on in the background; follow it: amelia resume {directory.run}")


def _end(directory: RunDirectory) -> None:
    """Has a run see that it is to end, unless somebody else came to drive it."""
    with suppress(JournalBusyError), SqliteJournal(directory.journal) as journal:
        if draft_of(directory) is not None:
            anyio.run(drive_draft, directory, journal, SilentDraft())
        else:
            anyio.run(drive_run, directory, journal, Silent())
