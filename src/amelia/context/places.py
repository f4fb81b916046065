"""Where the execution directory of a run is, what it is called, and what lies where in it.

- Its name is made once, when the run begins, from the day, the tracker's id and the goal; nothing of those
  reaches the file system but letters, digits and dashes.
- Numbers that people see start at 1. A task's directory is named after its id, each differently.
"""

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass
from datetime import date
from itertools import count

from amelia.model.git import ref_component
from amelia.model.plan import Mode, UnitId

_OTHER = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_SLUG = 50
_LONGEST_TRACKER = 40


def make_execution_dir_name(day: date, *, tracker: str | None, goal: str, taken: Container[str]) -> str:
    """Returns `<YYYY-MM-DD>-<TRACKER-ID>-<slug>`, with a number behind it where that name is taken."""
    slug = _plain(goal.lower(), _LONGEST_SLUG) or "plan"
    parts = (day.isoformat(), _plain(tracker or "", _LONGEST_TRACKER), slug)
    name = "-".join(part for part in parts if part)
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(free for free in names if free not in taken)


def unit_directory(unit: UnitId, mode: Mode) -> str:
    """Returns the name of a unit's own directory: `phase-2`, `task-3`, or `plan`."""
    if mode is Mode.SINGLE:
        return "plan"
    name = ref_component(unit)
    return name if mode is Mode.PHASED else f"task-{name}"


@dataclass(frozen=True, slots=True)
class Places:
    """The files of an execution directory, as paths below wherever the directory is."""

    directory: str
    mode: Mode

    @property
    def plan(self) -> str:
        """The plan."""
        return f"{self.directory}/plan.md"

    def summary(self, unit: UnitId) -> str:
        """Returns what tells of a unit that landed."""
        return f"{self.directory}/{unit_directory(unit, self.mode)}/summary.md"

    def feedback(self, unit: UnitId) -> str:
        """Returns what tells why attempts of a unit were not accepted."""
        return f"{self.directory}/{unit_directory(unit, self.mode)}/review-feedback.md"


def _plain(text: str, longest: int) -> str:
    """Returns a text as words of plain letters and digits with dashes between, cut at a word's end."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = _OTHER.sub("-", plain).strip("-")
    if len(words) <= longest:
        return words
    cut, dash, _ = words[: longest + 1].rpartition("-")
    return cut if dash else words[:longest]
