"""A record of a data plan becomes a task: the keys and words that tools use for the same thing."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from amelia.model.plan import Priority, Task, TaskId, TaskStatus
from amelia.plan import facts
from amelia.plan.declared import spelled_out
from amelia.plan.labels import clean_id

Record = Mapping[str, Any]

_TITLE = ("title", "name", "description", "content", "task", "subject")
_NEEDS = ("dependencies", "depends_on", "dependsOn", "blockedBy", "blocked_by", "requires", "deps")
_CRITERIA = ("acceptanceCriteria", "acceptance_criteria", "criteria", "acceptance", "successCriteria")
_FLAGS = ("passes", "completed", "complete", "done", "finished")
_TEXT = (
    ("description", ""),
    ("userStory", "User story"),
    ("details", "Details"),
    ("implementation", "Implementation"),
    ("testStrategy", "Test strategy"),
    ("test_strategy", "Test strategy"),
    ("notes", "Notes"),
)
_STEPS = ("subtasks", "steps", "tasks")
_FINISHED = frozenset({"done", "completed", "complete", "closed", "merged", "passed", "finished"})
_DROPPED = frozenset({"cancelled", "canceled", "deferred", "skipped", "rejected", "wontfix", "obsolete"})
_RANKS = {1: Priority.CRITICAL, 2: Priority.HIGH, 3: Priority.MEDIUM}


def as_record(value: object) -> Record:
    """Returns an object of a JSON file, or an empty one for any other value."""
    return cast("Record", value) if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[object]:
    """Returns a list of a JSON file, or an empty one for any other value."""
    return cast("list[object]", value) if isinstance(value, list) else []


def scalar(value: object) -> str:
    """Returns a string or number of a data file as text, or nothing for any other value.

    YAML can say in a few bytes a structure that is endless when written out, so nothing else is.
    """
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def text_of(record: Record, *keys: str) -> str:
    """Returns the first of some keys that holds text."""
    return next((text for key in keys if (text := scalar(record.get(key)))), "")


def is_record(value: object) -> bool:
    """Tells whether a value of a JSON file looks like a task: an object with something like a title."""
    return any(isinstance(as_record(value).get(key), str) for key in _TITLE)


def are_records(value: object) -> bool:
    """Tells whether a value is a list of tasks, with at least one."""
    return bool(as_list(value)) and all(is_record(one) for one in as_list(value))


def task_from(
    record: Record, number: int, *, lines: tuple[int, int] = (1, 1), phase: str | None = None
) -> Task:
    """Makes a task of a record; one without an id is numbered."""
    title = next((text for key in _TITLE if isinstance(text := record.get(key), str) and text.strip()), "")
    rank = record.get("priority")
    create, modify, tests = facts.sort_files(("files", f"`{path}`") for path in _strings(record.get("files")))
    return Task(
        id=TaskId(_identifier(record.get("id")) or str(number)),
        title=" ".join(title.split()),
        line=lines[0],
        end_line=lines[1],
        section=_section(record, title),
        type=facts.task_type(scalar(record.get("type"))),
        status=_status(record),
        depends_on=tuple(TaskId(_identifier(need)) for key in _NEEDS for need in _list(record.get(key))),
        files_to_create=(*create, *_paths(record.get("files_to_create"))),
        files_to_modify=(*modify, *_paths(record.get("files_to_modify"))),
        test_files=(*tests, *_paths(record.get("test_files"))),
        acceptance_criteria=tuple(text for key in _CRITERIA for text in _strings(record.get(key))),
        user_story=text_of(record, "userStory", "user_story"),
        milestone=scalar(record.get("milestone")) or None,
        priority=_RANKS.get(rank, Priority.LOW)
        if isinstance(rank, int)
        else facts.priority(str(rank)) or Priority.MEDIUM,
        phase=phase,
    )


def _paths(value: object) -> list[str]:
    return [path for text in _strings(value) for path in spelled_out(text)]


def tasks_from(records: Sequence[object], lines: Sequence[tuple[int, int]]) -> tuple[Task, ...]:
    """Makes tasks of a list of records and the lines they stand at."""
    numbered = enumerate(zip(records, lines, strict=True), start=1)
    return tuple(task_from(as_record(record), number, lines=where) for number, (record, where) in numbered)


def locate(text: str, key: str | None, records: Sequence[object]) -> list[tuple[int, int]]:
    """Finds the lines of every record of a list in the text of its JSON file."""
    decoder = json.JSONDecoder()
    for found in re.finditer(r"\[" if key is None else rf'"{key}"\s*:\s*\[', text):
        first = next(_spans(text, found.end(), 1), None)
        if first is None or decoder.raw_decode(text, first[0])[0] != records[0]:
            continue
        spans = list(_spans(text, found.end(), len(records)))
        if len(spans) == len(records):
            return _line_ranges(text, spans)
    return [(1, 1)] * len(records)  # a key written with escapes; the lines are a courtesy


def _spans(text: str, position: int, count: int) -> Iterator[tuple[int, int]]:
    decoder = json.JSONDecoder()
    for _ in range(count):
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield position, end
        position = end


def _line_ranges(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    line, position = 1, 0
    for start, end in spans:
        line += text.count("\n", position, start)
        last = line + text.count("\n", start, end)
        ranges.append((line, last))
        line, position = last, end
    return ranges


def _identifier(value: object) -> str:
    return clean_id(scalar(value))


def _list(value: object) -> Sequence[object]:
    if isinstance(value, str):
        return facts.references(value)
    return [one for one in as_list(value) if isinstance(one, str | int | float)]


def _strings(value: object) -> Sequence[str]:
    if isinstance(value, str):
        return [line.strip(" -*\t") for line in value.splitlines() if line.strip(" -*\t")]
    return [one.strip() for one in as_list(value) if isinstance(one, str) and one.strip()]


def _status(record: Record) -> TaskStatus:
    word = scalar(record.get("status")).casefold()
    if word in _DROPPED:
        return TaskStatus.SKIPPED
    if word in _FINISHED or any(record.get(flag) is True for flag in _FLAGS):
        return TaskStatus.COMPLETED
    return TaskStatus.PENDING


def _section(record: Record, title: str) -> str:
    """Writes a record out as Markdown, since agents and people read that better than escaped JSON."""
    parts = [f"# {title}"]
    for key, heading in _TEXT:
        text = record.get(key)
        if isinstance(text, str) and text.strip() and text != title:
            parts.append(f"## {heading}\n\n{text.strip()}" if heading else text.strip())
    criteria = [text for key in _CRITERIA for text in _strings(record.get(key))]
    if criteria:
        parts.append("## Acceptance criteria\n\n" + "\n".join(f"- {text}" for text in criteria))
    steps = [_step(one) for key in _STEPS for one in as_list(record.get(key))]
    if steps:
        parts.append("## Steps\n\n" + "\n".join(steps))
    return "\n\n".join(parts) + "\n"


def _step(value: object) -> str:
    record = as_record(value)
    if not record:
        return f"- {scalar(value)}"
    title = next((text for key in _TITLE if isinstance(text := record.get(key), str)), "")
    mark = "x" if _status(record) is TaskStatus.COMPLETED else " "
    texts = [
        str(record[key]).strip() for key in ("description", "details") if isinstance(record.get(key), str)
    ]
    body = "".join(f"\n  {line}" for text in texts if text != title for line in text.splitlines())
    return f"- [{mark}] {title}{body}"
