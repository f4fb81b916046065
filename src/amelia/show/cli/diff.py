"""`amelia diff RUN [UNIT]`: what a run changed, or one of its units."""

import click

from amelia.app.history import attempt_diff, landed_diff
from amelia.model.plan import UnitId
from amelia.show.cli.handing import hand_on
from amelia.show.cli.naming import named_run


@click.command("diff")
@click.argument("run")
@click.argument("unit", required=False)
@click.option(
    "--attempt", type=click.IntRange(min=1), help="Which attempt; the last one unless told otherwise."
)
def command(*, run: str, unit: str | None, attempt: int | None) -> None:
    """Show what UNIT of RUN changed; without UNIT, all that has landed."""
    if unit is None and attempt is not None:
        raise click.UsageError("an attempt is one of a UNIT: name it")
    directory = named_run(run)
    patch = landed_diff(directory) if unit is None else attempt_diff(directory, UnitId(unit), attempt)
    hand_on(patch)
