"""Makes the worktree of a lane hold exactly a tree, in two git processes when little has changed.

- Tracked files are those of the tree; untracked files and nested repositories are gone; ignored files stay
  where they are wanted (what an agent installed), and go where they could tell a lie (where tests run).
- The agent's `.git` is as good as new every time, at the base, with an index that matches the files.
- A worktree in any state can be prepared: links, missing permissions, a damaged index, no directory at all.
- One lane is used by one caller at a time; different lanes do not know each other.
"""

from collections.abc import Mapping

from amelia.model.git import CommitId, Prepared, Treeish
from amelia.system.git_places import Lane
from amelia.workspace.fill import fill
from amelia.workspace.pipes import remove_pipes
from amelia.workspace.removal import real_directory
from amelia.workspace.standalone import Standalone, Written, write_repository
from amelia.workspace.store import AGENT_CONFIG, borrowed_objects
from amelia.workspace.submodules import populate

_NONE: Mapping[str, CommitId] = {}


def prepare(
    lane: Lane,
    *,
    tree: Treeish,
    base: CommitId,
    keeps_ignored: bool = True,
    is_filled: bool = False,
    refs: Mapping[str, CommitId] = _NONE,
    written: Written | None = None,
) -> Prepared:
    """Puts a tree into a lane's worktree, with the base as the commit that the agent sees, and `refs`.

    A caller who knows that the files are those of the tree saves git the look at all of them; one who
    remembers what was `written` in this lane before saves its writing, as far as nobody touched it.
    """
    real_directory(lane.directory, within=lane.store.directory)
    remove_pipes(lane.directory)
    point_at(lane, base)
    if not is_filled:
        fill(lane.repository, tree, within=lane.store.directory, keeps_ignored=keeps_ignored)
    content = _agent_repository(lane, base, refs)
    write_repository(lane.directory / ".git", content, written, within=lane.store.directory)
    return Prepared(populate(lane, tree))


def point_at(lane: Lane, base: CommitId) -> None:
    """Makes the lane's own git directory stand at a commit."""
    lane.git_dir.mkdir(parents=True, exist_ok=True)
    (lane.git_dir / "commondir").write_text("../..\n")
    (lane.git_dir / "HEAD").write_text(f"{base}\n")


def _agent_repository(lane: Lane, base: CommitId, refs: Mapping[str, CommitId]) -> Standalone:
    common = lane.store.git_dir
    return Standalone(
        head=base,
        config=(common / AGENT_CONFIG).read_text(encoding="utf-8", errors="surrogateescape"),
        borrowed=(common / "objects", *borrowed_objects(lane.store.source)),
        index=lane.index,
        exclude=common / "info" / "exclude",
        shallow=common / "shallow",
        refs=refs,
    )
