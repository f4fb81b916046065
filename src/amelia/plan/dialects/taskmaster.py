"""task-master's `tasks.json`: `{"tasks": […]}`, or tagged `{"master": {"tasks": […]}}`.

Tasks are the top level; subtasks are steps of theirs. Of several tags, `master` counts.
"""

from dataclasses import replace

from amelia.model.diagnostics import info
from amelia.model.plan import TaskId
from amelia.plan.reading import Reading
from amelia.plan.records import Record, are_records, as_record, locate, tasks_from


def read(data: object, text: str) -> Reading | None:
    """Reads the tasks of a task-master file, or returns None if it is none."""
    root = as_record(data)
    if are_records(root.get("tasks")):
        return _reading(root, text)
    tags = {
        tag: as_record(value) for tag, value in root.items() if are_records(as_record(value).get("tasks"))
    }
    if not tags:
        return None
    tag = "master" if "master" in tags else next(iter(tags))
    reading = _reading(tags[tag], text)
    if len(tags) == 1:
        return reading
    every = sum(len(value["tasks"]) for value in tags.values())
    message = f"{len(tags)} tags hold {every} tasks; the {len(reading.tasks)} of `{tag}` are read."
    note = info("several-tags", message, hint="Keep the tag to run in a file of its own.")
    return replace(reading, diagnostics=(note,))


def _reading(root: Record, text: str) -> Reading:
    records = root["tasks"]
    lines = locate(text, "tasks", records)
    tasks = tasks_from(records, lines)
    ids = {task.id for task in tasks}
    # a task may depend on another's subtask, "2.1": that is a dependency on task 2
    tasks = tuple(
        replace(task, depends_on=tuple(dict.fromkeys(_parent(need, ids) for need in task.depends_on)))
        for task in tasks
    )
    metadata = as_record(root.get("metadata") or root.get("meta"))
    goal = (
        root.get("project") or root.get("name") or metadata.get("projectName") or metadata.get("description")
    )
    return Reading("task-master", tasks, str(goal or ""))


def _parent(need: TaskId, ids: set[TaskId]) -> TaskId:
    parent = TaskId(need.partition(".")[0])
    return parent if need not in ids and parent in ids else need
