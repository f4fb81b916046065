"""The report of a test run: a line of JSON for each test as it ends, and the number of lines at the end.

A module of the programs beside it, under a name that no tree has: the tests see it among their modules.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "AMELIA_REPORT"


class Report:
    """The writing end of the pipe; programs that the tests start do not get it."""

    def __init__(self) -> None:
        self._pipe = int(os.environ.pop(VARIABLE))
        os.set_inheritable(self._pipe, False)  # noqa: FBT003 - that is its signature
        self._owner = os.getpid()
        self._count = 0

    def tell(self, file: str | None, names: Sequence[str], status: str, message: str = "") -> None:
        """Reports how a test ended; a file without names is a module that could not be read."""
        self._write({"file": file, "names": list(names), "status": status, "message": message})
        self._count += 1

    def close(self) -> None:
        """Ends the report; a process that a test forked must not."""
        if os.getpid() == self._owner:
            self._write({"end": self._count})
            os.close(self._pipe)

    def _write(self, line: dict[str, object]) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(self._pipe, data) :]


def enter_tree() -> None:
    """Puts the tree, which is the current directory, on the path of modules in the place of our own."""
    sys.path[0] = os.getcwd()  # noqa: PTH109 - a string is what belongs there


def refuse_own(module: str) -> None:
    """Ends the program if a runner comes from the tree itself, and not from an environment around it."""
    place = os.path.realpath(getattr(sys.modules[module], "__file__", None) or "")
    tree = os.path.realpath(os.getcwd())  # noqa: PTH109
    parts = set(os.path.relpath(place, tree).split(os.sep))
    if place.startswith(tree + os.sep) and parts.isdisjoint({"site-packages", "dist-packages"}):
        sys.exit(f"{module} is {place}, a file of the tree that is tested: it cannot test itself")
