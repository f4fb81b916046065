"""Lets the commit hooks of the user's repository speak about the files in a lane.

- Hooks see what they would see in the user's repository: the base as HEAD, the whole work in the index.
- Without hooks nothing is run. A refusal is a value; so is a hook that does not end.
"""

import os
from datetime import timedelta

from amelia.model.git import HookRefused
from amelia.model.walls import Wall
from amelia.system.git_commands import run_hook
from amelia.system.git_places import Lane, Source

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
    return _run(lane, "pre-commit", patience=patience, wall=wall)


def checked_message(
    lane: Lane, message: str, *, patience: timedelta = PATIENCE, wall: Wall | None = None
) -> tuple[str, HookRefused | None]:
    """Runs the `commit-msg` hook and returns the message as it left it."""
    file = lane.git_dir / "COMMIT_EDITMSG"
    file.write_text(message, encoding="utf-8", errors="replace")
    refused = _run(lane, "commit-msg", str(file), patience=patience, wall=wall)
    left = file.read_text(encoding="utf-8", errors="replace").replace("\0", "")
    return (left if left.strip() else message), refused


def _run(
    lane: Lane, hook: str, *arguments: str, patience: timedelta, wall: Wall | None
) -> HookRefused | None:
    answer = run_hook(lane.repository, hook, *arguments, patience=patience, lock=lane.lock, wall=wall)
    if answer.code == 0:
        return None
    said = (answer.text + answer.err).strip()[-_LONGEST_OUTPUT:]
    if answer.code is None:
        return HookRefused(hook, f"{said}\nThe hook did not end within {patience}.".lstrip(), is_late=True)
    return HookRefused(hook, said or f"The hook ended with exit code {answer.code} and said nothing.")
