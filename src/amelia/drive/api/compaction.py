"""Keeps the messages of a session below the context window of its model, without input or output.

- What a person or Amelia asked stays word for word: the assignment, and all that came later.
- The latest exchanges stay longest. Of older ones first the long texts go, which tools returned or were
  given, then the exchanges as a whole; what is left out is said so.
- A call of a tool and what it returned stay or go together.
- Tokens are estimated from bytes, rather too many than too few, unless the provider told of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic_ai import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.messages import (
    ModelRequestPart,
    ModelResponsePart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

FILLED = 0.7
"""Which part of the window is used: the answer needs room, and what the tools are called does."""

TARGET = 0.6
"""Which part of the room is left full, so that the next exchanges need nothing left out."""

LATEST = 8
"""Messages at the end that are touched last."""

BYTES_PER_TOKEN = 3
OVERHEAD = 4_000  # tokens of instructions and tools, which no message holds
SHORT = 400
LAST_SHORT = 3_000
LEFT_OUT = (
    "[Earlier steps of this session were left out to make room. The files are as you left them: "
    "read again what you need.]"
)


def size_of(messages: Sequence[ModelMessage], told: ModelResponse | None = None) -> int:
    """Returns how many tokens messages have; `told` is an answer among them whose count can be relied on."""
    if told is None or not told.usage.input_tokens or told not in messages:
        return OVERHEAD + _bytes(messages) // BYTES_PER_TOKEN
    later = messages[messages.index(told) + 1 :]
    return told.usage.input_tokens + told.usage.output_tokens + _bytes(later) // BYTES_PER_TOKEN


def compacted(messages: Sequence[ModelMessage], room: int) -> list[ModelMessage]:
    """Returns the messages with as much left out as needs to be for so many tokens, if that is possible."""
    fitting = list(messages)
    for way in _WAYS:
        if size_of(fitting) <= room:
            break
        fitting = min(fitting, way(fitting), key=size_of)
    return fitting


def _bytes(messages: Sequence[ModelMessage]) -> int:
    return len(ModelMessagesTypeAdapter.dump_json(list(messages)))


def _split(messages: Sequence[ModelMessage], latest: int) -> int:
    """Returns where the latest messages begin: with an answer, so that no call loses what it returned."""
    start = max(1, len(messages) - latest)
    while start > 1 and not isinstance(messages[start], ModelResponse):
        start -= 1
    return start


def _with_short_old(messages: list[ModelMessage]) -> list[ModelMessage]:
    start = _split(messages, LATEST)
    return [*(_shortened(message, SHORT) for message in messages[:start]), *messages[start:]]


def _without_old(messages: list[ModelMessage], latest: int = LATEST) -> list[ModelMessage]:
    start, first = _split(messages, latest), messages[0]
    if start <= 1 or not isinstance(first, ModelRequest):
        return messages
    asked = [
        part for message in messages[1:start] for part in message.parts if isinstance(part, UserPromptPart)
    ]
    kept = [part for part in asked if part.content != LEFT_OUT]
    began = replace(first, parts=[*first.parts, *kept, UserPromptPart(LEFT_OUT)])
    return [began, *messages[start:]]


def _with_short_latest(messages: list[ModelMessage]) -> list[ModelMessage]:
    return [_shortened(message, LAST_SHORT) for message in messages]


def _with_the_last_exchange(messages: list[ModelMessage]) -> list[ModelMessage]:
    return _without_old(messages, latest=2)


_WAYS: Sequence[Callable[[list[ModelMessage]], list[ModelMessage]]] = (
    _with_short_old,
    _without_old,
    _with_short_latest,
    _with_the_last_exchange,
)


def _shortened(message: ModelMessage, longest: int) -> ModelMessage:
    if isinstance(message, ModelRequest):
        return replace(message, parts=[_short_return(part, longest) for part in message.parts])
    return replace(message, parts=[_short_call(part, longest) for part in message.parts])


def _short_return(part: ModelRequestPart, longest: int) -> ModelRequestPart:
    match part:
        case ToolReturnPart(content=str(text)) if len(text) > longest:
            return replace(part, content=_ends(text, longest))
        case _:
            return part


def _short_call(part: ModelResponsePart, longest: int) -> ModelResponsePart:
    if not isinstance(part, ToolCallPart) or len(part.args_as_json_str()) <= longest:
        return part
    given = part.args_as_dict()
    return replace(part, args={name: _short_value(value, longest) for name, value in given.items()})


def _short_value(value: object, longest: int) -> object:
    return _ends(value, longest) if isinstance(value, str) and len(value) > longest else value


def _ends(text: str, longest: int) -> str:
    half = longest // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
