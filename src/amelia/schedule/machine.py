"""Facts fold into state.

`evolve` is the whole truth about where a run stands: pure, total over the events, and strict about order. An
event that does not fit the stage of its unit is a mistake of ours and raises; it is never made to fit.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from amelia.model import events as ev
from amelia.model.agents import Spent, Usage
from amelia.model.delivery import Delivery, DeliveryRefused, FinishChosen, RunDelivered, RunUndone
from amelia.model.drafts import DraftEvent, RunProposed
from amelia.model.errors import InternalError
from amelia.model.findings import Disposition, Finding, Ruling
from amelia.model.interventions import Intervention
from amelia.model.outcome import Outcome
from amelia.model.plan import UnitId
from amelia.model.records import RecordCommitted, RecordRefused, RecordStarted
from amelia.model.splitting import with_pieces
from amelia.model.state import (
    Active,
    Branch,
    Evaluating,
    Failing,
    Landing,
    Parked,
    RunState,
    UnitState,
    Waiting,
    Wish,
)
from amelia.schedule.branch import after_resuming, branch_after
from amelia.schedule.pick import chains
from amelia.schedule.questions import ruled_by_person
from amelia.schedule.red import closed_by, implementers
from amelia.schedule.stages import interrupted, unit_after


def begin(facts: ev.RunStarted) -> RunState:
    """Returns the state of a run that has just started."""
    units: dict[UnitId, UnitState] = {unit.id: Waiting() for unit in facts.units}
    return RunState(
        facts=facts,
        implementers=implementers(facts.units),
        chains=chains(facts.units),
        units=units,
        tip=facts.base,
        budget=facts.budget,
        spent={},
        spent_in_all=Spent(),
        red={},
        delivery=Delivery(facts.finish),
    )


def fold(events: Iterable[ev.Event]) -> RunState:
    """Returns the state that a journal tells of; of a draft before it, only what that used counts."""
    iterator = iter(events)
    drafted = Spent()
    first = next(iterator, None)
    if isinstance(first, RunProposed):
        for first in iterator:
            if isinstance(first, ev.RunStarted):
                break
            if isinstance(first, ev.UsageReported):
                drafted = drafted.plus(first.usage)
    if not isinstance(first, ev.RunStarted):
        raise InternalError(f"a journal starts with RunStarted, not with {type(first).__name__}")
    return reduce(evolve, iterator, replace(begin(first), spent_in_all=drafted))


def evolve(run: RunState, event: ev.Event) -> RunState:  # noqa: C901, PLR0911, PLR0912 - a line per event
    """Returns the state after an event."""
    if isinstance(event, ev.RunStarted | DraftEvent):
        raise InternalError(f"{type(event).__name__} does not fit a run that has started")
    match event:
        case ev.RunResumed():
            return _resumed(run)
        case ev.BudgetChanged(budget):
            return replace(run, budget=run.budget.changed_by(budget), outcome=_final(run))
        case ev.UsageReported(unit=unit, usage=usage):
            return _charged(_with_unit(run, event), unit, usage)
        case ev.PauseRequested():
            return replace(run, wish=run.wish or Wish.PAUSE)
        case ev.CancelRequested():
            return replace(run, wish=Wish.CANCEL, is_paused=False, outcome=_final(run))
        case ev.AbortRequested():
            return replace(run, wish=Wish.ABORT, is_paused=False, outcome=_final(run))
        case ev.RunPaused():
            return replace(run, is_paused=True)
        case ev.RunFinished(outcome):
            return replace(run, outcome=outcome)
        case FinishChosen() | RunDelivered() | DeliveryRefused() | RunUndone():
            return replace(run, delivery=run.delivery.after(event))
        case ev.BranchCheckStarted() | ev.BranchVerified():
            return branch_after(run, event)
        case RecordStarted() | RecordCommitted() | RecordRefused():
            return branch_after(run, event)
        case ev.UnitReset() | ev.UnitSkipped() | ev.UnitFixed() | ev.QuestionAnswered() | ev.UnitSplit():
            return replace(_intervened(run, event), outcome=_final(run), is_halted=False)
        case ev.UnitParked() | ev.StepBroke():
            return replace(_with_unit(run, event), is_halted=True)
        case ev.UnitLanded():
            return _landed(run, event)
        case ev.FindingsEvaluated():
            return replace(_with_unit(run, event), rulings=(*run.rulings, *_ruled_out(run, event)))
        case _:
            return _with_unit(run, event)


def _intervened(run: RunState, event: Intervention) -> RunState:
    """Does what a person decided about a unit; findings that an answer rules out are for the report."""
    if isinstance(event, ev.UnitSplit):
        return _split(run, event)
    after, before = _with_unit(run, event), run.units[event.unit]
    if isinstance(event, ev.UnitReset | ev.QuestionAnswered) and event.granted:
        more = (*run.granted.get(event.unit, ()), *event.granted)
        after = replace(after, granted={**run.granted, event.unit: more})
    if isinstance(event, ev.QuestionAnswered) and isinstance(before, Parked):
        return replace(after, rulings=(*run.rulings, *ruled_by_person(before, event)))
    return after


def _split(run: RunState, event: ev.UnitSplit) -> RunState:
    """Puts pieces in the place of a parked unit; they know what a person said to it."""
    state = run.units.get(event.unit)
    if not isinstance(state, Parked):
        raise InternalError(f"UnitSplit does not fit a unit that is {type(state).__name__}")
    facts = with_pieces(run.facts, event)
    new = {piece.id: Waiting(answers=state.track.answers) for piece in event.pieces}
    return replace(
        run,
        facts=facts,
        implementers=implementers(facts.units),
        chains=chains(facts.units),
        units={unit.id: new.get(unit.id) or run.units[unit.id] for unit in facts.units},
        open=_with(run.open, event.unit, belongs=False),
    )


def _resumed(run: RunState) -> RunState:
    """Takes back what was under way, and what a person cannot have wanted to last: a pause, a halt.

    That a person cancelled the run or gave it up lasts, also if it was not carried out yet.
    """
    units = {**run.units, **{unit: interrupted(run.units[unit]) for unit in run.open}}
    still = tuple(unit for unit in run.open if not isinstance(units[unit], Waiting))
    branch = after_resuming(run.branch)
    wish = None if run.wish is Wish.PAUSE else run.wish
    return replace(
        run, units=units, open=still, branch=branch, wish=wish, is_paused=False, outcome=_final(run)
    )


def _final(run: RunState) -> Outcome | None:
    """Returns the outcome that nothing changes any more, if the run has one."""
    return run.outcome if run.outcome is not None and run.outcome.is_final else None


def _with_unit(run: RunState, event: ev.UnitEvent) -> RunState:
    state = unit_after(run.units[event.unit], event)
    return replace(
        run,
        units={**run.units, event.unit: state},
        open=_with(run.open, event.unit, belongs=isinstance(state, Active | Failing | Parked)),
        queue=_with(run.queue, event.unit, belongs=isinstance(state, Landing)),
    )


def _with(units: tuple[UnitId, ...], unit: UnitId, *, belongs: bool) -> tuple[UnitId, ...]:
    """Returns units with one among them that belongs there, and without it if it does not."""
    if belongs == (unit in units):
        return units
    return (*units, unit) if belongs else tuple(other for other in units if other != unit)


def _charged(run: RunState, unit: UnitId, usage: Usage | None) -> RunState:
    spent = {**run.spent, unit: run.spent.get(unit, Spent()).plus(usage)}
    return replace(run, spent=spent, spent_in_all=run.spent_in_all.plus(usage))


def _landed(run: RunState, event: ev.UnitLanded) -> RunState:
    """Moves the tip; the tests the unit wrote for others are red from now on, those it implemented green."""
    before = run.units[event.unit]
    closed = closed_by(run, event.unit)
    red = {unit: tests for unit, tests in run.red.items() if unit not in closed}
    if isinstance(before, Landing) and before.red:
        red[event.unit] = before.red
    return replace(_with_unit(run, event), tip=event.commit, red=red, branch=Branch.UNVERIFIED)


def _ruled_out(run: RunState, event: ev.FindingsEvaluated) -> list[tuple[UnitId, Finding, Ruling]]:
    state = run.units[event.unit]
    assert isinstance(state, Evaluating)
    found = {finding.id: finding for finding in state.track.findings}
    return [
        (event.unit, found[ruling.finding], ruling)
        for ruling in event.rulings
        if ruling.disposition in {Disposition.REJECT, Disposition.DEFER} and ruling.finding in found
    ]
