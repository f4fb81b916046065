"""Tasks become phases: by the author's labels, or else by the levels of the task graph.

Every task is in exactly one phase, behind what it depends on. Labelled phases follow each other in document
order; where the tasks of a phase declare what they need, or that they need nothing, that replaces the order,
and a run of phases that hold only `[P]` tasks stands side by side. Phases count from 1, in document order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amelia.model.diagnostics import Diagnostic, error
from amelia.model.plan import Task, TaskId
from amelia.plan.digraph import admissible, cycles_of, in_order, union
from amelia.plan.graph import Edges, levels

PhaseGraph = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Phase:
    """Tasks that one agent session carries out in this order, once the phases it depends on are done."""

    index: int
    label: str | None
    tasks: tuple[Task, ...]
    depends_on: tuple[int, ...]


def compute_phases(tasks: Sequence[Task], files: Edges) -> tuple[tuple[Phase, ...], list[Diagnostic]]:
    """Returns the phases of tasks whose graph has no cycle, and errors where the phases make one."""
    level = levels(tasks, files)
    if any(task.phase is not None for task in tasks):
        labels, home = _label_phases(tasks)
        declared = _declared(tasks, home)
        graph = _chain(declared, _side_by_side(tasks, home), _settled(tasks, home))
        graph = union(graph, admissible(graph, _between_phases(files, home)))
    else:
        home = level
        labels = [None] * max(level.values(), default=0)
        graph = declared = {index: (index - 1,) * (index > 1) for index in range(1, len(labels) + 1)}
    by_id = {task.id: task for task in tasks}
    members: dict[int, list[Task]] = {index: [] for index in graph}
    for task_id in level:
        members[home[task_id]].append(by_id[task_id])
    phases = tuple(Phase(n, labels[n - 1], tuple(members[n]), tuple(sorted(graph[n]))) for n in graph)
    return phases, [_cycle_error(cycle, phases) for cycle in cycles_of(declared)]


def _label_phases(tasks: Sequence[Task]) -> tuple[list[str | None], dict[TaskId, int]]:
    """Numbers the labels as they first appear; a task without one belongs to the label before it."""
    numbers: dict[str | None, int] = {}
    home: dict[TaskId, int] = {}
    current: str | None = None
    for task in tasks:
        current = task.phase if task.phase is not None else current
        home[task.id] = numbers.setdefault(current, len(numbers) + 1)
    return list(numbers), home


def _declared(tasks: Sequence[Task], home: Mapping[TaskId, int]) -> dict[int, tuple[int, ...]]:
    """Collects which phases need which others by the word of their tasks."""
    needed: dict[int, dict[int, None]] = {index: {} for index in home.values()}
    for task in tasks:
        mine = home[task.id]
        needed[mine].update((home[need], None) for need in task.depends_on if home.get(need, mine) != mine)
    return {index: tuple(needs) for index, needs in sorted(needed.items())}


def _between_phases(files: Edges, home: Mapping[TaskId, int]) -> dict[int, tuple[int, ...]]:
    found: dict[int, dict[int, None]] = {}
    for task_id, needs in files.items():
        mine = home[task_id]
        found.setdefault(mine, {}).update((home[need], None) for need in needs if home[need] != mine)
    return {index: tuple(needs) for index, needs in found.items() if needs}


def _side_by_side(tasks: Sequence[Task], home: Mapping[TaskId, int]) -> set[int]:
    """Finds the phases in which every task is marked as parallel."""
    return set(home.values()) - {home[task.id] for task in tasks if not task.parallel}


def _chain(declared: PhaseGraph, side_by_side: set[int], settled: set[int]) -> dict[int, tuple[int, ...]]:
    """Lets phases follow what stands before them, or the run of parallel phases before them.

    A settled phase waits for what it declares alone; any other waits for everything before it that nothing
    waits for yet. "Before" is document order as far as declared needs allow, so no cycle is closed.
    """
    graph: dict[int, tuple[int, ...]] = {}
    ends: dict[int, None] = {}  # phases that nothing waits for yet
    base: tuple[int, ...] = ()
    run = False
    for index in in_order(declared):
        in_run = index in side_by_side
        base = base if in_run and run else tuple(ends)
        needs = declared[index] if index in settled else tuple(dict.fromkeys((*declared[index], *base)))
        graph[index] = needs
        run = in_run
        for need in needs:
            ends.pop(need, None)
        ends[index] = None
    # phases on a cycle are reported; they keep what they declare
    return {index: graph.get(index, declared[index]) for index in declared}


def _settled(tasks: Sequence[Task], home: Mapping[TaskId, int]) -> set[int]:
    """Finds the phases in which every task says what it waits for: other tasks, or nothing."""
    loose = {
        home[task.id]
        for task in tasks
        if not task.independent and not any(need in home for need in task.depends_on if need != task.id)
    }
    return set(home.values()) - loose


def _cycle_error(cycle: Sequence[int], phases: Sequence[Phase]) -> Diagnostic:
    names = [phases[index - 1].label or f"phase {index}" for index in cycle]
    return error(
        "phase-cycle",
        f"Phases wait for each other: {' → '.join(names)}.",
        line=min(task.line for task in phases[cycle[0] - 1].tasks),
        hint="Move the task that is needed first into the earlier phase, or give it a phase of its own.",
    )
