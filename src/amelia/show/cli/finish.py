"""`amelia finish RUN`: the branch of a completed run is merged, becomes a pull request, or stays."""

import json
import shlex
import sys

import click

from amelia.app.finish import foresee_delivery, leave_branch
from amelia.app.people import RefusedError, ask, standing
from amelia.land.deliver import branch_name
from amelia.land.preview import Preview
from amelia.model.delivery import MERGES, Finish, FinishChosen
from amelia.model.outcome import Result
from amelia.model.state import RunState
from amelia.record.runs import RunDirectory
from amelia.show.cli.driving import drive
from amelia.show.cli.finishing import draw_preview, finish_options, preview_json, refuse_record_alone
from amelia.show.cli.naming import named_run
from amelia.show.run.watchers import JsonWatcher, Silent
from amelia.show.text import printable

_WAYS = f"{', '.join(f'--merge {kind}' for kind in MERGES)}, --pr or --leave"


@click.command("finish")
@click.argument("run")
@finish_options
@click.option("--leave", is_flag=True, help="Leave the branch as it is, and do not ask about it again.")
@click.option("--dry-run", is_flag=True, help="Say what would reach the branch, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON; asks nothing.")
def command(
    *,
    run: str,
    finish: Finish | None,
    without_record: bool,
    leave: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Deliver the branch of RUN, which is completed.

    Says first what would reach the other branch: the commits, and the files of the run's record, which
    --without-record leaves out. On a terminal you are asked.

    Exits 0 when it is delivered, also if it was before; 4 when something is in the way, with the commands to
    type, and when you say no. Nothing was changed then.
    """
    directory = named_run(run)
    if leave == (finish is not None):
        raise click.UsageError(f"say what is to become of the branch: {_WAYS}")
    if leave and dry_run:
        raise click.UsageError("--leave changes nothing anyway")
    refuse_record_alone(finish, without_record=without_record)
    wish = FinishChosen(finish or Finish.LEAVE, without_record)
    state = _completed(directory, wish)
    if leave:
        _leave(directory, as_json=as_json)
        return
    if state.delivery.has(wish.finish) and not as_json and not dry_run:
        _tell_done(state)
        return
    told = None if state.delivery.undone is not None else foresee_delivery(state, wish)
    if dry_run:
        _tell_preview(told, as_json=as_json)
        return
    if told is not None and not as_json:
        _confirm(told, yes=yes)
    ask(directory, wish)
    raise SystemExit(drive(directory, as_json=as_json))


def _completed(directory: RunDirectory, wish: FinishChosen) -> RunState:
    state = standing(directory)
    if state.outcome is None or state.outcome.result is not Result.COMPLETED:
        options = () if wish.finish is Finish.LEAVE else wish.options
        command = shlex.join(["amelia", "resume", directory.run, *options])
        raise RefusedError(
            f"run {directory.run} is {state.outcome or 'not finished'}; only a completed one is delivered",
            hint=f"let it go on and be delivered then: {command}",
        )
    return state


def _leave(directory: RunDirectory, *, as_json: bool) -> None:
    ask(directory, FinishChosen(Finish.LEAVE))
    leave_branch(directory, JsonWatcher(sys.stdout) if as_json else Silent())
    if not as_json:
        click.echo(f"the branch {branch_name(directory.run)} stays as it is")


def _tell_done(state: RunState) -> None:
    done = state.delivery.done
    assert done is not None
    word = "merged into" if done.finish.is_merge else "offered as"
    click.echo(printable(f"run {state.facts.run} was {word} {done.where} already"))


def _tell_preview(told: Preview | None, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(None if told is None else preview_json(told), ensure_ascii=False))
    elif told is None:
        click.echo("nothing would change: it is there already, or something is in the way")
    else:
        click.echo("\n".join(draw_preview(told, will_be=False)))


def _confirm(told: Preview, *, yes: bool) -> None:
    """Says what is about to reach a branch; on a terminal a person may stop it."""
    is_asking = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    click.echo("\n".join(draw_preview(told, will_be=not is_asking)), err=True)
    if is_asking and not click.confirm("Do it?", default=True):
        raise SystemExit(4)
