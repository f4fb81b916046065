"""Text of plans and agents made safe for a terminal, and words that fit it."""

from unicodedata import category, east_asian_width

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def printable(text: str) -> str:
    """Removes what a terminal would obey instead of showing: control, escape and direction characters."""
    if text.isprintable():
        return text
    return "".join(
        " " if char in "\t\r\n" else char
        for char in text
        if char in "\t\r\n" or category(char) not in _UNSAFE
    )


def width(text: str) -> int:
    """Returns how many columns a text takes on a terminal."""
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def fit(text: str, columns: int) -> str:
    """Cuts a text to a number of columns, with an ellipsis, or fills it up with spaces."""
    if width(text) <= columns:
        return text + " " * (columns - width(text))
    taken, room = "", columns - 1
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        taken += char
    return taken + "…" + " " * (columns - 1 - width(taken))


def counted(number: int, noun: str) -> str:
    """Says how many there are of something: `1 unit`, `2 units`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _columns(char: str) -> int:
    if category(char) in {"Mn", "Me"}:
        return 0
    return 2 if east_asian_width(char) in {"W", "F"} else 1
