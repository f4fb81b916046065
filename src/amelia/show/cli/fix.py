"""`amelia fix RUN UNIT`: a person does a parked unit's work by hand."""

import shlex
from dataclasses import replace

import click

from amelia.app.people import RefusedError, finish_repair, open_repair
from amelia.model.interventions import Accepted
from amelia.model.plan import UnitId
from amelia.show.cli.goals import may_ask
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish
from amelia.show.text import printable

_OPTIONS = {Accepted.UNCHANGED: "--accept-unchanged", Accepted.MISSING_FILES: "--accept-missing"}


@click.command("fix")
@click.argument("run")
@click.argument("unit")
@click.option("--done", is_flag=True, help="Verify your work and land it; no agent reviews it.")
@click.option("--accept-unchanged", "unchanged", is_flag=True, help="Land it although you changed nothing.")
@click.option(
    "--accept-missing", "missing", is_flag=True, help="Land it although declared files are missing."
)
def command(*, run: str, unit: str, done: bool, unchanged: bool, missing: bool) -> None:
    """Print the worktree in which UNIT of RUN can be fixed by hand; with --done, verify and land it.

    The worktree holds what the last turn left. If nothing was changed there, or a file that the plan declares
    does not exist, you are asked; without a terminal, --accept-… says it.
    """
    directory = named_run(run)
    repair = open_repair(directory, UnitId(unit))
    if not done:
        click.echo(repair.lane.directory)
        click.echo(f"when it is done: amelia fix {directory.run} {unit} --done", err=True)
        return
    fixed, doubts = finish_repair(repair)
    accepted = {Accepted.UNCHANGED: unchanged, Accepted.MISSING_FILES: missing}
    for doubt, text in doubts.items():
        if not accepted[doubt]:
            again = shlex.join(["amelia", "fix", directory.run, unit, "--done", _OPTIONS[doubt]])
            _ask(text, again=again)
    wish = replace(fixed, accepted=tuple(doubts))
    carry_wish(directory, wish, said=f"{unit} is to be verified and landed as you left it")


def _ask(doubt: str, *, again: str) -> None:
    """Has a person set a doubt aside; where nobody can be asked, the command has to say it."""
    if not may_ask(no_input=False, as_json=False):
        raise RefusedError(doubt, hint=f"to land it all the same: {again}")
    for line in doubt.splitlines():
        click.echo(printable(line))
    click.confirm("Land it all the same?", abort=True)
