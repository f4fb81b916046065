"""The JSON objects in an agent's message, without input or output.

- Prose before, between and behind them, fences and line ends of any kind are passed over, and so is what a
  model was thinking (`<think>…</think>`).
- Only outermost objects count: what stands inside another one, or inside a text of it, is a part of it.
- An object that fills its lines, or its fence, stands alone; one inside a sentence or other code is a quote.
- What begins a line as an object does and is none, for a mistake in it or because it was cut off, is not
  read; its first name is told, so that nobody takes a quote beside it for the answer that it was to be.
- The time is linear in the length of the message, whatever stands in it: a brace that was part of an object
  which turned out to be none is not begun with again, so that no character is read more than a few times.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from amelia.drive.stream import MESSAGE_LIMIT, Line, read_object
from amelia.model.agents import Written

MOST = 1_000
"""Objects at the end of a message that are kept."""
_INDENT = 100  # characters that a line may begin with before its object does

_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
        (?P<mark>[{}\[\],:])
        |(?P<text>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+")
        |(?P<other>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)
    )""",
    re.VERBOSE,
)
_TAGS = "think|thinking|thought|reasoning"
_LANDMARK = re.compile(
    rf"(?P<brace>\{{)|^[ \t]*+<(?P<opened>{_TAGS})>|</(?:{_TAGS})>(?=[ \t]*+\r?$)", re.MULTILINE
)
_BEGUN = re.compile(r"""\{(?:\s|//[^\n]*+\n)*+["']?(?P<name>[^\W\d]\w{0,60})["']?\s*+:""")
_FENCE = re.compile(r"^[ \t]{0,3}(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n]*+)$", re.MULTILINE)
_OTHER_CODE = re.compile(r"\s*+(?!json)[\w+-]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Message:
    """The objects of a message, and the first names in what was to be one and cannot be read."""

    written: tuple[Written, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    """Where an object stands; one is broken out if it was found in an outer one that is no object."""

    start: int
    end: int
    is_broken_out: bool = False


@dataclass(frozen=True, slots=True)
class _Fence:
    """Where the content of a fence begins and ends; it is other code if it says so, as `diff` does."""

    start: int
    end: int
    is_other_code: bool


class _State(Enum):
    """What may come next in an object, by the kinds of tokens."""

    KEY_OR_END = '"}'
    KEY = '"'
    COLON = ":"
    VALUE = '{["0'
    VALUE_OR_END = '{["0]'
    COMMA_OR_END = ",}]"


@dataclass(slots=True)
class _Reading:
    """One attempt to read an object, from its brace to its end or to the first character that does not fit.

    `begun` are the braces that were met outside of texts, `closed` the largest objects that are complete.
    """

    text: str
    begun: set[int] = field(default_factory=set[int])
    closed: list[_Span] = field(default_factory=list[_Span])
    _open: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    _state: _State = _State.VALUE

    def read(self, start: int) -> _Span | None:
        """Returns the object that begins here; None if none does."""
        position = start
        while (token := _TOKEN.match(self.text, position)) is not None:
            position = token.end()
            if not self._take(token["mark"] or ('"' if token["text"] else "0"), position):
                return None
            if not self._open:
                return self.closed.pop()
        return None

    def _take(self, kind: str, end: int) -> bool:
        if kind not in self._state.value:
            return False
        match kind:
            case "{" | "[":
                self._open.append((kind, end - 1))
                self._state = _State.KEY_OR_END if kind == "{" else _State.VALUE_OR_END
                if kind == "{":
                    self.begun.add(end - 1)
            case "}" | "]":
                return self._close(kind, end)
            case ",":
                self._state = _State.KEY if self._open[-1][0] == "{" else _State.VALUE
            case ":":
                self._state = _State.VALUE
            case _:
                is_key = self._state in (_State.KEY_OR_END, _State.KEY)
                self._state = _State.COLON if is_key else _State.COMMA_OR_END
        return True

    def _close(self, kind: str, end: int) -> bool:
        opened, start = self._open.pop()
        if opened + kind not in ("{}", "[]"):
            return False
        if kind == "}":
            while self.closed and self.closed[-1].start > start:
                self.closed.pop()
            self.closed.append(_Span(start, end, is_broken_out=True))
        self._state = _State.COMMA_OR_END
        return True


def objects_in(message: str) -> tuple[Written, ...]:
    """Returns the JSON objects that stand in a message, in their order."""
    return read_message(message).written


def read_message(message: str) -> Message:
    """Returns the JSON objects that stand in a message, in their order, and what was to be one."""
    text = message[-MESSAGE_LIMIT:]
    if "{" not in text:
        return Message()
    met, unread = _spans(text)
    spans = list(_outermost(met))
    alone = list(_standing_alone(text, spans))
    found: list[Written] = []
    for span, is_alone in list(zip(spans, alone, strict=True))[-MOST:]:
        value = read_object(Line(text[span.start : span.end].encode("utf-8", "replace")))
        if value is not None:
            found.append(Written(value, is_alone))
    return Message(tuple(found), tuple(dict.fromkeys(unread))[-MOST:])


def _spans(text: str) -> tuple[list[_Span], list[str]]:
    """Returns where objects stand outside of what a model was thinking, and the names of what is not read.

    Some spans may overlap.
    """
    found: list[_Span] = []
    unread: list[str] = []
    begun: set[int] = set()
    unclosed: set[str] = set()
    position = 0
    while (landmark := _LANDMARK.search(text, position)) is not None:
        position = landmark.end()
        if landmark["brace"]:
            if landmark.start() in begun:
                continue
            reading = _Reading(text)
            if (span := reading.read(landmark.start())) is not None:
                found.append(_Span(span.start, span.end))
                position = span.end
            else:
                found += reading.closed
                begun |= reading.begun
                unread += _name_at(text, landmark.start())
        elif (tag := landmark["opened"]) is None:
            found.clear()  # what was before it was thinking, too
            unread.clear()
        elif tag not in unclosed:
            position = _end_of_thought(text, landmark, unclosed)
    return found, unread


def _name_at(text: str, brace: int) -> Iterator[str]:
    """Yields the first name behind a brace that begins its line."""
    line = text.rfind("\n", max(0, brace - _INDENT), brace) + 1
    is_first = line > 0 or brace <= _INDENT
    if is_first and _is_blank(text[line:brace]) and (begun := _BEGUN.match(text, brace)) is not None:
        yield begun["name"]


def _end_of_thought(text: str, opening: re.Match[str], unclosed: set[str]) -> int:
    """Returns where thinking ends; a tag that is never closed is a text, unless it begins the message."""
    tag = opening["opened"]
    end = text.find(f"</{tag}>", opening.end())
    if end >= 0:
        return end + len(f"</{tag}>")
    unclosed.add(tag)
    return opening.end() if text[: opening.start()].strip() else len(text)


def _outermost(spans: Sequence[_Span]) -> Iterator[_Span]:
    """Yields spans in their order, without those that begin inside another one."""
    end = 0
    for span in sorted(spans, key=lambda span: span.start):
        if span.start >= end:
            end = span.end
            yield span


def _standing_alone(text: str, spans: Sequence[_Span]) -> Iterator[bool]:
    """Tells of each span whether nothing else is on its lines, and nothing else in its fence."""
    fences, number = _fences(text), 0
    before = 0
    for span, after in zip(spans, [*(later.start for later in spans[1:]), len(text)], strict=False):
        while number < len(fences) and fences[number].end < span.start:
            number += 1
        fence = fences[number] if number < len(fences) and fences[number].start <= span.start else None
        first, last = text[before : span.start], text[span.end : after]
        fills_lines = (before == 0 or "\n" in first) and (after == len(text) or "\n" in last)
        is_blank = _is_blank(first.rpartition("\n")[2]) and _is_blank(last.partition("\n")[0])
        is_whole = fence is None or (
            not fence.is_other_code
            and before <= fence.start
            and after >= fence.end
            and _is_blank(text[fence.start : span.start])
            and _is_blank(text[span.end : fence.end])
        )
        yield fills_lines and is_blank and is_whole and not span.is_broken_out
        before = span.end


def _fences(text: str) -> list[_Fence]:
    """Returns the fences of a text; one that is not closed ends with the text."""
    found: list[_Fence] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            opened = line
        elif not line["info"].strip() and line["mark"].startswith(opened["mark"]):
            found.append(_fence(opened, line.start()))
            opened = None
    return found if opened is None else [*found, _fence(opened, len(text))]


def _fence(opened: re.Match[str], end: int) -> _Fence:
    return _Fence(opened.end(), end, is_other_code=_OTHER_CODE.match(opened["info"]) is not None)


def _is_blank(text: str) -> bool:
    return not text.strip().strip("\ufeff\u200b")
