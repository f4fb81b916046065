"""task-master's `tasks.json`: `{"tasks": […]}`, or tagged `{"master": {"tasks": […]}}`.

Tasks are the top level; subtasks are steps of theirs. Of several tags, `master` counts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from amelia.model.diagnostics import Diagnostic, info
from amelia.model.plan import TaskId
from amelia.plan.reading import Reading
from amelia.plan.records import are_records, locate, task_from


def read(data: object, text: str) -> Reading | None:
    """Reads the tasks of a task-master file, or returns None if it is none."""
    if not isinstance(data, dict):
        return None
    root = cast("Mapping[str, Any]", data)
    if are_records(root.get("tasks")):
        return _reading(root, root["tasks"], text, ())
    tags = {
        tag: value
        for tag, value in root.items()
        if isinstance(value, dict) and are_records(cast("Mapping[str, Any]", value).get("tasks"))
    }
    if not tags:
        return None
    tag = "master" if "master" in tags else next(iter(tags))
    notes: tuple[Diagnostic, ...] = ()
    if len(tags) > 1:
        every = sum(len(value["tasks"]) for value in tags.values())
        message = f"{len(tags)} tags hold tasks; the {len(tags[tag]['tasks'])} of `{tag}` are read, all tags together hold {every}"
        notes = (info("several-tags", message, hint="keep the tag to run in a file of its own"),)
    return _reading(tags[tag], tags[tag]["tasks"], text, notes)


def _reading(
    root: Mapping[str, Any], records: list[Any], text: str, notes: tuple[Diagnostic, ...]
) -> Reading:
    lines = locate(text, "tasks", records)
    tasks = [
        task_from(record, number, lines=lines[number - 1]) for number, record in enumerate(records, start=1)
    ]
    ids = {task.id for task in tasks}
    # a task may depend on another's subtask, "2.1": that is a dependency on task 2
    tasks = [
        replace(
            task,
            depends_on=tuple(
                dict.fromkeys(need if need in ids else _parent(need, ids) for need in task.depends_on)
            ),
        )
        for task in tasks
    ]
    metadata = root.get("metadata") or root.get("meta")
    facts = cast("Mapping[str, Any]", metadata) if isinstance(metadata, dict) else {}
    goal = (
        root.get("project") or root.get("name") or facts.get("projectName") or facts.get("description") or ""
    )
    return Reading("task-master", tuple(tasks), str(goal), notes)


def _parent(need: TaskId, ids: set[TaskId]) -> TaskId:
    parent = TaskId(need.partition(".")[0])
    return parent if parent in ids else need
