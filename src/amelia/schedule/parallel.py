"""How many units of a plan can be under way at the same time, if there are workers enough."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from amelia.model.plan import Unit, UnitId

Footprints = Mapping[UnitId, Sequence[str]]


def is_apart(mine: Sequence[str], others: Iterable[Sequence[str]]) -> bool:
    """Says whether the files of a unit are none of those of others; nobody knows if one declares none."""
    return bool(mine) and all(files and set(mine).isdisjoint(files) for files in others)


def most_side_by_side(units: Sequence[Unit], footprints: Footprints) -> int:
    """Returns the most units that are under way at once where each starts as soon as it may.

    All take equally long; two that could meet only if they do not are counted as well.
    """
    widest = max((len(wave) for wave in _waves(units, footprints)), default=0)
    return 2 if widest == 1 and _can_meet(units, footprints) else widest


def _waves(units: Sequence[Unit], footprints: Footprints) -> Iterable[list[UnitId]]:
    left = {unit.id: unit for unit in units}
    wave: list[UnitId] = []
    while left and (wave or len(left) == len(units)):
        wave = []
        for unit in left.values():
            is_ready = left.keys().isdisjoint(unit.depends_on)
            if is_ready and (not wave or _is_apart(unit.id, wave, footprints)):
                wave.append(unit.id)
        yield wave
        for landed in wave:
            del left[landed]


def _can_meet(units: Sequence[Unit], footprints: Footprints) -> bool:
    """Says whether there are two units of which none waits for the other, and that share nothing."""
    before: dict[UnitId, frozenset[UnitId]] = {}
    for unit in units:  # each stands behind what it depends on
        needs = (before.get(need, frozenset()) | {need} for need in unit.depends_on)
        before[unit.id] = frozenset[UnitId]().union(*needs)
    return any(
        one not in before[other] and other not in before[one] and _is_apart(one, [other], footprints)
        for one, other in combinations(before, 2)
    )


def _is_apart(unit: UnitId, others: Iterable[UnitId], footprints: Footprints) -> bool:
    return is_apart(footprints.get(unit, ()), (footprints.get(other, ()) for other in others))
