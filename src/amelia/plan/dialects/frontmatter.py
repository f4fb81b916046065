"""Plans whose tasks stand in the front matter: Cursor's `todos`, and files that are one task each."""

from collections.abc import Mapping
from typing import Any, cast

from amelia.plan.markdown import Document
from amelia.plan.reading import Reading
from amelia.plan.records import are_records, task_from


def read(front: Mapping[str, Any], document: Document) -> Reading | None:
    """Reads the `todos` of a front matter, or returns None if it has none."""
    todos = front.get("todos")
    if not are_records(todos):
        return None
    records = cast("list[Mapping[str, Any]]", todos)
    lines = _lines(document, len(records))
    tasks = [
        task_from(record, number, lines=lines[number - 1]) for number, record in enumerate(records, start=1)
    ]
    return Reading("cursor", tuple(tasks), str(front.get("name") or front.get("overview") or ""))


def _lines(document: Document, count: int) -> list[tuple[int, int]]:
    """Finds the lines of the list items under `todos:`."""
    starts: list[int] = []
    inside = False
    for number, line in enumerate(document.lines, start=1):
        if line.startswith("todos:"):
            inside = True
        elif (
            inside
            and line.lstrip().startswith("- ")
            and (not starts or _indent(line) == _indent(document.lines[starts[0] - 1]))
        ):
            starts.append(number)
        elif inside and line[:1] not in {" ", "-", ""}:
            return (
                [(s, e - 1) for s, e in zip(starts, [*starts[1:], number], strict=True)]
                if len(starts) == count
                else [(1, 1)] * count
            )
    return [(1, 1)] * count


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
