"""`amelia diff RUN [UNIT]`: what a run has landed, or what one turn on a unit changed."""

import click

from amelia.app.history import landed_diff, turn_diff
from amelia.model.plan import UnitId
from amelia.show.cli.naming import named_run
from amelia.show.output import hand_on


@click.command("diff")
@click.argument("run")
@click.argument("unit", required=False)
@click.option(
    "--turn",
    "--attempt",
    "turn",
    type=click.IntRange(min=1),
    help="Which turn of the developer; the last one unless told otherwise.",
)
@click.option("--raw", "is_raw", is_flag=True, help="Write every byte as it is, also control characters.")
def command(*, run: str, unit: str | None, turn: int | None, is_raw: bool) -> None:
    """Show all that RUN has landed, without its record; or what a turn on UNIT changed."""
    if unit is None and turn is not None:
        raise click.UsageError("a turn is one on a UNIT: name it")
    directory = named_run(run)
    found = landed_diff(directory) if unit is None else turn_diff(directory, UnitId(unit), turn)
    if hand_on(found, as_it_is=is_raw):
        click.echo("note: control characters are written as \\u001b; --raw writes them as they are", err=True)
