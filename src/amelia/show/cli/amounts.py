"""Amounts on the command line: money and tokens, within bounds, and never not a number."""

import math
from typing import Any

import click


class _Money(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - as click has it
        """Reads an amount that can be compared with others."""
        amount = super().convert(value, param, ctx)
        if math.isnan(amount):
            self.fail(f"{value} is not an amount", param, ctx)
        return amount


MONEY = _Money(0.001, 100_000)
TOKENS = click.IntRange(1, 1_000_000_000_000)
