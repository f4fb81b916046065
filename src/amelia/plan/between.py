"""Headings between the headings of tasks that are no tasks: their text reaches nobody, and that is told.

`### Tsak 2: Pay` between task 1 and task 3 is a slip of the pen, and an error: its word is nearly the word of
the tasks, or its number is the one that is missing. Any other heading among them is named by a warning,
unless it opens notes, risks or another section that plans have beside the work.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from amelia.model.diagnostics import Diagnostic, error, warning
from amelia.plan import words
from amelia.plan.labels import clean_title, read_loose_label
from amelia.plan.outline import Entry, Outline, is_aside, is_deferred, is_finished, is_task_section
from amelia.plan.ranges import Ranges, any_within
from amelia.plan.reading import Place
from amelia.plan.slips import are_near

_NUMBERED = re.compile(
    r"(?P<word>[^\W\d_]{2,40})\s?#?(?P<id>\d{1,6}(?:\.\d{1,6}){0,5})\s?(?:[:：]|[.)—–-]\s)\s*\S"
)
_COUNT = re.compile(r"\d{1,6}")
_SHOWN = 60


def headings_between(outline: Outline, places: Sequence[Place]) -> Iterator[Diagnostic]:
    """Yields a finding for every heading beside the headings of tasks whose text reaches nobody."""
    lines = {place.line for place in places}
    tasks = [entry for entry in outline.entries if entry.line in lines]
    if not tasks:
        return
    known = _Known(tasks, places)
    for entry in outline.entries:
        if not known.is_outside(entry) or _is_beside(entry):
            continue
        if known.is_slip(entry):
            yield _slip(entry)
        elif entry.label is None and known.around(entry) and _has_text(outline, entry):
            yield _between(entry)


class _Known:
    """The headings of tasks, to be asked about other headings."""

    def __init__(self, tasks: Sequence[Entry], places: Sequence[Place]) -> None:
        self._lines = sorted(place.line for place in places)
        self._ids = {place.line: place.id for place in places}
        self._taken = {place.id.casefold() for place in places}
        self._sections = Ranges((place.line, place.end_line) for place in places)
        self._words = {task.label.word.casefold() for task in tasks if task.label and task.label.word}
        self._beside: dict[tuple[int, tuple[int, ...]], list[Entry]] = {}
        for task in tasks:
            self._beside.setdefault(_level(task), []).append(task)

    def is_outside(self, entry: Entry) -> bool:
        """Tells whether a heading is no task, stands in none, holds none and speaks of none."""
        return (
            entry.line not in self._sections
            and not any_within(self._lines, entry.line, entry.end_line)
            and (entry.label is not None or read_loose_label(entry.heading.text) is None)
        )

    def is_slip(self, entry: Entry) -> bool:
        """Tells whether a heading has a number, and nearly the word of the tasks or the number they lack."""
        found = _NUMBERED.match(clean_title(entry.heading.text))
        if found is None or found["id"] in self._taken:
            return False
        word = found["word"].casefold()
        if entry.label is None and any(are_near(word, other) for other in self._words):
            return True
        around = [_counts(self._ids[task.line]) for task in self.around(entry)]
        return bool(around) and around[0] < _counts(found["id"]) < around[1]

    def around(self, entry: Entry) -> Sequence[Entry]:
        """Returns the tasks before and after a heading, or nothing if it does not stand between two."""
        tasks = self._beside.get(_level(entry), ())
        index = bisect_left(tasks, entry.line, key=lambda task: task.line)
        return tasks[index - 1 : index + 1] if 0 < index < len(tasks) else ()


def _level(entry: Entry) -> tuple[int, tuple[int, ...]]:
    return entry.level, entry.ancestors[-1:]


def _counts(text: str) -> tuple[int, ...]:
    return tuple(map(int, _COUNT.findall(text)))


def _is_beside(entry: Entry) -> bool:
    """Tells whether a heading opens a section that plans have beside the work."""
    text = entry.heading.text
    first = next(iter(clean_title(text).split()), "").casefold().strip(":,.")
    return (
        is_aside(text)
        or is_deferred(text)
        or is_finished(text)
        or is_task_section(text)
        or first in words.CHAPTERS
        or first in words.ABOUT
    )


def _has_text(outline: Outline, entry: Entry) -> bool:
    return any(
        line.strip(" \t\r\n-*_") for line in outline.document.lines[entry.heading.end_line : entry.end_line]
    )


def _slip(entry: Entry) -> Diagnostic:
    return error(
        "unread-task",
        f"'{entry.heading.text[:_SHOWN]}' stands among the headings of tasks, and cannot be read as one.",
        line=entry.line,
        hint="Write `### Task <id>: <title>` as for the others, or leave out the number if it is no task.",
    )


def _between(entry: Entry) -> Diagnostic:
    return warning(
        "text-between",
        f"'{entry.heading.text[:_SHOWN]}' stands between tasks and is none; its text reaches nobody.",
        line=entry.line,
        hint="Write `### Task <id>: <title>` if it is a task, or put it a level below its task.",
    )
