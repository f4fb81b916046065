"""What others may ask of a run: which wishes fit where it stands, and why the others do not."""

from typing import assert_never

from amelia.model.events import (
    AbortRequested,
    BudgetChanged,
    CancelRequested,
    PauseRequested,
    UnitFixed,
    UnitReset,
    UnitSkipped,
)
from amelia.model.journal import Wanted
from amelia.model.plan import UnitId
from amelia.model.state import Landed, Parked, RunState, Skipped, UnitState, Waiting


def fits(run: RunState, wanted: Wanted) -> bool:
    """Says whether a wish can be fulfilled."""
    return refusal(run, wanted) is None


def refusal(run: RunState, wanted: Wanted) -> str | None:
    """Returns why a wish cannot be fulfilled; None if it can."""
    if run.outcome is not None and run.outcome.is_final:
        return f"run {run.facts.run} is {run.outcome}; nothing can change that"
    match wanted:
        case PauseRequested() | CancelRequested() | BudgetChanged():
            return None
        case AbortRequested(unit):
            return _unknown(run, unit) if unit is not None and unit not in run.units else None
        case UnitReset(unit) | UnitFixed(unit):
            if unit not in run.units:
                return _unknown(run, unit)
            if not isinstance(run.units[unit], Parked):
                return f"{unit} does not wait for a person: it is {_standing(run, unit)}"
        case UnitSkipped(unit):
            if unit not in run.units:
                return _unknown(run, unit)
            if not _can_be_skipped(run.units[unit], wanted):
                return f"{unit} cannot be skipped: it is {_standing(run, unit)}"
        case _:
            assert_never(wanted)
    return None


def _can_be_skipped(state: UnitState, wanted: UnitSkipped) -> bool:
    """Says whether a unit can be taken out; who kept its dependants waiting may let them run after all."""
    if isinstance(state, Skipped):
        return wanted.satisfies and not state.satisfies
    return isinstance(state, Parked | Waiting)


def _unknown(run: RunState, unit: UnitId) -> str:
    known = list(run.units)
    shown = ", ".join(known[:8]) + (" …" if len(known) > 8 else "")  # noqa: PLR2004 - a line's worth
    return f"run {run.facts.run} has no unit {unit!r}; it has {shown}"


def _standing(run: RunState, unit: UnitId) -> str:
    match run.units[unit]:
        case Landed(commit):
            return f"landed as {commit[:12]}"
        case Skipped():
            return "skipped"
        case Waiting():
            return "waiting"
        case _:
            return "under way"
