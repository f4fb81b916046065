"""Tasks become units: what one agent session carries out, under one of four modes.

Units stand in an order in which each comes after what it depends on. Tasks that are completed or skipped are
in no unit, and nothing waits for them; a phase keeps its number. The graph of the tasks given has no cycle.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from amelia.model.diagnostics import Diagnostic
from amelia.model.plan import Mode, Plan, Priority, Task, TaskId, Unit, UnitId
from amelia.model.settings import PlanSettings
from amelia.plan.digraph import admissible, in_order, levels_of, unimplied, union
from amelia.plan.graph import DONE, dependency_graph, file_dependencies, topological_order
from amelia.plan.phases import Phase, compute_phases
from amelia.plan.pieces import shortened
from amelia.plan.split import split_all

_URGENCY = {priority: number for number, priority in enumerate(Priority)}
_MOST_EDGES = 1024
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Built:
    """Units, the tasks as they would run, and what was noticed on the way."""

    units: tuple[Unit, ...]
    tasks: tuple[Task, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def choose_mode(plan: Plan, *, settings: PlanSettings, requested: Mode | None) -> tuple[Mode, str]:
    """Returns the mode for a plan with resolved references, and the reason in one sentence."""
    tasks = plan.tasks
    if not tasks:
        return Mode.SINGLE, "No task could be read."
    if requested is not None:
        return requested, f"Mode '{requested}' was asked for."
    if plan.format == "single":
        return Mode.SINGLE, "The plan is not divided into tasks, so it runs as one unit."
    if not (declared := _declared(tasks)):
        return Mode.TASKS, "The tasks declare no types, phases or dependencies, so they run one by one."
    is_described = any(task.acceptance_criteria and task.files for task in tasks)
    if is_described and all(task.phase is None for task in tasks):
        return Mode.LIFECYCLE, (
            f"The tasks declare {declared}, and list acceptance criteria and files, "
            "so each runs as soon as what it depends on is done."
        )
    if settings.enable_phased_execution:
        return Mode.PHASED, f"The tasks declare {declared}, so they run in phases."
    return Mode.TASKS, f"The tasks declare {declared}, but phases are turned off, so they run one by one."


def _declared(tasks: Sequence[Task]) -> str:
    """Names what the tasks declare that a graph can be made of."""
    present = (
        ("types", any(task.type is not None for task in tasks)),
        ("phases", any(task.phase is not None for task in tasks)),
        ("dependencies", any(task.depends_on for task in tasks)),
    )
    *others, last = [name for name, is_there in present if is_there] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def build_units(mode: Mode, plan: Plan, *, settings: PlanSettings) -> Built:
    """Returns the units of a plan whose task graph has no cycle."""
    if all(task.status in DONE for task in plan.tasks):
        return Built((), plan.tasks)
    match mode:
        case Mode.SINGLE:
            return Built((_whole(plan),), plan.tasks)
        case Mode.TASKS:
            return Built(_one_by_one(plan.tasks), plan.tasks)
        case Mode.PHASED:
            phases, problems = compute_phases(plan.tasks, file_dependencies(plan.tasks))
            return Built(() if problems else _phase_units(phases), plan.tasks, tuple(problems))
        case Mode.LIFECYCLE:
            return _lifecycle(plan.tasks, settings)
        case _:
            assert_never(mode)


def _open(tasks: Iterable[Task]) -> tuple[Task, ...]:
    return tuple(task for task in tasks if task.status not in DONE)


def _ids(tasks: Iterable[Task]) -> tuple[TaskId, ...]:
    return tuple(task.id for task in tasks)


def _whole(plan: Plan) -> Unit:
    pieces = _open(topological_order(plan.tasks))
    title = plan.goal or ", ".join(task.title for task in pieces[:_SHOWN]) or "The whole plan"
    return Unit(UnitId("plan"), shortened(title), _ids(pieces), (), 1, pieces)


def _one_by_one(tasks: Sequence[Task]) -> tuple[Unit, ...]:
    units: list[Unit] = []
    for group, task in enumerate(_open(topological_order(tasks)), start=1):
        before = (units[-1].id,) if units else ()
        units.append(Unit(UnitId(task.id), task.title, (task.id,), before, group, (task,)))
    return tuple(units)


def _phase_units(phases: Sequence[Phase]) -> tuple[Unit, ...]:
    needs = _open_phases(phases)
    units: list[Unit] = []
    for index, group in levels_of(needs).items():
        phase = phases[index - 1]
        pieces = _open(phase.tasks)
        title = shortened(phase.label or ", ".join(task.title for task in pieces[:_SHOWN]))
        before = tuple(UnitId(f"phase-{need}") for need in needs[index])
        units.append(Unit(UnitId(f"phase-{index}"), title, _ids(pieces), before, group, pieces))
    return tuple(units)


def _open_phases(phases: Sequence[Phase]) -> dict[int, tuple[int, ...]]:
    """Returns the phases that have work left and what each waits for.

    What waits for a finished phase waits for what that phase waited for, so that phases stay in order.
    """
    by_index = {phase.index: phase for phase in phases}
    stands_for: dict[int, tuple[int, ...]] = {}
    needs: dict[int, tuple[int, ...]] = {}
    for index in in_order({phase.index: phase.depends_on for phase in phases}):
        phase = by_index[index]
        waits = tuple(dict.fromkeys(n for need in phase.depends_on for n in stands_for[need]))
        is_open = any(task.status not in DONE for task in phase.tasks)
        stands_for[index] = (index,) if is_open else waits
        if is_open:
            needs[index] = waits
    return dict(sorted(needs.items()))


def _lifecycle(tasks: Sequence[Task], settings: PlanSettings) -> Built:
    """Makes a unit of every task, or of every piece of one that is split, and joins all kinds of edges."""
    split = split_all(tasks, settings.limits)
    source = {piece: task for task, pieces in split.pieces_of.items() for piece in pieces}
    left = _open(split.tasks)
    graph = dependency_graph(left)
    files = file_dependencies(split.tasks)
    if any(task.phase is not None for task in tasks):
        phases, _ = compute_phases(split.tasks, files)
        graph = union(graph, _phase_edges(phases, graph))
    among = {i: tuple(n for n in needs if n in graph) for i, needs in files.items()}
    graph = union(graph, unimplied(graph, admissible(graph, among)))
    by_id = {task.id: task for task in left}
    units = tuple(
        Unit(
            UnitId(task_id),
            by_id[task_id].title,
            (source.get(task_id, task_id),),
            tuple(UnitId(need) for need in graph[task_id]),
            group,
            (by_id[task_id],),
            piece_of=UnitId(source[task_id]) if task_id in source else None,
        )
        for task_id, group in levels_of(graph, _ranks(left)).items()
    )
    return Built(units, split.tasks, split.diagnostics)


def _ranks(tasks: Sequence[Task]) -> dict[TaskId, tuple[int, ...]]:
    """Ranks tasks by urgency, then by milestone as they first appear, those without one last."""
    milestones: dict[str, int] = {}
    for task in tasks:
        if task.milestone is not None:
            milestones.setdefault(task.milestone, len(milestones))
    last = len(milestones)
    return {
        task.id: (_URGENCY[task.priority], last if task.milestone is None else milestones[task.milestone])
        for task in tasks
    }


def _phase_edges(
    phases: Sequence[Phase], graph: Mapping[TaskId, Sequence[TaskId]]
) -> dict[TaskId, list[TaskId]]:
    """Lets open tasks that declare nothing wait for the last tasks of the phases before theirs.

    All edges go to an earlier phase, so they close no cycle. Between two large phases there would be a square
    of them; there, the first task of the later phase waits for all, and the others wait for it.
    """
    needs = _open_phases(phases)
    # What has to be waited for behind a phase; one whose tasks all declare needs passes on what was before.
    last: dict[int, list[TaskId]] = {}
    edges: dict[TaskId, list[TaskId]] = {}
    for index in in_order(needs):
        free = [
            task.id for task in _open(phases[index - 1].tasks) if not task.depends_on and not task.independent
        ]
        targets = list(dict.fromkeys(end for need in needs[index] for end in last[need]))
        last[index] = [*([] if free else targets), *_ends(phases[index - 1], graph)]
        if not targets or not free:
            continue
        if len(free) * len(targets) <= _MOST_EDGES:
            edges.update((task_id, targets) for task_id in free)
        else:
            edges.update((task_id, [free[0]]) for task_id in free[1:])
            edges[free[0]] = targets
    return edges


def _ends(phase: Phase, graph: Mapping[TaskId, Sequence[TaskId]]) -> list[TaskId]:
    """Returns the open tasks of a phase that no other open task of it waits for."""
    members = [task.id for task in phase.tasks if task.id in graph]
    inside = set(members)
    awaited = {need for task_id in members for need in graph[task_id] if need in inside}
    return [task_id for task_id in members if task_id not in awaited]
