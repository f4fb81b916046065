"""Finds the price of an agent's model in the table that comes with the extra `api`.

- The table is the one that was installed; nothing is ever fetched from anywhere.
- A table, provider or model that is not known has no price: that is None, never zero. So is the price behind
  a base URL of somebody's own.
- Prices are those of requests of ordinary length. What is counted is a sum over many requests, and nobody
  knows which of them were so long that the provider asks more.
"""

from functools import cache

from amelia.model.agents import AgentSettings
from amelia.model.prices import Price

_PROVIDERS = {"claude": "anthropic", "codex": "openai"}
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
