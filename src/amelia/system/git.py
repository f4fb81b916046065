"""Runs git, always the same way: fixed environment, fixed settings, no terminal, no shell, a time limit.

- Nothing of the caller's `GIT_*` variables reaches git, so a command looks only where it was told to.
- Output goes to files, not pipes: whatever a filter or a hook leaves running cannot block us.
- Where git starts a program of the user's (a hook, a filter, gpg), it runs under a supervisor: nothing of it
  outlives the command, or Amelia.
- No command here ever waits for a person, collects garbage, or runs a hook unless that is its purpose.
- The functions are synchronous, keep no state and may be called from any thread.
"""

import os
import re
import signal
import subprocess  # noqa: TID251 - this is the place for it
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from amelia.model.errors import ConfigError, GitError
from amelia.model.walls import Wall
from amelia.system.environment import behind_wall
from amelia.system.guarded import Streams, bounded, run_guarded
from amelia.system.supervisors import Order

OLDEST: tuple[int, int] = (2, 38)  # `merge-tree --write-tree`
PATIENCE = timedelta(minutes=10)
_LONGEST_MESSAGE = 4000

_KEPT = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "SYSTEMROOT"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
    *("SSH_AUTH_SOCK", "GPG_TTY", "GNUPGHOME", "DISPLAY", "WAYLAND_DISPLAY"),  # to sign commits
)
_FIXED = {
    "LC_ALL": "C",  # messages are recognised, and read by people who search for them
    "GIT_TERMINAL_PROMPT": "0",  # nobody is there to answer
    "GIT_EDITOR": ":",
    "GIT_OPTIONAL_LOCKS": "0",  # looking at the user's repository must not write its index
    "GIT_NO_REPLACE_OBJECTS": "1",  # replacements do not travel into the store, so they may not be seen here
}
_SETTINGS = (
    "gc.auto=0",  # what nobody refers to yet must stay
    "maintenance.auto=false",
    "core.fsync=committed",  # what the journal names must survive a power cut
    "core.fsyncMethod=batch",
    "core.quotePath=false",
    "i18n.commitEncoding=UTF-8",  # what we write, and what we read
    "i18n.logOutputEncoding=UTF-8",
    "color.ui=false",
    "core.fsmonitor=false",  # a daemon or a command for each look at the files
    "core.untrackedCache=false",
    "core.splitIndex=false",  # an index is one file, so that it can be copied
    "core.sparseCheckout=false",  # tests need the whole tree
    "index.sparse=false",
    "core.trustctime=true",  # an agent can set a file's times, but not this one
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.safecrlf=false",  # line endings are no reason to refuse a snapshot
    "submodule.recurse=false",  # submodules are populated by `workspace.submodules`
    "protocol.version=2",
)
_NO_HOOKS = "core.hooksPath=/dev/null"
_AS_USER = ("gc.auto=0", "maintenance.auto=false", "color.ui=false")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a git command looks: a git directory, and the files and the index that go with it.

    One that `has_programs` may start filters or merge drivers of the user's with any command; if there is a
    `wall`, behind that, since what they find in the files may be an agent's.
    """

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    has_programs: bool = False
    wall: Wall | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git command said; without an exit code it did not end in time."""

    code: int | None
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Returns the output as text without the last line's end."""
        return os.fsdecode(self.out).removesuffix("\n")

    @property
    def fields(self) -> list[str]:
        """Returns the parts of output that was separated by NUL."""
        return os.fsdecode(self.out).split("\0")[:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How a command is run apart from its arguments.

    `limit` is how many bytes of output are wanted; `output` is a file that gets it instead. A call `as_user`
    does what the user asked for, in their own checkout: their settings and their hooks hold. One that starts
    a program of the user's is `is_guarded`, and says so in a `lock`, if there is one for it.
    """

    stdin: bytes | IO[bytes] = b""
    output: IO[bytes] | None = None
    environment: Mapping[str, str] | None = None
    accept: Collection[int] | None = (0,)
    patience: timedelta = PATIENCE
    limit: int = -1
    with_hooks: bool = False
    as_user: bool = False
    is_guarded: bool = False
    lock: Path | None = None
    wall: Wall | None = None


_PLAIN = Call()


def run_git(where: Repository | Path, *arguments: str, call: Call = _PLAIN) -> Answer:
    """Runs one git command in a repository, or in the one that git finds from a directory.

    An exit code that the call does not accept is a `GitError`; with `accept=None` everything is an answer.
    """
    if isinstance(where, Repository) and where.has_programs:
        call = replace(call, is_guarded=True, wall=call.wall or where.wall)
    settings = _AS_USER if call.as_user else _SETTINGS if call.with_hooks else (*_SETTINGS, _NO_HOOKS)
    argv = ["git", "--no-pager", *(part for setting in settings for part in ("-c", setting)), *arguments]
    directory = where if isinstance(where, Path) else where.work_tree or where.git_dir
    environment = {**_environment(where), **(call.environment or {})}
    if call.wall is not None:
        environment = behind_wall(environment, call.wall)
    answer = _run(argv, directory, environment=environment, call=call)
    if call.accept is not None and answer.code not in call.accept:
        raise _failure(arguments[0], directory, answer=answer)
    return answer


def check_git() -> tuple[int, int]:
    """Returns the version of git, and refuses none or one that is too old."""
    hint = f"install git {OLDEST[0]}.{OLDEST[1]} or newer and make sure that it is on PATH"
    try:
        found = run_git(Path("/"), "version").text
    except GitError as problem:
        raise ConfigError(f"git cannot be run: {problem}", hint=hint) from problem
    match = re.match(r"git version (\d{1,4})\.(\d{1,4})", found)
    version: tuple[int, int] = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < OLDEST:
        raise ConfigError(f"{found[:80]} is too old", hint=hint)
    return version


def _environment(where: Repository | Path) -> dict[str, str]:
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _FIXED
    if isinstance(where, Repository):
        environment["GIT_DIR"] = str(where.git_dir)
        if where.work_tree is not None:
            environment["GIT_WORK_TREE"] = str(where.work_tree)
        if where.index is not None:
            environment["GIT_INDEX_FILE"] = str(where.index)
    return environment


def _run(argv: Sequence[str], directory: Path, *, environment: Mapping[str, str], call: Call) -> Answer:
    with _given(call.stdin) as given, TemporaryFile() as out, TemporaryFile() as err:
        if call.is_guarded:
            order = Order(
                argv=argv, cwd=directory, env=environment, keeps_errors=True, lock=call.lock, wall=call.wall
            )
            code = run_guarded(order, Streams(given, call.output or out, err), patience=call.patience)
            return Answer(code, _read(out, call.limit), os.fsdecode(_read(err, -1)))
        try:
            process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
                argv,
                cwd=directory,
                env=environment,
                stdin=given,
                stdout=call.output or out,
                stderr=err,
                start_new_session=True,  # no terminal to ask on, and one group to end
            )
        except OSError as problem:
            raise GitError(f"git could not be started in {directory}: {problem.strerror}") from problem
        code = _wait(process, call.patience)
        return Answer(code, _read(out, call.limit), os.fsdecode(_read(err, -1)))


def _given(stdin: bytes | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Returns a file from whose beginning the command reads; a file of the caller's stays open."""
    file = TemporaryFile() if isinstance(stdin, bytes) else stdin  # noqa: SIM115 - the caller closes it
    if isinstance(stdin, bytes):
        file.write(stdin)
    file.seek(0)
    return file if isinstance(stdin, bytes) else nullcontext(file)


def _wait(process: subprocess.Popen[bytes], patience: timedelta) -> int | None:
    with bounded(patience, lambda: _kill(process)) as is_up:
        try:
            # Not taken away yet: until then its group cannot be mistaken for another one.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        finally:
            _kill(process)  # what a filter left running, too: it may be an agent's
            code = process.wait()
    return None if is_up.is_set() else code


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _read(file: IO[bytes], limit: int) -> bytes:
    file.seek(0)
    return file.read(limit)


def _failure(verb: str, directory: Path, *, answer: Answer) -> GitError:
    if answer.code is None:
        return GitError(f"git {verb} did not end in time in {directory}")
    said = (answer.err.strip() or answer.text.strip())[:_LONGEST_MESSAGE]
    return GitError(f"git {verb} failed in {directory} with exit code {answer.code}: {said}")
