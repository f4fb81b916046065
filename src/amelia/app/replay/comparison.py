"""What a run came to, in a form in which two runs of the same plan can be compared.

Units that are worked on at the same time may land in another order. Trees are therefore compared where the
same units had landed, in whatever order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from amelia.model import events as ev
from amelia.model.git import CommitId, TreeId
from amelia.model.journal import Recorded
from amelia.model.plan import UnitId
from amelia.model.state import Landed, Parked, Skipped, UnitState, Waiting
from amelia.schedule.machine import fold

UNDER_WAY = "under way"
"""Where a unit stands that was cut off; how far it would have come, nobody knows."""

TreeOf: TypeAlias = Callable[[CommitId], TreeId]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit stood at the end, after how many attempts, and the whole tree it landed as."""

    standing: str
    attempts: int = 0
    tree: TreeId | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to; without an outcome it was still going."""

    outcome: str | None
    units: Mapping[UnitId, Standing]
    landed: tuple[UnitId, ...] = ()


def result_of(past: Sequence[Recorded], tree_of: TreeOf) -> Result:
    """Returns what a journal tells of, with the trees of what landed."""
    run = fold(recorded.event for recorded in past)
    attempts: dict[UnitId, int] = {}
    landed: list[UnitId] = []
    for recorded in past:
        match recorded.event:
            case ev.AttemptEnded(unit=unit, attempt=attempt):
                attempts[unit] = attempt
            case ev.UnitLanded(unit):
                landed.append(unit)
            case _:
                pass
    units = {
        unit: Standing(_words(state), attempts.get(unit, 0), _tree(state, tree_of))
        for unit, state in run.units.items()
    }
    return Result(None if run.outcome is None else str(run.outcome), units, tuple(landed))


def differences(expected: Result, seen: Result) -> list[str]:
    """Returns what is not as expected, in sentences."""
    return list(_differences(expected, seen))


def _differences(expected: Result, seen: Result) -> Iterator[str]:
    if expected.outcome is not None and expected.outcome != seen.outcome:
        yield f"the outcome is {seen.outcome or 'open'} instead of {expected.outcome}"
    for unit in seen.units.keys() - expected.units.keys():
        yield f"{unit}: was not there before"
    for unit, before in expected.units.items():
        now = seen.units.get(unit)
        if now is None:
            yield f"{unit}: is not there any more"
        elif before.standing != UNDER_WAY:
            yield from (f"{unit}: {what}" for what in _changed(before, now))
    yield from _other_trees(expected, seen)


def _changed(before: Standing, now: Standing) -> Iterator[str]:
    if now.standing != before.standing:
        yield f"{now.standing} instead of {before.standing}"
    if now.attempts != before.attempts:
        yield f"{now.attempts} turns instead of {before.attempts}"


def _other_trees(expected: Result, seen: Result) -> Iterator[str]:
    now = _trees(seen)
    for landed, tree in _trees(expected).items():
        if landed in now and now[landed] != tree:
            yield f"{', '.join(sorted(landed))} landed: the tree is {now[landed]} instead of {tree}"


def _trees(result: Result) -> dict[frozenset[UnitId], TreeId | None]:
    """Returns the tree of the branch by the units that had landed on it."""
    return {
        frozenset(result.landed[:count]): result.units[unit].tree
        for count, unit in enumerate(result.landed, start=1)
    }


def _words(state: UnitState) -> str:
    match state:
        case Landed():
            return "landed"
        case Skipped():
            return "skipped"
        case Parked(reason=reason):
            return f"parked ({reason})"
        case Waiting():
            return "waiting"
        case _:
            return UNDER_WAY


def _tree(state: UnitState, tree_of: TreeOf) -> TreeId | None:
    return tree_of(state.commit) if isinstance(state, Landed) else None
