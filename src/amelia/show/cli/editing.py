"""Lets a person write something in an editor of their own, `$VISUAL` or `$EDITOR`; no shell is involved.

What somebody wrote is not lost when it cannot be taken.
"""

import os
import shlex
import sys
import tempfile
from pathlib import Path

from amelia.app.people import RefusedError
from amelia.model.errors import AmeliaError, ConfigError
from amelia.record.runs import RunDirectory
from amelia.record.versions import keep_unaccepted
from amelia.system.process import run_attached
from amelia.system.regular import read_regular

_LONGEST = 20_000_000
_EDITORS = ("VISUAL", "EDITOR")
_USUAL = "vi"
_HINT = "say which editor: EDITOR=nano amelia …"


def edited(before: bytes) -> bytes | None:
    """Returns what a person made of a Markdown text; None if they left it as it is."""
    with tempfile.TemporaryDirectory(prefix="amelia-") as place:
        path = Path(place) / "plan.md"
        path.write_bytes(before)
        argv = [*_editor(), str(path)]
        try:
            code = run_attached(argv, env=os.environ)
        except OSError as problem:
            raise ConfigError(
                f"the editor {argv[0]} cannot be started: {problem.strerror}", hint=_HINT
            ) from None
        if code != 0:
            raise ConfigError(f"the editor {argv[0]} failed with code {code}; nothing was changed")
        after = _left(path)
    return None if after == before else after


def kept_aside(directory: RunDirectory, data: bytes, problem: AmeliaError, *, command: str) -> RefusedError:
    """Returns the refusal of a text that a person wrote: it says where the text is, and how to take it up."""
    path = keep_unaccepted(directory, data)
    take = f"VISUAL={shlex.quote(shlex.join(['cp', str(path)]))} amelia {command}"
    hints = (problem.hint, f"what you wrote is in {path}; mend it there if need be, and take it up: {take}")
    return RefusedError(str(problem), hint="; ".join(hint for hint in hints if hint))


def _left(path: Path) -> bytes:
    """Returns what an editor left."""
    if not path.is_file():
        raise ConfigError("the editor left no file; nothing was changed")
    text = read_regular(path, _LONGEST + 1)
    if len(text) > _LONGEST:
        raise ConfigError(f"the text has more than {_LONGEST} bytes; nothing was changed")
    return text


def _editor() -> list[str]:
    """Returns the person's editor as a list of arguments."""
    said = next((value for name in _EDITORS if (value := os.environ.get(name, "").strip())), "")
    if not said and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise RefusedError(
            "there is no terminal to edit at, and no $VISUAL or $EDITOR",
            hint="do it at a terminal, or name a program that writes the text: VISUAL='cp FILE' amelia …",
        )
    try:
        return shlex.split(said or _USUAL)
    except ValueError as problem:
        raise ConfigError(f"{said!r} is no command: {problem}", hint=_HINT) from None
