"""What a run will probably take: from sizes, or from what was before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.model.agents import Usage
from amelia.model.plan import Complexity, Task, TaskId, Unit, UnitId
from amelia.model.prices import Price
from amelia.schedule.forecast import (
    FEWEST,
    Between,
    Experience,
    Pace,
    forecast,
    guessed_pace,
    learned_pace,
    work_of,
)

CHEAP = Price(fresh=1e-6, cached=1e-7, written=1e-6, output=1e-5)
DEAR = Price(fresh=2e-6, cached=2e-7, written=2e-6, output=2e-5)
STEADY = Pace(seconds=Between(10, 10), tokens=Between(100, 200), cost=Between(1, 2), rests_on=7)


def unit(name: str, *needs: str, score: float = 0.0, group: int = 1, files: tuple[str, ...] = ("a",)) -> Unit:
    piece = Task(id=TaskId(name), title=name, complexity=Complexity(file_scope=score), files_to_modify=files)
    return Unit(UnitId(name), name, (piece.id,), tuple(map(UnitId, needs)), group, (piece,))


def chain(length: int) -> list[Unit]:
    return [
        unit(str(number), *([str(number - 1)] if number else []), group=number + 1)
        for number in range(length)
    ]


def experiences(*taken: tuple[float, Usage | None]) -> list[Experience]:
    return [Experience(2.0, seconds, usage) for seconds, usage in taken]


def test_every_unit_is_work_and_a_larger_one_is_more() -> None:
    assert work_of(unit("1", score=3.0)) == work_of(unit("1")) + 3.0 > 3.0


def test_one_after_the_other_takes_the_sum() -> None:
    units = [unit("1", score=2.0), unit("2")]
    seen = forecast(units, workers=1, pace=STEADY)
    whole = work_of(units[0]) + work_of(units[1])
    assert seen.units == 2
    assert seen.seconds == Between(10 * whole, 10 * whole)
    assert seen.tokens == Between(100 * whole, 200 * whole)
    assert seen.cost == Between(whole, 2 * whole)
    assert seen.rests_on == 7


def test_units_side_by_side_take_less_time_and_use_as_much() -> None:
    units = [unit(str(number)) for number in range(4)]
    one, two = (forecast(units, workers=workers, pace=STEADY) for workers in (1, 2))
    assert two.seconds.low == one.seconds.low / 2
    assert two.seconds.low < two.seconds.high < one.seconds.high
    assert (two.tokens, two.cost) == (one.tokens, one.cost)


def test_a_chain_is_not_shortened_by_workers() -> None:
    one, many = (forecast(chain(5), workers=workers, pace=STEADY) for workers in (1, 5))
    assert many.seconds == one.seconds


def test_a_unit_that_declares_no_files_runs_alone() -> None:
    units = [unit(str(number), files=()) for number in range(4)]
    one, many = (forecast(units, workers=workers, pace=STEADY) for workers in (1, 4))
    assert many.seconds == one.seconds


@given(st.lists(st.tuples(st.floats(0, 13), st.booleans(), st.booleans()), max_size=8), st.integers(1, 8))
def test_no_forecast_is_longer_than_one_after_the_other_or_shorter_than_shared_out(
    drawn: list[tuple[float, bool, bool]], workers: int
) -> None:
    units = [
        unit(
            str(number),
            *([str(number - 1)] if number and needs else []),
            score=score,
            group=number + 1,
            files=("a",) * has_files,
        )
        for number, (score, needs, has_files) in enumerate(drawn)
    ]
    whole = 10 * sum(map(work_of, units))
    seconds = forecast(units, workers=workers, pace=STEADY).seconds
    assert whole / workers <= seconds.low * 1.0001
    assert seconds.low <= seconds.high * 1.0001
    assert seconds.high <= whole * 1.0001


def test_a_guess_says_so_and_knows_no_cost_without_a_price() -> None:
    pace = guessed_pace(attempts=5, prices=())
    assert pace.rests_on == 0
    assert pace.tokens is not None
    assert pace.cost is None
    assert forecast([unit("1")], workers=1, pace=pace).cost is None


def test_who_may_try_again_may_take_longer() -> None:
    once, often = (guessed_pace(attempts=attempts, prices=()) for attempts in (1, 5))
    assert often.seconds == Between(once.seconds.low, 2 * once.seconds.high)
    assert once.tokens is not None
    assert often.tokens == Between(once.tokens.low, 2 * once.tokens.high)


def test_agents_of_different_prices_cost_from_the_least_to_the_most() -> None:
    cheap, dear, both = (
        guessed_pace(attempts=2, prices=prices).cost for prices in ([CHEAP], [DEAR], [DEAR, CHEAP])
    )
    assert cheap is not None
    assert dear is not None
    assert both == Between(cheap.low, dear.high)
    assert dear.low == pytest.approx(2 * cheap.low)
    assert 0 < cheap.low < cheap.high


def test_what_was_before_counts_for_more_than_a_guess() -> None:
    past = experiences(*((seconds, Usage(round(seconds), 0, seconds / 100)) for seconds in (10, 20, 30)))
    pace = learned_pace(
        [*past, Experience(2.0, 40, Usage(40, 0, 0.4)), Experience(1.0, 500, Usage(500, 0, 5.0))]
    )
    assert pace is not None
    assert pace.seconds == Between(10, 20)  # for a point; neither the quickest quarter nor the slowest
    assert pace.tokens == Between(10, 20)
    assert pace.cost is not None
    assert (pace.cost.low, pace.cost.high) == pytest.approx((0.1, 0.2))
    assert pace.rests_on == 5


def test_a_few_units_tell_nothing() -> None:
    assert learned_pace(experiences(*[(1.0, None)] * (FEWEST - 1))) is None
    assert learned_pace(experiences(*[(1.0, None)] * FEWEST)) is not None


def test_what_agents_did_not_tell_is_unknown() -> None:
    silent = learned_pace(experiences(*[(1.0, None)] * FEWEST))
    assert silent is not None
    assert (silent.tokens, silent.cost) == (None, None)
    assert forecast([unit("1")], workers=1, pace=silent).tokens is None
    unpriced = learned_pace(experiences(*[(1.0, Usage(1, 1, 1.0))] * FEWEST, (1.0, Usage(1, 1))))
    assert unpriced is not None
    assert unpriced.tokens is not None
    assert unpriced.cost is None
