"""The record of a turn: the prompt, every line the agent wrote and how it ended, as JSON with their times.

- Append-only; a turn that resumes a session adds to its file.
- Keys are taken out of a line before anybody sees it: before it is recorded, and before it is understood.
- Bounded: beyond the limit a turn's lines are no longer kept, and the record says so.
"""

import json
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from amelia.drive.stream import Line
from amelia.model.agents import TurnEnded, TurnSpec
from amelia.model.errors import AmeliaError
from amelia.system.secrets import Redactor

SIZE_LIMIT = 100_000_000


class Transcript:
    """An open record of one turn."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.path = path
        self._redactor = redactor
        self._left = SIZE_LIMIT
        self._started = time.monotonic()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise _unwritable(path, error) from error

    def begin(self, spec: TurnSpec) -> None:
        """Records what is asked of the agent."""
        turn = {
            "run": spec.run,
            "role": spec.role,
            "unit": spec.unit,
            "attempt": spec.attempt,
            "session": spec.session,
            "resume": spec.resume,
            "repair": spec.is_repair,
            "cwd": spec.cwd,
            "at": datetime.now(UTC).isoformat(),
        }
        self._write(turn=turn, prompt=self._clean(spec.prompt.encode(errors="replace")))

    def line(self, line: Line) -> Line:
        """Records one line and returns it without keys."""
        clean = Line(self._redactor.redact(line.data), is_cut=line.is_cut)
        if self._left > 0:
            text = clean.data.decode("utf-8", "backslashreplace")
            self._left -= len(json.dumps(text)) - len('""')  # what it takes on the disk
            self._write(line=text)
            if self._left <= 0:
                self._write(cut=f"more than {SIZE_LIMIT} bytes; the rest of this turn is not kept")
        return clean

    def errors(self, data: bytes) -> str:
        """Records the last the agent wrote to its standard error, and returns it without keys."""
        text = self._clean(data)
        if text:
            self._write(stderr=text)
        return text

    def end(self, ended: TurnEnded) -> None:
        """Records how the turn ended, what it came to and what it used."""
        self._write(
            ended=ended.ending,
            exit_code=ended.exit_code,
            detail=ended.detail,
            session=ended.session,
            until=ended.until,
            report=ended.report,
            usage=asdict(ended.usage) if ended.usage else None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _clean(self, data: bytes) -> str:
        return self._redactor.redact(data).decode("utf-8", "replace")

    def _write(self, **facts: object) -> None:
        record = {"t": round(time.monotonic() - self._started, 3), **facts}
        try:
            self._file.write(json.dumps(record).encode() + b"\n")
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _unwritable(path: Path, error: OSError) -> AmeliaError:
    return AmeliaError(
        f"{path}: the transcript cannot be written: {error.strerror}",
        hint="make room or give the right to write there, then resume",
    )
