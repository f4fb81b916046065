"""The headings of a document as a tree with labels: what stands under what, and where a section ends."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from amelia.model.plan import Task
from amelia.plan import words
from amelia.plan.fields import FieldIndex
from amelia.plan.labels import Kind, Label, clean_title, read_label, read_loose_label
from amelia.plan.markdown import Document, Heading
from amelia.plan.roots import is_root

_WORD = re.compile(r"[^\W\d_][\w'-]*")
_HEADING_WORDS = 6  # more is a sentence, and what it mentions is not what it opens
_GOAL = re.compile(
    r"^[\s>*_-]*(?:Goal|Objective|目标|目標|Ziel|Objetivo|Objectif|Цель)[*_]*\s*[:：][*_\s]*(?P<goal>\S.*)",
    re.IGNORECASE,
)
_GENRE = re.compile(r"^(?:tasks?|task list|plan|implementation plan)\s*[:：—–-]+\s*(?=\S)", re.IGNORECASE)
_MILESTONE = re.compile(r"M\d{1,2}")
GROUPS = frozenset({Kind.PHASE, Kind.MILESTONE})
_UNSPACED = tuple(word for word in words.TASKS if not word.isascii())


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading with its label, the last line of its section and the headings above it."""

    heading: Heading
    label: Label | None
    end_line: int
    ancestors: tuple[int, ...]

    @property
    def line(self) -> int:
        """Returns the line of the heading."""
        return self.heading.line

    @property
    def level(self) -> int:
        """Returns the level of the heading, 1 to 6."""
        return self.heading.level

    @property
    def kind(self) -> Kind | None:
        """Returns the kind of the label, if there is one."""
        return self.label.kind if self.label else None


@dataclass(frozen=True)
class Outline:
    """The headings of a document, and the fields that stand between them."""

    document: Document
    entries: Sequence[Entry]

    @cached_property
    def fields(self) -> FieldIndex:
        """Returns the fields of the document, looked for when first asked."""
        return FieldIndex(self.document)

    @cached_property
    def loose(self) -> Sequence[Entry]:
        """Returns the headings without a label that have a word such as task, with what can be read of it."""
        return [
            replace(entry, label=label)
            for entry in self.entries
            if entry.label is None and (label := read_loose_label(entry.heading.text)) is not None
        ]

    @cached_property
    def title(self) -> str:
        """Returns the text of the first heading, the document's title."""
        return clean_title(self.entries[0].heading.text) if self.entries else ""

    def goal(self, before: int) -> str:
        """Returns what the text before a line says the goal is, or else the title that stands there."""
        for line in self.document.prose[: before - 1]:
            if stated := _GOAL.match(line):
                return clean_title(stated["goal"])
        first = self.entries[0] if self.entries else None
        is_title = first is not None and first.line < before and first.kind not in GROUPS
        return _GENRE.sub("", self.title) if is_title else ""

    def above(self, entry: Entry) -> Iterator[Entry]:
        """Yields the headings above one, the nearest first."""
        return (self.entries[index] for index in reversed(entry.ancestors))

    def is_empty(self, entry: Entry) -> bool:
        """Tells whether nothing stands between a heading and the next one."""
        lines = self.document.lines
        following = next((line.lstrip() for line in lines[entry.heading.end_line :] if line.strip()), "")
        return following.startswith("#")

    def home(self, line: int) -> int:
        """Returns the line of the heading above whatever stands at a line, or 0."""
        return next((entry.line for entry in self.above_line(line)), 0)

    def is_announced(self, line: int) -> bool:
        """Tells whether a heading that announces tasks stands above a line."""
        return any(is_task_section(entry.heading.text) for entry in self.above_line(line) if entry.level > 1)

    def above_line(self, line: int) -> Iterator[Entry]:
        """Yields the headings above whatever stands at a line, the nearest first."""
        index = bisect_right(self._lines, line) - 1
        if index >= 0:
            entry = self.entries[index]
            yield from () if entry.line == line else (entry,)
            yield from self.above(entry)

    def deferring(self, line: int) -> Heading | None:
        """Returns the heading of deferred work above whatever stands at a line, the nearest one."""
        above = (entry.heading for entry in self.above_line(line) if entry.level > 1)
        return next((heading for heading in above if is_deferred(heading.text)), None)

    @cached_property
    def _lines(self) -> Sequence[int]:
        return [entry.line for entry in self.entries]

    def group_at(self, line: int) -> tuple[str | None, str | None]:
        """Returns the phase and the milestone of a line; each holds for what follows its heading."""
        index = bisect_right(self._lines, line) - 1
        return self._groups[index] if index >= 0 else (None, None)

    @cached_property
    def _groups(self) -> Sequence[tuple[str | None, str | None]]:
        groups: list[tuple[str | None, str | None]] = []
        phase: tuple[int, str] | None = None  # level and name
        milestone: tuple[int, str] | None = None
        for entry in self.entries:
            if entry.kind is Kind.PHASE:
                phase = entry.level, clean_title(entry.heading.text)
            elif entry.kind is Kind.MILESTONE:
                milestone, phase = (entry.level, _milestone(entry)), None
            elif entry.kind is None or entry.kind is Kind.NUMBER:
                phase = None if phase and entry.level <= phase[0] else phase
                milestone = None if milestone and entry.level <= milestone[0] else milestone
            groups.append((phase and phase[1], milestone and milestone[1]))
        return groups

    def phase_needs(self, tasks: Iterable[Task]) -> dict[str | None, Sequence[str]]:
        """Returns what phases say they depend on, in their heading and between it and the first task."""
        if not any(entry.kind is Kind.PHASE for entry in self.entries):
            return {}
        stops = sorted({*self._lines, *(task.line for task in tasks), len(self.document.lines) + 1})
        said: dict[str | None, Sequence[str]] = {}
        for entry in self.entries:
            if (label := entry.label) and label.kind is Kind.PHASE:
                end_line = stops[bisect_right(stops, entry.line)] - 1
                values = [*self.fields.needs_between(entry.line + 1, end_line)]
                below = self.document.prose[entry.line : end_line]
                values += ["none"] * is_root(label.title, f"{label.word} {label.id}", below)
                if values:
                    said[clean_title(entry.heading.text)] = values
        return said

    def milestones(self) -> dict[str, str]:
        """Returns what stands below each milestone's heading before the next one, by the milestone's name."""
        stops = [*self._lines, len(self.document.lines) + 1]
        return {
            _milestone(entry): " ".join("".join(self.document.prose[entry.line : stops[number] - 1]).split())
            for number, entry in enumerate(self.entries, start=1)
            if entry.kind is Kind.MILESTONE
        }


def read_outline(document: Document) -> Outline:
    """Reads the headings of a document into a tree."""
    headings = document.headings
    labels = _with_milestones([read_label(heading.text) for heading in headings])
    ends = _section_ends(document)
    entries: list[Entry] = []
    path: list[int] = []
    for index, heading in enumerate(headings):
        while path and headings[path[-1]].level >= heading.level:
            path.pop()
        entries.append(Entry(heading, labels[index], ends[index], tuple(path)))
        path.append(index)
    return Outline(document, entries)


def _with_milestones(labels: Sequence[Label | None]) -> Sequence[Label | None]:
    """Reads `M1: …` as a milestone where M is the only letter that ids start with."""
    codes = [label.id for label in labels if label and label.kind is Kind.CODE]
    if not codes or not all(map(_MILESTONE.fullmatch, codes)):
        return labels
    return [
        replace(label, kind=Kind.MILESTONE) if label and label.kind is Kind.CODE else label
        for label in labels
    ]


@lru_cache(maxsize=1024)
def is_task_section(text: str) -> bool:
    """Tells whether a heading announces tasks: `Tasks`, `Implementation Tasks`, `任务列表`."""
    folded = clean_title(text).casefold()
    found = _WORD.findall(folded)
    if any(word in words.TASKS or word.rstrip("s") in words.TASKS for word in found):
        return True
    return any(word in folded for word in _UNSPACED)


def announces_work(text: str) -> bool:
    """Tells whether a heading or a line announces work: `Tasks`, `Steps`, `The plan`; not `Test plan`."""
    found = _WORD.findall(clean_title(text).casefold())
    return is_task_section(text) or (bool(found) and words.WORK.issuperset(found))


@lru_cache(maxsize=1024)
def is_aside(text: str) -> bool:
    """Tells whether a heading opens a section beside the work: a summary, a check list, what is deferred."""
    return _says(text, words.ASIDES) and not is_task_section(text)


@lru_cache(maxsize=1024)
def is_deferred(text: str) -> bool:
    """Tells whether a heading opens a section of work nobody is asked to do now."""
    return _says(text, words.DEFERRED) or "out of scope" in text.casefold()


@lru_cache(maxsize=1024)
def is_finished(text: str) -> bool:
    """Tells whether a heading opens a section of work that is done."""
    return _says(text, words.FINISHED)


def _says(text: str, wanted: frozenset[str]) -> bool:
    found = _WORD.findall(clean_title(text).casefold())
    return len(found) <= _HEADING_WORDS and not wanted.isdisjoint(found)


def _milestone(entry: Entry) -> str:
    """Returns the name of a milestone with its id first: `M2: Core` for `## Milestone 2: Core`."""
    assert entry.label is not None
    number = f"M{entry.label.id}" if entry.label.id.isdigit() else entry.label.id
    return f"{number}: {entry.label.title}" if entry.label.title else number


def _section_ends(document: Document) -> list[int]:
    ends = [len(document.lines)] * len(document.headings)
    path: list[int] = []
    for index, heading in enumerate(document.headings):
        while path and document.headings[path[-1]].level >= heading.level:
            ends[path.pop()] = heading.line - 1
        path.append(index)
    return ends
