"""Headings and lines that look like tasks and are none: no task of a plan disappears without a word.

A heading looks like a task if it begins like the tasks that were read: with a word for task, with the word of
its siblings, or with ids of the same letters. So does a heading that names a task behind other words, and a
paragraph or an item of a list that begins with such a word and an id. Each has to be a task, to hold tasks or
to stand inside one; any other is named by a finding, an error where its text would reach nobody.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from amelia.model.diagnostics import Diagnostic, error, info, warning
from amelia.plan import words
from amelia.plan.facts import is_usual_id
from amelia.plan.labels import Kind, Label, find_task, read_label, read_loose_label
from amelia.plan.outline import GROUPS, Entry, Outline, is_aside, is_deferred
from amelia.plan.ranges import Ranges, any_within
from amelia.plan.reading import Place

_STARTS = frozenset(" \t>-*+0123456789")
# a heading in a list, in a quote, or so far to the right that it is code
_HIDDEN = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,4}[.)])[ \t>]+)?#{1,6}[ \t]*(?=\S)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SPAN = re.compile(r"[-–]")
# what may stand before a task that is a paragraph or an item of a list
_LEAD = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,4}[.)])[ \t]+)?(?:\[.?\][ \t]*)?")
_SHOWN = 60


def unread_tasks(outline: Outline, places: Sequence[Place]) -> Iterator[Diagnostic]:
    """Yields a finding for every heading that looks like a task beside places and is not one of them."""
    called = {place.called for place in places} - {""}
    if not called:
        return
    known = _Known(outline, places)
    for entry in outline.entries:
        if entry.label and entry.label.called in called and known.is_lost(entry, entry.label):
            yield _unread(entry.line, entry.heading.text)
    for entry in outline.loose:
        if entry.label and entry.label.called in called:
            yield from known.loose(entry, entry.label)
    yield from known.hidden(called)
    yield from known.behind_other_words(called)
    yield from known.stray_lines(called)


class _Known:
    """The places of tasks, to be asked about headings."""

    def __init__(self, outline: Outline, places: Sequence[Place]) -> None:
        self._outline = outline
        self._lines = sorted(place.line for place in places)
        self._own = set(self._lines)
        self._ids = {place.id.casefold() for place in places}
        self._sections = Ranges((place.line + 1, place.end_line) for place in places)

    def is_lost(self, entry: Entry, label: Label) -> bool:
        """Tells whether a heading is no task, holds none, stands in none and speaks of none that was read."""
        return self._is_outside(entry) and not self._is_read(label)

    def loose(self, entry: Entry, label: Label) -> Iterator[Diagnostic]:
        """Yields what is to be said of a heading with a word and no usual id."""
        text = entry.heading.text
        if entry.line in self._own:
            if label.id:
                yield _unusual(entry.line, label)
        elif self._only_holds(entry, label) or (self._is_read(label) and _is_usual(label)):
            return
        elif entry.line in self._sections:
            if label.separated and label.title and not _is_about(label) and self._texts[text] == 1:
                yield _unread(entry.line, text)
        elif label.separated and _is_about(label):
            if label.title and self._is_sibling(entry):
                yield _maybe(entry.line, text)
        elif label.separated or label.id or (self._is_sibling(entry) and not _is_about(label)):
            yield _unread(entry.line, text)

    def hidden(self, called: Collection[str]) -> Iterator[Diagnostic]:
        """Yields a finding for every task heading that Markdown takes for a quote, an item or code."""
        document = self._outline.document
        headings = {entry.line for entry in self._outline.entries}
        found = [
            (number, line[mark.end() :].strip())
            for number, line in enumerate(document.lines, start=1)
            if line[0] in _STARTS and "#" in line and (mark := _HIDDEN.match(line))
        ]
        found = [(number, text) for number, text in found if self._is_hidden_task(text, called)]
        if found:
            covered = Ranges([(block.line, block.end_line) for block in document.code if block.fence])
            comments = Ranges(_lines_of(_COMMENT, document.text))
            for number, text in found:
                if number not in headings and number not in covered and number not in comments:
                    yield _unread(number, text)

    def behind_other_words(self, called: Collection[str]) -> Iterator[Diagnostic]:
        """Yields a finding for every heading that names a task, or is labelled otherwise beside tasks."""
        for entry in self._outline.entries:
            label, text = entry.label, entry.heading.text
            if (label and label.called in called) or (label is None and read_loose_label(text)):
                continue
            named = None if label and label.word else find_task(text)  # else another reading has it
            is_task = named is not None and (bool(named.id) or self._is_sibling(entry))
            if named is not None and is_task and self.is_lost(entry, named):
                yield _unread(entry.line, text)
            elif label and self._is_labelled_otherwise(entry, label):
                yield _maybe(entry.line, text)

    def _is_labelled_otherwise(self, entry: Entry, label: Label) -> bool:
        is_label = label.separated and label.kind not in GROUPS
        return is_label and self._is_sibling(entry) and self._is_outside(entry)

    def stray_lines(self, called: Collection[str]) -> Iterator[Diagnostic]:
        """Yields a finding for every paragraph and every item that begins like a task, outside of them."""
        headings = {entry.line for entry in self._outline.entries}
        for number, line in enumerate(self._outline.document.prose, start=1):
            if number in self._own or number in self._sections or number in headings:
                continue
            text = line[_lead(line) :].strip()
            label = read_label(text) if text and line[0] != "|" else None
            if label is not None and label.called in called and self._is_stray(label):
                above = [entry.heading.text for entry in self._outline.above_line(number) if entry.level > 1]
                is_beside = any(is_aside(heading) or is_deferred(heading) for heading in above)
                yield _maybe(number, text) if is_beside else _stray(number, text)

    def _is_stray(self, label: Label) -> bool:
        """Tells whether a line begins with the label of a task: `Task 3: Pay`, not `Task notes: …`."""
        is_id = is_usual_id(label.id) or label.id.casefold() in words.NUMBERS
        is_named = bool(label.word) or label.kind is Kind.CODE
        return is_id and is_named and label.separated and bool(label.title) and not self._is_read(label)

    def _is_outside(self, entry: Entry) -> bool:
        return not (
            entry.line in self._own
            or any_within(self._lines, entry.line, entry.end_line)
            or entry.line in self._sections
        )

    def _only_holds(self, entry: Entry, label: Label) -> bool:
        """Tells whether a heading holds tasks and says nothing else; the title of a document may."""
        if not any_within(self._lines, entry.line, entry.end_line):
            return False
        is_title = entry.level == 1 and entry.line == self._outline.entries[0].line
        return is_title or not label.separated or _is_about(label) or self._outline.is_empty(entry)

    def _is_hidden_task(self, text: str, called: Collection[str]) -> bool:
        label = read_label(text)
        if label is None:
            label = read_loose_label(text)
            is_task = label is not None and label.separated and not _is_about(label)
        else:
            is_task = bool(label.word)
        return is_task and label is not None and label.called in called and not self._is_read(label)

    def _is_read(self, label: Label) -> bool:
        folded = label.id.casefold()
        return bool(folded) and (
            folded in self._ids or all(part in self._ids for part in _SPAN.split(folded))
        )

    def _is_sibling(self, entry: Entry) -> bool:
        return (entry.level, entry.ancestors[-1:]) in self._levels

    @cached_property
    def _levels(self) -> set[tuple[int, tuple[int, ...]]]:
        return {
            (entry.level, entry.ancestors[-1:]) for entry in self._outline.entries if entry.line in self._own
        }

    @cached_property
    def _texts(self) -> Counter[str]:
        return Counter(entry.heading.text for entry in self._outline.loose)


def _lead(line: str) -> int:
    found = _LEAD.match(line)
    assert found is not None
    return found.end()


def _is_usual(label: Label) -> bool:
    """Says whether an id has a letter or a digit: signs alone may be another's, or what is left of one."""
    return any(sign.isalnum() for sign in label.id)


def _is_about(label: Label) -> bool:
    """Tells whether a heading such as `Task Overview` speaks about tasks; a word alone is for tasks only."""
    if label.called != "task" and not label.separated:
        return True
    first = label.id or next(iter(label.title.split()), "")
    return first.casefold().strip(":,.") in words.ABOUT


def _lines_of(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        first = text.count("\n", 0, match.start()) + 1
        yield first, first + match[0].count("\n")


def _unread(line: int, text: str) -> Diagnostic:
    return error(
        "unread-task",
        f"'{text[:_SHOWN]}' looks like the heading of a task, and cannot be read as one.",
        line=line,
        hint="Write `### Task <id>: <title>`, or let it begin with another word if it is no task.",
    )


def _stray(line: int, text: str) -> Diagnostic:
    return error(
        "unread-task",
        f"'{text[:_SHOWN]}' looks like a task, and stands outside of all tasks that were read.",
        line=line,
        hint="Write `### Task <id>: <title>` as for the others, or let it begin with another word.",
    )


def _maybe(line: int, text: str) -> Diagnostic:
    return warning(
        "maybe-task",
        f"'{text[:_SHOWN]}' is read as a text about tasks; nobody is asked to carry it out.",
        line=line,
        hint="Write `### Task <id>: <title>` if it is a task.",
    )


def _unusual(line: int, label: Label) -> Diagnostic:
    return info(
        "unusual-id",
        f"'{label.id}' is taken for the id of the task '{label.title[:_SHOWN]}'.",
        line=line,
        hint="Write `### Task <id>: <title>`, with a number in the id.",
    )
