"""The environment that tests run in: nothing of the caller's, everything of the tree's.

The setup command runs once for each state of the lock files and each place; what it makes is reused, and
nothing else that is ignored survives a check (`leftovers`).
Whatever keeps the tests from running as they should is a problem with a message, so that an agent that
broke the setup can mend it, and a person who never had one learns how to say it.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from amelia.judge.canary import foreign_imports, top_level_names
from amelia.judge.errands import ask
from amelia.judge.interpreters import Interpreters, own_environment
from amelia.judge.leftovers import Leftovers, Managed
from amelia.judge.runners import needed_module
from amelia.judge.surroundings import files_below, opening
from amelia.model.evidence import Problem, ProblemCode, RunnerKind, TestCommand
from amelia.model.walls import Wall
from amelia.system.environment import clean_environment

_LOCK_FILE = re.compile(
    r"requirements[\w.-]*\.txt|.*\.lock|package(?:-lock)?\.json|pnpm-lock\.yaml|go\.(?:mod|sum)|Cargo\.toml|"
    r"pyproject\.toml|setup\.(?:py|cfg)|bun\.lockb?|npm-shrinkwrap\.json"
)
_LARGEST_LOCK_FILE = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ready:
    """A place where the tests can run: the program to start, and the variables it sees."""

    program: str
    env: dict[str, str]


class Walls(Protocol):
    """The walls of the programs that prove a tree; None where there is no wall."""

    def of_setup(self, worktree: Path) -> Wall | None:
        """Returns the wall of the setup of a worktree."""
        ...

    def of_tests(self, worktree: Path) -> Wall | None:
        """Returns the wall of the tests in a worktree."""
        ...


class _NoWalls:
    def of_setup(self, worktree: Path) -> Wall | None:  # noqa: ARG002 - none for any
        return None

    def of_tests(self, worktree: Path) -> Wall | None:  # noqa: ARG002
        return None


class Environment:
    """Makes places ready for tests, and remembers what it found out, for the length of a run.

    `stamps` is a directory that says which setup was done where; `caller` the virtual environment that was
    active when Amelia was started; `managed` returns the files of a worktree that git takes care of.
    """

    def __init__(
        self,
        *,
        setup: tuple[str, ...] | None,
        timeout: timedelta,
        stamps: Path,
        caller: Path | None = None,
        lock_of: Callable[[Path], Path | None] = lambda worktree: None,  # noqa: ARG005 - none by default
        managed: Managed | None = None,
        walls: Walls | None = None,
    ) -> None:
        self._setup = setup
        self._managed = managed
        self._walls = walls or _NoWalls()
        self._lock_of = lock_of
        self._timeout = timeout
        self._stamps = stamps
        self._clean = _without_relative(clean_environment({"PYTHONDONTWRITEBYTECODE": "1"}))
        self._interpreters = Interpreters(self._clean, caller, has_setup=setup is not None)
        self._proved: set[tuple[str, ...]] = set()

    async def prepare(self, command: TestCommand, worktree: Path) -> Ready | Problem:
        """Runs the setup if it is due and finds the program; or says why the tests cannot run."""
        problem = await self._set_up(worktree)
        if problem is not None:
            return problem
        ready = await self._program(command, worktree)
        if isinstance(ready, Ready) and needed_module(command) is not None:
            return await self._foreign(command, ready, worktree) or ready
        return ready

    def wall_of_tests(self, worktree: Path) -> Wall | None:
        """Returns the wall of whatever runs the tests in a worktree."""
        return self._walls.of_tests(worktree)

    async def _set_up(self, worktree: Path) -> Problem | None:
        """Leaves in a place only the tree and what the setup made, which is run if it is due."""
        if self._setup is None:
            return None
        stamp = self._stamps / hashlib.sha256(str(worktree).encode()).hexdigest()
        left = Leftovers(worktree, stamp.with_suffix(".kept"), self._managed) if self._managed else None
        try:
            if left is not None and not await to_thread.run_sync(left.clear):
                stamp.unlink(missing_ok=True)
            wanted = await to_thread.run_sync(self._state, worktree)
            if wanted in opening(stamp).split():
                return None
            problem = await self._run_setup(self._setup, worktree)
            if problem is not None:
                stamp.unlink(missing_ok=True)
                return problem
            self._stamps.mkdir(parents=True, exist_ok=True)
            if left is not None:
                await to_thread.run_sync(left.keep)
        except OSError as error:
            message = f"What checks left behind in {worktree} cannot be removed: {error}."
            return Problem(ProblemCode.SETUP_FAILED, message)
        # A setup may write a lock file itself; that is no reason to run it again.
        made = await to_thread.run_sync(self._state, worktree)
        stamp.write_text(f"{wanted}\n{made}\n", encoding="ascii")
        return None

    async def _run_setup(self, setup: tuple[str, ...], worktree: Path) -> Problem | None:
        answer = await ask(
            setup,
            cwd=worktree,
            env=self._variables(worktree),
            limit=self._timeout,
            lock=self._lock_of(worktree),
            wall=self._walls.of_setup(worktree),
        )
        if answer.exit_code != 0:
            how = "took too long" if answer.exit_code is None else f"ended with exit code {answer.exit_code}"
            message = f"The setup command `{' '.join(setup)}` {how}:\n{answer.text}"
            return Problem(ProblemCode.SETUP_FAILED, message)
        return None

    def _state(self, worktree: Path) -> str:
        """Returns a name for what a setup depends on: the command, the lock files, and the place itself."""
        link = worktree / ".git"
        # A worktree that was removed and made again at the same path has a new link and no environment.
        made = link.stat().st_mtime_ns if link.is_file() else worktree.stat().st_ino
        state = hashlib.sha256(repr((self._setup, made)).encode())
        for path in files_below(worktree):
            if _LOCK_FILE.fullmatch(path.name):
                text = opening(path, _LARGEST_LOCK_FILE)
                state.update(repr((str(path.relative_to(worktree)), text)).encode())
        return state.hexdigest()

    async def _program(self, command: TestCommand, worktree: Path) -> Ready | Problem:
        env = self._variables(worktree)
        name = command.argv[0]
        if module := needed_module(command):
            found = await self._interpreters.find(worktree, module, wall=self.wall_of_tests(worktree))
        elif "/" in name:
            found = str(worktree / name) if (worktree / name).is_file() else None
        else:
            found = shutil.which(name, path=env.get("PATH", ""))
        if found is not None:
            return Ready(found, env)
        missing = f"No Python here can import {module}" if module else f"The program {name} is not installed"
        message = (
            f"{missing}, which `{' '.join(command.argv)}` needs. Install it, name a `setup` command that "
            "does, or configure another test `command`."
        )
        return Problem(ProblemCode.TOOL_MISSING, message)

    async def _foreign(self, command: TestCommand, ready: Ready, worktree: Path) -> Problem | None:
        """Checks the imports once for each place, interpreter and set of packages."""
        key = (str(worktree), ready.program, *top_level_names(worktree))
        if key in self._proved:
            return None
        strangers = await foreign_imports(
            ready.program,
            worktree,
            env=ready.env,
            as_pytest=command.kind is RunnerKind.PYTEST,
            wall=self.wall_of_tests(worktree),
        )
        if strangers:
            message = (
                f"The tests would not test this tree: {ready.program} imports {', '.join(strangers)}. Give "
                "the tree an environment of its own, with a `setup` command that makes `.venv` and then "
                "installs the tree there with `pip install -e .`."
            )
            return Problem(ProblemCode.FOREIGN_IMPORTS, message)
        if strangers is not None:
            self._proved.add(key)
        # Code of the tree ran to find that out.
        return await self._set_up(worktree)

    def _variables(self, worktree: Path) -> dict[str, str]:
        """Returns the clean variables, with the tree's own programs first on the path."""
        own = own_environment(worktree) if self._setup is not None else None
        path = self._clean.get("PATH", "")
        return {**self._clean, "PATH": f"{own}:{path}" if own else path}


def _without_relative(env: dict[str, str]) -> dict[str, str]:
    """Returns variables whose path leads into no tree, wherever a program is started."""
    folders = [folder for folder in env.get("PATH", "").split(os.pathsep) if Path(folder).is_absolute()]
    return {**env, "PATH": os.pathsep.join(folders)}
