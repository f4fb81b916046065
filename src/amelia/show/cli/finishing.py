"""The options that say what becomes of the branch of a completed run."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from amelia.model.delivery import Finish


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
