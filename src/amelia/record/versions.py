"""The versions of a plan, each a file that is on disk for good before the journal tells of it."""

import hashlib
import os
from pathlib import Path

from amelia.model.drafts import PlanDrafted
from amelia.model.errors import JournalError
from amelia.record.runs import RunDirectory


def digest(data: bytes) -> str:
    """Returns what an event tells of a text."""
    return hashlib.sha256(data).hexdigest()


def write_version(directory: RunDirectory, number: int, data: bytes) -> str:
    """Writes a version of the plan, whole or not at all, and returns its digest.

    What a killed process left under the same number was never told of, and is replaced.
    """
    keep(directory.version(number), data)
    return digest(data)


def keep(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all, and returns when it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_version(directory: RunDirectory, version: PlanDrafted) -> bytes:
    """Returns the text of a version, exactly as it was when the journal told of it."""
    path = directory.version(version.version)
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise JournalError(f"{path}: cannot be read: {problem.strerror}", hint=_anew(directory)) from problem
    if digest(data) != version.hash:
        raise JournalError(
            f"{path}: this is not the plan that was drafted; somebody changed the file",
            hint=_anew(directory),
        )
    return data


def keep_unaccepted(directory: RunDirectory, data: bytes) -> Path:
    """Keeps a text that could not become a version, and returns where."""
    path = directory.unaccepted(digest(data)[:8])
    keep(path, data)
    return path


def _anew(directory: RunDirectory) -> str:
    return (
        f"write it anew with `amelia plan edit {directory.run}`, or have the architect do so: `amelia reject`"
    )
