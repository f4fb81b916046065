"""What a drawn line is made of: pieces of text with a style, and the signs an encoding can carry.

Text of plans and agents enters a line through `Charset.shown` only. Colours are put on at the very edge.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import TypeAlias

from amelia.show.output import coloured
from amelia.show.text import fit, printable, width

_MOST_SHOWN = 1000  # characters of a foreign text that are looked at; no line is as wide


class Style(Enum):
    """How a piece of text looks: the parameters of the escape sequence for it."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    GOOD = "32"
    BUSY = "36"
    BAD = "31"
    ASKING = "33;1"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text in one style."""

    text: str
    style: Style = Style.PLAIN


Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Charset:
    """The signs of a drawing, and the encoding that can carry them."""

    encoding: str
    done: str
    running: str
    waiting: str
    failed: str
    skipped: str
    asking: str
    branch: str
    last_branch: str
    dash: str
    dot: str
    ellipsis: str

    def shown(self, text: str) -> str:
        """Returns foreign text as it may stand on a screen: one line, obeyed by no terminal, encodable."""
        safe = printable(text[:_MOST_SHOWN]).strip()
        return safe if safe.isascii() else safe.encode(self.encoding, "replace").decode(self.encoding)

    def cut(self, text: str, columns: int) -> str:
        """Returns a text, with an ellipsis where it is wider than allowed."""
        if width(text) <= columns:
            return text
        room = columns - len(self.ellipsis)
        if room < 0:
            return self.ellipsis[:columns]
        return fit(text, room + 1).rstrip().removesuffix("…").rstrip() + self.ellipsis


UNICODE = Charset(
    encoding="utf-8",
    done="✓",
    running="●",
    waiting="○",
    failed="✗",
    skipped="–",
    asking="?",
    branch="├──",
    last_branch="└──",
    dash="–",
    dot="·",
    ellipsis="…",
)


ASCII = Charset(
    encoding="ascii",
    done="+",
    running="*",
    waiting="o",
    failed="x",
    skipped="-",
    asking="?",
    branch="|--",
    last_branch="`--",
    dash="-",
    dot="|",
    ellipsis="...",
)


def charset_for(encoding: str | None) -> Charset:
    """Returns the signs that an encoding can carry, or else plain ones."""
    name = encoding or ASCII.encoding
    signs = "".join(getattr(UNICODE, field.name) for field in fields(UNICODE))
    try:
        signs.encode(name)
    except UnicodeEncodeError:
        return replace(ASCII, encoding=name)
    except LookupError:
        return ASCII
    return replace(UNICODE, encoding=name)


def text_of(line: Line) -> str:
    """Returns a line without its styles."""
    return "".join(span.text for span in line)


def painted(line: Line) -> str:
    """Returns a line with its styles, for a safe stream."""
    return "".join(coloured(span.text, span.style.value) if span.style.value else span.text for span in line)


def fitted(line: Iterable[Span], columns: int, charset: Charset) -> Line:
    """Returns a line that is no wider than allowed; what is too much of it is cut at its end."""
    kept: list[Span] = []
    for span in line:
        room = columns - sum(width(other.text) for other in kept)
        if width(span.text) > room:
            return (*kept, Span(charset.cut(span.text, room), span.style))
        kept.append(span)
    return tuple(kept)
