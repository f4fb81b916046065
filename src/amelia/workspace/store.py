"""Makes the private repository of a run, which borrows from the user's and never gives back by itself.

- The base is pinned in the user's repository, so that nothing borrowed from it disappears.
- A shallow repository cannot be borrowed from, since its history ends differently; it is copied.
- A store appears under its name only when it is complete; making it again opens the one that is there.
"""

import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path

from amelia.model.errors import ConfigError, GitError
from amelia.model.git import CommitId, Stamp, base_ref, ref_component
from amelia.system.git import Repository
from amelia.system.git_commands import (
    commit_tree,
    describe_ref,
    empty_tree,
    fetch,
    find_commit,
    init_bare,
    list_refs,
    set_ref,
)
from amelia.system.git_places import Source, Store
from amelia.workspace.generated import exclude_generated
from amelia.workspace.portable import agent_config, store_config
from amelia.workspace.removal import remove
from amelia.workspace.standalone import write_alternates

AGENT_CONFIG = "agent.config"


def make_store(source: Source, directory: Path, *, run: str, base: CommitId | None) -> tuple[Store, CommitId]:
    """Makes or opens the store of a run in the run's directory, and returns it with the run's base.

    Without a base (a repository without commits) the run starts from an empty commit of its own.
    """
    store = Store(run=run, directory=directory, source=source)
    _refuse_branch_in_the_way(source)
    if base is not None:
        set_ref(source.repository, base_ref(run), base)
    if not store.git_dir.exists():
        _build(store, base)
    exclude_generated(store, base)
    if base is None:
        base = _empty_beginning(store)
    set_ref(store.repository, base_ref(run), base)
    return store, base


def is_whole(store: Store) -> bool:
    """Says whether a store is there as it was made."""
    git_dir = store.git_dir
    is_repository = (git_dir / "HEAD").is_file() and (git_dir / "objects").is_dir()
    return is_repository and (git_dir / "refs").is_dir() and (git_dir / AGENT_CONFIG).is_file()


def restore(store: Store, base: CommitId) -> None:
    """Makes a store anew that was deleted or damaged, from what the user's repository has of the run.

    What is left of it, and of worktrees in which somebody may have worked, is put aside.
    """
    source = store.source
    for number, left in enumerate([store.git_dir, *(store.directory / "lanes").glob("*/work")], start=1):
        if left.is_dir() and not left.is_symlink():
            aside = store.directory / "aside"
            aside.mkdir(exist_ok=True)
            left.rename(aside / f"of-a-lost-store-{secrets.token_hex(4)}-{number}")
    is_users = find_commit(source.repository, base) is not None
    _, found = make_store(source, store.directory, run=store.run, base=base if is_users else None)
    if found != base:
        raise GitError(
            f"{store.git_dir} was deleted, and nobody has {base}, with which the run {store.run} began",
            hint=f"nothing can go on: amelia cancel {store.run}, and run the plan again",
        )
    if refs := list_refs(source.repository, f"refs/amelia/{ref_component(store.run)}/"):
        fetch(store.repository, source.git_dir, refs)


def borrowed_objects(source: Source) -> tuple[Path, ...]:
    """Returns the object directories of the user that a run may read from."""
    return () if source.is_shallow else (source.common_dir / "objects",)


def _build(store: Store, base: CommitId | None) -> None:
    source = store.source
    unfinished = store.directory / "store.unfinished.git"
    remove(unfinished, within=store.directory)
    init_bare(unfinished, object_format=source.object_format)
    with (unfinished / "config").open("a", encoding="utf-8", errors="surrogateescape") as config:
        config.write(store_config(source))
    (unfinished / AGENT_CONFIG).write_text(agent_config(source), encoding="utf-8", errors="surrogateescape")
    _copy_info(source, unfinished / "info")
    (unfinished / "lanes").mkdir()
    write_alternates(unfinished, borrowed_objects(source))
    if source.is_shallow and base is not None:
        fetch(Repository(unfinished), source.git_dir, {base_ref(store.run): base})
    unfinished.rename(store.git_dir)


def _copy_info(source: Source, info: Path) -> None:
    info.mkdir(exist_ok=True)
    for name in ("attributes", "exclude"):
        if (origin := source.common_dir / "info" / name).is_file():
            shutil.copyfile(origin, info / name)


def _empty_beginning(store: Store) -> CommitId:
    stamp = Stamp(store.source.identity, datetime.fromtimestamp(0, UTC))
    tree = empty_tree(store.repository)
    return commit_tree(store.repository, tree, parents=(), message="An empty beginning\n", stamp=stamp)


def _refuse_branch_in_the_way(source: Source) -> None:
    if describe_ref(source.repository, "refs/heads/amelia") is not None:
        raise ConfigError(
            f"{source.top}: a branch named amelia leaves no room for branches amelia/…",
            hint="rename it: git branch -m amelia another-name",
        )
