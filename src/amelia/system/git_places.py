"""The repositories a run has to do with: the user's, the private store, and the lanes in it.

- `Source` is the user's; objects and refs below `refs/heads/amelia/` and `refs/amelia/` are all we write.
- `Store` is the run's own bare repository; it borrows the objects of the source and has no remote.
- `Lane` is a directory of files that Amelia manages through a git directory inside the store, so that nothing
  an agent does to the `.git` in the directory matters to us.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from amelia.model.git import CommitId, Identity
from amelia.model.walls import Wall
from amelia.system.git import Repository

PROCESSES = "processes.lock"
"""The name of the file that tells which processes work in a lane."""

_PROGRAMS = (".clean", ".smudge", ".process", ".driver")


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One value of git's configuration; without a value the key stands alone, which means true."""

    scope: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The user's repository as it was found."""

    top: Path
    git_dir: Path
    common_dir: Path
    hooks: Path
    object_format: str
    head: CommitId | None
    branch: str | None
    is_shallow: bool
    is_signing: bool
    identity: Identity
    config: tuple[ConfigEntry, ...]

    @property
    def repository(self) -> Repository:
        """Returns where git commands about the user's repository look."""
        return Repository(self.git_dir, work_tree=self.top)

    @property
    def has_programs(self) -> bool:
        """Says whether git may start programs of the user's that change or merge files."""
        return any(entry.key.endswith(_PROGRAMS) and entry.value for entry in self.config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The private repository of a run, in the run's directory."""

    run: str
    directory: Path
    source: Source
    wall: Wall | None = None

    @property
    def git_dir(self) -> Path:
        """Returns the bare repository."""
        return self.directory / "store.git"

    @property
    def repository(self) -> Repository:
        """Returns where git commands about the run's commits look."""
        return Repository(self.git_dir, has_programs=self.source.has_programs)


class Purpose(StrEnum):
    """What a lane's directory is for: agents write in the one, what they wrote is proved in the other."""

    WORK = "work"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class Lane:
    """A worktree at a path that stays the same from unit to unit."""

    store: Store
    number: int
    purpose: Purpose

    @property
    def directory(self) -> Path:
        """Returns the worktree."""
        return self.store.directory / "lanes" / str(self.number) / self.purpose

    @property
    def lock(self) -> Path:
        """Returns the file that tells which processes work in the lane."""
        return self.directory.parent / PROCESSES

    @property
    def git_dir(self) -> Path:
        """Returns the git directory with the lane's own HEAD and index."""
        return self.store.git_dir / "lanes" / f"{self.number}-{self.purpose}"

    @property
    def index(self) -> Path:
        """Returns the index that says what Amelia put into the worktree."""
        return self.git_dir / "index"

    @property
    def repository(self) -> Repository:
        """Returns where git commands about the lane's files look."""
        where = repository_at(self.directory)
        return replace(where, has_programs=self.store.source.has_programs, wall=self.store.wall)

    @property
    def hook_dir(self) -> Path:
        """Returns the git directory that hooks are shown, in place of the lane's own."""
        return self.git_dir.with_name(f"{self.git_dir.name}-hook")


def repository_at(worktree: Path) -> Repository:
    """Returns where git commands about a lane's files look, for the lane whose worktree this is."""
    git_dir = worktree.parents[2] / "store.git" / "lanes" / f"{worktree.parent.name}-{worktree.name}"
    return Repository(git_dir, worktree, git_dir / "index")
