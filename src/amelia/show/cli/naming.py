"""Runs as they are named on the command line: by their whole name, or here by the start of it."""

import posixpath
from collections.abc import Iterable
from pathlib import Path

from amelia.app.people import RefusedError
from amelia.config.places import is_repository, repository_around, state_home
from amelia.record.runs import RunDirectory, begun_journal, find_run
from amelia.show.text import printable


def named_run(name: str) -> RunDirectory:
    """Returns the run that is meant; one whose journal tells nothing is an error."""
    home, here = state_home(), repository_around(Path.cwd())
    # A worktree of a run, in which a person mends something, is no place with runs of its own.
    is_nowhere = not is_repository(here) or here.is_relative_to(home.resolve())
    directory = find_run(home, name, repository=None if is_nowhere else str(here))
    begun_journal(directory, at_most=1)
    return directory


def granted_files(names: Iterable[str]) -> tuple[str, ...]:
    """Returns files of the repository that a person names, as git calls them."""
    found = tuple(dict.fromkeys(posixpath.normpath(name) for name in names))
    if wrong := [path for path in found if path in {".", ".."} or path.startswith(("/", "../"))]:
        raise RefusedError(
            printable(f"{wrong[0]} is no file inside the repository"),
            hint="name it from the root of the repository: tests/test_parser.py",
        )
    if not found:
        raise RefusedError("no file is named", hint="name it: grant tests/test_parser.py")
    return found
