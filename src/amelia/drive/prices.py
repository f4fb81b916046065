"""Finds the price of an agent's model in the table that comes with the extra `api`.

- Of the models that Claude and Codex usually take, prices are known without it, for forecasts.
- The table is the one that was installed; nothing is ever fetched from anywhere.
- A table, provider or model that is not known has no price: that is None, never zero. So is the price behind
  a base URL of somebody's own.
- Prices are those of requests of ordinary length. What is counted is a sum over many requests, and nobody
  knows which of them were so long that the provider asks more.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from amelia.drive.models import full_name, usual_model
from amelia.model.agents import AgentSettings
from amelia.model.prices import Price

_PROVIDERS = {"claude": "anthropic", "codex": "openai"}
USUAL = {
    ("claude", "claude-opus-5-5"): Price(fresh=4.0e-6, cached=0.2e-6, written=5.0e-6, output=20.0e-6),
    ("claude", "claude-sonnet-5-5"): Price(fresh=2.0e-6, cached=0.1e-6, written=2.5e-6, output=10.0e-6),
    ("claude", "claude-haiku-5-5"): Price(fresh=0.1e-6, cached=0.01e-6, written=0.125e-6, output=0.5e-6),
    ("codex", "gpt-6.1-sol"): Price(fresh=2.0e-6, cached=0.1e-6, written=2.5e-6, output=10.0e-6),
}
"""Prices of the models that agents take by themselves, as the table has them."""
_SAMPLE = 1000  # tokens; far below what any provider calls long


def price_of(driver: str, settings: AgentSettings) -> Price | None:
    """Returns what the model of an agent costs; None if nobody knows."""
    if settings.model is None or settings.base_url is not None:
        return None
    if driver == "api":
        provider, _, model = settings.model.partition(":")
        return _look_up(provider, model)
    provider = _PROVIDERS.get(driver)
    return None if provider is None else _look_up(provider, settings.model)


def likely_price(agent: AgentSettings) -> Price | None:
    """Returns what the model costs that an agent will probably take; for forecasts, not for accounts."""
    model = usual_model(agent)
    if model is None or agent.base_url is not None:
        return None
    name = full_name(agent.driver, model.name)
    found = price_of(agent.driver, replace(agent, model=name))
    return USUAL.get((agent.driver, name)) if found is None else found


def prices_of(driver: str) -> Callable[[str], Price | None]:
    """Returns a function from the name of a model, as the agent tells it, to its price."""
    provider = _PROVIDERS[driver]
    _look_up(provider, "")  # loads the table
    return lambda model: _look_up(provider, model)


@cache
def _look_up(provider: str, model: str) -> Price | None:
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - it may be missing, and takes its time
    except ImportError:
        return None

    def each(**tokens: int) -> float:
        return float(calc_price(Usage(**tokens), model, provider_id=provider).total_price) / _SAMPLE

    try:
        price = Price(
            fresh=each(input_tokens=_SAMPLE),
            cached=each(input_tokens=_SAMPLE, cache_read_tokens=_SAMPLE),
            written=each(input_tokens=_SAMPLE, cache_write_tokens=_SAMPLE),
            output=each(output_tokens=_SAMPLE),
        )
    except (LookupError, ValueError):
        return None
    return price if price.fresh and price.output else None
