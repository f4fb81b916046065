"""Ralph's `prd.json` and its relatives: user stories, features or items with `passes`."""

from collections.abc import Mapping
from typing import Any, cast

from amelia.plan.reading import Reading
from amelia.plan.records import are_records, locate, task_from

_LISTS = ("userStories", "user_stories", "stories", "features", "items", "todos", "requirements")


def read(data: object, text: str) -> Reading | None:
    """Reads the stories of a prd.json, or returns None if it is none."""
    if are_records(data):
        return _reading(cast("list[Any]", data), None, text, "")
    if not isinstance(data, dict):
        return None
    root = cast("Mapping[str, Any]", data)
    goal = str(root.get("project") or root.get("name") or root.get("title") or root.get("description") or "")
    key = next((key for key in _LISTS if are_records(root.get(key))), None)
    if key is not None:
        return _reading(root[key], key, text, goal)
    return _phased(root.get("phases"), goal)


def _reading(records: list[Any], key: str | None, text: str, goal: str) -> Reading:
    lines = locate(text, key, records)
    tasks = [
        task_from(record, number, lines=lines[number - 1]) for number, record in enumerate(records, start=1)
    ]
    return Reading("prd-json", tuple(tasks), goal)


def _phased(phases: object, goal: str) -> Reading | None:
    if not are_records(phases):
        return None
    found = [
        (record, str(phase.get("name") or phase.get("title") or phase.get("id")))
        for phase in cast("list[Mapping[str, Any]]", phases)
        if are_records(phase.get("tasks"))
        for record in phase["tasks"]
    ]
    tasks = [task_from(record, number, phase=phase) for number, (record, phase) in enumerate(found, start=1)]
    return Reading("prd-json", tuple(tasks), goal) if tasks else None
