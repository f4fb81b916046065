"""The report of a test run, and the path of modules that it is made with.

A module of the programs beside it, under a name that no tree has: the tests see it among their modules.
"""

# ruff: noqa: PTH100, PTH109, PTH118, PTH120 - strings are what is on the path of modules

from __future__ import annotations

import fcntl
import json
import os
import sys
from importlib.util import find_spec

_HERE = os.path.dirname(os.path.abspath(__file__))
STARTUP = os.path.join(_HERE, "startup")
sys.path.append(STARTUP)
from amelia_startup import is_in_tree  # noqa: E402 - its place is on the path only now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "AMELIA_REPORT"
_LONGEST = 100_000
_HIGH = 64  # descriptors below are those that tests expect to get


def program(name: str) -> str:
    """Returns the path of a program beside this one."""
    return os.path.join(_HERE, f"{name}.py")


class Report:
    """The writing end of the pipe; programs that the tests start do not get it.

    Its first line is a key that all others repeat, so that nobody else can add one by the way.
    """

    def __init__(self) -> None:
        given = int(os.environ.pop(VARIABLE))
        self._pipe = fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        os.close(given)
        self._owner = os.getpid()
        self._key = os.urandom(16).hex()
        self._count = 0
        self._write({})

    def tell(self, file: str | None, names: Sequence[str], *, status: str, message: str = "") -> None:
        """Reports how a test ended; a file without names is a module that could not be read."""
        if len(message) > _LONGEST:
            message = f"{message[: _LONGEST // 2]}\n…\n{message[-_LONGEST // 2 :]}"
        self._write({"file": file, "names": list(names), "status": status, "message": message})
        self._count += 1

    def close(self) -> None:
        """Ends the report."""
        self._write({"end": self._count})
        if os.getpid() == self._owner:
            os.close(self._pipe)

    def _write(self, line: dict[str, object]) -> None:
        if os.getpid() != self._owner:
            return  # a test forked, and its child came back to the runner
        text = json.dumps({"key": self._key, **line}, ensure_ascii=False)
        data = text.encode(errors="replace") + b"\n"  # tests speak of bytes that are no text
        while data:
            data = data[os.write(self._pipe, data) :]


class ModulePath:
    """The path of modules: until the tree is entered, it has nothing of the tree."""

    def __init__(self) -> None:
        os.environ.pop("PYTHONPATH", None)
        self._usual = [place for place in sys.path if place not in (_HERE, STARTUP)]
        self.outside = [place for place in self._usual if not is_in_tree(place)]
        sys.path[:] = self.outside

    def installed_first(self) -> None:
        """Puts what is installed before the tree."""
        sys.path.sort(key=is_in_tree)

    def enter_tree(self) -> None:
        """Puts the tree, which is the current directory, first, as `python -m` does."""
        sys.path[:] = [os.getcwd(), *self._usual]


def stand_for(runner: str) -> None:
    """Takes the place of a runner that was imported, for all who look at the main module.

    A runner that comes from the tree ends the program.
    """
    place = getattr(sys.modules[runner], "__file__", None) or ""
    if is_in_tree(place):
        sys.exit(f"{runner} is {place}, a file of the tree that is tested: it cannot test itself")
    main = sys.modules["__main__"]
    # A process that `multiprocessing` starts would run this program again.
    main.__spec__ = find_spec(f"{runner}.__main__")
    if main.__spec__ is not None and main.__spec__.origin is not None:
        sys.argv[0] = main.__file__ = main.__spec__.origin
