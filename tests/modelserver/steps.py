"""What the scripted model answers: the steps of its script, whatever protocol it is asked in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model uses a tool; a plain text is the free input of a tool that takes no JSON."""

    name: str
    input: Mapping[str, object] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The model answers.

    `report` goes through the tool that the request offers for it, else it is the text; `usage` counts tokens
    in and out; `stop` is the reason to stop where it is not the natural one.
    """

    text: str = ""
    tools: tuple[ToolCall, ...] | list[ToolCall] = ()
    report: Mapping[str, object] | None = None
    usage: tuple[int, int] = (100, 20)
    stop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The provider answers with a status that is an error; `body` is the provider's usual one if None."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None
    message: str = "scripted fault"


class Breakdown(StrEnum):
    """The provider does not answer as HTTP says it should; a hang lasts until the server is closed."""

    HANG = "hang before headers"
    HANG_MID_STREAM = "hang mid-stream"
    CUT_STREAM = "cut stream"
    DROP = "dropped connection"
    GARBAGE = "garbage"
    BROKEN_EVENTS = "broken events"


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked, as the `number`th; headers have small names, and no key is kept in them."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]
    is_side: bool

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))


Step: TypeAlias = Answer | Fault | Breakdown
Script: TypeAlias = Callable[[Request], Step]
