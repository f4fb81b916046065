"""Receipts, by tree and command.

The same tree is not tested twice with the same command, so that the tree that one unit landed is a baseline
for the next at no cost. On disk they outlive a restart, but agents can write where we can: only what was made
here, or stands in the journal by its digest, is believed. A receipt is written as a whole or not at all; one
that cannot be read counts as absent. A run with a fault proves nothing, and is not kept.
"""

import hashlib
import os
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from amelia.judge.outcomes import NO_TESTS_COLLECTED
from amelia.model.evidence import THE_COMMAND, Receipt, TestCommand

_NAMED = 5


class Receipts:
    """The receipts of one directory, made with one command after one setup; `known` are digests of them."""

    def __init__(
        self,
        directory: Path,
        command: TestCommand,
        setup: tuple[str, ...] | None = None,
        *,
        known: Iterable[str] = (),
    ) -> None:
        self._directory = directory
        what = repr((command.kind, command.argv, command.junit, setup))
        self._key = hashlib.sha256(what.encode()).hexdigest()[:16]
        self._known = set(known)

    def load(self, tree: str, *, run: int = 1) -> Receipt | None:
        """Returns the receipt of a tree, of its first or its second run, if there is a good one."""
        path = self._path(tree, run)
        try:
            data = path.read_bytes()
            receipt = msgspec.json.decode(data, type=Receipt)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return receipt if _digest(data) in self._known and receipt.tree == tree else None

    def save(self, receipt: Receipt, *, run: int = 1) -> None:
        """Keeps a receipt, unless it proves nothing."""
        if receipt.fault is not None:
            return
        path = self._path(receipt.tree, run)
        data = msgspec.json.encode(receipt)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".receipt-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        Path(name).replace(path)
        self._known.add(_digest(data))

    def forget(self, tree: str) -> None:
        """Removes the receipts of a tree, of both its runs."""
        for run in (1, 2):
            self._path(tree, run).unlink(missing_ok=True)

    def _path(self, tree: str, run: int) -> Path:
        # The tree is hashed too: it becomes a file name, and only git says that it is harmless.
        name = hashlib.sha256(tree.encode()).hexdigest()[:40]
        return self._directory / f"{name}-{self._key}-{run}.json"


def joined(whole: Receipt, part: Receipt | None, *, tree: str, differing: Collection[str]) -> Receipt | None:
    """Returns the receipt of a tree from that of another, and from a run of the test files that differ.

    `differing` are those files; no run of them means that the tree has none of them. None where a run failed
    and no single test tells why: then only a run of all of them can be believed.
    """
    runs = [whole] if part is None else [whole, part]
    if any(run.fault is not None or run.results is None or not _is_explained(run) for run in runs):
        return None
    kept = tuple(result for result in whole.results or () if result.file not in differing)
    found = kept + ((part.results or ()) if part is not None else ())
    is_red = any(result.status.is_failing for result in found)
    return replace(
        whole,
        tree=tree,
        exit_code=1 if is_red else 0,
        seconds=sum(run.seconds for run in runs),
        results=found,
        detail="\n".join(run.detail for run in runs if run.exit_code != 0),
        is_joined=True,
    )


def _is_explained(receipt: Receipt) -> bool:
    is_red = any(result.status.is_failing for result in receipt.results or ())
    is_empty = receipt.exit_code == NO_TESTS_COLLECTED and not receipt.results
    return is_red or is_empty or receipt.exit_code == 0


def told(receipt: Receipt, *, red: Collection[str] = ()) -> str:
    """Returns in a line what was run, and what it showed; `red` are the tests that were to fail."""
    shown = _shown(receipt)
    files = {result.id for result in receipt.results or () if result.is_module}
    return f"{shown}; {red_as_wanted(red, files=files)}" if red else shown


def red_as_wanted(red: Collection[str], *, files: Collection[str] = ()) -> str:
    """Returns how many tests, or whole files of them, fail because a later unit implements what they test."""
    if THE_COMMAND in red:
        return "red, as wanted: the tests as a whole"
    whole = sum(name in files for name in red)
    counts = [(len(red) - whole, "test"), (whole, "test file")]
    said = (f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count)
    return f"red, as wanted: {' and '.join(said)}"


def changed_by_unit(tests: Collection[str]) -> str:
    """Returns which tests prove less than others: the unit that they prove changed them itself."""
    what = "1 test was" if len(tests) == 1 else f"{len(tests)} tests were"
    listed = ", ".join(sorted(tests)[:_NAMED])
    more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
    return f"{what} changed by the unit itself: {listed}{more}"


def _shown(receipt: Receipt) -> str:
    command = " ".join(receipt.command)
    if receipt.results is None:
        return f"{command}: exit code {receipt.exit_code}"
    counts = dict.fromkeys(sorted({result.status for result in receipt.results}), 0)
    for result in receipt.results:
        counts[result.status] += 1
    said = ", ".join(f"{count} {status}" for status, count in counts.items()) or "no tests"
    return f"{command}: exit code {receipt.exit_code}; {said}"


def digest(receipt: Receipt) -> str:
    """Returns what a receipt is known by."""
    return _digest(msgspec.json.encode(receipt))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def fingerprint(receipt: Receipt | None) -> str:
    """Returns a name for the results of a run: the same for the same tests with the same statuses."""
    if receipt is None:
        return ""
    seen = sorted((result.id, str(result.status)) for result in receipt.results or ())
    fault = receipt.fault.code if receipt.fault else None
    return hashlib.sha256(repr((receipt.exit_code, fault, seen)).encode()).hexdigest()[:16]
