"""`amelia split RUN UNIT`: a parked unit is carried out in pieces."""

import click

from amelia.app.people import RefusedError, standing
from amelia.app.splitting import split_by_hand, split_by_rules, text_of
from amelia.config.places import state_home
from amelia.model.plan import UnitId
from amelia.record.runs import find_run
from amelia.show.cli.editing import edited
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
    directory = find_run(state_home(), run)
    state, name = standing(directory), UnitId(unit)
    if by_hand:
        text = edited(text_of(state, name).encode())
        if text is None:
            raise RefusedError(f"{unit} is still one piece: the text was left as it is")
        wanted = split_by_hand(state, name, text)
    else:
        wanted = split_by_rules(state, name)
    carry_wish(
        directory, wanted, said=f"{unit} is split into {', '.join(piece.id for piece in wanted.pieces)}"
    )
