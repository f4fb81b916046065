"""Tests that are red by design: who wrote them, and who makes them green.

A unit whose tests a later unit implements leaves them red on the branch. They are nobody's regression, until
the last unit that implements them is to land: with it they are green. None is left at the end.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from amelia.model.commands import Expected
from amelia.model.evidence import TestEdits
from amelia.model.git import CommitId
from amelia.model.plan import Task, TaskId, TaskType, Unit, UnitId
from amelia.model.state import Landed, RunState, Skipped


def implementers(units: Sequence[Unit]) -> dict[UnitId, frozenset[UnitId]]:
    """Returns, for every unit that writes tests, the other units that implement what they test.

    These are the units with an implementation that depends on one of its test tasks; where there is none
    directly, the first ones on every way that leads on from it.
    """
    home = {task.id: unit.id for unit in units for task in _of_type(unit.pieces, TaskType.TEST)}
    direct: dict[UnitId, set[UnitId]] = {}
    for unit in units:
        for task in _of_type(unit.pieces, TaskType.IMPL):
            for need in task.depends_on:
                if need in home and home[need] != unit.id:
                    direct.setdefault(home[need], set()).add(unit.id)
    authors = [unit.id for unit in units if _of_type(unit.pieces, TaskType.TEST)]
    impls = {unit.id for unit in units if _of_type(unit.pieces, TaskType.IMPL)}
    after = _dependants(units) if impls else {}
    return {author: frozenset(direct.get(author) or _first(author, after, impls)) for author in authors}


def expected(run: RunState, unit: Unit, *, base: CommitId) -> Expected:
    """Returns what is to be seen when the tests of a unit run on top of a base.

    On a base that others have moved on from, the work of those who implement the same tests is not there yet:
    what is owed is asked for when the unit lands on the tip.
    """
    closed = closed_by(run, unit.id) if base == run.tip else ()
    green = [test for other in closed for test in run.red[other]]
    open_red = [test for other, tests in run.red.items() if other not in closed for test in tests]
    return Expected(
        red_tasks=red_tasks(run, unit),
        must_be_green=tuple(dict.fromkeys(green)),
        may_be_red=tuple(dict.fromkeys(open_red)),
    )


def red_tasks(run: RunState, unit: Unit) -> tuple[TaskId, ...]:
    """Returns the unit's test tasks that no task of the unit itself implements, if another unit does."""
    if not run.implementers.get(unit.id):
        return ()
    inside = {need for task in _of_type(unit.pieces, TaskType.IMPL) for need in task.depends_on}
    return tuple(task.id for task in _of_type(unit.pieces, TaskType.TEST) if task.id not in inside)


def closed_by(run: RunState, unit: UnitId) -> tuple[UnitId, ...]:
    """Returns the units whose red tests must be green with this unit, the last to implement them."""
    return tuple(
        author
        for author in run.red
        if unit in run.implementers.get(author, ())
        and all(other == unit or isinstance(run.units[other], Landed) for other in run.implementers[author])
    )


def owed_and_waived(run: RunState) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the red tests that must be green at the end, and those that a person gave up.

    Whoever skips a unit gives up the tests that it was to implement.
    """
    owed: list[str] = []
    waived: list[str] = []
    for author, tests in run.red.items():
        is_given_up = any(isinstance(run.units[unit], Skipped) for unit in run.implementers[author])
        (waived if is_given_up else owed).extend(tests)
    return tuple(owed), tuple(waived)


def changed_tests(run: RunState) -> TestEdits:
    """Returns the files of tests that landed units changed: those that one was to change, and the others."""
    landed = [state.edits for state in run.units.values() if isinstance(state, Landed)]
    licensed = {path for edits in landed for path in edits.licensed}
    others = {path for edits in landed for path in edits.others} - licensed
    return TestEdits(licensed=tuple(sorted(licensed)), others=tuple(sorted(others)))


def _of_type(tasks: Iterable[Task], kind: TaskType) -> list[Task]:
    return [task for task in tasks if task.type is kind]


def _dependants(units: Sequence[Unit]) -> dict[UnitId, list[UnitId]]:
    found: dict[UnitId, list[UnitId]] = {}
    for unit in units:
        for need in unit.depends_on:
            found.setdefault(need, []).append(unit.id)
    return found


def _first(
    start: UnitId, after: Mapping[UnitId, Sequence[UnitId]], wanted: AbstractSet[UnitId]
) -> set[UnitId]:
    """Returns the first wanted units on every way from a unit."""
    found: set[UnitId] = set()
    seen = {start}
    ways = [start]
    while ways:
        for unit in after.get(ways.pop(), ()):
            if unit in wanted:
                found.add(unit)
            elif unit not in seen:
                seen.add(unit)
                ways.append(unit)
    return found
