"""What a run will probably take, before it starts: time, tokens and money, each between two bounds.

- It is a guess, and says what it rests on: units that landed in the same repository before, or else the
  constants below.
- What nobody knows is None, never zero.
- The work of a unit is a share that every unit has, and its score; everything else is counted for that.
"""

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from amelia.model.agents import Usage
from amelia.model.plan import Unit, UnitId
from amelia.model.prices import Price

FEWEST = 3
"""How many units must have landed before what they took counts for more than a guess."""

_FOR_BEING_A_UNIT = 4.0  # points: two sessions are begun, the tests run, and a review is written
_MOST_GUESSED_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Between:
    """A number that is not known better than this."""

    low: float
    high: float

    def times(self, factor: float) -> "Between":
        """Returns so many of them."""
        return Between(self.low * factor, self.high * factor)


# For each point of work. One number was measured: Claude Code sends 20,000 tokens with its first request, and
# all of them again, with what it has read since, with every other. The rest is guessed until runs tell more:
# from two requests of 20,000 tokens and six seconds to four of 30,000 tokens and twenty seconds.
_SECONDS = Between(12, 80)
_TOKENS = Between(40_000, 120_000)
# Most of what is sent was sent before, and little is answered to it.
_CACHED_SHARE = 0.9
_OUTPUT_SHARE = 0.015


@dataclass(frozen=True, slots=True)
class Experience:
    """How much work a unit was, and what it took until it landed; `usage` is None if nobody told."""

    work: float
    seconds: float
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one point of work takes; it rests on so many units that landed, on none if it is a guess.

    `is_counted` says whether a run will be told the cost, so that a bound of money holds.
    """

    seconds: Between
    tokens: Between | None
    cost: Between | None
    rests_on: int = 0
    is_counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a run of so many units will probably take; `rests_on` and `is_counted` are those of its pace."""

    units: int
    seconds: Between
    tokens: Between | None
    cost: Between | None
    rests_on: int
    is_counted: bool = True


def work_of(unit: Unit) -> float:
    """Returns how much work a unit is, in points."""
    return _FOR_BEING_A_UNIT + sum(piece.complexity.total for piece in unit.pieces)


def guessed_pace(*, attempts: int, prices: Collection[Price]) -> Pace:
    """Guesses what work takes, at most with a second attempt; its cost is known where prices are."""
    most = min(attempts, _MOST_GUESSED_ATTEMPTS)
    tokens = Between(_TOKENS.low, _TOKENS.high * most)
    return Pace(
        seconds=Between(_SECONDS.low, _SECONDS.high * most),
        tokens=tokens,
        cost=Between(
            min(_cost(price, tokens.low) for price in prices),
            max(_cost(price, tokens.high) for price in prices),
        )
        if prices
        else None,
    )


def learned_pace(past: Sequence[Experience]) -> Pace | None:
    """Returns what work took in the past, the middle half of it; None if that is too little to tell."""
    seconds = _middle((unit.seconds, unit.work) for unit in past)
    if seconds is None:
        return None
    used = [(unit.usage, unit.work) for unit in past if unit.usage is not None]
    paid = [(usage.cost, work) for usage, work in used if usage.cost is not None]
    return Pace(
        seconds=seconds,
        tokens=_middle((usage.tokens, work) for usage, work in used),
        cost=_middle(paid) if len(paid) == len(used) else None,
        rests_on=len(past),
    )


def forecast(units: Sequence[Unit], *, workers: int, pace: Pace) -> Forecast:
    """Returns what units will probably take, so many of them side by side."""
    whole = sum(map(work_of, units))
    alone = sum(work_of(unit) for unit in units if not all(piece.files for piece in unit.pieces))
    chain = max(_chains(units).values(), default=0.0)
    shortest = max(chain, alone + (whole - alone) / workers)
    # While a worker has nothing to do, a unit of every longest chain is under way, or one that runs alone.
    longest = min(whole, alone + chain + (whole - chain) / workers)
    return Forecast(
        units=len(units),
        seconds=Between(pace.seconds.low * shortest, pace.seconds.high * longest),
        tokens=pace.tokens.times(whole) if pace.tokens else None,
        cost=pace.cost.times(whole) if pace.cost else None,
        rests_on=pace.rests_on,
        is_counted=pace.is_counted,
    )


def _cost(price: Price, tokens: float) -> float:
    output = round(tokens * _OUTPUT_SHARE)
    usage = Usage(round(tokens) - output, output)
    return price.cost(usage, cached=round(usage.input_tokens * _CACHED_SHARE))


def _middle(taken: Iterable[tuple[float, float]]) -> Between | None:
    """Returns the quartiles around the median of what was taken for a point of work."""
    each = [amount / work for amount, work in taken]
    if len(each) < FEWEST:
        return None
    low, _, high = statistics.quantiles(each, n=4, method="inclusive")
    return Between(low, high)


def _chains(units: Iterable[Unit]) -> Mapping[UnitId, float]:
    """Returns the work of the longest chain that ends with each unit."""
    longest: dict[UnitId, float] = {}
    for unit in sorted(units, key=lambda unit: unit.group):
        before = max((longest.get(need, 0.0) for need in unit.depends_on), default=0.0)
        longest[unit.id] = before + work_of(unit)
    return longest
