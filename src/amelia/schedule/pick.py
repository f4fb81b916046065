"""Which units may start now, the most urgent first.

A unit may start when all it needs has landed, or was skipped with consent. Beside others it may run only if
it declares files and shares none with them; what may touch anything runs alone.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from amelia.model.plan import Priority, Unit, UnitId
from amelia.model.state import Active, Failing, Landed, Resting, RunState, Skipped, UnitState, Waiting
from amelia.schedule.budget import is_held
from amelia.schedule.parallel import is_apart

_URGENCY = {priority: number for number, priority in enumerate(Priority)}
_FOR_BEING_A_UNIT = 1.0  # its session, checks and review, however small it is
_MEDIUM = _URGENCY[Priority.MEDIUM]


def startable(run: RunState) -> Iterator[tuple[Unit, int]]:
    """Yields the units to start now, each with its lane, as many as there is room for."""
    held = {
        unit: state.track.lane
        for unit in run.open
        if isinstance(state := run.units[unit], Active | Failing) and not isinstance(state, Resting)
    }
    free = [lane for lane in range(1, run.facts.policy.parallel_workers + 1) if lane not in held.values()]
    if not free:
        return
    active = list(held)
    for unit in _by_urgency(run):
        if are_independent(run, unit.id, active):
            active.append(unit.id)
            lane = _lane(run.units[unit.id], free)
            free.remove(lane)
            yield unit, lane
            if not free:
                return


def _lane(state: UnitState, free: Sequence[int]) -> int:
    """Returns the lane for a unit: where it was, if that is free, since its session is known there."""
    then = state.then if isinstance(state, Waiting) else None
    return then.track.lane if then is not None and then.track.lane in free else free[0]


def are_independent(run: RunState, unit: UnitId, others: Collection[UnitId]) -> bool:
    """Says whether a unit shares nothing with others that are under way."""
    files = run.facts.footprints
    return not others or is_apart(files.get(unit, ()), (files.get(other, ()) for other in others))


def get_available_tasks(run: RunState) -> list[Unit]:
    """Returns the units that may start: they wait, all they need is done, and there is budget for them."""
    return [
        unit
        for unit in run.facts.units
        if isinstance(run.units[unit.id], Waiting) and not blockers(run, unit) and not is_held(run, unit.id)
    ]


def blockers(run: RunState, unit: Unit) -> tuple[UnitId, ...]:
    """Returns the units that a unit still waits for."""
    return tuple(need for need in unit.depends_on if not _is_satisfied(run, need))


def chains(units: Iterable[Unit]) -> dict[UnitId, float]:
    """Returns how much work the longest chain from each unit on holds, by the scores of its tasks."""
    longest: dict[UnitId, float] = {}
    behind: dict[UnitId, float] = {}
    for unit in sorted(units, key=lambda unit: -unit.group):
        own = _FOR_BEING_A_UNIT + sum(piece.complexity.total for piece in unit.pieces)
        longest[unit.id] = own + behind.get(unit.id, 0.0)
        for need in unit.depends_on:
            behind[need] = max(behind.get(need, 0.0), longest[unit.id])
    return longest


def _is_satisfied(run: RunState, unit: UnitId) -> bool:
    match run.units.get(unit):
        case Landed() | Skipped(satisfies=True) | None:
            return True
        case _:
            return False


def _by_urgency(run: RunState) -> Sequence[Unit]:
    """Returns the units that are ready by priority, then milestone, then their place in the plan.

    Of several that could run beside each other, those with most work behind them come before their place.
    """
    ready = get_available_tasks(run)
    if len(ready) < 2:  # noqa: PLR2004 - one unit needs no order
        return ready
    milestones = {
        task: number for number, stone in enumerate(run.facts.milestones) for task in stone.task_ids
    }
    last = len(run.facts.milestones)
    are_many = run.facts.policy.parallel_workers > 1

    def rank(unit: Unit) -> tuple[int, int, float]:
        urgency = min((_URGENCY[piece.priority] for piece in unit.pieces), default=_MEDIUM)
        milestone = min((milestones.get(piece.id, last) for piece in unit.pieces), default=last)
        return urgency, milestone, -run.chains[unit.id] if are_many else 0.0

    return sorted(ready, key=rank)
