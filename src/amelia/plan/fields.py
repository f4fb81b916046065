"""Where a task's section says something about it: `- Type: impl`, `**Depends on:** Task 2`, `#### Files`.

Fields are looked for once in the whole text, outside code, and handed to the task whose lines they stand
in; what their values mean is decided in `facts`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from amelia.model.plan import Task, TaskStatus
from amelia.plan import facts, words
from amelia.plan.markdown import Document

_NAMES = {alias: name for name, aliases in words.FIELDS.items() for alias in aliases.split("|")}
_ALIASES = "|".join(
    re.escape(alias).replace(r"\ ", "[ \t]+") for alias in sorted(_NAMES, key=lambda a: (-len(a), a))
)
_FIELD = re.compile(
    r"(?:^(?P<indent>[ \t]*)(?:(?:[-*+•]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?(?:#{2,6}[ \t]+)?|(?<=[|·])[ \t]*(?=\*\*))"
    rf"(?:[^\w\s`*\[(<-]{{1,3}}[ \t]*)?[*_]{{0,3}}(?P<name>{_ALIASES})(?:[ \t]*\([^()\n]{{0,60}}\))?[*_]{{0,3}}[ \t]*"
    r"(?:[:：][*_]{0,3}[ \t]*(?P<value>[^\r\n]*?)(?=[ \t]*[|·][ \t]*\*\*|\r?$)|\r?$)",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>.*\S)")
_REF = r"(?:tasks?\s+#?)?(?:[A-Z]{1,8}-?\d[\w.-]*|\d+(?:\.\d+)*[a-z]?)\b"
_STATED = re.compile(
    r"(?P<not>\b(?:not|no|never|without|doesn't|don't)\s+)?\b(?:depends?|dependent|dependency|blocked)\s+(?:upon|on|by)\b\s*:?\s*"
    rf"(?P<refs>{_REF}(?:\s*(?:,|;|&|\+|/|\band\b|–|-|\bthrough\b|\bto\b)+\s*{_REF})*)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:^|[\s*`(-])(?P<id>[A-Za-z]{0,8}-?\d[\w.-]*)[`*)]*\s*(?:\([^()]*\)\s*)?(?:only\s|also\s)?$"
)
_LISTED = frozenset({"files", "create", "modify", "test", "criteria", "needs"})


@dataclass(frozen=True, slots=True)
class Field:
    """One field line: its canonical name and the value behind the colon."""

    line: int
    indent: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence like "Task 3 depends on Task 1"; `subject` is empty where it stands inside task 3."""

    line: int
    subject: str
    needs: Sequence[str]


class FieldIndex:
    """All field lines of a document, found in one pass."""

    def __init__(self, document: Document) -> None:
        self._prose = document.prose
        self._starts = list(accumulate((len(line) for line in self._prose), initial=0))
        text = "".join(self._prose)
        self._fields = [self._field(match) for match in _FIELD.finditer(text)]
        self._field_lines = [found.line for found in self._fields]
        self._stated = [self._statement(match) for match in _STATED.finditer(text) if not match["not"]]
        self._stated_lines = [found.line for found in self._stated]

    def describe(self, task: Task) -> Task:
        """Returns the task with everything its lines say about it; what it already says stays."""
        inside = self._fields[
            bisect_left(self._field_lines, task.line) : bisect_right(self._field_lines, task.end_line)
        ]
        needs: list[str] = []
        criteria: list[str] = []
        files: list[tuple[str, str]] = []
        for found in inside:
            values = [found.value] if found.value else self._list_below(found, task.end_line)
            if found.name == "needs":
                needs.extend(reference for value in values for reference in facts.references(value))
            elif found.name == "criteria":
                criteria.extend(values)
            elif found.name in {"files", "create", "modify", "test"}:
                files.extend((found.name, value) for value in values if _FIELD.match(value) is None)
            elif values:
                task = _with_value(task, found.name, values[0])
        for statement in self._stated_in(task):
            needs.extend(statement.needs)
        return replace(
            task, **facts.merge(task, needs=needs, files=facts.sort_files(files), criteria=criteria)
        )

    def stated_elsewhere(self, tasks: Sequence[Task]) -> Iterator[tuple[str, Sequence[str]]]:
        """Yields what is said of a task outside its own lines: (task, what it depends on)."""
        starts = [task.line for task in tasks]
        for statement in self._stated:
            index = bisect_right(starts, statement.line) - 1
            home = tasks[index] if index >= 0 and statement.line <= tasks[index].end_line else None
            if statement.subject and (home is None or home.id != statement.subject):
                yield statement.subject, statement.needs

    def _stated_in(self, task: Task) -> Iterator[_Statement]:
        low = bisect_left(self._stated_lines, task.line)
        high = bisect_right(self._stated_lines, task.end_line)
        for statement in self._stated[low:high]:
            if statement.subject in {"", task.id}:
                yield statement

    def _field(self, match: re.Match[str]) -> Field:
        name = _NAMES[" ".join(match["name"].casefold().split())]
        indent = len((match["indent"] or "").expandtabs(4))
        return Field(
            bisect_right(self._starts, match.start()), indent, name, (match["value"] or "").strip(" *_\t")
        )

    def _statement(self, match: re.Match[str]) -> _Statement:
        line = bisect_right(self._starts, match.start())
        before = match.string[self._starts[line - 1] : match.start()]
        subject = _SUBJECT.search(before)
        return _Statement(line, subject["id"] if subject else "", facts.references(match["refs"]))

    def _list_below(self, found: Field, end_line: int) -> list[str]:
        """Returns the list items that follow a field line without a value."""
        values: list[str] = []
        if found.name not in _LISTED:
            return values
        for line in self._prose[found.line : end_line]:
            item = _ITEM.match(line)
            if item is None:
                if line.strip() and not line.startswith((" ", "\t")):
                    break
                continue
            indent = len(item["indent"].expandtabs(4))
            if indent < found.indent or (
                _FIELD.match(line) and found.name != "files" and not (values and indent > found.indent)
            ):
                break
            values.append(item["text"])
        return values


def _with_value(task: Task, name: str, value: str) -> Task:
    """Takes over the first value of a field that holds one."""
    match name:
        case "type" if task.type is None:
            return replace(task, type=facts.task_type(value))
        case "priority":
            return replace(task, priority=facts.priority(value) or task.priority)
        case "phase" if value:
            return replace(task, phase=value)
        case "milestone" if task.milestone is None:
            return replace(task, milestone=value)
        case "story" if not task.user_story:
            return replace(task, user_story=value)
        case "waiver":
            return replace(task, waiver=value)
        case "status" if facts.is_done(value):
            return replace(task, status=TaskStatus.COMPLETED)
        case _:
            return task
