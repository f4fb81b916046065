"""From bytes to what an agent did, without input or output.

- Any bytes are taken: no line is too long, no encoding too broken, no JSON too strange. What is not
  understood becomes `Unparsed`, never an exception.
- Every text, number and depth that comes out is bounded, and every text can be written as UTF-8. Control
  sequences in it stay data; they are stripped where something is shown.
- What an agent says of its own end is a `Result`, not yet the end of the turn: see `ending`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

import msgspec

from amelia.model.agents import AgentEvent, Ending, Unparsed

LINE_LIMIT = 10_000_000
"""Bytes of a line that are kept; a longer one is cut and can only be `Unparsed`."""

TEXT_LIMIT = 50_000
MESSAGE_LIMIT = 1_000_000
"""Characters of a message in which a report is looked for; more than what is shown of it."""

DETAIL_LIMIT = 2_000
NUMBER_LIMIT = 10**15
DEPTH_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it came, without its end; `is_cut` if it was longer than what is kept."""

    data: bytes
    is_cut: bool = False


class Lines:
    """Cuts a stream of bytes into lines, in memory bounded by the limit."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Line]:
        """Takes a piece of the stream and yields the lines it completes."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._keep(part)
            yield self._take()
        self._keep(rest)

    def close(self) -> Iterator[Line]:
        """Yields the last line if the stream did not end with a line end."""
        if self._size:
            yield self._take()

    def _keep(self, part: bytes) -> None:
        if self._size < self._limit:
            self._parts.append(part[: self._limit - self._size])
        self._size += len(part)

    def _take(self) -> Line:
        data, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        return Line(data.removesuffix(b"\r"), is_cut=size > self._limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an agent says of its own end; `text` is its whole last message where that may hold its report."""

    ending: Ending
    report: Mapping[str, object] | None = None
    text: str = ""
    detail: str = ""
    until: str | None = None


Heard: TypeAlias = AgentEvent | Result


class Dialect(Protocol):
    """Understands the lines of one kind of agent; one for every turn, since some agents count over turns."""

    def __call__(self, line: Line) -> Sequence[Heard]:
        """Returns what a line says; nothing if that is of no interest."""
        ...


def unparsed(data: bytes) -> Unparsed:
    """Returns a line that nobody understands, as far as it can be shown."""
    return Unparsed(data[:DETAIL_LIMIT].decode("utf-8", "replace"))


def read_object(line: Line) -> Mapping[str, object] | None:
    """Returns the JSON object on a line; None if it is anything else."""
    if line.is_cut:
        return None
    try:
        value = msgspec.json.decode(line.data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or not (_has_few_brackets(line.data) or is_shallow(cast("object", value))):
        return None
    return cast("Mapping[str, object]", value)


def _has_few_brackets(data: bytes) -> bool:
    """Tells whether no JSON in the text can be deep, which is much quicker than to look how deep it is."""
    return data.count(b"{") + data.count(b"[") < DEPTH_LIMIT


def is_shallow(value: object) -> bool:
    """Tells whether nothing is nested deeper than anybody after us could follow."""
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return True
    return False


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def text_of(value: object, limit: int = TEXT_LIMIT) -> str:
    """Returns a bounded text; empty if the value is none."""
    return value[:limit] if isinstance(value, str) else ""


def count_of(value: object) -> int:
    """Returns a plausible number of tokens; zero if the value is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value <= NUMBER_LIMIT else 0


def cost_of(value: object) -> float | None:
    """Returns a plausible amount of money; None if the value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= NUMBER_LIMIT:
        return None
    return float(value) if math.isfinite(value) else None
