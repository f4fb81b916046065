"""What the driver and its program say to each other: the assignment, and lines of the plain dialect."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from amelia.drive.stream import DETAIL_LIMIT
from amelia.model.agents import Allowance, Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What the driver asks for, besides the prompt; `history` is the file that holds the session.

    With `has_key` the first line of the standard input is the key as JSON, and the prompt is the rest.
    """

    model: str
    base_url: str | None = None
    has_key: bool = False
    session: str = ""
    history: str = ""
    resume: bool = False
    may_write: bool = False
    schema: Mapping[str, object] | None = None
    max_turns: int | None = None
    allowance: Allowance = field(default_factory=Allowance)


class Teller:
    """Tells what happens in lines of JSON."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def tell(self, kind: str, **facts: object) -> None:
        """Writes one event."""
        line = json.dumps({"type": kind, **facts}, ensure_ascii=False, default=str)
        self._out.write(line.encode("utf-8", "replace") + b"\n")
        self._out.flush()

    def end(self, ending: Ending, detail: str) -> None:
        """Writes how it ended, if it did not end well."""
        self.tell("end", ending=ending, detail=detail[:DETAIL_LIMIT])

    def limit(self, detail: str, until: str | None) -> None:
        """Writes that the provider serves nobody for now, and why."""
        self.tell("limit", until=until, detail=detail[:DETAIL_LIMIT])
