"""A forecast in words: one line, and a warning where the budget may not do."""

from collections.abc import Iterator

from amelia.model.policy import Budget
from amelia.schedule.forecast import Between, Forecast

_MINUTE, _HOUR = 60, 3600
_THOUSAND, _MILLION = 1_000, 1_000_000
_LONG = 2 * _HOUR


def forecast_lines(forecast: Forecast, budget: Budget) -> Iterator[str]:
    """Yields what a run will probably take, and what that rests on; then whether the budget may not do."""
    parts = [f"{forecast.units} unit{'s' if forecast.units > 1 else ''}", f"about {_time(forecast.seconds)}"]
    if forecast.tokens is not None:
        parts.append(_tokens(forecast.tokens))
    if forecast.cost is not None:
        parts.append(_money(forecast.cost))
    allowed, is_enough = _compare(forecast, budget)
    grounds = [_grounds(forecast), *([f"budget {allowed}{_why_tokens(forecast)}"] if allowed else [])]
    yield f"forecast: {', '.join(parts)} ({'; '.join(grounds)})"
    if not is_enough:
        yield f"warning: that may be more than the budget of {allowed}; then the run halts until it gets more"


def _grounds(forecast: Forecast) -> str:
    count = forecast.rests_on
    return f"from {count} units that landed here before" if count else "a guess from sizes"


def _why_tokens(forecast: Forecast) -> str:
    """Says why it is tokens that are bounded, where it is."""
    if forecast.cost is None:
        return ", as their cost is not known"
    return "" if forecast.is_counted else ", as the agent does not tell their cost"


def _compare(forecast: Forecast, budget: Budget) -> tuple[str, bool]:
    """Returns what the run may use, as far as it bounds this forecast, and whether that is surely enough."""
    if forecast.cost is not None and forecast.is_counted:
        most = budget.run.cost
        return (f"${most:g}", forecast.cost.high <= most) if most is not None else ("", True)
    if forecast.tokens is not None and budget.run.tokens is not None:
        most = budget.run.tokens
        return f"{most:,} tokens", forecast.tokens.high <= most
    return "", True


def _time(seconds: Between) -> str:
    if seconds.high >= _LONG:
        return f"{_range(seconds.times(1 / _HOUR))} h"
    return f"{_range(seconds.times(1 / _MINUTE))} min"


def _tokens(tokens: Between) -> str:
    if tokens.high >= _MILLION:
        return f"{_range(tokens.times(1 / _MILLION))} M tokens"
    return f"{_range(tokens.times(1 / _THOUSAND))} k tokens"


def _money(cost: Between) -> str:
    return f"${_range(cost)}"


def _range(value: Between) -> str:
    low, high = (_number(bound) for bound in (value.low, value.high))
    return high if low == high else f"{low} to {high}"


def _number(value: float) -> str:
    """Writes a number as exactly as a guess may be: with two digits."""
    return f"{float(f'{value:.2g}'):,.15g}"
