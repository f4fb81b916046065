"""Real git repositories for tests: built with plain git, and compared byte by byte."""

import hashlib
import os
import shutil
import subprocess  # noqa: TID251 - the tests' own git, independent of ours
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amelia.model.git import CommitId, NotTaken, Snapshot, Stamp, attempt_ref
from amelia.system.git_places import Lane, Purpose, Source, Store
from amelia.system.ownership import OwnedKind, make_owned
from amelia.workspace.lanes import prepare
from amelia.workspace.snapshot import snapshot
from amelia.workspace.source import open_source
from amelia.workspace.store import make_store

WHEN = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
FILES = {"README.md": "# Sample\n", "src/app.py": "print('one')\n", ".gitignore": "build/\n"}


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository with a worktree."""

    path: Path

    def git(self, *arguments: str, check: bool = True) -> str:
        return git(self.path, *arguments, check=check)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: Mapping[str, str | bytes], message: str = "Change something") -> CommitId:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", message)
        return CommitId(self.git("rev-parse", "HEAD"))

    def hook(self, name: str, script: str) -> Path:
        return executable(self.path / ".git" / "hooks" / name, script)


def git(directory: Path, *arguments: str, check: bool = True) -> str:
    """Runs git as a user or an agent would, without the settings of this machine."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": "@1700000000 +0000",
        "GIT_COMMITTER_DATE": "@1700000000 +0000",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert not check or done.returncode == 0, os.fsdecode(done.stderr)
    return os.fsdecode(done.stdout).removesuffix("\n")


def make_repository(path: Path, files: Mapping[str, str | bytes] | None = None, *init: str) -> Repo:
    """Makes a repository with one commit of the given files; with no files at all, without any commit."""
    path.mkdir(parents=True, exist_ok=True)
    repo = Repo(path)
    repo.git("init", "--quiet", "--template=", "--initial-branch=main", *init)
    repo.git("config", "user.name", "Ada Example")
    repo.git("config", "user.email", "ada@example.com")
    (path / ".git" / "hooks").mkdir()
    wanted = FILES if files is None else files
    if wanted:
        repo.commit(wanted, "Start")
    return repo


def executable(path: Path, script: str) -> Path:
    """Writes a shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def fingerprint(repo: Repo) -> dict[str, str]:
    """Returns a digest of every file of a repository and its worktree, but for objects and refs of ours."""
    ours = ("objects", "refs/heads/amelia", "refs/amelia", "logs/refs/heads/amelia", "worktrees")
    prints: dict[str, str] = {}
    for path in sorted(repo.path.rglob("*")):
        name = path.relative_to(repo.path).as_posix()
        if any(f"{name}/".startswith(f".git/{own}/") for own in ours):
            continue
        if path.is_symlink():
            prints[name] = f"-> {path.readlink()}"
        elif path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            prints[name] = f"{path.stat().st_mode:o} {digest}"
    return prints


def files_in(directory: Path) -> dict[str, bytes]:
    """Returns the content of all files in a worktree, without its repository."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(directory).parts
    }


@dataclass(frozen=True, slots=True)
class Run:
    """A run on a repository: its store, its base, and two lanes."""

    repo: Repo
    source: Source
    store: Store
    base: CommitId

    @property
    def work(self) -> Lane:
        return Lane(self.store, 1, Purpose.WORK)

    @property
    def check(self) -> Lane:
        return Lane(self.store, 1, Purpose.CHECK)

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.source.identity, WHEN)

    @property
    def agent(self) -> Repo:
        """Returns what an agent sees."""
        return Repo(self.work.directory)

    def prepare(self) -> Repo:
        prepare(self.work, tree=self.base, base=self.base)
        return self.agent

    def snapshot(self, *, attempt: int = 1, message: str = "Work\n") -> Snapshot:
        taken = self.try_snapshot(attempt=attempt, message=message)
        assert isinstance(taken, Snapshot), taken
        return taken

    def try_snapshot(self, *, attempt: int = 1, message: str = "Work\n") -> Snapshot | NotTaken:
        ref = attempt_ref(self.store.run, "1", attempt)
        return snapshot(self.work, base=self.base, message=message, stamp=self.stamp, ref=ref)


def watch_git(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Puts a git that writes down its commands before the real one; returns what was run since last asked."""
    log = directory / "git.log"
    real = shutil.which("git")
    script = 'skip=; for word; do case "$skip$word" in -c|--no-pager) [ "$word" = -c ] && skip=x;; '
    script += f'x*) skip=;; *) echo "$word" >> "{log}"; break;; esac; done\nexec "{real}" "$@"'
    executable(directory / "bin" / "git", script)
    monkeypatch.setenv("PATH", f"{directory / 'bin'}:{os.environ['PATH']}")

    def since() -> list[str]:
        seen = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return seen

    return since


def start_run(repo: Repo, directory: Path, *, run: str = "r1") -> Run:
    """Starts a run at the head of a repository, in a directory that is made if it is not there."""
    source = open_source(repo.path)
    if not directory.exists():
        make_owned(directory, OwnedKind.RUN)
    store, base = make_store(source, directory, run=run, base=source.head)
    return Run(repo, source, store, base)
