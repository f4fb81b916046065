"""Receipts on disk, by tree and command.

The same tree is not tested twice with the same command, also after a restart, so that the tree that one
unit landed is a baseline for the next at no cost. A receipt is written as a whole or not at all; one that
cannot be read counts as absent. A run with a fault proves nothing, and is not kept.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from amelia.model.evidence import Receipt, TestCommand


@dataclass(frozen=True, slots=True)
class Receipts:
    """The receipts of one directory, made with one command after one setup."""

    directory: Path
    command: TestCommand
    setup: tuple[str, ...] | None = None

    def load(self, tree: str, *, run: int = 1) -> Receipt | None:
        """Returns the receipt of a tree, of its first or its second run, if there is a good one."""
        try:
            data = self._path(tree, run).read_bytes()
            receipt = msgspec.json.decode(data, type=Receipt)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return receipt if receipt.tree == tree else None

    def save(self, receipt: Receipt, *, run: int = 1) -> None:
        """Keeps a receipt, unless it proves nothing."""
        if receipt.fault is not None:
            return
        path = self._path(receipt.tree, run)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".receipt-")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(receipt))
            file.flush()
            os.fsync(handle)
        Path(name).replace(path)

    def forget(self, tree: str) -> None:
        """Removes the receipts of a tree, of both its runs."""
        for run in (1, 2):
            self._path(tree, run).unlink(missing_ok=True)

    def _path(self, tree: str, run: int) -> Path:
        what = repr((self.command.kind, self.command.argv, self.command.junit, self.setup))
        key = hashlib.sha256(what.encode()).hexdigest()[:16]
        # The tree is hashed too: it becomes a file name, and only git says that it is harmless.
        return self.directory / f"{hashlib.sha256(tree.encode()).hexdigest()[:40]}-{key}-{run}.json"


def fingerprint(receipt: Receipt | None) -> str:
    """Returns a name for the results of a run: the same for the same tests with the same statuses."""
    if receipt is None:
        return ""
    seen = sorted((result.id, str(result.status)) for result in receipt.results or ())
    fault = receipt.fault.code if receipt.fault else None
    return hashlib.sha256(repr((receipt.exit_code, fault, seen)).encode()).hexdigest()[:16]
