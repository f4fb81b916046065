"""Text of others inside of ours: between fences that it cannot close, or on one line."""

import re

_TICK_RUN = re.compile("`+")


def fenced(text: str, language: str = "") -> str:
    """Returns text as a block that it cannot close, whatever it holds."""
    longest = max(map(len, _TICK_RUN.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def one_line(text: str) -> str:
    """Returns a text of any shape as one line."""
    return " ".join(text.split())
