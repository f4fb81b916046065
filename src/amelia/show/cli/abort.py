"""`amelia abort RUN`: a run is given up."""

import click

from amelia.model.events import AbortRequested
from amelia.model.plan import UnitId
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish


@click.command("abort")
@click.argument("run")
@click.argument("unit", required=False)
def command(*, run: str, unit: str | None) -> None:
    """Give RUN up, because of UNIT if one is named. Everything that landed stays on its branch."""
    directory = named_run(run)
    wanted = AbortRequested(UnitId(unit) if unit is not None else None)
    carry_wish(directory, wanted, said=f"run {directory.run} is aborted; what landed stays on its branch")
