"""`amelia resume RUN`: a run goes on from where it stands."""

import click

from amelia.app.people import standing
from amelia.app.runs import plan_has_changed
from amelia.config.places import state_home
from amelia.record.runs import find_run
from amelia.show.cli.driving import drive


@click.command("resume")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
def command(*, run: str, as_json: bool, no_input: bool) -> None:  # noqa: ARG001 - asks nothing anyway
    """Go on with RUN from where it stands: after a pause, a crash, or what a person did about it.

    Follows the run if another process drives it. Exit codes are those of `amelia run`.
    """
    directory = find_run(state_home(), run)
    state = standing(directory)
    if state.outcome is not None and state.outcome.is_final:
        click.echo(f"run {directory.run} is {state.outcome}; there is nothing to resume", err=True)
        raise SystemExit(drive(directory, as_json=as_json))
    if plan_has_changed(state.facts):
        click.echo(
            f"note: {state.facts.plan_path} is not what it was when the run started; the run goes on with "
            f"the plan it started with ({directory.plan})",
            err=True,
        )
    raise SystemExit(drive(directory, as_json=as_json))
