"""The files of an execution directory: written as a whole or not at all, and read back the same."""

import os
from pathlib import Path

import msgspec

from amelia.context.execution_state import ExecutionState


def write_execution_state(path: Path, state: ExecutionState) -> None:
    """Writes where a run stands."""
    put(path, msgspec.json.format(msgspec.json.encode(state), indent=2).decode() + "\n")


def read_execution_state(path: Path) -> ExecutionState | None:
    """Returns what was written there; None if there is nothing that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=ExecutionState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def put(path: Path, content: str | bytes) -> None:
    """Writes a file so that nobody ever sees half of it."""
    # What is no Unicode, as names of files can hold, is spelt out: an agent is to be able to read this.
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(data)
    os.replace(unfinished, path)  # noqa: PTH105 - says what it does
