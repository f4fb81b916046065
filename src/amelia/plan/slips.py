"""Slips of the pen in the fields of a task: `- Typ: impl`, `- Depnds on: 2`, `- Priority: hihg`.

Only the list directly below a task's heading is looked at, and only what is one letter away from a field or
a value that exists. Anything else is the author's own text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from amelia.model.diagnostics import Diagnostic, warning
from amelia.model.plan import Task
from amelia.plan import facts, words
from amelia.plan.fields import Field, read_fields

_FIELDS = (
    *("type", "depends on", "phase", "files", "acceptance criteria", "user story", "priority", "milestone"),
    *("tdd waiver", "create", "modify"),
)
_LINES = 20  # a list of fields is not longer
_LINE = 200  # a field is not longer
_SENTENCE = 25  # letters; no field and no word is longer
_SHORTEST = 3  # shorter is near to anything
_READERS = {"type": facts.task_type, "priority": facts.priority}
_BULLETS = ("- ", "* ", "+ ")


def find_slips(prose: Sequence[str], tasks: Iterable[Task]) -> Iterator[Diagnostic]:
    """Yields a warning for every field of a task that is probably misspelt."""
    for task in tasks:
        for number in range(task.line + 1, min(task.end_line, task.line + _LINES) + 1):
            line = prose[number - 1][:_LINE].strip()
            if line.startswith(_BULLETS):
                yield from _slips(task, line, number)
            elif line:
                break


def are_near(word: str, other: str) -> bool:
    """Tells whether two words differ by one letter, or by two that changed places."""
    return word != other and min(len(word), len(other)) >= _SHORTEST and bool(_key(word, _near([other])))


def _slips(task: Task, line: str, number: int) -> Iterator[Diagnostic]:
    known = read_fields(line)
    for field in known:
        if meant := _misspelt_value(field):
            message = f"Task '{task.id}': {field.value!r} is no {field.name}."
            yield warning("unknown-value", message, line=number, hint=f"Did you mean '{meant}'?")
    name, colon, _ = line[2:].partition(":")
    if colon and not known and (meant := _NEAR_FIELDS.get(_key(name, _NEAR_FIELDS))):
        message = f"Task '{task.id}': there is no field '{name.strip()}'."
        yield warning("unknown-field", message, line=number, hint=f"Did you mean '{meant.capitalize()}'?")


def _misspelt_value(field: Field) -> str | None:
    read = _READERS.get(field.name)
    if read is None or read(field.value) is not None:
        return None
    near = _NEAR_VALUES[field.name]
    return near.get(_key(field.value, near))


def _near(names: Iterable[str]) -> Mapping[str, str]:
    """Returns each name under every spelling it has with one letter missing."""
    return {spelling: name for name in names for spelling in _with_one_missing(name)}


def _with_one_missing(text: str) -> Iterator[str]:
    yield text
    yield from (text[:index] + text[index + 1 :] for index in range(len(text)))


def _key(text: str, near: Mapping[str, str]) -> str:
    """Finds the spelling that a text and a name have in common when each may lose one letter."""
    folded = text.strip(" *_`").casefold()
    if not _SHORTEST <= len(folded) < _SENTENCE:
        return ""
    return next((spelling for spelling in _with_one_missing(folded) if spelling in near), "")


_NEAR_FIELDS = _near(_FIELDS)
_NEAR_VALUES = {
    "type": _near(alias for aliases in words.TYPES.values() for alias in aliases.split()),
    "priority": _near(words.PRIORITIES),
}
