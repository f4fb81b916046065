"""`amelia replay RUN`: a recorded run played once more, offline, and compared with what it came to."""

import json
import os
import sys
import tempfile
from pathlib import Path

import anyio
import click

from amelia.app.replay.playing import Playing, Replay, begin_replay, drive_replay, replay_of
from amelia.app.replay.saved import is_saved, open_saved, save_replay
from amelia.app.runs import Driven
from amelia.config.places import state_home
from amelia.record.runs import RunDirectory
from amelia.show.cli.naming import named_run
from amelia.show.run.watchers import watching
from amelia.show.text import printable
from amelia.system.ownership import OwnedKind, OwnerMark, write_mark
from amelia.workspace.removal import remove

_INTERRUPTED = 128


@click.command("replay")
@click.argument("run")
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the run as files that can be committed as a test, instead of playing it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON, then what differs.")
def command(*, run: str, save: Path | None, as_json: bool) -> None:
    """Play RUN again (a run, or a directory that --save wrote), without any agent.

    Everything but the agents is real: git, tests, rules, landing. A run is played in a repository of its own,
    a copy; yours is not touched, and nothing is merged, pushed or signed. What was saved is played in a
    temporary place.

    Exits 0 when it came to the same, 1 when something differs.
    """
    if is_saved(Path(run)):
        if save is not None:
            raise click.UsageError(f"{run} is saved already")
        raise SystemExit(_play_saved(Path(run), as_json=as_json))
    directory = named_run(run)
    if save is None:
        raise SystemExit(_play_here(directory, as_json=as_json))
    save_replay(directory, save)
    click.echo(f"run {directory.run} is saved; play it with: amelia replay {save}")


def _play_here(directory: RunDirectory, *, as_json: bool) -> int:
    playing, code = _play(replay_of(directory), home=state_home(), as_json=as_json)
    click.echo(f"it was played in a repository of its own: {playing.directory.replica}", err=True)
    return code


def _play_saved(place: Path, *, as_json: bool) -> int:
    replay = open_saved(place)
    room = Path(tempfile.mkdtemp(prefix="amelia-replay-"))
    write_mark(room, OwnerMark(OwnedKind.TEMPORARY, room.name))
    try:
        playing, code = _play(replay, home=room, as_json=as_json)
    except BaseException:
        remove(room, within=room)
        raise
    if code == 0:
        remove(room, within=room)
        click.echo("it was played in a repository of its own, which is removed now", err=True)
    else:
        command = f"AMELIA_HOME={room} amelia status {playing.directory.run}"
        click.echo(f"everything is in {room}; {command}", err=True)
    return code


def _play(replay: Replay, *, home: Path, as_json: bool) -> tuple[Playing, int]:
    """Plays a run; returns the replay, and the code to exit with."""
    if replay.fixed_by_hand is not None:
        click.echo(
            f"note: {printable(replay.fixed_by_hand)} was fixed by hand, which cannot be played again; "
            "the replay ends before that",
            err=True,
        )
    playing = begin_replay(replay, home=home)
    driven = _drive(playing, as_json=as_json)
    if driven.watcher_problem is not None:
        click.echo(f"note: the replay could not be followed to its end: {driven.watcher_problem!r}", err=True)
    if driven.stopped_by is not None:
        click.echo("stopped; nothing was compared", err=True)
        return playing, _INTERRUPTED + driven.stopped_by
    return playing, _compare(playing, as_json=as_json)


def _drive(playing: Playing, *, as_json: bool) -> Driven:
    with watching(sys.stdout, as_json=as_json, environment=os.environ) as watcher:
        return anyio.run(drive_replay, playing, watcher)


def _compare(playing: Playing, *, as_json: bool) -> int:
    found = playing.differences()
    if as_json:
        told = {"type": "replay_compared", "run": playing.directory.run, "differences": found}
        click.echo(json.dumps(told))
    elif not found:
        expected = playing.replay.expected
        count = f"{len(expected.units)} unit{'s' if len(expected.units) > 1 else ''}"
        click.echo(f"the same: {expected.outcome or 'as far as it was played'}, {count}")
    else:
        click.echo("".join(f"differs: {printable(line)}\n" for line in found), nl=False)
        click.echo(f"the replay is run {playing.directory.run}: amelia log {playing.directory.run}", err=True)
    return 1 if found else 0
