"""`amelia cancel RUN`: a run is stopped for good."""

import click

from amelia.model.events import CancelRequested
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish


@click.command("cancel")
@click.argument("run")
def command(*, run: str) -> None:
    """Stop RUN for good: its agents are ended, everything that landed stays on its branch."""
    directory = named_run(run)
    said = f"run {directory.run} is cancelled; what landed stays on its branch"
    carry_wish(directory, CancelRequested(), said=said)
