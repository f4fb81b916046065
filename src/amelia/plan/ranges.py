"""Line ranges that can be asked quickly whether they hold a line."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable


class Ranges:
    """A set of lines, given as inclusive ranges that may overlap."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for first, last in sorted(ranges):
            if self._ends and first <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], last)
            else:
                self._starts.append(first)
                self._ends.append(last)

    def __contains__(self, line: int) -> bool:
        index = bisect_right(self._starts, line) - 1
        return index >= 0 and line <= self._ends[index]


def any_within(lines: list[int], first: int, last: int) -> bool:
    """Tells whether one of some sorted lines lies in a range."""
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= last
