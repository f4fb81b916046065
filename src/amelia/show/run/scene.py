"""A run at a moment and the screen it is drawn on: what every part of the drawing looks at.

Clock times are in the zone of the moment, so that a drawing depends on nothing but what it is given.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from amelia.model.plan import Unit, UnitId, unit_label
from amelia.model.standing import UnitStanding
from amelia.model.state import RunState
from amelia.schedule.standing import Blocked, unit_standing
from amelia.show.run.rows import Group
from amelia.show.run.spans import Charset, Line, Span, fitted
from amelia.show.run.times import Timeline

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A run, when it is looked at, and how wide and with which signs it is drawn.

    It is flat if every group is one unit.
    """

    run: RunState
    timeline: Timeline
    now: datetime
    width: int
    charset: Charset
    groups: Sequence[Group]
    is_flat: bool
    blocked: Blocked

    def line(self, *spans: Span) -> Line:
        """Returns a line that fits the screen."""
        return fitted(spans, self.width, self.charset)

    def standing(self, unit: Unit) -> UnitStanding:
        """Returns where a unit stands."""
        return unit_standing(self.run, unit, self.blocked)

    def label(self, unit: UnitId) -> str:
        """Returns what a unit is called: `Phase 2`, `Task 3`, `Plan`."""
        return self.charset.shown(unit_label(unit, self.run.facts.mode))

    def labels(self, units: Sequence[UnitId]) -> str:
        """Returns what units are called, the first few of them."""
        named = ", ".join(self.label(unit) for unit in units[:_MOST_NAMED])
        more = len(units) - _MOST_NAMED
        return f"{named} and {more} more" if more > 0 else named

    def joined(self, parts: Iterable[str]) -> str:
        """Returns the parts that say something, with dots between them."""
        return f" {self.charset.dot} ".join(part for part in parts if part)


def kinds(unit: Unit) -> str:
    """Returns the types of the tasks of a unit, each once."""
    return ", ".join(dict.fromkeys(piece.type for piece in unit.pieces if piece.type))


def clock_time(moment: str, *, now: datetime) -> str:
    """Writes a moment as a time of day, with its date if that is another; nothing if it is no moment."""
    try:
        at = datetime.fromisoformat(moment).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return ""
    return f"{at:%H:%M}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M}"
