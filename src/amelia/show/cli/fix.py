"""`amelia fix RUN UNIT`: a person does a parked unit's work by hand."""

import click

from amelia.app.people import finish_repair, open_repair
from amelia.model.plan import UnitId
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish


@click.command("fix")
@click.argument("run")
@click.argument("unit")
@click.option("--done", is_flag=True, help="The work is done: verify it and land it.")
def command(*, run: str, unit: str, done: bool) -> None:
    """Print the worktree in which UNIT of RUN can be fixed by hand; with --done, verify and land it.

    The worktree holds what the last attempt left.
    """
    directory = named_run(run)
    repair = open_repair(directory, UnitId(unit))
    if not done:
        click.echo(repair.lane.directory)
        click.echo(f"when it is done: amelia fix {directory.run} {unit} --done", err=True)
        return
    carry_wish(directory, finish_repair(repair), said=f"{unit} is to be verified and landed as you left it")
