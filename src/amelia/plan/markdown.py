"""Text becomes Markdown blocks with line numbers: headings, list items, paragraphs, code, tables.

A real CommonMark parser decides what is a heading and what is code; this module only keeps the few
blocks that plans are made of. Lines are 1-based and inclusive. Nothing here knows what a task is.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

import pyromark
import yaml

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
TICKS = frozenset("xX√✓✔✅")  # what stands in the box of something done
_BULLETS = frozenset("-*+")
_BOX_OR_NUMBER = re.compile(rb"\s*(?:[-*+]\s+\[|\d)")
_NUMBER = re.compile(r"(\d+)[.)](?:\s+|$)")
_BOX = re.compile(r"\[([ \t]{0,3}|[xXoO√✓✔✅*/~\->!?-])\]\*?(?:[ \t]+|$)")
_CELL = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"^ {0,3}#{1,6}")
_FENCE = re.compile(r"(`{3,}|~{3,})([^\r\n]*)")
_NOT_BLOCKS = frozenset(
    {"Emphasis", "Strong", "Strikethrough", "Link", "Image", "List", "Table", "TableCell"}
)
_YAML_KEY = re.compile(r"[\w-]+:")
_YAML_LENGTH = 50_000
_LEVELS = {"H1": 1, "H2": 2, "H3": 3, "H4": 4, "H5": 5, "H6": 6}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside lists and quotes; `text` is its source without the marks."""

    line: int
    end_line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """A list item with a check box or a number; plain bullets are left out.

    `depth` counts the items around it, `box` is what stands in its check box.
    """

    line: int
    end_line: int
    depth: int
    text: str
    number: str | None
    box: str | None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph outside lists and quotes."""

    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A code block, fenced or indented; `fence` is the opening mark, empty for indented code."""

    line: int
    end_line: int
    fence: str
    info: str
    closed: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; `head` marks the row of titles."""

    line: int
    end_line: int
    cells: tuple[str, ...]
    head: bool


_Kind = str | Mapping[str, Any]
_Span = tuple[int, int]
Block = Heading | Item | Paragraph | Code | Row


@dataclass(frozen=True)
class Document:
    """A Markdown text, its lines (with their ends) and its blocks in order.

    `shown` are the lines as the parser saw them, `mended` the numbers of headings that lacked a space.
    """

    text: str = field(repr=False)
    lines: Sequence[str] = field(repr=False)
    blocks: Sequence[Block]
    shown: Sequence[str] = field(default=(), repr=False)
    mended: Collection[int] = ()

    @cached_property
    def bullets(self) -> Sequence[Item]:
        """Returns the outermost list items of any kind in order, plain bullets among them."""
        return [item for item in self.every_item if item.depth == 0]

    @cached_property
    def every_item(self) -> Sequence[Item]:
        """Returns the list items of any kind and depth in order, plain bullets among them."""
        blocks = _Builder(self.shown, takes_bullets=True).blocks()
        items = (block for block in blocks if isinstance(block, Item))
        return sorted(items, key=lambda item: (item.line, item.depth))

    def slice(self, line: int, end_line: int) -> str:
        """Returns the exact text of some lines."""
        return "".join(self.lines[line - 1 : end_line])

    @cached_property
    def headings(self) -> Sequence[Heading]:
        """Returns the headings in order."""
        return [block for block in self.blocks if isinstance(block, Heading)]

    @cached_property
    def items(self) -> Sequence[Item]:
        """Returns the list items in order."""
        return [block for block in self.blocks if isinstance(block, Item)]

    @cached_property
    def code(self) -> Sequence[Code]:
        """Returns the code blocks in order."""
        return [block for block in self.blocks if isinstance(block, Code)]

    @cached_property
    def prose(self) -> Sequence[str]:
        """Returns the lines with those of code blocks emptied, one for each line of the text."""
        visible = list(self.lines)
        for block in self.code:
            visible[block.line - 1 : block.end_line] = [""] * (block.end_line - block.line + 1)
        return visible

    def ticks(self, line: int, end_line: int) -> Sequence[str]:
        """Returns what stands in the check boxes of some lines."""
        lines, ticks = self._boxes
        return ticks[bisect_left(lines, line) : bisect_right(lines, end_line)]

    @cached_property
    def _boxes(self) -> tuple[Sequence[int], Sequence[str]]:
        boxes = [(item.line, item.box) for item in self.items if item.box is not None]
        return [line for line, _ in boxes], [box for _, box in boxes]

    def last_text_line(self, line: int, end_line: int) -> int:
        """Returns the last line of a range that is not blank, or its first line."""
        while end_line > line and not self.lines[end_line - 1].strip():
            end_line -= 1
        return end_line


def split_lines(text: str) -> list[str]:
    """Splits a text into lines as CommonMark does, keeping the line ends."""
    if "\r" in text:
        return _LINE.findall(text)
    *lines, last = text.split("\n")
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def parse(text: str, *, hidden: Iterable[tuple[int, int]] = (), mended: Collection[int] = ()) -> Document:
    """Reads a Markdown text; `hidden` line ranges count as blank, `mended` lines as headings with a space."""
    lines = split_lines(text)
    shown = list(lines)
    for number in mended:
        shown[number - 1] = _MARKS.sub(r"\g<0> ", shown[number - 1], count=1)
    for first, last in hidden:
        shown[first - 1 : last] = ["\n"] * len(shown[first - 1 : last])
    return Document(text, lines, _Builder(shown).blocks(), shown, mended)


def read_front_matter(lines: Sequence[str]) -> tuple[Mapping[str, Any], int]:
    """Returns the YAML front matter of a text, or {}, and the line its body starts at."""
    first = next((index for index, line in enumerate(lines[:3]) if line.strip()), None)
    if first is None or lines[first].rstrip() != "---":
        return {}, 1
    marks = (index for index in range(first + 1, len(lines)) if lines[index].rstrip() in {"---", "..."})
    last = next(marks, None)
    if last is None:
        return {}, 1
    inside = lines[first + 1 : last]
    data = _read_yaml("".join(inside))
    if isinstance(data, dict):
        return cast("Mapping[str, Any]", data), last + 2
    is_broken_yaml = data is None and any(_YAML_KEY.match(line) for line in inside)
    return {}, last + 2 if is_broken_yaml else 1


def _read_yaml(text: str) -> object:
    """Reads YAML; what is broken or far too long is None.

    The loader is the one in Python: the one in C overflows its stack on deep nesting.
    """
    if len(text) > _YAML_LENGTH:
        return None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None


class _Builder:
    """Turns the parser's events, which carry byte offsets, into blocks, which carry lines."""

    def __init__(self, lines: Sequence[str], *, takes_bullets: bool = False) -> None:
        text = "".join(lines)
        self._takes_bullets = takes_bullets
        self._events: Iterable[tuple[Any, Any]] = pyromark.events_with_range(
            text, options=pyromark.Options.ENABLE_TABLES
        )
        self._data = text.encode()
        sizes = map(len, lines if text.isascii() else map(str.encode, lines))
        self._starts = list(accumulate(sizes, initial=0))
        self._found: list[Block] = []
        self._open: list[_OpenItem] = []
        self._quotes = 0

    def blocks(self) -> Sequence[Block]:
        for event, span in self._events:
            if type(event) is str or "Text" in event:  # a break or plain text, which is most of them
                continue
            if (kind := event.get("Start")) is not None:
                name = kind if type(kind) is str else next(iter(kind))
                if name not in _NOT_BLOCKS:
                    self._start(name, kind, (span["start"], span["end"]))
            elif (kind := event.get("End")) == "Item":
                self._end_item()
            elif type(kind) is dict and "BlockQuote" in kind:
                self._quotes -= 1
        self._found.sort(key=lambda block: (block.line, -block.end_line))
        return self._found

    def _start(self, name: str, kind: _Kind, span: _Span) -> None:
        start, end = span
        if self._open and self._open[-1].text_end is None:
            self._open[-1].text_end = end if name == "Paragraph" else start
        if name == "Item":
            self._open.append(_OpenItem(start, end))
        elif name == "BlockQuote":
            self._quotes += 1
        elif name == "CodeBlock":
            self._found.append(self._code(span))
        elif not self._open and not self._quotes:
            self._top_level(name, kind, span)

    def _end_item(self) -> None:
        item = self._open.pop()
        # plain bullets are the bulk of most plans, and no dialect makes tasks of them
        if not self._quotes and (self._takes_bullets or _BOX_OR_NUMBER.match(self._data, item.start)):
            self._found.append(self._item(item, depth=len(self._open)))

    def _top_level(self, name: str, kind: _Kind, span: _Span) -> None:
        line, end_line = self._lines(span)
        source = self._data[slice(*span)].decode()
        if not isinstance(kind, str) and name == "Heading":
            self._found.append(_heading(source, (line, end_line), _LEVELS[kind["Heading"]["level"]]))
        elif name == "Paragraph":
            self._found.append(Paragraph(line, end_line, source.strip()))
        elif name in {"TableHead", "TableRow"}:
            self._found.append(Row(line, end_line, _cells(source), name == "TableHead"))

    def _lines(self, span: _Span) -> tuple[int, int]:
        start, end = span
        line = bisect_right(self._starts, start)
        return line, max(line, bisect_right(self._starts, max(start, end - 1)))

    def _code(self, span: _Span) -> Code:
        line, end_line = self._lines(span)
        mark = _FENCE.match(self._data[slice(*span)].decode())
        if mark is None:
            return Code(line, end_line, "", "", closed=True)
        fence = mark[1]
        closing = self._data[self._starts[end_line - 1] : span[1]].decode().strip(" \t\r\n>")
        closed = end_line > line and len(closing) >= len(fence) and not closing.strip(fence[0])
        return Code(line, end_line, fence, mark[2].strip(), closed=closed)

    def _item(self, item: "_OpenItem", *, depth: int) -> Item:
        line, end_line = self._lines((item.start, item.end))
        text_end = item.end if item.text_end is None else item.text_end
        text = self._data[item.start : text_end].decode().strip()
        number = None
        if text[:1] in _BULLETS:
            text = text[1:].lstrip()
        elif marker := _NUMBER.match(text):  # pragma: no branch - an item has a bullet or a number
            number, text = marker[1], text[marker.end() :]
        box = _BOX.match(text) if text.startswith("[") else None
        if box is None:
            return Item(line, end_line, depth, text, number, None)
        return Item(line, end_line, depth, text[box.end() :], number, box[1])


@dataclass(slots=True)
class _OpenItem:
    start: int
    end: int
    text_end: int | None = None


def _heading(source: str, lines: tuple[int, int], level: int) -> Heading | Paragraph:
    source = source.rstrip("\r\n")
    if source.startswith("#"):
        return Heading(*lines, level, _without_marks(source))
    *words, underline = source.splitlines() or [""]
    text = "\n".join(words).strip()
    # "text⏎---" is a rule somebody forgot the blank line before, far more often than a heading.
    if underline.strip() == "---":
        return Paragraph(*lines, text)
    return Heading(*lines, level, text)


def _without_marks(source: str) -> str:
    """Takes the marks off both ends of `## a heading ##`; marks without a space before them belong to it."""
    text = source.lstrip("#").strip()
    stripped = text.rstrip("#")
    return stripped.rstrip() if not stripped or stripped[-1] in " \t" else text


def _cells(source: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in _CELL.split(source.strip().removeprefix("|").removesuffix("|")))
