"""Plans whose tasks stand in the front matter: the `todos` of Cursor."""

import re
from collections.abc import Mapping
from typing import Any

from amelia.plan.markdown import Document
from amelia.plan.reading import Reading
from amelia.plan.records import are_records, as_list, tasks_from, text_of

_TODO_LINE = re.compile(r"\s|-(?!--)")


def read(front: Mapping[str, Any], document: Document) -> Reading | None:
    """Reads the `todos` of a front matter, or returns None if it has none."""
    if not are_records(front.get("todos")):
        return None
    records = as_list(front["todos"])
    goal = text_of(front, "name", "overview")
    return Reading("cursor", tasks_from(records, _lines(document, len(records))), goal)


def _lines(document: Document, count: int) -> list[tuple[int, int]]:
    """Finds the lines of the list items under `todos:`; where that fails, every todo is at line 1."""
    start = next((number for number, line in enumerate(document.lines, 1) if line.startswith("todos:")), 0)
    stops = (
        number for number, line in enumerate(document.lines[start:], start) if not _TODO_LINE.match(line)
    )
    end = next(stops)  # at the latest the mark that ends the front matter
    inside = [(number, document.lines[number - 1]) for number in range(start + 1, end + 1)]
    indent = next((_indent(line) for _, line in inside if line.lstrip().startswith("-")), 0)
    starts = [number for number, line in inside if line.lstrip().startswith("-") and _indent(line) == indent]
    if len(starts) != count:
        return [(1, 1)] * count
    return list(zip(starts, [*(number - 1 for number in starts[1:]), end], strict=True))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
