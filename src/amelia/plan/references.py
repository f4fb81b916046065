"""Dependency references as authors write them, resolved to task ids.

`Task 2`, `#2`, `[T002]` and `2` may all mean the task `T2`. The strictest reading wins, and a reference that
fits several tasks equally well is none: it stays as written, and `check` reports it. Every reference is
looked up once, however many tasks write it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amelia.model.plan import Task, TaskId
from amelia.plan import words

Found = tuple[TaskId, ...] | None
Counted = tuple[str, int]

_WRAPPING = " \t\r\n`'\"*_[](){}<>.,;"
_MOST_EDGES = 500_000
_MOST_REMEMBERED = 1000
_LONGEST = 200  # longer texts are no references, and the expressions below need not be linear
_NOTHING = re.compile(
    r"(?:none|nothing|nil|null|n/?a)(?:\s*[(:;,].*|\s+[–—-].*)?|no dependenc(?:y|ies)\b.*|[-–—\s]*", re.DOTALL
)
_CALLED = words.alternatives(words.TASKS | words.SUBTASKS | words.STEPS | words.STORIES)
_NOUN = re.compile(rf"\A(?:(?:{_CALLED}|stories)s?(?![^\W\d_])[\s#:_.-]*|#+)")
_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_LETTER_T = re.compile(r"\At[-_]?(?=\d)")
_PHASE = re.compile(r"phase\s*\w+")
# A hyphen may belong to an id, so it is tried last.
_RANGE_MARKS = (
    re.compile(r"\s*(?:\.{2,3}|…|–|—)\s*|\s+(?:to|through|thru|until)\s+"),
    re.compile(r"\s*-\s*"),
)
_COUNTED = re.compile(r"(.*?)([0-9]+|(?<=[0-9])[a-z])")
_LIST = re.compile(r"\s*(?:[,;&+]|\band\b)\s*")
_COMMENT = re.compile(r"(?:\(|:\s|\s[-–—]\s).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Index:
    """The tasks of a plan under everything they may be called."""

    spellings: tuple[Mapping[str, TaskId | None], ...]
    phases: Mapping[str, list[TaskId]]
    counted: Mapping[str, list[tuple[int, TaskId]]]


def resolve_references(tasks: Sequence[Task]) -> list[tuple[TaskId, ...]]:
    """Returns what each task depends on, in the order of the tasks; what means nothing stays as written."""
    ids = {task.id for task in tasks}
    if all(need in ids for task in tasks for need in task.depends_on):
        return [tuple(dict.fromkeys(task.depends_on)) for task in tasks]
    index = _indexed(tasks)
    left = _MOST_EDGES
    meanings: dict[TaskId, Found] = {task_id: (task_id,) for task_id in ids}
    resolved: list[tuple[TaskId, ...]] = []
    for task in tasks:
        needs: dict[TaskId, None] = {}
        for reference in task.depends_on:
            meant = meanings[reference] if reference in meanings else _meaning(reference, index)
            if meant is None or len(meant) < _MOST_REMEMBERED:
                meanings[reference] = meant
            # A square of edges between large parts would fill the memory; the last task stands for its part.
            if meant and len(meant) > left:
                meant = meant[-1:]
            needs.update(dict.fromkeys(_without_self(task, meant, reference)))
        left -= len(needs)
        resolved.append(tuple(needs))
    return resolved


def _without_self(task: Task, meant: Found, reference: TaskId) -> tuple[TaskId, ...]:
    """Takes the task itself out of a range or a phase, which then mean the others."""
    if meant is None:
        return (reference,)
    return meant if len(meant) == 1 else tuple(each for each in meant if each != task.id)


def _indexed(tasks: Sequence[Task]) -> _Index:
    """Writes down every task under each of its names; a name that two tasks share means neither."""
    tables: list[dict[str, TaskId | None]] = [{}, {}, {}, {}]
    phases: dict[str, list[TaskId]] = {}
    counted: dict[str, list[tuple[int, TaskId]]] = {}
    label = ""
    for task in tasks:
        names = (*_spellings(task.id), task.title.strip(_WRAPPING).lower())
        for table, name in zip(tables, names, strict=True):
            table[name] = task.id if table.get(name, task.id) == task.id else None
        label = label if task.phase is None else task.phase.strip(_WRAPPING).lower()
        for name in {label, _phase_key(label)} - {""}:
            phases.setdefault(name, []).append(task.id)
        if found := _count(task.id):
            counted.setdefault(found[0], []).append((found[1], task.id))
    for members in counted.values():
        members.sort()
    return _Index(tuple(tables), phases, counted)


def _spellings(text: str) -> tuple[str, str, str]:
    """Returns the text as it is, without nouns and leading zeros, and without the letter T too."""
    exact = text.strip(_WRAPPING).lower()
    plain = _ZEROS.sub("", _NOUN.sub("", exact))
    return exact, plain, _LETTER_T.sub("", plain)


def _phase_key(label: str) -> str:
    match = _PHASE.match(label)
    return _ZEROS.sub("", "".join(match[0].split()).replace("phase", "phase ", 1)) if match else label


def _count(task_id: str) -> Counted | None:
    """Reads an id that ends in a number, or in a letter behind one, as a name and a count."""
    match = _COUNTED.fullmatch(task_id.lower()[:_LONGEST])
    if match is None:
        return None
    last = match[2]
    return (f"{match[1]}#", int(last)) if last.isdigit() else (f"{match[1]}@", ord(last))


def _meaning(reference: str, index: _Index) -> Found:
    """Tries, in turn: one task, nothing, a phase, a range, a list, and the same without a comment."""
    text = reference.strip(_WRAPPING).lower()
    if (one := _one(text, index)) or len(text) > _LONGEST:
        return (one,) if one else None
    if _NOTHING.fullmatch(text):
        return ()
    found = _several(text, index) or _list(text, index)
    shorter = _COMMENT.sub("", text).strip(_WRAPPING)
    if found or shorter in {text, ""}:
        return found
    one = _one(shorter, index)
    return (one,) if one else _several(shorter, index)


def _one(text: str, index: _Index) -> TaskId | None:
    """Finds the only task of this name, the strictest reading first and its title last."""
    names = (*_spellings(text), text)
    return next(
        (hit for table, name in zip(index.spellings, names, strict=True) if (hit := table.get(name))), None
    )


def _several(text: str, index: _Index) -> Found:
    """Finds the tasks of a phase, by its label or number, or those of a range."""
    if text in index.phases:
        return tuple(index.phases[text])
    if _PHASE.fullmatch(text) and (key := _phase_key(text)) in index.phases:
        return tuple(index.phases[key])
    return _range(text, index)


def _range(text: str, index: _Index) -> Found:
    """Expands a range whose ends are two tasks that are counted alike."""
    marks = (mark for pattern in _RANGE_MARKS for mark in pattern.finditer(text))
    for mark in marks:
        ends = (_one(end.strip(_WRAPPING), index) for end in (text[: mark.start()], text[mark.end() :]))
        counts = [found for end in ends if end and (found := _count(end))]
        if len(counts) == 2 and counts[0][0] == counts[1][0]:  # noqa: PLR2004 - a range has two ends
            (name, low), (_, high) = counts
            members = index.counted[name]
            first = bisect_left(members, low, key=lambda member: member[0])
            last = bisect_right(members, high, key=lambda member: member[0])
            return tuple(task_id for _, task_id in members[first:last]) or None
    return None


def _list(text: str, index: _Index) -> Found:
    """Resolves a list all of whose parts mean something."""
    parts = [part.strip(_WRAPPING) for part in _LIST.split(text)]
    found: dict[TaskId, None] = {}
    for part in parts:
        one = _one(part, index)
        meant = (one,) if one else _several(part, index)
        if not meant:
            return None
        found.update(dict.fromkeys(meant))
    return tuple(found)
