"""`amelia finish RUN`: the branch of a completed run is merged, becomes a pull request, or stays."""

import sys

import click

from amelia.app.finish import leave_branch
from amelia.app.people import RefusedError, ask, standing
from amelia.land.deliver import branch_name
from amelia.model.delivery import Finish, FinishChosen
from amelia.model.outcome import Result
from amelia.show.cli.driving import drive
from amelia.show.cli.finishing import finish_options
from amelia.show.cli.naming import named_run
from amelia.show.run.watchers import JsonWatcher, Silent
from amelia.show.text import printable

_OPTIONS = {Finish.LEAVE: "", Finish.PR: " --pr", Finish.MERGE: " --merge ff"}


@click.command("finish")
@click.argument("run")
@finish_options
@click.option("--leave", is_flag=True, help="Leave the branch as it is, and do not ask about it again.")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
def command(*, run: str, finish: Finish | None, leave: bool, as_json: bool) -> None:
    """Deliver the branch of RUN, which is completed.

    Exits 0 when it is delivered, also if it was before; 4 when something is in the way, with the commands to
    type. Nothing was changed then.
    """
    directory = named_run(run)
    if leave == (finish is not None):
        raise click.UsageError("say what is to become of the branch: --merge ff, --pr or --leave")
    finish = finish or Finish.LEAVE
    run_state = standing(directory)
    outcome, done = run_state.outcome, run_state.delivery.done
    if outcome is None or outcome.result is not Result.COMPLETED:
        raise RefusedError(
            f"run {directory.run} is {outcome or 'not finished'}, and only a completed one is delivered",
            hint=f"let it go on and be delivered then: amelia resume {directory.run}{_OPTIONS[finish]}",
        )
    if done is not None and done.finish is finish and not as_json:
        word = "merged into" if finish is Finish.MERGE else "offered as"
        click.echo(printable(f"run {directory.run} was {word} {done.where} already"))
        return
    ask(directory, FinishChosen(finish))
    if leave:
        leave_branch(directory, JsonWatcher(sys.stdout) if as_json else Silent())
        if not as_json:
            click.echo(f"the branch {branch_name(directory.run)} stays as it is")
        return
    raise SystemExit(drive(directory, as_json=as_json))
