"""What a unit may still use: the least that its own budget and that of the run leave.

A unit that has used up what it may keeps its work and its stage, but no lane; it goes on when a person gives
it more.
"""

from typing import TypeVar

from amelia.model.agents import Allowance, Spent
from amelia.model.plan import UnitId
from amelia.model.state import Driving, Evaluating, Reviewing, RunState, UnitState, Waiting

N = TypeVar("N", int, float)
_NOTHING = Spent()


def is_run_out(run: RunState) -> bool:
    """Says whether the budget of the whole run is used up."""
    return run.budget.run.is_used_up_by(run.spent_in_all)


def is_held(run: RunState, unit: UnitId) -> bool:
    """Says whether a unit would need an agent next, and has nothing left to pay it with."""
    return _needs_agent(run.units[unit]) and (
        is_run_out(run) or run.budget.unit.is_used_up_by(run.spent.get(unit, _NOTHING))
    )


def left_for(run: RunState, unit: UnitId) -> Allowance:
    """Returns what the next turn on a unit may use."""
    own = run.budget.unit.without(run.spent.get(unit, _NOTHING))
    whole = run.budget.run.without(run.spent_in_all)
    return least_of(own, whole)


def least_of(one: Allowance, other: Allowance) -> Allowance:
    """Returns what both allow."""
    return Allowance(cost=_least(one.cost, other.cost), tokens=_least(one.tokens, other.tokens))


def _needs_agent(state: UnitState) -> bool:
    match state:
        case Waiting(then=then):
            return then is None or isinstance(then, Driving | Reviewing | Evaluating)
        case Driving(is_busy=is_busy) | Reviewing(is_busy=is_busy) | Evaluating(is_busy=is_busy):
            return not is_busy
        case _:
            return False


def _least(one: N | None, other: N | None) -> N | None:
    return min((value for value in (one, other) if value is not None), default=None)
