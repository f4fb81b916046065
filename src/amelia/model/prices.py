"""What the tokens of a model cost."""

from dataclasses import dataclass

from amelia.model.agents import Usage

_DIGITS = 9  # of an amount of money, so that a sum of small ones is not full of noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one token costs in dollars: given anew, read from a cache, written into one, or answered."""

    fresh: float
    cached: float
    written: float
    output: float

    def cost(self, usage: Usage, *, cached: int = 0, written: int = 0) -> float:
        """Returns what tokens cost; `cached` and `written` are parts of its input, and cut to it."""
        cached = min(cached, usage.input_tokens)
        written = min(written, usage.input_tokens - cached)
        fresh = usage.input_tokens - cached - written
        tokens_in = fresh * self.fresh + cached * self.cached + written * self.written
        return round(tokens_in + usage.output_tokens * self.output, _DIGITS)
