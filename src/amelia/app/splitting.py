"""A unit that waits for a person, in pieces: as the splitter cuts it, or as the person wrote it down.

The pieces are called as the splitter calls them. In a unit of several tasks every task becomes a piece; a
single task is cut along its layers, files or criteria.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from amelia.app.people import RefusedError
from amelia.app.runs import footprint_of
from amelia.model.events import UnitSplit
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId
from amelia.model.settings import PlanSettings, SizeLimits, TddRule
from amelia.model.state import RunState
from amelia.plan.compile import compile_plan
from amelia.plan.read import read_plan
from amelia.plan.split import divide, piece_ids

_BY_HAND = PlanSettings(limits=SizeLimits(auto_split=False), tdd=TddRule.OFF)
"""The tests of a unit that is split were asked for before the run; its pieces need no others."""


def text_of(run: RunState, unit: UnitId) -> str:
    """Returns what the plan says about a unit, for a person to write it down in pieces."""
    return "\n\n".join(task.section.strip("\n") for task in _whole(run, unit).pieces) + "\n"


def has_seam(run: RunState, unit: UnitId) -> bool:
    """Says whether the rules of the splitter find a place to cut a unit at."""
    return len(_parts(run, _whole(run, unit))) > 1


def _parts(run: RunState, whole: Unit) -> Sequence[Task]:
    """Returns the tasks that a unit falls into: its own, or the parts of the only one."""
    if len(whole.pieces) != 1:
        return whole.pieces
    return divide(whole.pieces[0], SizeLimits(), taken=frozenset(map(TaskId, run.units)))


def split_by_rules(run: RunState, unit: UnitId) -> UnitSplit:
    """Returns a unit cut by the rules of the splitter."""
    whole = _whole(run, unit)
    tasks = _parts(run, whole)
    if len(tasks) == 1:
        raise RefusedError(
            f"{unit} has no seam: it names too few files and acceptance criteria to cut it by",
            hint=f"write its pieces down yourself: amelia split {run.facts.run} {unit} --edit",
        )
    names = [UnitId(name) for name, _ in zip(piece_ids(unit, run.units.keys()), tasks, strict=False)]
    before: Mapping[UnitId, tuple[UnitId, ...]] = dict(
        zip(names[1:], ((name,) for name in names), strict=False)
    )
    pieces = [
        _piece(name, task, whole, needs=before.get(name, ()), is_part=len(whole.pieces) == 1)
        for name, task in zip(names, tasks, strict=True)
    ]
    return _split(unit, pieces)


def split_by_hand(run: RunState, unit: UnitId, text: bytes) -> UnitSplit:
    """Returns a unit as a person wrote it down: tasks in any grammar that plans are read in."""
    whole = _whole(run, unit)
    plan, found = read_plan(text)
    plan = replace(plan, tasks=tuple(_among_themselves(plan.tasks, run)))
    compiled = compile_plan(plan, found, settings=_BY_HAND, mode=Mode.LIFECYCLE)
    if problems := [problem.message for problem in compiled.diagnostics if problem.severity == "error"]:
        raise RefusedError(f"the pieces cannot run: {problems[0]}", hint="nothing was changed")
    if len(compiled.units) <= 1:
        raise RefusedError("that is one task, not several", hint="give every piece a heading of its own")
    named = dict(
        zip(
            (each.id for each in compiled.units), map(UnitId, piece_ids(unit, run.units.keys())), strict=False
        )
    )
    pieces = [
        _piece(
            named[each.id],
            _as_part(each.pieces[0], whole, name=TaskId(named[each.id])),
            whole,
            needs=tuple(named[need] for need in each.depends_on),
            is_part=True,
        )
        for each in compiled.units
    ]
    return _split(unit, pieces)


def _among_themselves(tasks: Iterable[Task], run: RunState) -> Iterator[Task]:
    """Yields tasks without what they need of the rest of the plan: all of them come after that."""
    own = {task.id for task in tasks}
    others = {task for unit in run.facts.units for task in unit.tasks} - own
    for task in tasks:
        # A need that names none of the pieces is as it was written: `Task 1`.
        needs = tuple(need for need in task.depends_on if need.rpartition(" ")[2] not in others)
        yield replace(task, depends_on=needs)


def _as_part(task: Task, whole: Unit, *, name: TaskId) -> Task:
    """Returns a piece: of the type of the whole unless it says otherwise, and after what that needs."""
    kinds = {piece.type for piece in whole.pieces}
    kind = task.type or (kinds.pop() if len(kinds) == 1 else None)
    needs = tuple(dict.fromkeys(need for piece in whole.pieces for need in piece.depends_on))
    inside = {piece.id for piece in whole.pieces}
    return replace(task, id=name, type=kind, depends_on=tuple(need for need in needs if need not in inside))


def _piece(name: UnitId, task: Task, whole: Unit, *, needs: tuple[UnitId, ...], is_part: bool) -> Unit:
    """Makes a unit of a piece; what is part of a task still stands for that task of the plan."""
    tasks = whole.tasks if is_part else (task.id,)
    return Unit(name, task.title, tasks, needs, whole.group, (task,))


def _split(unit: UnitId, pieces: Sequence[Unit]) -> UnitSplit:
    return UnitSplit(unit, tuple(pieces), {piece.id: footprint_of(piece) for piece in pieces})


def _whole(run: RunState, unit: UnitId) -> Unit:
    found = next((each for each in run.facts.units if each.id == unit), None)
    if found is None:
        raise RefusedError(f"run {run.facts.run} has no unit {unit!r}", hint=f"amelia status {run.facts.run}")
    return found
