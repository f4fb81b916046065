"""On which line of a TOML file a key stands, as far as its lines tell.

Only for people to look at; the values are read by a parser. A key that is written in an unusual way has no
line, or that of the table it is in.
"""

import re
from collections.abc import Mapping

_HEADER = re.compile(r"\s*\[([\w.\s\"'-]{1,200})\]")
_KEY = re.compile(r"\s*([\w.\"'-]{1,200})\s*=")
_AROUND = " \t\"'"


def key_lines(text: str) -> Mapping[str, int]:
    """Returns the line of every key and every table, by dotted key."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = _dotted(header[1])
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            name = _dotted(key[1])
            lines.setdefault(f"{table}.{name}" if table else name, number)
    return lines


def _dotted(name: str) -> str:
    """Returns a name without the quotes and spaces that TOML allows in it."""
    return ".".join(part.strip(_AROUND) for part in name.split("."))
