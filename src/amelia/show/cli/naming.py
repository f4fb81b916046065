"""Runs as they are named on the command line: by their whole name, or here by the start of it."""

from pathlib import Path

from amelia.config.places import is_repository, repository_around, state_home
from amelia.record.runs import RunDirectory, begun_journal, find_run


def named_run(name: str) -> RunDirectory:
    """Returns the run that is meant; one whose journal tells nothing is an error."""
    home, here = state_home(), repository_around(Path.cwd())
    # A worktree of a run, in which a person mends something, is no place with runs of its own.
    is_nowhere = not is_repository(here) or here.is_relative_to(home.resolve())
    directory = find_run(home, name, repository=None if is_nowhere else str(here))
    begun_journal(directory, at_most=1)
    return directory
