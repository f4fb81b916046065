"""Takes back what a run has put into the world, once nobody needs it any more."""

from pathlib import Path

from amelia.model.git import ref_component
from amelia.system.git_commands import delete_refs
from amelia.system.git_places import Source
from amelia.workspace.removal import remove


def discard(source: Source, *, run: str, directory: Path) -> None:
    """Removes a run that never began: its directory, and the ref that pins its base."""
    delete_refs(source.repository, f"refs/amelia/{ref_component(run)}/")
    remove(directory)
