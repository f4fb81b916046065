"""Takes back what a run has put into the world, once nobody needs it any more."""

from contextlib import suppress
from pathlib import Path

from amelia.model.git import ref_component
from amelia.system.git_commands import delete_refs
from amelia.system.git_places import Source
from amelia.system.ownership import open_owned
from amelia.workspace.removal import remove


def discard(source: Source, *, run: str, directory: Path) -> None:
    """Removes a run that never began, or a review: its directory, and its refs in the user's repository.

    Both stay where the directory has no mark of its own.
    """
    with suppress(FileNotFoundError), open_owned(directory):
        pass  # or refused, before anything is gone
    delete_refs(source.repository, f"refs/amelia/{ref_component(run)}/")
    remove(directory, within=directory)
