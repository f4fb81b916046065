"""Where a task's section says something about it: `- Type: impl`, `**Depends on:** Task 2`, `#### Files`.

Fields are looked for once in the whole text, outside code, and handed to the task whose lines they stand
in; what their values mean is decided in `facts`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amelia.model.plan import Task
from amelia.plan import facts, words
from amelia.plan.markdown import Document

_NAMES = {alias: name for name, aliases in words.FIELDS.items() for alias in aliases.split("|")}
_FILES = frozenset({"files", "create", "modify", "test"})
_NEEDS = frozenset({"needs", "after"})
_LISTED = _FILES | _NEEDS | {"criteria"}
_LONGEST = max(len(alias) for alias in _NAMES) + 40  # a name, its marks and a remark in parentheses
_YAML_NEEDS = re.compile(r"(?:depends_on|dependencies)\s*:")
_MARKS = " \t\r\n-+*_#>•.[]xX0123456789"  # what may stand around a name; no name starts or ends with x
_BLANKS = " \t\r\n*_"
_LEAD = re.compile(r"^[\W\d_]+")
_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>.*\S)")
_CELLS = re.compile(r"[ \t]*[|·][ \t]*(?=\*\*)")
_REF = r"(?:tasks?\s+#?)?(?:[A-Z]{1,8}-?\d[\w.-]*|\d+(?:\.\d+)*[a-z]?)\b"
_STATED = re.compile(
    r"(?P<not>\b(?:not|no|never|without|doesn't|don't)\s+)?"
    r"(?:\b(?:depends?|dependent|dependency|blocked)\s+(?:upon|on|by)\b|\bdependen?\s+de\b|\bdépend\s+de\b|зависит\s+от|依赖于?|依存|(?<=\()after\b)"
    rf"\s*[:：]?\s*(?P<refs>{_REF}(?:\s*(?:,|;|&|\+|/|\band\b|–|-|\bthrough\b|\bto\b)+\s*{_REF})*)",
    re.IGNORECASE,
)
_HINT_AT_NEED = re.compile(r"pend|locked|\(after|зависит|依")  # a quick look before the slow one above
_CONTINUES = re.compile(
    r"\s*(?!\d+[.)]\s)[^\W_]"
)  # a sentence goes on; no bullet, heading, table row or blank line
_SHORTEST = 3
_LINE = 2000  # what stands further right is no field, and the expressions need not be linear
_SUBJECT_WINDOW = 80
_LIST_LINES = 200  # a longer list is not the value of one field
_SUBJECT = re.compile(
    r"(?:^|[\s*`(-])(?P<id>[A-Za-z]{0,8}-?\d[\w.-]*)[`*)]*\s*(?:\([^()]*\)\s*)?(?:only\s|also\s)?$"
)


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
        self._prose = _readable(document)
        self._fields: list[Field] = []
        self._stated: list[_Statement] = []
        for number, whole in enumerate(self._prose, start=1):
            line = whole[:_LINE]
            if len(line) < _SHORTEST:
                continue
            if ":" in line or "：" in line or line.startswith(("#", "**")):
                found = read_fields(line, number)
                self._fields += found
                if any(field.name == "needs" for field in found):
                    continue
            if _HINT_AT_NEED.search(line):
                following = self._prose[number][:_LINE] if number < len(self._prose) else ""
                following = following if _CONTINUES.match(following) else ""
                self._stated.extend(_statements(number, line, following))
        self._field_lines = [found.line for found in self._fields]
        self._stated_lines = [found.line for found in self._stated]

    def describe(
        self, task_id: str, lines: tuple[int, int], unusual: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Returns what some lines say about the task they belong to, as fields of a task.

        `unusual` are the ids of tasks that are no ids by their looks.
        """
        line, end_line = lines
        found: dict[str, Any] = {}
        needs: list[str] = []
        criteria: list[str] = []
        files: list[tuple[str, str]] = []
        low, high = bisect_left(self._field_lines, line), bisect_right(self._field_lines, end_line)
        for field in self._fields[low:high]:
            values = [text for _, text in self._values(field, end_line)]
            if field.name in _NEEDS:
                found["independent"] = bool(values) and all(map(facts.needs_nothing, values))
                needs.extend(_needs(values, worded=field.name == "after", unusual=unusual))
            elif field.name == "criteria":
                criteria.extend(values)
            elif field.name in _FILES:
                files.extend((field.name, value) for value in values)
            elif values:
                _take(found, field.name, values[0])
        needs.extend(
            need for statement in self._stated_in(task_id, line, end_line) for need in statement.needs
        )
        if needs:
            found.pop("independent", None)
        create, modify, tests = facts.sort_files(files)
        lists: dict[str, Sequence[str]] = {
            "depends_on": needs,
            "files_to_create": create,
            "files_to_modify": modify,
            "test_files": tests,
            "acceptance_criteria": criteria,
        }
        found |= {name: tuple(dict.fromkeys(values)) if values else () for name, values in lists.items()}
        return found

    def entries(self) -> Iterator[tuple[Field, Sequence[tuple[int, str]]]]:
        """Yields every field that lists files or criteria, with the lines and texts of its values."""
        for field in self._fields:
            if field.name in _FILES or field.name == "criteria":
                yield field, self._values(field, len(self._prose))

    def needs_between(self, line: int, end_line: int) -> Sequence[str]:
        """Returns the values of all fields in some lines that say what something depends on."""
        low, high = bisect_left(self._field_lines, line), bisect_right(self._field_lines, end_line)
        return [
            value
            for field in self._fields[low:high]
            if field.name == "needs"
            for _, value in self._values(field, end_line)
        ]

    def listed(self, name: str) -> Iterator[tuple[int, str]]:
        """Yields the values of all fields of a name, each with its line."""
        for field in self._fields:
            if field.name == name:
                yield from self._values(field, len(self._prose))

    def stated_elsewhere(self, tasks: Sequence[Task]) -> Iterator[tuple[str, Sequence[str]]]:
        """Yields what is said of a task outside its own lines: (task, what it depends on)."""
        starts = [task.line for task in tasks]
        for statement in self._stated:
            index = bisect_right(starts, statement.line) - 1
            home = tasks[index] if index >= 0 and statement.line <= tasks[index].end_line else None
            if statement.subject and (home is None or home.id != statement.subject):
                yield statement.subject, statement.needs

    def _stated_in(self, task_id: str, line: int, end_line: int) -> Iterator[_Statement]:
        low, high = bisect_left(self._stated_lines, line), bisect_right(self._stated_lines, end_line)
        return (found for found in self._stated[low:high] if found.subject in {"", task_id})

    def _values(self, field: Field, end_line: int) -> list[tuple[int, str]]:
        """Returns the value of a field, or the list items that follow it, with the lines they stand on."""
        if field.value:
            return [(field.line, field.value)]
        values: list[tuple[int, str]] = []
        if field.name not in _LISTED:
            return values
        below = self._prose[field.line : min(end_line, field.line + _LIST_LINES)]
        for number, whole in enumerate(below, start=field.line + 1):
            line = whole[:_LINE]
            item = _ITEM.match(line)
            is_field = bool(read_fields(line))
            if item is None:
                if is_field or (line.strip() and not line.startswith((" ", "\t"))):
                    break
                continue
            indent = len(item["indent"].expandtabs(4))
            if indent < field.indent or (is_field and (field.name in _FILES or indent <= field.indent)):
                break
            values.append((number, item["text"]))
        return values


def read_fields(line: str, number: int = 0) -> list[Field]:
    """Returns the fields of a line, of which there are several in `**Type:** impl | **Files:** …`."""
    cells = _CELLS.split(line) if "|" in line or "·" in line else (line,)
    return [found for cell in cells if (found := _field(number, cell)) is not None]


def _field(number: int, cell: str) -> Field | None:
    colon = cell.find(":", 0, _LONGEST)
    if colon < 0:
        colon = cell.find("：", 0, _LONGEST)
    if colon < 0 and not cell.startswith(("#", "**")):
        return None
    head = cell[:colon] if colon >= 0 else cell[:_LONGEST]
    name = head.strip(_MARKS).casefold()
    if name.endswith(")"):
        name = name[: name.rfind("(")].rstrip(_MARKS)
    canonical = _NAMES.get(name) or (_NAMES.get(_LEAD.sub("", name)) if not name.isascii() else None)
    if canonical is None:
        return None
    spaces = head.expandtabs(4)
    return Field(
        number,
        len(spaces) - len(spaces.lstrip()),
        canonical,
        cell[colon + 1 :].strip(_BLANKS) if colon >= 0 else "",
    )


def _needs(values: Iterable[str], *, worded: bool, unusual: Mapping[str, str] | None) -> Iterator[str]:
    for value in values:
        yield from facts.references(value, worded=worded, known=unusual)


def _statements(number: int, line: str, following: str) -> Iterator[_Statement]:
    """Yields the dependencies that a sentence states; it may run into the following line."""
    for match in _STATED.finditer(line.rstrip() + " " + following.strip()):
        if match.start() < len(line) and not match["not"]:
            subject = _SUBJECT.search(line, max(0, match.start() - _SUBJECT_WINDOW), match.start())
            yield _Statement(number, subject["id"] if subject else "", facts.references(match["refs"]))


def _readable(document: Document) -> Sequence[str]:
    """Returns the prose of a document and the YAML blocks in which some plans state dependencies."""
    lines = list(document.prose)
    for block in document.code:
        inside = document.lines[block.line : block.end_line - 1]
        if block.info.casefold() in {"yaml", "yml"} and any(_YAML_NEEDS.match(line) for line in inside):
            lines[block.line : block.end_line - 1] = inside
    return lines


def _take(found: dict[str, Any], name: str, value: str) -> None:
    """Takes over the value of a field that holds one; the first counts."""
    match name:
        case "type":
            found.setdefault("type", facts.task_type(value))
        case "priority" if (priority := facts.priority(value)) is not None:
            found.setdefault("priority", priority)
        case "waiver" if value.casefold() in words.NOTHING:
            pass  # no reason is no waiver
        case "phase" | "milestone" | "waiver" if value:
            found.setdefault(name, value)
        case "story":
            found.setdefault("user_story", value)
        case "status" if (status := facts.status(value)) is not None:
            found.setdefault("status", status)
        case _:
            pass
