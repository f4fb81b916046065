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
from amelia.show.cli.naming import named_run
from amelia.show.run.watchers import watching
from amelia.show.text import printable
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

    Everything but the agents is real: git, tests, rules, landing. A run is played on its repository, as a
    new run on a branch of its own; what was saved is played in a temporary place.

    Exits 0 when it came to the same, 1 when something differs.
    """
    if is_saved(Path(run)):
        if save is not None:
            raise click.UsageError(f"{run} is saved already")
        raise SystemExit(_play_saved(Path(run), as_json=as_json))
    directory = named_run(run)
    if save is None:
        raise SystemExit(
            _play(replay_of(directory), home=state_home(), beside=directory.path, as_json=as_json)
        )
    save_replay(directory, save)
    click.echo(f"run {directory.run} is saved; play it with: amelia replay {save}")


def _play_saved(place: Path, *, as_json: bool) -> int:
    room = Path(tempfile.mkdtemp(prefix="amelia-replay-"))
    try:
        replay = open_saved(place, repository=room / "repository")
    except BaseException:
        remove(room)
        raise
    code = _play(replay, home=room / "state", beside=room, as_json=as_json)
    if code == 0:
        remove(room)
    else:
        click.echo(f"everything is in {room}; AMELIA_HOME={room / 'state'} amelia status", err=True)
    return code


def _play(replay: Replay, *, home: Path, beside: Path, as_json: bool) -> int:
    if replay.fixed_by_hand is not None:
        click.echo(
            f"note: {printable(replay.fixed_by_hand)} was fixed by hand, which cannot be played again; "
            "the replay ends before that",
            err=True,
        )
    playing = begin_replay(replay, home=home, beside=beside)
    driven = _drive(playing, as_json=as_json)
    if driven.watcher_problem is not None:
        click.echo(f"note: the replay could not be followed to its end: {driven.watcher_problem!r}", err=True)
    if driven.stopped_by is not None:
        click.echo("stopped; nothing was compared", err=True)
        return _INTERRUPTED + driven.stopped_by
    return _compare(playing, as_json=as_json)


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
    return 1 if found else 0
