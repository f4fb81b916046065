"""A parked unit becomes several: the graph with its pieces in its place.

The pieces stand where the unit stood, the ones that need none of the others need what it needed, and whoever
needed it needs the ones that no other piece needs. So every unit still comes after what it depends on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from amelia.model.facts import RunStarted
from amelia.model.interventions import UnitSplit
from amelia.model.plan import TaskId, Unit, UnitId

N = TypeVar("N", TaskId, UnitId)


def with_pieces(facts: RunStarted, split: UnitSplit) -> RunStarted:
    """Returns what a run is about once a unit of it is carried out in pieces."""
    whole = next(unit for unit in facts.units if unit.id == split.unit)
    last = _not_needed(split.pieces)
    ends = {task: tuple(piece.id for unit in last for piece in unit.pieces) for task in _tasks_of(whole)}
    units: list[Unit] = []
    for unit in facts.units:
        if unit is whole:
            units += (_rooted(piece, whole, split.pieces) for piece in split.pieces)
        else:
            units.append(_redirected(unit, whole.id, last=tuple(end.id for end in last), ends=ends))
    footprints = {unit: files for unit, files in facts.footprints.items() if unit != split.unit}
    return replace(facts, units=_levelled(units), footprints={**footprints, **split.footprints})


def _not_needed(pieces: Sequence[Unit]) -> list[Unit]:
    needed = {need for piece in pieces for need in piece.depends_on}
    return [piece for piece in pieces if piece.id not in needed]


def _tasks_of(unit: Unit) -> tuple[TaskId, ...]:
    return tuple(piece.id for piece in unit.pieces)


def _rooted(piece: Unit, whole: Unit, pieces: Sequence[Unit]) -> Unit:
    inside = {other.id for other in pieces}
    own = tuple(need for need in piece.depends_on if need in inside)
    return replace(piece, depends_on=own or whole.depends_on, piece_of=whole.piece_of or whole.id)


def _redirected(
    unit: Unit, gone: UnitId, *, last: tuple[UnitId, ...], ends: Mapping[TaskId, tuple[TaskId, ...]]
) -> Unit:
    """Lets a dependant need the last pieces instead, and its tasks the tasks of those."""
    if gone not in unit.depends_on:
        return unit
    pieces = (replace(task, depends_on=_instead(task.depends_on, ends)) for task in unit.pieces)
    return replace(unit, depends_on=_instead(unit.depends_on, {gone: last}), pieces=tuple(pieces))


def _instead(needs: Iterable[N], by: Mapping[N, tuple[N, ...]]) -> tuple[N, ...]:
    return tuple(dict.fromkeys(new for need in needs for new in by.get(need, (need,))))


def _levelled(units: Iterable[Unit]) -> tuple[Unit, ...]:
    """Returns units, each after what it needs, with their levels in the graph."""
    levels: dict[UnitId, int] = {}
    found: list[Unit] = []
    for unit in units:
        levels[unit.id] = 1 + max((levels.get(need, 0) for need in unit.depends_on), default=0)
        found.append(unit if unit.group == levels[unit.id] else replace(unit, group=levels[unit.id]))
    return tuple(found)
