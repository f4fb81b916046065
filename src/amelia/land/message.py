"""Writes the text of a landed commit, and reads back who made it.

- The last paragraph holds our trailers and nothing that anybody else wrote: titles come before it, each on a
  line that cannot be taken for a trailer.
- Titles are untrusted: what a terminal would obey is taken out, and a title is one line.
- A hook may have changed the text in between; `sealed` makes sure that the trailers are there at the end.
"""

from collections.abc import Mapping
from unicodedata import category

from amelia.model.commands import Place
from amelia.model.git import ref_component
from amelia.model.plan import Mode, Unit, unit_heading

_LONGEST_SUBJECT = 100
_LONGEST_LINE = 200
_MOST_LINES = 100
_TURN = "Amelia-Turn"
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def trailers(*, run: str, at: Place) -> Mapping[str, str]:
    """Returns what tells a landed commit from every other, and who made it; units are named as in refs."""
    by_hand = {"Amelia-Fixed-By": "person", "Amelia-Reviewed": "no"} if at.by_person else {}
    return {
        "Amelia-Run": ref_component(run),
        "Amelia-Unit": ref_component(at.unit),
        "Amelia-Attempt": str(at.number),
        _TURN: str(at.attempt),
        **by_hand,
    }


def is_landed(text: str, *, run: str, at: Place) -> bool:
    """Says whether a commit with this text is what a turn on a unit, or a person, landed."""
    found, marks = read_trailers(text), trailers(run=run, at=at)
    if _TURN not in found:  # commits of old have the number of the turn as that of the attempt
        found = {**found, _TURN: found.get("Amelia-Attempt", "")}
    return all(found.get(name) == marks[name] for name in ("Amelia-Run", "Amelia-Unit", _TURN))


def unit_message(unit: Unit, *, mode: Mode, goal: str, marks: Mapping[str, str]) -> str:
    """Returns the commit text of a unit: what it is, the titles of its tasks, and the marks as trailers."""
    titles = [piece.title for piece in unit.pieces]
    shown = [f"- {_line(title, _LONGEST_LINE)}" for title in titles[:_MOST_LINES]]
    if len(titles) > _MOST_LINES:
        shown.append(f"- and {len(titles) - _MOST_LINES} more")
    body = "\n".join(shown) if len(titles) > 1 else ""
    is_whole_plan = mode is Mode.SINGLE and unit.piece_of is None
    named = goal if is_whole_plan and goal else unit_heading(unit, mode)
    subject = _line(named, _LONGEST_SUBJECT)
    return sealed("\n\n".join(part for part in (subject, body) if part), marks)


def sealed(text: str, marks: Mapping[str, str]) -> str:
    """Returns a text that ends with the marks as trailers, whatever was done to it."""
    text = text.rstrip()
    found = read_trailers(text)
    if all(found.get(name) == value for name, value in marks.items()):
        return f"{text}\n"
    return f"{text}\n\n" + "".join(f"{name}: {value}\n" for name, value in marks.items())


def read_trailers(text: str) -> Mapping[str, str]:
    """Returns the trailers in the last paragraph of a text, which is never its first."""
    _, blank, last = text.rstrip().rpartition("\n\n")
    pairs = (line.partition(": ") for line in last.splitlines()) if blank else ()
    return {name: value.strip() for name, colon, value in pairs if colon}


def _line(text: str, longest: int) -> str:
    safe = "".join(" " if char.isspace() else char for char in text if char.isspace() or _is_safe(char))
    line = " ".join(safe.split()) or "Untitled"
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _is_safe(char: str) -> bool:
    return category(char) not in _UNSAFE
