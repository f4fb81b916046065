"""Makes the private repository of a run, which borrows from the user's and never gives back by itself.

- The base is pinned in the user's repository, so that nothing borrowed from it disappears.
- A shallow repository cannot be borrowed from, since its history ends differently; it is copied.
- A store appears under its name only when it is complete; making it again opens the one that is there.
"""

import shutil
from datetime import UTC, datetime
from pathlib import Path

from amelia.model.errors import ConfigError
from amelia.model.git import CommitId, Stamp, base_ref
from amelia.system.git import Repository
from amelia.system.git_commands import commit_tree, describe_ref, empty_tree, fetch, init_bare, set_ref
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
