"""Tasks as a graph: what waits for what, what a task may touch, and which milestones there are.

A dependency on an unknown id or on itself is no edge here; `check` reports it. Derived edges never close
a cycle: an author's word goes before what files suggest. Nothing recurses.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import count

from amelia.model.plan import DONE as DONE  # noqa: PLC0414 - readers of plans ask the graph what is done
from amelia.model.plan import Milestone, Task, TaskId, milestone_status
from amelia.plan.digraph import admissible, cycles_of, in_order, levels_of, union
from amelia.plan.paths import normal_path, shared_kind

Edges = Mapping[TaskId, Sequence[TaskId]]

_MILESTONE = re.compile(r"(M\d+)\b[\s:.–—-]*(.*)", re.DOTALL)


def dependency_graph(tasks: Sequence[Task], extra: Edges | None = None) -> dict[TaskId, tuple[TaskId, ...]]:
    """Returns what each task depends on, declared and then extra, among the tasks given."""
    graph: dict[TaskId, tuple[TaskId, ...]] = {task.id: () for task in tasks}
    for task in tasks:
        needs = task.depends_on
        if needs and not graph[task.id]:
            graph[task.id] = tuple(dict.fromkeys(n for n in needs if n in graph and n != task.id))
    return union(graph, extra) if extra else graph


def detect_circular_dependencies(tasks: Sequence[Task]) -> list[tuple[TaskId, ...]]:
    """Returns a short cycle for every group of tasks that wait for each other, as `(a, b, a)`."""
    return cycles_of(dependency_graph(tasks))


def topological_order(tasks: Sequence[Task], extra: Edges | None = None) -> tuple[Task, ...]:
    """Returns the tasks with dependencies first, in document order where there is a choice.

    Tasks on a cycle, or behind one, come last.
    """
    place = {task_id: n for n, task_id in enumerate(in_order(dependency_graph(tasks, extra)))}
    return tuple(sorted(tasks, key=lambda task: place.get(task.id, len(place))))


def levels(tasks: Sequence[Task], extra: Edges | None = None) -> dict[TaskId, int]:
    """Returns the level of each task, from 1; tasks on a cycle, or behind one, have none."""
    return levels_of(dependency_graph(tasks, extra))


def file_dependencies(tasks: Sequence[Task]) -> dict[TaskId, tuple[TaskId, ...]]:
    """Returns the edges that follow from files: who uses a file depends on the task that creates it."""
    creators: dict[str, list[int]] = {}
    for number, task in enumerate(tasks):
        for path in task.files_to_create:
            creators.setdefault(normal_path(path), []).append(number)
    edges: dict[TaskId, tuple[TaskId, ...]] = {}
    for number, task in enumerate(tasks):
        if needs := _makers(number, tasks, creators):
            edges.setdefault(task.id, needs)
    if not edges:
        return {}
    graph = dependency_graph(tasks)
    fresh = {node: tuple(n for n in needs if n not in graph[node]) for node, needs in edges.items()}
    return admissible(graph, fresh)


def _makers(number: int, tasks: Sequence[Task], creators: Mapping[str, list[int]]) -> tuple[TaskId, ...]:
    """Finds the tasks that create what one task modifies or tests with, without the task itself."""
    task = tasks[number]
    used = dict.fromkeys(normal_path(path) for path in (*task.files_to_modify, *task.test_files))
    found: dict[TaskId, None] = {}
    for path in used:
        makers = creators.get(path, ())
        if makers and number not in makers:
            before = [maker for maker in makers if maker < number]
            found[tasks[before[-1] if before else makers[0]].id] = None
    found.pop(task.id, None)
    return tuple(found)


def footprint(task: Task) -> frozenset[str]:
    """Returns what a task may touch: its files, and the kinds of shared files among them."""
    paths = [normal_path(path) for path in task.files]
    kinds = [f"kind:{kind}" for path in paths if (kind := shared_kind(path))]
    return frozenset((*paths, *kinds))


def derive_milestones(tasks: Sequence[Task], descriptions: Mapping[str, str]) -> tuple[Milestone, ...]:
    """Returns the milestones in the order in which tasks first name them.

    A name such as `M2: Core` carries its own id; other names take the ids that are free.
    Descriptions are found under the name as written, or under the id.
    """
    groups: dict[str, list[Task]] = {}
    names: dict[str, str] = {}
    for task in tasks:
        if task.milestone is not None:
            match = _MILESTONE.fullmatch(task.milestone)
            key, name = (match[1], match[2]) if match else ("", task.milestone)
            key = key or f"={name}"
            groups.setdefault(key, []).append(task)
            names[key] = names.get(key) or name
    free = (label for label in map("M{}".format, count(1)) if label not in groups)
    found: list[Milestone] = []
    for key, members in groups.items():
        name = names[key]
        label = next(free) if key.startswith("=") else key
        text = descriptions.get(members[0].milestone or "") or descriptions.get(label, "")
        status = milestone_status(task.status for task in members)
        found.append(Milestone(label, name or label, text, tuple(task.id for task in members), status))
    return tuple(found)
