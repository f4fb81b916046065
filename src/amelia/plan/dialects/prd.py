"""Ralph's `prd.json` and its relatives: user stories, features or items with `passes`."""

from collections.abc import Sequence

from amelia.plan.reading import Reading
from amelia.plan.records import (
    Record,
    are_records,
    as_list,
    as_record,
    locate,
    task_from,
    tasks_from,
    text_of,
)

_LISTS = ("userStories", "user_stories", "stories", "features", "items", "todos", "requirements")


def read(data: object, text: str) -> Reading | None:
    """Reads the stories of a prd.json, or returns None if it is none."""
    if are_records(data):
        return _reading(as_list(data), text)
    root = as_record(data)
    goal = text_of(root, "project", "name", "title", "description")
    key = next((key for key in _LISTS if are_records(root.get(key))), None)
    return _phased(root, goal) if key is None else _reading(root[key], text, key=key, goal=goal)


def _reading(records: Sequence[object], text: str, *, key: str | None = None, goal: str = "") -> Reading:
    lines = locate(text, key, records)
    return Reading("prd-json", tasks_from(records, lines), goal)


def _phased(root: Record, goal: str) -> Reading | None:
    """Reads stories that are grouped: `{"phases": [{"name": …, "tasks": […]}]}`."""
    found = [
        (record, text_of(phase, "name", "title", "id"))
        for phase in map(as_record, as_list(root.get("phases")))
        if are_records(phase.get("tasks"))
        for record in as_list(phase["tasks"])
    ]
    tasks = [
        task_from(as_record(record), number, phase=phase)
        for number, (record, phase) in enumerate(found, start=1)
    ]
    return Reading("prd-json", tuple(tasks), goal) if tasks else None
