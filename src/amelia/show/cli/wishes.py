"""What a command does that asks something of a run."""

import anyio
import click

from amelia.app.drafting import draft_of, drive_draft
from amelia.app.people import ask, start_in_background
from amelia.app.runs import drive_run
from amelia.model.events import AbortRequested, CancelRequested
from amelia.model.journal import Wanted
from amelia.record.runs import RunDirectory
from amelia.show.run.draft_lines import SilentDraft
from amelia.show.run.watchers import Silent
from amelia.show.text import printable


def carry_wish(directory: RunDirectory, wanted: Wanted, *, said: str) -> None:
    """Leaves a wish for a run; one that nobody drives is ended here, or goes on in the background."""
    is_driven = ask(directory, wanted)
    click.echo(printable(said))
    if is_driven:
        return
    if isinstance(wanted, CancelRequested | AbortRequested):
        if draft_of(directory) is not None:
            anyio.run(drive_draft, directory, SilentDraft())
        else:
            anyio.run(drive_run, directory, Silent())
    else:
        start_in_background(directory)
        click.echo(f"the run goes on in the background; follow it: amelia resume {directory.run}")
