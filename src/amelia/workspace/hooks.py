"""Lets the commit hooks of the user's repository speak about the files in a lane.

- Hooks see what they would see in the user's repository: the base as HEAD, the whole work in the index.
- What they do to that index, to objects or to settings of git is theirs alone: only files of the worktree
  and the message come back.
- Without hooks nothing is run. A refusal is a value; so is a hook that does not end.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from amelia.model.git import HookRefused
from amelia.model.walls import Wall
from amelia.system.git import Call, Repository
from amelia.system.git_commands import run_hook
from amelia.system.git_places import Lane, Source
from amelia.system.regular import NotRegularError, read_regular
from amelia.workspace.removal import remove

PATIENCE = timedelta(minutes=10)
HOOKS = ("pre-commit", "commit-msg")
"""The hooks that have a say."""
_LONGEST_OUTPUT = 20_000


def has_hook(source: Source, hook: str) -> bool:
    """Says whether the user's repository has a hook that git would run."""
    path = source.hooks / hook
    return path.is_file() and os.access(path, os.X_OK)


def before_commit(
    lane: Lane, *, patience: timedelta = PATIENCE, wall: Wall | None = None
) -> HookRefused | None:
    """Runs the `pre-commit` hook on what is in the lane's index."""
    with _shown(lane) as where:
        return _run(lane, where, "pre-commit", patience=patience, wall=wall)


def checked_message(
    lane: Lane, message: str, *, patience: timedelta = PATIENCE, wall: Wall | None = None
) -> tuple[str, HookRefused | None]:
    """Runs the `commit-msg` hook and returns the message as it left it."""
    with _shown(lane) as where:
        file = where.git_dir / "COMMIT_EDITMSG"
        file.write_text(message, encoding="utf-8", errors="replace")
        refused = _run(lane, where, "commit-msg", str(file), patience=patience, wall=wall)
        left = _read(file)
    return (left if left.strip() else message), refused


@contextmanager
def _shown(lane: Lane) -> Generator[Repository]:
    """Gives hooks a git directory of their own: what they write there speaks to nobody but themselves."""
    place = lane.hook_dir
    remove(place, within=lane.store.directory)
    (place / "objects").mkdir(parents=True)
    (place / "commondir").write_text("../..\n")
    for file in ("HEAD", "index"):
        shutil.copyfile(lane.git_dir / file, place / file)
    try:
        yield Repository(place, lane.directory, place / "index")
    finally:
        remove(place, within=lane.store.directory)


def _read(file: Path) -> str:
    """Returns the message that a hook left; none where it left something else than a file."""
    with suppress(OSError, NotRegularError):
        if not file.is_symlink():
            return read_regular(file).decode(errors="replace").replace("\0", "")
    return ""


def _run(
    lane: Lane, where: Repository, *call: str, patience: timedelta, wall: Wall | None
) -> HookRefused | None:
    hook, *arguments = call
    objects = {
        "GIT_OBJECT_DIRECTORY": str(where.git_dir / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(lane.store.git_dir / "objects"),
    }
    how = Call(patience=patience, lock=lane.lock, wall=wall, environment=objects)
    answer = run_hook(where, hook, *arguments, call=how)
    if answer.code == 0:
        return None
    said = (answer.text + answer.err).strip()[-_LONGEST_OUTPUT:]
    if answer.code is None:
        return HookRefused(hook, f"{said}\nThe hook did not end within {patience}.".lstrip(), is_late=True)
    return HookRefused(hook, said or f"The hook ended with exit code {answer.code} and said nothing.")
