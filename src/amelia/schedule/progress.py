"""How far a run is: a unit's place in the plan, and what of the plan is done."""

from dataclasses import dataclass

from amelia.model.commands import Progress
from amelia.model.plan import Mode, Unit
from amelia.model.state import Landed, RunState, Skipped


@dataclass(frozen=True, slots=True)
class _Item:
    """A unit of the run, or a task of the plan that was completed before the run began."""

    id: str
    is_completed: bool = True
    is_done: bool = True


def progress_of(run: RunState, unit: Unit) -> Progress:
    """Returns how far a run is when a step of a unit begins; tasks that were done before count as done."""
    items = _items(run)
    place = next(number for number, item in enumerate(items) if item.id == unit.id)
    is_in_order = all(item.is_completed for item in items[:place]) and not any(
        item.is_done for item in items[place:]
    )
    is_numbered = all(item.id == str(number) for number, item in enumerate(items, start=1))
    return Progress(
        place + 1,
        total=len(items),
        done=sum(item.is_done for item in items),
        is_in_order=is_in_order,
        name="" if is_numbered else unit.id,
        first=items[0].id,
        last=items[place - 1].id if place else "",
    )


def _items(run: RunState) -> list[_Item]:
    """Returns the units of a run; where they are tasks, in the plan's order and with those done before."""
    facts = run.facts
    states = [run.units[unit.id] for unit in facts.units]
    units = [
        _Item(unit.id, isinstance(state, Landed), isinstance(state, Landed | Skipped))
        for unit, state in zip(facts.units, states, strict=True)
    ]
    if facts.mode not in {Mode.TASKS, Mode.LIFECYCLE}:
        return units
    places = {task: number for number, task in enumerate(facts.tasks)}
    last = len(places)
    homes = (min((places.get(task, last) for task in unit.tasks), default=last) for unit in facts.units)
    before = [(places[task], _Item(task)) for task in facts.done_before]
    placed = sorted([*before, *zip(homes, units, strict=True)], key=lambda pair: pair[0])
    return [item for _, item in placed]
