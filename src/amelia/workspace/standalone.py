"""Gives a worktree a repository of its own by writing plain files; no git process takes part.

What the agent sees as `.git` borrows objects and owns everything else. It is thrown away with every
preparation, so whatever the agent does to it ends there.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from amelia.model.git import CommitId
from amelia.workspace.removal import remove


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    """Everything a repository needs to show files as unchanged since a commit, and refs to look at."""

    head: CommitId
    config: str
    borrowed: tuple[Path, ...]
    index: Path
    exclude: Path
    shallow: Path
    refs: Mapping[str, CommitId] = field(default_factory=dict[str, CommitId])


def write_repository(git_dir: Path, content: Standalone) -> None:
    """Puts a fresh repository in the place of whatever is there."""
    remove(git_dir)
    for folder in ("", "objects", "objects/info", "refs", "info"):  # git makes the others when it needs them
        (git_dir / folder).mkdir()
    (git_dir / "HEAD").write_text(f"{content.head}\n", encoding="ascii")
    (git_dir / "config").write_text(content.config, encoding="utf-8", errors="surrogateescape")
    write_alternates(git_dir, content.borrowed)
    _copy(content.index, git_dir / "index")
    _copy(content.exclude, git_dir / "info" / "exclude")
    _copy(content.shallow, git_dir / "shallow")
    for ref, commit in content.refs.items():
        (git_dir / ref).parent.mkdir(parents=True, exist_ok=True)
        (git_dir / ref).write_text(f"{commit}\n", encoding="ascii")


def write_alternates(git_dir: Path, borrowed: Iterable[Path]) -> None:
    """Lets a repository read the objects of others."""
    lines = "".join(f"{objects}\n" for objects in borrowed)
    (git_dir / "objects" / "info" / "alternates").write_text(
        lines, encoding="utf-8", errors="surrogateescape"
    )


def _copy(origin: Path, to: Path) -> None:
    if origin.is_file():
        shutil.copyfile(origin, to)
