"""A journal in memory, held to the same contract as the one on disk.

It keeps what would be written, not the objects it was given: an event that cannot be written and read back
fails here too.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from amelia.model.events import Event
from amelia.model.journal import Recorded, Request, Wanted
from amelia.record.codec import VERSION, decode, encode


class MemoryJournal:
    """The journal of a run that nobody else sees."""

    def __init__(self, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._rows: list[tuple[datetime, str, bytes]] = []
        self._mailbox: dict[int, Wanted] = {}
        self._left = 0

    def read(self) -> list[Recorded]:
        """Returns everything that happened."""
        return [
            Recorded(seq, at, decode(kind, VERSION, body))
            for seq, (at, kind, body) in enumerate(self._rows, start=1)
        ]

    def append(self, events: Sequence[Event], *, answering: Sequence[Request] = ()) -> list[Recorded]:
        """Writes events, all or none, and takes the requests they answer out of the mailbox."""
        at, last = self._now(), len(self._rows)
        self._rows += [(at, *encode(event)) for event in events]
        for request in answering:
            self._mailbox.pop(request.id, None)
        return [Recorded(seq, at, event) for seq, event in enumerate(events, start=last + 1)]

    def requests(self) -> list[Request]:
        """Returns what is in the mailbox."""
        return [Request(number, wanted) for number, wanted in self._mailbox.items()]

    def leave(self, wanted: Wanted) -> None:
        """Puts a wish into the mailbox, as somebody else would."""
        self._left += 1
        self._mailbox[self._left] = wanted
