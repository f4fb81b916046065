"""`amelia retry RUN UNIT`: a parked unit tries again."""

import click

from amelia.app.people import check_grant
from amelia.model.events import UnitReset
from amelia.model.plan import UnitId
from amelia.show.cli.naming import granted_files, named_run
from amelia.show.cli.wishes import carry_wish


@click.command("retry")
@click.argument("run")
@click.argument("unit")
@click.option("--note", default="", help="What the agent is told besides: an answer, a hint, a decision.")
@click.option("--grant", "granted", multiple=True, metavar="FILE", help="A test file that UNIT may change.")
def command(*, run: str, unit: str, note: str, granted: tuple[str, ...]) -> None:
    """Let UNIT of RUN, which waits for a person, try again with all its attempts."""
    directory = named_run(run)
    files = granted_files(granted) if granted else ()
    check_grant(directory, UnitId(unit), files)
    more = f", and may change {', '.join(files)}" if files else ""
    carry_wish(directory, UnitReset(UnitId(unit), note, granted=files), said=f"{unit} is to try again{more}")
