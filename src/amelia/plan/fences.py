"""What an author meant by code fences that CommonMark reads otherwise.

Two slips are common in plans: a fence that is never closed and so swallows the tasks below it, and a
Markdown example fenced with three backticks that itself holds fences of three backticks. This module
pairs fences the way the author meant them; the strict reading stays with the parser.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amelia.plan.markdown import Document

_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`\r\n]*)$")
_MARK = re.compile("```|~~~")
_MARKDOWN = (["md"], ["markdown"], ["mdx"], ["mdc"], ["text"], ["txt"])


@dataclass(frozen=True, slots=True)
class Fences:
    """The line ranges of fenced code as meant, and the lines of the fences that are the trouble."""

    ranges: Sequence[tuple[int, int]]
    unclosed: Sequence[int]
    nested: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Open:
    line: int
    mark: str
    info: str

    def holds(self, mark: str) -> bool:
        """Tells whether another fence is only text inside this one."""
        return mark[0] != self.mark[0] or len(mark) < len(self.mark)

    @property
    def is_markdown(self) -> bool:
        """Tells whether this is an example of Markdown, which may well hold fences of its own."""
        return self.info.casefold().split(maxsplit=1)[:1] in _MARKDOWN


class _Scan:
    """Reads lines in order and keeps the fences that are open."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.open: list[_Open] = []
        self.ranges: list[tuple[int, int]] = []
        self.unclosed: list[int] = []
        self.nested: list[int] = []
        self.marks = {
            number: mark
            for number, line in enumerate(lines, start=1)
            if _MARK.search(line) and (mark := _FENCE.match(line.rstrip("\r\n")))
        }
        self._numbers = list(self.marks)
        self._quiet = 0  # headings up to this line are known to be code

    def fence(self, line: int) -> None:
        """Meets a fence mark: it opens a block, closes one, or shows that one was never closed."""
        mark, note = self.marks[line]["mark"], self.marks[line]["info"].strip()
        top = self.open[-1] if self.open else None
        if top is None:
            self.open.append(_Open(line, mark, note))
        elif note and not top.holds(mark) and top.is_markdown:
            self.nested.append(self.open[0].line)
            self.open.append(_Open(line, mark, note))
        elif top.holds(mark):
            return
        elif not note:
            self.close(line)
        else:  # ```python inside ```bash: the first was never closed
            self.unclosed.append(top.line)
            self.close(line - 1)
            self.open.append(_Open(line, mark, note))

    def heading(self, line: int) -> None:
        """Meets a task heading inside a fence and closes the fence if it is open by mistake."""
        if line <= self._quiet:
            return
        top = self.open[-1]
        later = range(bisect_right(self._numbers, line), len(self._numbers))
        marks = (self._numbers[index] for index in later)
        following = next((number for number in marks if not top.holds(self.marks[number]["mark"])), None)
        if following is not None and (top.is_markdown or not self.marks[following]["info"].strip()):
            self._quiet = following
            return
        self.unclosed.append(self.open[0].line)
        while self.open:
            self.close(line - 1)

    def close(self, line: int) -> None:
        """Closes the innermost fence; only the outermost makes a range."""
        opened = self.open.pop()
        if not self.open:
            self.ranges.append((opened.line, line))


def are_suspicious(document: Document) -> bool:
    """Tells whether some fence is not closed or holds another one; all others read as they are meant."""
    return any(
        not block.closed
        or any(_MARK.search(line) for line in document.lines[block.line : block.end_line - 1])
        for block in document.code
        if block.fence
    )


def pair_fences(lines: Sequence[str], *, is_task: Callable[[str], bool]) -> Fences:
    """Pairs the fences of a text as its author meant them."""
    scan = _Scan(lines)
    for number, line in enumerate(lines, start=1):
        if number in scan.marks:
            scan.fence(number)
        elif scan.open and line.startswith("#") and is_task(line):
            scan.heading(number)
    if scan.open:
        scan.unclosed.append(scan.open[0].line)
        scan.ranges.append((scan.open[0].line, len(lines)))
    return Fences(scan.ranges, sorted(set(scan.unclosed)), sorted(set(scan.nested)))
