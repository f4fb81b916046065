"""The dialect of the agents that are programs of ours: one JSON object on a line, with a `type`.

The player of scripts speaks it, and so do the programs that speak for a model or for another protocol.
"""

from collections.abc import Mapping
from typing import cast

from amelia.drive.stream import (
    DETAIL_LIMIT,
    MESSAGE_LIMIT,
    Heard,
    Line,
    Result,
    cost_of,
    count_of,
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

_ENDS = frozenset(
    {
        Ending.FAILED,
        Ending.AUTH,
        Ending.NO_CREDIT,
        Ending.MODEL_NOT_FOUND,
        Ending.UNUSABLE,
        Ending.OVERFLOW,
        Ending.SESSION_LOST,
        Ending.NO_REPORT,
        Ending.OUT_OF_BUDGET,
    }
)


def read_plain_line(line: Line) -> tuple[Heard, ...]:
    """Understands a line of an agent that is a program of ours."""
    if not line.data.strip():
        return ()
    message = read_object(line)
    heard = _read_message(message) if message is not None else None
    return (heard or unparsed(line.data),)


def _read_message(message: Mapping[str, object]) -> Heard | None:
    return _read_act(message) or _read_number(message) or _read_end(message)


def _read_act(message: Mapping[str, object]) -> Heard | None:
    match message:
        case {"type": "session", "session": str(session)}:
            return SessionStarted(
                SessionId(session[:DETAIL_LIMIT]), text_of(message.get("model"), DETAIL_LIMIT)
            )
        case {"type": "say", "text": str(text)}:
            return Said(text_of(text, MESSAGE_LIMIT))
        case {"type": "tool", "state": "started", "name": str(name)}:
            return ToolStarted(name[:DETAIL_LIMIT], text_of(message.get("detail"), DETAIL_LIMIT))
        case {"type": "tool", "state": "ended", "name": str(name), "ok": bool(ok)}:
            return ToolEnded(name[:DETAIL_LIMIT], ok)
        case {"type": "denied", "what": str(what)}:
            return PermissionDenied(what[:DETAIL_LIMIT])
        case _:
            return None


def _read_number(message: Mapping[str, object]) -> Heard | None:
    match message:
        case {"type": "usage"}:
            tokens = count_of(message.get("input")), count_of(message.get("output"))
            return Used(Usage(*tokens, cost_of(message.get("cost"))))
        case {"type": "retry"}:
            return Retrying(
                count_of(message.get("attempt")),
                cost_of(message.get("delay")) or 0.0,
                count_of(message.get("status")) or None,
            )
        case _:
            return None


def _read_end(message: Mapping[str, object]) -> Heard | None:
    match message:
        case {"type": "limit"}:
            return Result(
                ending=Ending.LIMITED,
                until=text_of(message.get("until"), DETAIL_LIMIT) or None,
                detail=text_of(message.get("detail"), DETAIL_LIMIT),
            )
        case {"type": "end", "ending": str(ending)} if ending in _ENDS:
            return Result(ending=Ending(ending), detail=text_of(message.get("detail"), DETAIL_LIMIT))
        case {"type": "result", "text": str(text)}:
            return Result(ending=Ending.OK, text=text[-MESSAGE_LIMIT:])
        case {"type": "result", "report": dict()}:
            return Result(ending=Ending.OK, report=cast("Mapping[str, object]", message["report"]))
        case _:
            return None
