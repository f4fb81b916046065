"""`amelia diff RUN UNIT`: what a unit changed."""

import click

from amelia.app.history import attempt_diff
from amelia.config.places import state_home
from amelia.model.plan import UnitId
from amelia.record.runs import find_run
from amelia.show.cli.handing import hand_on


@click.command("diff")
@click.argument("run")
@click.argument("unit")
@click.option(
    "--attempt", type=click.IntRange(min=1), help="Which attempt; the last one unless told otherwise."
)
def command(*, run: str, unit: str, attempt: int | None) -> None:
    """Show what UNIT of RUN changed."""
    hand_on(attempt_diff(find_run(state_home(), run), UnitId(unit), attempt))
