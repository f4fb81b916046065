"""The dialect of Codex: what the lines of `codex exec --json` say.

- Codex counts tokens over the whole thread, so what one turn used is the difference to what was known before.
  A count that went back, or that is zero, is a count that Codex began anew or never had.
- It never tells a cost. Where the price of its model is known, what a turn cost is the difference of what
  the whole thread has cost, for only of the thread is known how much of it came from a cache.
- It tells errors as texts for people. Only texts that it writes itself, at their beginning, decide how a turn
  ended; what a provider or a model put behind them does not.
- Of a thread that it cannot go on with it tells on its standard error alone, before any line.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

from amelia.drive.codex.records import counted_usage
from amelia.drive.status import ending_of_status
from amelia.drive.stream import (
    DETAIL_LIMIT,
    MESSAGE_LIMIT,
    Heard,
    Line,
    Result,
    read_object,
    text_of,
    unparsed,
)
from amelia.model.agents import (
    Ending,
    PermissionDenied,
    Retrying,
    Said,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    Usage,
    Used,
)
from amelia.model.prices import Price

_RETRY = re.compile(r"Reconnecting\.\.\. (?:(\d{1,3})/\d{1,3}|waiting for network)(?: \((.*)\))?", re.DOTALL)
_STATUS = re.compile(r"(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b")
_CANNOT_RESUME = re.compile(r"^Error: thread/resume\b.*", re.MULTILINE)
_UNTIL = re.compile(
    r"\btry again at (?:([A-Z][a-z]{2}) (\d{1,2})[a-z]{2}, (\d{4}) )?(\d{1,2}):(\d{2}) ([AP]M)", re.IGNORECASE
)
_MOST_CHANGES = 100
_MONTHS: Sequence[str] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

_ENDINGS = (
    ("Missing environment variable", Ending.AUTH),
    ("Your access token could not be refreshed", Ending.AUTH),
    ("Your authentication session could not be refreshed", Ending.AUTH),
    ("stream disconnected before completion: Incomplete response", Ending.FAILED),
    ("stream disconnected before completion", Ending.LIMITED),
    ("Error while reading the server response", Ending.LIMITED),
    ("Connection failed", Ending.LIMITED),
    ("request timed out", Ending.LIMITED),
    ("rate limit exceeded", Ending.LIMITED),
    ("We're currently experiencing high demand", Ending.LIMITED),
    ("Selected model is at capacity", Ending.LIMITED),
    ("You've hit your usage limit", Ending.LIMITED),
    ("You hit your spend cap", Ending.NO_CREDIT),
    ("Your workspace is out of credits", Ending.NO_CREDIT),
    ("Quota exceeded", Ending.NO_CREDIT),
    ("To use Codex with your ChatGPT plan", Ending.NO_CREDIT),
    ("Codex ran out of room in the model's context window", Ending.OVERFLOW),
)
# The codes by which a provider tells the kind of an error; Codex passes its whole answer on.
_CODES = {
    "context_length_exceeded": Ending.OVERFLOW,
    "insufficient_quota": Ending.NO_CREDIT,
    "model_not_found": Ending.MODEL_NOT_FOUND,
}
_UNSUPPORTED_MODEL = re.compile(r"The '[^'\n]{1,100}' model is not supported\b")

# What an item that is the use of a tool is about.
_TOOLS = {
    "command_execution": "command",
    "file_change": "changes",
    "mcp_tool_call": "tool",
    "collab_tool_call": "tool",
    "web_search": "query",
}


class CodexLines:
    """Understands the lines of one turn.

    `before` is what the thread had used before it, `now` a time with its zone: Codex tells local times.
    """

    def __init__(
        self, *, model: str, before: Usage | None, now: datetime, price: Price | None = None
    ) -> None:
        self._model = model
        self._price = price
        self._counted = before
        self._now = now
        self._has_started = False
        self._message = ""

    def __call__(self, line: Line) -> Sequence[Heard]:
        """Returns what a line says; nothing if that is of no interest."""
        if not line.data.strip():
            return ()
        message = read_object(line)
        heard = self._read(message) if message is not None else None
        return (unparsed(line.data),) if heard is None else heard

    def explain(self, errors: str) -> Result | None:
        """Understands what Codex left on its standard error: the thread to go on with is not there."""
        lost = None if self._has_started else _CANNOT_RESUME.search(errors)
        return Result(ending=Ending.SESSION_LOST, detail=lost[0][:DETAIL_LIMIT]) if lost else None

    def _read(self, message: Mapping[str, object]) -> Sequence[Heard] | None:
        match message:
            case {"type": "thread.started", "thread_id": str(thread)} if _is_uuid(thread):
                self._has_started = True
                return (SessionStarted(SessionId(thread), self._model),)
            case {"type": "item.started" | "item.completed" | "item.updated", "item": dict()}:
                return self._read_item(message["type"], cast("Mapping[str, object]", message["item"]))
            case {"type": "error", "message": str(text)}:
                return (_read_retry(text) or self._failed(text),)
            case {"type": "turn.failed", "error": {"message": str(text)}}:
                return (self._failed(text),)
            case {"type": "turn.completed"}:
                return (*self._used(message.get("usage")), self._completed())
            case {"type": "turn.started"}:
                return ()
            case _:
                return None

    def _read_item(self, stage: object, item: Mapping[str, object]) -> Sequence[Heard]:
        match stage, item:
            case "item.completed", {"type": "agent_message", "text": str(text)}:
                self._message = text
                return (Said(text_of(text)),)
            case "item.started", {"type": str(kind)} if kind in _TOOLS:
                return (ToolStarted(kind, _detail(kind, item)),)
            case "item.completed", {"type": str(kind), "status": "declined"} if kind in _TOOLS:
                return PermissionDenied(_detail(kind, item)), ToolEnded(kind, ok=False)
            case "item.completed", {"type": str(kind)} if kind in _TOOLS:
                return (ToolEnded(kind, item.get("status") != "failed"),)
            case _:
                return ()

    def _used(self, usage: object) -> Sequence[Heard]:
        if not isinstance(usage, dict):
            return ()
        total = counted_usage(cast("Mapping[str, object]", usage), self._price)
        used = total.since(self._counted)
        self._counted = total
        return (Used(used),) if used.tokens else ()

    def _completed(self) -> Result:
        return Result(ending=Ending.OK, text=self._message[-MESSAGE_LIMIT:])

    def _failed(self, text: str) -> Result:
        ending, words = _told_by_provider(text) or (_ending_of(text), text)
        until = _until(text, self._now) if ending is Ending.LIMITED else None
        return Result(ending=ending, detail=words[:DETAIL_LIMIT], until=until)


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _detail(kind: str, item: Mapping[str, object]) -> str:
    """Says in a few words what the use of a tool is about."""
    about = item.get(_TOOLS[kind])
    if not isinstance(about, list):
        return text_of(about, DETAIL_LIMIT)
    return " ".join(map(_path, cast("list[object]", about)[:_MOST_CHANGES]))[:DETAIL_LIMIT]


def _path(change: object) -> str:
    is_change = isinstance(change, dict)
    return text_of(cast("Mapping[str, object]", change).get("path"), DETAIL_LIMIT) if is_change else ""


def _read_retry(text: str) -> Retrying | None:
    retry = _RETRY.fullmatch(text)
    return Retrying(int(retry[1] or 1), 0.0, _status_of(retry[2] or "")) if retry else None


def _status_of(text: str) -> int | None:
    status = _STATUS.match(text)
    return int(status[1]) if status else None


def _told_by_provider(text: str) -> tuple[Ending, str] | None:
    """Returns how a turn ends whose request was refused with a whole JSON answer, and the words in it."""
    answer = read_object(Line(text.encode("utf-8", "replace")))
    match answer:
        case {"error": {"message": str(words), "code": str(code)}}:
            return _CODES.get(code, Ending.FAILED), words
        case {"error": {"message": str(words)}}:
            return Ending.FAILED, words
        case {"detail": str(words)}:
            is_unknown = _UNSUPPORTED_MODEL.match(words) is not None
            return Ending.MODEL_NOT_FOUND if is_unknown else Ending.FAILED, words
        case _:
            return None


def _ending_of(text: str) -> Ending:
    status = _status_of(text)
    if status is not None:
        return ending_of_status(status)
    plain = text.replace("’", "'")
    return next((ending for start, ending in _ENDINGS if plain.startswith(start)), Ending.FAILED)


def _until(text: str, now: datetime) -> str | None:
    """Returns the time from which a limit is over, rounded up from the minute that the text tells."""
    told = _UNTIL.search(text)
    if told is None:
        return None
    month, day, year, hour, minute, half = told.groups()
    try:
        until = now.replace(
            year=int(year) if month else now.year,
            month=_MONTHS.index(month.title()) + 1 if month else now.month,
            day=int(day) if month else now.day,
            hour=int(hour) % 12 + (12 if half.upper() == "PM" else 0),
            minute=int(minute),
            second=0,
            microsecond=0,
        ) + timedelta(minutes=1)
    except (ValueError, OverflowError):
        return None
    is_tomorrow = not month and until <= now
    return (until + timedelta(days=1) if is_tomorrow else until).isoformat()
