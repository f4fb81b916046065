"""What a finished run left behind becomes a receipt.

A run is believed only if it ended by itself, its results can be read, and they do not contradict its exit
code. Anything else is a fault, and a receipt with a fault proves nothing. That a run failed without a
failing test is no fault here: it is judged like a test of its own (`outcomes`).
"""

import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path

from amelia.judge.excerpt import excerpt
from amelia.judge.junit import parse_junit
from amelia.judge.results import Unreadable, parse_cargo, parse_go, parse_lines
from amelia.judge.runners import reports
from amelia.model.evidence import Problem, ProblemCode, Receipt, RunnerKind, TestCommand, TestResult
from amelia.system.process import Finished
from amelia.system.secrets import Redactor

_LARGEST_REPORT = 64 * 1024 * 1024
_ALL_MESSAGES = 400_000
_DETAIL = 8_000
_CANNOT_START = 127
_SIGNALLED = 128
_PYTEST_RAN = frozenset({0, 1, 5})


@dataclass(frozen=True, slots=True)
class Remains:
    """What a run left behind: how it ended, what it printed, and the file it was to write its report to."""

    finished: Finished
    output: Path
    report: Path | None
    worktree: Path
    redactor: Redactor = field(default_factory=Redactor)


def read_receipt(command: TestCommand, tree: str, remains: Remains) -> Receipt:
    """Returns what was seen of a run."""
    finished = remains.finished
    output = _contents(remains.output)
    text = "" if isinstance(output, Unreadable) else remains.redactor.redact(output).decode(errors="replace")
    receipt = Receipt(
        tree=tree,
        kind=command.kind,
        command=command.argv,
        exit_code=finished.exit_code,
        seconds=round(finished.seconds, 3),
        results=None,
        detail=excerpt(text.strip(), _DETAIL),
    )
    if fault := _ended_badly(command, receipt, finished):
        return replace(receipt, fault=fault)
    results = _results(command, text, remains)
    if isinstance(results, Unreadable):
        message = f"The tests ran, but {results.reason}. The run said:\n{receipt.detail}"
        return replace(receipt, fault=Problem(ProblemCode.UNREADABLE_RESULTS, message))
    if results is None:
        return receipt
    kept = _within_room(results)
    failing = [result.id for result in results if result.status.is_failing]
    if finished.exit_code == 0 and failing:
        message = (
            f"The run ended with exit code 0, and {len(failing)} of its tests failed, first {failing[0]}."
        )
        return replace(receipt, results=kept, fault=Problem(ProblemCode.CONTRADICTION, message))
    return replace(receipt, results=kept)


def unable(command: TestCommand, tree: str, why: Problem) -> Receipt:
    """Returns the receipt of a run that did not take place."""
    return Receipt(
        tree=tree,
        kind=command.kind,
        command=command.argv,
        exit_code=None,
        seconds=0.0,
        results=None,
        fault=why,
    )


def make_room(report: Path | None, places: tuple[Path, ...]) -> Problem | None:
    """Removes an old report, which must not speak for a new run; only where the new one may be written."""
    if report is None:
        return None
    folder = report.parent.resolve()
    if not any(folder.is_relative_to(place.resolve()) for place in places):
        message = f"The report {report} would lie outside of the tree; a link leads there."
        return Problem(ProblemCode.UNREADABLE_RESULTS, message)
    try:
        report.unlink(missing_ok=True)
    except OSError as error:
        message = f"The report {report} cannot be written: {error.strerror}."
        return Problem(ProblemCode.UNREADABLE_RESULTS, message)
    return None


def _ended_badly(command: TestCommand, receipt: Receipt, finished: Finished) -> Problem | None:
    shown, code = " ".join(receipt.command), finished.exit_code
    if code is None:
        message = f"`{shown}` did not end within {finished.seconds:.0f} seconds. It said:\n{receipt.detail}"
        return Problem(ProblemCode.TIMED_OUT, message)
    if code == _CANNOT_START:
        return Problem(ProblemCode.CRASHED, f"`{shown}` could not be started:\n{receipt.detail}")
    if code > _SIGNALLED:
        message = f"`{shown}` was killed by signal {code - _SIGNALLED}. It said:\n{receipt.detail}"
        return Problem(ProblemCode.CRASHED, message)
    if command.kind is RunnerKind.PYTEST and code not in _PYTEST_RAN:
        message = f"pytest gave up with exit code {code}. It said:\n{receipt.detail}"
        return Problem(ProblemCode.CRASHED, message)
    return None


def _results(
    command: TestCommand, output: str, remains: Remains
) -> tuple[TestResult, ...] | Unreadable | None:
    root = str(remains.worktree.resolve())
    if command.kind in {RunnerKind.GO, RunnerKind.CARGO}:
        if remains.finished.truncated:
            return Unreadable("it printed more than can be read")
        return parse_go(output) if command.kind is RunnerKind.GO else parse_cargo(output)
    if reports(command):
        return parse_lines(remains.redactor.redact(remains.finished.report), root=root)
    if remains.report is None:
        return None
    data = _contents(remains.report)
    return data if isinstance(data, Unreadable) else parse_junit(remains.redactor.redact(data), root=root)


def _contents(path: Path) -> bytes | Unreadable:
    """Returns the bytes of a regular file; anything else that a test may have put there is not opened."""
    try:
        # Not a link, and not waiting for whoever writes into a pipe.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return Unreadable(f"it left no report ({error.strerror})")
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        return Unreadable("what it left is not a file")
    with os.fdopen(handle, "rb") as file:
        if status.st_size > _LARGEST_REPORT:
            return Unreadable(f"its report has {status.st_size} bytes, which is more than is read")
        return file.read(_LARGEST_REPORT)


def _within_room(results: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """Keeps the messages of the first failures whole; a receipt is stored and must stay small."""
    room = _ALL_MESSAGES
    kept: list[TestResult] = []
    for result in results:
        room -= len(result.message)
        kept.append(result if room >= 0 else replace(result, message=""))
    return tuple(kept)
