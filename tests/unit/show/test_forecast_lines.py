"""A forecast in words."""

from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from amelia.model.agents import Allowance
from amelia.model.policy import BUDGET, Budget
from amelia.schedule.forecast import Between, Forecast
from amelia.show.forecast import forecast_lines

SIX = Forecast(
    units=6,
    seconds=Between(512, 3540),
    tokens=Between(1_234_567, 8_400_000),
    cost=Between(1.234, 7.77),
    rests_on=0,
)


def lines(budget: Budget = BUDGET, **changes: Any) -> list[str]:
    return list(forecast_lines(replace(SIX, **changes), budget))


def allowed(cost: float | None = None, tokens: int | None = None) -> Budget:
    return Budget(run=Allowance(cost=cost, tokens=tokens))


def test_a_guess_is_one_line() -> None:
    assert lines() == snapshot(
        [
            "forecast: 6 units, about 8.5 to 59 min, 1.2 to 8.4 M tokens, $1.2 to 7.8 (a guess from sizes; budget $100)"
        ]
    )


def test_what_was_learned_is_told_and_what_is_unknown_is_left_out() -> None:
    assert lines(units=1, tokens=None, cost=None, rests_on=14) == snapshot(
        ["forecast: 1 unit, about 8.5 to 59 min (from 14 units that landed here before)"]
    )


def test_tokens_are_bounded_where_the_cost_is_unknown() -> None:
    assert lines(cost=None) == snapshot(
        [
            "forecast: 6 units, about 8.5 to 59 min, 1.2 to 8.4 M tokens (a guess from sizes; budget 200,000,000 tokens, as their cost is not known)"
        ]
    )


def test_tokens_are_bounded_where_the_cost_is_a_guess_that_no_run_will_hear_of() -> None:
    assert lines(is_counted=False) == snapshot(
        [
            "forecast: 6 units, about 8.5 to 59 min, 1.2 to 8.4 M tokens, $1.2 to 7.8 (a guess from sizes; budget 200,000,000 tokens, as the agent does not tell their cost)"
        ]
    )


@pytest.mark.parametrize(
    ("budget", "changes"),
    [
        (allowed(cost=7.0), {}),
        (allowed(tokens=8_000_000), {"cost": None}),
        (allowed(cost=8.0, tokens=8_000_000), {"is_counted": False}),
    ],
)
def test_a_budget_that_may_not_do_is_a_warning(budget: Budget, changes: dict[str, Any]) -> None:
    _, warning = lines(budget, **changes)
    assert warning.startswith("warning: that may be more than the budget of ")


@pytest.mark.parametrize(
    ("budget", "changes"),
    [
        (allowed(cost=8.0, tokens=1), {}),  # where the cost is known, tokens are not bounded
        (allowed(cost=1.0), {"cost": None}),
        (allowed(tokens=1), {"cost": None, "tokens": None}),
        (allowed(tokens=1), {}),
        (Budget(), {}),
        (Budget(), {"cost": None}),
    ],
)
def test_a_budget_that_does_or_that_nobody_can_compare_is_none(
    budget: Budget, changes: dict[str, Any]
) -> None:
    assert len(lines(budget, **changes)) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seconds": Between(3000, 12_345)}, "about 0.83 to 3.4 h"),
        ({"seconds": Between(600, 601)}, "about 10 min"),
        ({"tokens": Between(12_345, 400_000)}, "12 to 400 k tokens"),
        ({"tokens": Between(1e9, 2.3e9)}, "1,000 to 2,300 M tokens"),
        ({"cost": Between(0.0123, 0.2)}, "$0.012 to 0.2"),
    ],
)
def test_numbers_have_two_digits_and_a_unit_that_fits(changes: dict[str, Any], said: str) -> None:
    assert said in lines(**changes)[0]
