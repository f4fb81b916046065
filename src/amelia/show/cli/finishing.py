"""What becomes of the branch of a completed run: the options that say it, and what can be said later."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from amelia.app.people import standing
from amelia.model.delivery import Finish
from amelia.record.runs import RunDirectory, started
from amelia.show.text import fit


def finish_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options `--merge ff` and `--pr`, of which it gets `finish`."""

    @click.option(
        "--merge",
        type=click.Choice(["ff"]),
        help="Fast-forward the branch that was checked out when the run started, if it has not moved.",
    )
    @click.option("--pr", is_flag=True, help="Push the branch and open a pull request, through gh.")
    @wraps(command)
    def chosen(*, merge: str | None, pr: bool, **more: Any) -> None:  # noqa: ANN401 - click's business
        if merge is not None and pr:
            raise click.UsageError("--merge and --pr exclude each other")
        finish = Finish.PR if pr else Finish.MERGE if merge is not None else None
        command(finish=finish, **more)

    return chosen


def point_on(directory: RunDirectory, code: int, *, as_json: bool) -> int:
    """Says what can be done with the branch, if everything landed and nothing was done; returns the code."""
    if code != 0 or as_json or started(directory) is None:
        return code
    delivery = standing(directory).delivery
    if delivery.done is not None or delivery.undone is not None:
        return code
    run = directory.run
    ways = {
        f"amelia report {run}": "what landed, and what proves it",
        f"amelia diff {run}": "all that it changed",
        f"amelia finish {run} --merge ff": "take it into the branch you started from; or --pr",
        f"amelia undo {run}": "take it back",
    }
    click.echo("\nWhat now:", err=True)
    for command, effect in ways.items():
        click.echo(f"  {fit(command, max(map(len, ways)))}  {effect}", err=True)
    return code
