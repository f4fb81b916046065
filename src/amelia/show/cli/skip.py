"""`amelia skip RUN UNIT`: a unit is taken out of a run."""

import click

from amelia.model.events import UnitSkipped
from amelia.model.plan import UnitId
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish


@click.command("skip")
@click.argument("run")
@click.argument("unit")
@click.option("--satisfied", is_flag=True, help="Let what depends on the unit run all the same.")
def command(*, run: str, unit: str, satisfied: bool) -> None:
    """Take UNIT out of RUN. What depends on it stays blocked, unless --satisfied says otherwise."""
    directory = named_run(run)
    left = "what depends on it runs all the same" if satisfied else "what depends on it stays blocked"
    carry_wish(directory, UnitSkipped(UnitId(unit), satisfied), said=f"{unit} is skipped; {left}")
