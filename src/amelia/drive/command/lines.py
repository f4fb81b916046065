"""What an agent prints that is any program, without input or output.

- Its lines are text, whatever they hold. A line of the plain dialect is understood as what it says.
- Its report is the one of a plain `result`, else it is looked for in all of its text.
- A program that leaves with an error, or without a report, is looked at once more: the last lines that it
  wrote may tell a fault of its provider, or that its session is gone.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from amelia.drive.fault_texts import fault_of_message, faults_in, is_answer_of_provider
from amelia.drive.objects import objects_in
from amelia.drive.plain import read_plain_line
from amelia.drive.stream import DETAIL_LIMIT, MESSAGE_LIMIT, TEXT_LIMIT, Heard, Line, Result
from amelia.model.agents import Ending, Said, SessionId, SessionStarted, Unparsed

_LAST_LINES = 8
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[ -/]?[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])|\r")
_GONE = re.compile(
    r"\b(?:session|conversation|thread|chat)\b.{0,80}\b(?:not found|does not exist|unknown|no longer)\b"
    r"|\bno (?:such |saved )?(?:session|conversation|thread|chat)\b|\bunknown (?:session|conversation)\b",
    re.IGNORECASE,
)


class CommandLines:
    """Understands what one turn of a program prints; `session` is the one that it was given, if any."""

    def __init__(self, session: SessionId | None, *, model: str = "", is_resumed: bool = False) -> None:
        self._opening = SessionStarted(session, model) if session else None
        self._is_resumed = is_resumed
        self._lines: deque[str] = deque()
        self._size = 0
        self._result: Result | None = None

    def __call__(self, line: Line) -> Sequence[Heard]:
        """Returns what a line says: an event of the plain dialect, or a text."""
        heard = tuple(self._hear(line))
        if self._opening is None or not heard:
            return heard
        opening, self._opening = self._opening, None
        return heard if any(isinstance(each, SessionStarted) for each in heard) else (opening, *heard)

    def conclude(self, exit_code: int | None, errors: str) -> Result | None:
        """Returns how the turn ended, by all that was printed; None if that says nothing."""
        if self._result is not None or exit_code is None:
            return None
        text = "\n".join(self._lines)
        if exit_code != 0:
            return self._fault_of_failure(errors)
        has_report = not all(is_answer_of_provider(each.value) for each in objects_in(text))
        if not has_report and (fault := self._fault_of_text()) is not None:
            return fault
        return Result(ending=Ending.OK, text=text[-MESSAGE_LIMIT:])

    def _hear(self, line: Line) -> Iterator[Heard]:
        if not line.data.strip():
            self._keep("")
        for heard in read_plain_line(line):
            if isinstance(heard, Unparsed):
                yield from self._read_text(line)
                return
            if isinstance(heard, Result):
                self._result = heard
            yield heard

    def _read_text(self, line: Line) -> Iterator[Heard]:
        text = _CONTROL.sub("", line.data.decode("utf-8", "replace"))
        self._keep(text[-MESSAGE_LIMIT:])
        if text.strip():
            yield Said(text[:TEXT_LIMIT])

    def _keep(self, text: str) -> None:
        """Keeps a line, and forgets the first ones where there are too many."""
        self._lines.append(text)
        self._size += len(text) + 1
        while self._size > MESSAGE_LIMIT and len(self._lines) > 1:
            self._size -= len(self._lines.popleft()) + 1

    def _fault_of_failure(self, errors: str) -> Result | None:
        """Returns the fault that a program failed of, if its last lines tell one."""
        last = [*_last(errors.splitlines()), *_last(self._lines)]
        if self._is_resumed and (gone := next(filter(_GONE.search, last), None)):
            return Result(ending=Ending.SESSION_LOST, detail=gone[:DETAIL_LIMIT])
        for line in _last(errors.splitlines()):
            fault = next(faults_in(line.strip()), None)
            if fault not in (None, Ending.FAILED):
                return Result(ending=fault, detail=line.strip()[:DETAIL_LIMIT])
        return self._fault_of_text(is_idle=True)

    def _fault_of_text(self, *, is_idle: bool = False) -> Result | None:
        """Returns the fault that the last lines are a notice of: others may be what tests have printed."""
        for line in _last(self._lines):
            fault = fault_of_message(line, is_idle=is_idle)
            if fault is not None:
                return Result(ending=fault, detail=line.strip()[:DETAIL_LIMIT])
        return None


def _last(lines: Iterable[str]) -> list[str]:
    """Returns the last lines that hold something, the last first."""
    return [line for line in lines if line.strip()][-_LAST_LINES:][::-1]
