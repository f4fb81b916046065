"""`amelia split RUN UNIT`: a parked unit is carried out in pieces."""

import shlex

import click

from amelia.app.people import RefusedError, refusal_of, standing
from amelia.app.splitting import split_by_hand, split_by_rules, text_of
from amelia.model.events import UnitSplit
from amelia.model.plan import UnitId
from amelia.record.runs import RunDirectory
from amelia.show.cli.editing import edited, kept_aside
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish


@click.command("split")
@click.argument("run")
@click.argument("unit")
@click.option(
    "--edit", "by_hand", is_flag=True, help="Write the pieces down in your editor, as tasks of a plan."
)
def command(*, run: str, unit: str, by_hand: bool) -> None:
    """Have UNIT of RUN, which waits for a person, carried out in pieces.

    What needs it needs the last of them. A unit of several tasks becomes a unit for each; a task is cut along
    its layers, files or criteria.
    """
    directory = named_run(run)
    state = standing(directory)
    if (reason := refusal_of(directory, UnitSplit(UnitId(unit), ()))) is not None:
        raise RefusedError(reason, hint=f"`amelia status {directory.run}` shows where the run stands")
    if by_hand:
        _split_in_editor(directory, UnitId(unit))
    else:
        _carry(directory, split_by_rules(state, UnitId(unit)))


def _split_in_editor(directory: RunDirectory, unit: UnitId) -> None:
    text = edited(text_of(standing(directory), unit).encode())
    if text is None:
        raise RefusedError(f"{unit} is still one piece: the text was left as it is")
    try:
        # Read anew: a person takes time to write, and the run goes on meanwhile.
        _carry(directory, split_by_hand(standing(directory), unit, text))
    except RefusedError as problem:
        command = shlex.join(["split", directory.run, unit, "--edit"])
        raise kept_aside(directory, text, problem, command=command) from problem


def _carry(directory: RunDirectory, wanted: UnitSplit) -> None:
    pieces = ", ".join(piece.id for piece in wanted.pieces)
    carry_wish(directory, wanted, said=f"{wanted.unit} is split into {pieces}")
