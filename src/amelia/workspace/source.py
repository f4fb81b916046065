"""Finds out about the user's repository, and writes nothing there.

- What cannot be worked with is a `ConfigError` that says how to go on: no repository, a bare or partial one,
  one that belongs to somebody else, no identity to commit with.
- The index is never refreshed, not even to count what is uncommitted.
"""

from collections.abc import Sequence
from pathlib import Path

from amelia.model.errors import ConfigError
from amelia.model.git import CommitId, Identity
from amelia.system.git import Answer, Repository
from amelia.system.git_commands import (
    find_commit,
    head_branch,
    list_config,
    rev_parse,
    staged_paths,
    untracked,
)
from amelia.system.git_places import ConfigEntry, Source
from amelia.workspace.pipes import find_pipes

_TRUE = frozenset({None, "true", "yes", "on", "1"})


def open_source(path: Path) -> Source:
    """Opens the repository that a directory belongs to."""
    top = _top_level(path)
    git_dir, common_dir, shallow, object_format, hooks = _lines(
        rev_parse(
            top,
            *("--absolute-git-dir", "--git-common-dir", "--is-shallow-repository", "--show-object-format"),
            *("--git-path", "hooks"),
        ),
        top,
        count=5,
    )
    repository = Repository(Path(git_dir), work_tree=top)
    config = list_config(repository)
    _refuse_partial(config, top)
    return Source(
        top=top,
        git_dir=Path(git_dir),
        common_dir=(top / common_dir).resolve(),
        hooks=(top / hooks).resolve(),
        object_format=object_format,
        head=find_commit(repository, "HEAD"),
        branch=head_branch(repository),
        is_shallow=shallow == "true",
        is_signing=_last(config, "commit.gpgsign", default="false") in _TRUE,
        identity=_identity(config, top),
        config=config,
    )


def resolve(source: Source, revision: str) -> CommitId:
    """Returns the commit that a revision names in the user's repository."""
    if (commit := find_commit(source.repository, revision)) is None:
        raise ConfigError(
            f"{source.top}: {revision!r} names no commit",
            hint="give a branch, a tag or a commit of this repository",
        )
    return commit


def uncommitted(source: Source) -> int:
    """Counts the paths that a run will not see: changed, staged or untracked."""
    refuse_pipes(source)
    changed = set(untracked(source.repository, "--modified", "--deleted"))
    if source.head is not None:
        changed.update(staged_paths(source.repository))
    return len(changed)


def refuse_pipes(source: Source) -> None:
    """Refuses a checkout in which git would wait for ever."""
    for path, kind in find_pipes(source.top):
        raise ConfigError(
            f"{source.top / path} is {kind}: git would wait for it without end",
            hint="remove it, or put a file there",
        )


def _top_level(path: Path) -> Path:
    if not path.is_dir():
        raise ConfigError(f"{path} is not a directory", hint="give the directory of a git repository")
    answer = rev_parse(path, "--is-bare-repository", "--show-toplevel")
    if answer.out.startswith(b"true"):
        raise ConfigError(f"{path}: a bare repository has no files to work on", hint="give a clone of it")
    _, top = _lines(answer, path, count=2)
    return Path(top)


def _lines(answer: Answer, path: Path, *, count: int) -> Sequence[str]:
    if answer.code != 0:
        raise _unusable(path, answer.err.strip())
    lines = answer.text.split("\n")
    if len(lines) != count:
        raise ConfigError(f"{path}: a line break in the path of a repository", hint="rename the directory")
    return lines


def _unusable(path: Path, said: str) -> ConfigError:
    if "not a git repository" in said:
        return ConfigError(f"{path} is not in a git repository", hint="run `git init` there, or give another")
    if "dubious ownership" in said:
        return ConfigError(
            f"{path}: the repository belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory {path}",
        )
    return ConfigError(f"{path}: git cannot use this repository: {said}", hint="run `git rev-parse` there")


def _refuse_partial(config: Sequence[ConfigEntry], top: Path) -> None:
    for entry in config:
        name = entry.key.lower()
        if name == "extensions.partialclone" or (name.endswith(".promisor") and entry.value in _TRUE):
            raise ConfigError(
                f"{top}: a partial clone lacks objects that a run needs ({entry.key})",
                hint="complete it: git fetch --refetch --no-filter, then unset that key and "
                "the remote's partialclonefilter; or make a clone without --filter",
            )


def _identity(config: Sequence[ConfigEntry], top: Path) -> Identity:
    name, email = (
        _last(config, f"committer.{part}", default=_last(config, f"user.{part}", default=None))
        for part in ("name", "email")
    )
    if not name or not email:
        raise ConfigError(
            f"{top}: git does not know who commits: user.name and user.email are not both set",
            hint='git config user.name "Your Name" && git config user.email you@example.com',
        )
    return Identity(name, email)


def _last(config: Sequence[ConfigEntry], key: str, *, default: str | None) -> str | None:
    return next((entry.value for entry in reversed(config) if entry.key == key), default)
