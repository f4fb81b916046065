"""What an author meant by code fences that CommonMark reads otherwise.

Two slips are common in plans: a fence that is never closed and so swallows the tasks below it, and a
Markdown example fenced with three backticks that itself holds fences of three backticks. This module
pairs fences the way the author meant them; the strict reading stays with the parser.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`\r\n]*)$")
_MARKDOWN = frozenset({"md", "markdown", "mdx", "mdc", "text", "txt"})


@dataclass(frozen=True, slots=True)
class Fences:
    """The line ranges of fenced code as meant, and the lines of fences that were never closed."""

    ranges: Sequence[tuple[int, int]]
    unclosed: Sequence[int]


@dataclass(slots=True)
class _Open:
    line: int
    mark: str
    info: str

    def holds(self, mark: str) -> bool:
        """Tells whether another fence is only text inside this one."""
        return mark[0] != self.mark[0] or len(mark) < len(self.mark)


class _Scan:
    """Reads lines in order and keeps the fences that are open."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.open: list[_Open] = []
        self.ranges: list[tuple[int, int]] = []
        self.unclosed: list[int] = []
        marks = [_FENCE.match(line.rstrip("\r\n")) for line in lines]
        self.marks = {number: mark for number, mark in enumerate(marks, start=1) if mark}
        self._numbers = sorted(self.marks)

    def fence(self, line: int, mark: str, info: str) -> None:
        top = self.open[-1] if self.open else None
        if top is not None and top.holds(mark):
            return
        if not info:
            if top is None:
                self.open.append(_Open(line, mark, info))
            else:
                self._close(line)
        elif top is None or top.info.split()[:1] and top.info.split()[0].casefold() in _MARKDOWN:
            self.open.append(_Open(line, mark, info))
        else:  # ```python inside ```bash: the first was never closed
            self.unclosed.append(top.line)
            self._close(line - 1)
            self.open.append(_Open(line, mark, info))

    def heading(self, line: int) -> None:
        """Meets a task heading inside a fence: is the fence open by mistake?"""
        following = next(
            (
                number
                for number in self._numbers
                if number > line and not self.open[-1].holds(self.marks[number]["mark"])
            ),
            None,
        )
        if following is None or self.marks[following]["info"].strip():
            if (
                self.open[-1].info.split()[:1]
                and self.open[-1].info.split()[0].casefold() in _MARKDOWN
                and following is not None
            ):
                return
            self.unclosed.append(self.open[0].line)
            while self.open:
                self._close(line - 1)

    def _close(self, line: int) -> None:
        opened = self.open.pop()
        if not self.open:
            self.ranges.append((opened.line, line))


def pair_fences(lines: Sequence[str], *, is_task: Callable[[str], bool]) -> Fences:
    """Pairs the fences of a text as its author meant them."""
    scan = _Scan(lines)
    for number, line in enumerate(lines, start=1):
        if mark := scan.marks.get(number):
            scan.fence(number, mark["mark"], mark["info"].strip())
        elif scan.open and line.startswith("#") and is_task(line):
            scan.heading(number)
    if scan.open:
        scan.unclosed.append(scan.open[0].line)
        scan.ranges.append((scan.open[0].line, len(lines)))
    return Fences(scan.ranges, sorted(set(scan.unclosed)))
