"""Fills the submodules of a worktree from what the user's repository has of them, and from nowhere else.

- Nothing is fetched. A submodule that the user does not have stays empty and is named.
- A populated submodule is a repository of its own that borrows the user's objects, like the worktree itself.
- Before git is asked about a submodule that an agent had in hand, only data is left of its repository, and
  its configuration is ours again: git would otherwise run commands that the agent wrote there. Git is never
  left to look into one by itself.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from amelia.model.git import CommitId, Treeish
from amelia.system.git import Repository
from amelia.system.git_commands import blob_config, find_commit, gitlinks, has_changes, stage_entries
from amelia.system.git_places import Lane, Store
from amelia.workspace.fill import fill
from amelia.workspace.removal import real_directory, remove
from amelia.workspace.standalone import Standalone, write_repository
from amelia.workspace.store import AGENT_CONFIG

_DATA = frozenset({"HEAD", "index", "objects", "packed-refs", "refs", "shallow"})
_MOST = 1000  # submodules of submodules, so that a circle of them ends


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    module: Path
    commit: CommitId


def populate(lane: Lane, tree: Treeish) -> tuple[str, ...]:
    """Fills all submodules of the tree that is in a worktree; returns the paths of those that stay empty."""
    modules = lane.git_dir / "modules"
    if not (lane.directory / ".gitmodules").exists():
        remove(modules, within=lane.store.directory)
        return ()
    before = populated(lane)
    modules.mkdir(exist_ok=True)
    waiting = list(_found_in(lane.repository, tree, modules=lane.store.source.common_dir / "modules"))
    filled: set[str] = set()
    empty: list[str] = []
    while waiting:
        found = waiting.pop()
        if len(filled) >= _MOST or not _has(found.module, found.commit):
            empty.append(found.path)
            continue
        inner = _fill(lane, found)
        filled.add(found.path)
        waiting.extend(
            _found_in(inner, found.commit, modules=found.module / "modules", prefix=f"{found.path}/")
        )
    for path in set(before) - filled:
        _index(lane, path).unlink(missing_ok=True)
    return tuple(sorted(empty))


def is_known(store: Store, tree: Treeish, *, path: str, commit: CommitId) -> bool:
    """Says whether the user's repository has the commit that a tree wants of a submodule."""
    module = _modules(store.repository, tree).get(path)
    return module is not None and _has(store.source.common_dir / "modules" / module, commit)


def populated(lane: Lane) -> tuple[str, ...]:
    """Returns the paths of the submodules that a lane's worktree was given, outer ones first."""
    modules = lane.git_dir / "modules"
    return tuple(sorted(unquote(index.name, errors="surrogateescape") for index in modules.glob("*")))


def disarm(lane: Lane) -> None:
    """Takes back the configuration of all submodules that an agent had in hand, and what is no repository."""
    real, run = lane.directory.resolve(), lane.store.directory
    for path in populated(lane):
        place = (lane.directory / path).resolve()
        if not place.is_dir() or not place.is_relative_to(real):
            continue
        git_dir = lane.directory / place.relative_to(real) / ".git"
        if git_dir.is_symlink() or not git_dir.is_dir():
            remove(git_dir, within=run)  # it would lead to a repository that we know nothing of
            continue
        _disarm(lane, git_dir)


def link_by_hand(lane: Lane, places: Iterable[str]) -> tuple[str, ...]:
    """Puts the submodules among some repositories into the index, so that git need not look into them.

    Git would start itself in each, and there whatever the agent has configured, also for others inside.
    """
    known = gitlinks(lane.repository)
    links: dict[str, CommitId] = {}
    for path in places:
        if path in known and (commit := _head(lane, path)) is not None:
            links[path] = commit
    if links:
        stage_entries(lane.repository, {path: f"160000 {commit}" for path, commit in links.items()})
    return tuple(links)


def _head(lane: Lane, path: str) -> CommitId | None:
    """Returns the commit that a submodule is at; one that is no repository is no longer there."""
    git_dir = lane.directory / path / ".git"
    if git_dir.is_symlink() or not git_dir.is_dir():
        remove(git_dir, within=lane.store.directory)
        return None
    return _disarm(lane, git_dir)


def _disarm(lane: Lane, git_dir: Path) -> CommitId | None:
    """Leaves of a repository what is data, gives it our configuration, and returns the commit it is at."""
    run = lane.store.directory
    for name in os.listdir(git_dir):  # noqa: PTH208 - names are all that is needed
        if name not in _DATA or (git_dir / name).is_symlink():
            remove(git_dir / name, within=run)
    (git_dir / "config").write_text(_config(lane.store), encoding="utf-8", errors="surrogateescape")
    commit = find_commit(Repository(git_dir), "HEAD")
    if commit is None:
        remove(git_dir, within=run)
    return commit


def unsaved(lane: Lane) -> tuple[str, ...]:
    """Returns the submodules that hold changes which no commit of theirs has; to be asked once disarmed."""
    return tuple(path for path in populated(lane) if _is_unsaved(lane.directory / path))


def _is_unsaved(place: Path) -> bool:
    if place.is_symlink() or not place.is_dir():
        return False
    if not (place / ".git").is_dir():
        return any(place.iterdir())
    return has_changes(Repository(place / ".git", work_tree=place))


def _fill(lane: Lane, found: _Found) -> Repository:
    run = lane.store.directory
    place = real_directory(lane.directory / found.path, within=run)
    index = _index(lane, found.path)
    content = Standalone(
        head=found.commit,
        config=_config(lane.store),
        borrowed=(found.module / "objects",),
        index=index,
        exclude=found.module / "info" / "exclude",
        shallow=found.module / "shallow",
    )
    write_repository(place / ".git", content, within=run)
    repository = Repository(place / ".git", work_tree=place, index=index)
    fill(repository, found.commit, within=run, keeps_ignored=True)
    shutil.copyfile(index, place / ".git" / "index")
    return repository


def _index(lane: Lane, path: str) -> Path:
    return lane.git_dir / "modules" / quote(path, safe="", errors="surrogateescape")


def _found_in(where: Repository, tree: Treeish, *, modules: Path, prefix: str = "") -> Iterator[_Found]:
    names = _modules(where, tree)
    for path, commit in gitlinks(where).items():
        # A submodule without a name of its own has no place either.
        yield _Found(prefix + path, modules / names.get(path, "\0"), commit)


def _modules(where: Repository, tree: Treeish) -> dict[str, str]:
    """Returns the names of submodules by path, without names that lead out of the directory of modules."""
    names: dict[str, str] = {}
    for key, value in blob_config(where, f"{tree}:.gitmodules"):
        name = key.removeprefix("submodule.").removesuffix(".path")
        if key == f"submodule.{name}.path" and ".." not in name.split("/") and not name.startswith("/"):
            names[value] = name
    return names


def _has(module: Path, commit: CommitId) -> bool:
    if "\0" in str(module) or not (module / "HEAD").is_file():
        return False
    return find_commit(Repository(module), commit) is not None


def _config(store: Store) -> str:
    return (store.git_dir / AGENT_CONFIG).read_text(encoding="utf-8", errors="surrogateescape")
