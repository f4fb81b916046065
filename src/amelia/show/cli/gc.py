"""`amelia gc`: room is made where finished runs were."""

import click

from amelia.app.history import collect
from amelia.app.reviews import collect_reviews
from amelia.config.places import state_home
from amelia.show.text import printable

_MEGABYTE = 1_000_000


@click.command("gc")
def command() -> None:
    """Remove worktrees and private clones of runs that are over.

    What attempts left is kept in your repository under refs/amelia/; journals and transcripts stay.
    Reviews on their own are removed as a whole.
    """
    count = freed = 0
    for directory, size in collect(state_home()):
        if isinstance(size, str):
            click.echo(f"note: {directory.run} stays: {printable(size)}", err=True)
            continue
        count, freed = count + 1, freed + size
        click.echo(f"{directory.run}: {size / _MEGABYTE:.1f} MB")
    if reviews := sum(1 for _ in collect_reviews(state_home())):
        click.echo(f"{reviews} reviews removed")
    click.echo(f"{count} runs cleared, {freed / _MEGABYTE:.1f} MB freed")
