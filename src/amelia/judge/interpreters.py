"""Which Python runs the tests of a tree.

The tree's own virtual environment, made by the setup command, comes first; then what is on the cleaned
path; then the environment that the caller had active, and our own interpreter as the last resort. An
interpreter counts only if it can import what the command needs. The last two may know the caller's own
checkout, which is why the imports are checked afterwards (`canary`).
"""

import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from amelia.judge.errands import ask
from amelia.judge.runners import PYTHON_ENV, program
from amelia.model.walls import Wall

_PATIENCE = timedelta(seconds=60)


def own_environment(worktree: Path) -> Path | None:
    """Returns the directory with the programs of the tree's own virtual environment, if it has one."""
    places = (worktree / ".venv" / "bin", worktree / "venv" / "bin")
    return next((place for place in places if (place / "python").is_file()), None)


class Interpreters:
    """Finds an interpreter and remembers what each one can import, for the length of a run."""

    def __init__(self, env: Mapping[str, str], caller: Path | None, *, has_setup: bool) -> None:
        self._env = env
        self._has_setup = has_setup
        self._caller = caller
        self._fit: set[tuple[str, str]] = set()

    async def find(self, worktree: Path, module: str, *, wall: Wall | None = None) -> str | None:
        """Returns the first interpreter that can import the module."""
        for python in dict.fromkeys(self._candidates(worktree)):
            if await self._can_import(python, module, worktree, wall=wall):
                return python
        return None

    def _candidates(self, worktree: Path) -> Iterator[str]:
        # Without a setup command nobody but an agent can have made it.
        if self._has_setup and (own := own_environment(worktree)):
            yield str(own / "python")
        for name in ("python3", "python"):
            if found := shutil.which(name, path=self._env.get("PATH", "")):
                yield found
        if self._caller is not None and (self._caller / "bin" / "python").is_file():
            yield str(self._caller / "bin" / "python")
        yield sys.executable

    async def _can_import(self, python: str, module: str, worktree: Path, *, wall: Wall | None) -> bool:
        if (python, module) not in self._fit:
            argv, env = (python, str(program("can_import")), module), {**self._env, **PYTHON_ENV}
            answer = await ask(argv, cwd=worktree, env=env, limit=_PATIENCE, wall=wall)
            if answer.exit_code != 0:
                return False  # not remembered: a setup command may install it
            self._fit.add((python, module))
        return True
