"""Gives a worktree a repository of its own by writing plain files; no git process takes part.

What the agent sees as `.git` borrows objects and owns everything else. It is thrown away with the next
preparation unless it is as it was made, so whatever the agent does to it ends there.
"""

import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from amelia.model.git import CommitId
from amelia.workspace.marks import Mark, marks_below
from amelia.workspace.removal import remove

_ANY = CommitId("")


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


@dataclass(slots=True)
class Written:
    """A repository that was written before, and the marks by which a change of it is noticed."""

    content: Standalone | None = None
    mode: int = 0
    marks: dict[str, Mark] = field(default_factory=dict[str, Mark])


def write_repository(
    git_dir: Path, content: Standalone, written: Written | None = None, *, within: Path
) -> None:
    """Puts a fresh repository in the place of whatever is there, `within` a directory that Amelia made.

    One that was written there before, and that nobody touched, is fresh but for its head and its index.
    """
    if written is not None and _is_untouched(git_dir, content, written):
        (git_dir / "index").unlink()  # it may be another name of some other file
    else:
        remove(git_dir, within=within)
        _write_anew(git_dir, content)
    (git_dir / "HEAD").write_text(f"{content.head}\n", encoding="ascii")
    _copy(content.index, git_dir / "index")
    if written is not None:
        _take_down(git_dir, content, written)


def write_alternates(git_dir: Path, borrowed: Iterable[Path]) -> None:
    """Lets a repository read the objects of others."""
    lines = "".join(f"{objects}\n" for objects in borrowed)
    (git_dir / "objects" / "info" / "alternates").write_text(
        lines, encoding="utf-8", errors="surrogateescape"
    )


def _write_anew(git_dir: Path, content: Standalone) -> None:
    for folder in ("", "objects", "objects/info", "refs", "info"):  # git makes the others when it needs them
        (git_dir / folder).mkdir()
    (git_dir / "config").write_text(content.config, encoding="utf-8", errors="surrogateescape")
    write_alternates(git_dir, content.borrowed)
    _copy(content.exclude, git_dir / "info" / "exclude")
    _copy(content.shallow, git_dir / "shallow")
    for ref, commit in content.refs.items():
        (git_dir / ref).parent.mkdir(parents=True, exist_ok=True)
        (git_dir / ref).write_text(f"{commit}\n", encoding="ascii")


def _is_untouched(git_dir: Path, content: Standalone, written: Written) -> bool:
    """Says whether all but the index, which git itself brings up to date, is as it was written."""
    if written.content != replace(content, head=_ANY) or content.refs:
        return False
    try:
        is_a_file = stat.S_ISREG((git_dir / "index").lstat().st_mode)
        return is_a_file and (git_dir.lstat().st_mode, _marks(git_dir)) == (written.mode, written.marks)
    except OSError:
        return False


def _take_down(git_dir: Path, content: Standalone, written: Written) -> None:
    written.content = replace(content, head=_ANY)
    written.mode, written.marks = git_dir.lstat().st_mode, _marks(git_dir)


def _marks(git_dir: Path) -> dict[str, Mark]:
    found = marks_below(git_dir)
    found.pop(f"{git_dir}/index", None)
    return found


def _copy(origin: Path, to: Path) -> None:
    if origin.is_file():
        shutil.copyfile(origin, to)
