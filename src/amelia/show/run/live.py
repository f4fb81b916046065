"""The tree of a run on a terminal, redrawn in place while it goes.

- At most eight times a second, once a second if only time passed, and nothing is written that is there.
- The terminal is given back as it was, with the last tree on it, however the run ends.
- Whoever owns the loop calls `update` when something happened and `tick` when time passed; no threads.
"""

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self, TextIO

from amelia.model.state import RunState
from amelia.show.output import safe, sequence
from amelia.show.run.spans import charset_for, painted, text_of
from amelia.show.run.times import Timeline
from amelia.show.run.tree import draw_run

_INTERVAL = timedelta(seconds=1 / 8)
_QUIET_INTERVAL = timedelta(seconds=1)
_MOST_LINES = 500  # of the last tree, which stays; a screen holds fewer
_USUAL_SIZE = os.terminal_size((80, 24))

# Lines that a terminal takes for wider than we do must not wrap, or the next frame would start too low.
_TAKE = sequence("\x1b[?25l") + sequence("\x1b[?7l")
_GIVE_BACK = sequence("\x1b[?7h") + sequence("\x1b[?25h")
_ERASE_LINE, _ERASE_BELOW, _HOME = map(sequence, ("\x1b[K", "\x1b[J", "\x1b[H"))


def can_redraw(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Says whether a stream is a terminal that can be drawn on, watched by a person."""
    return stream.isatty() and environment.get("TERM", "dumb") != "dumb" and not environment.get("CI")


def local_now() -> datetime:
    """Returns the time, in the zone of this machine."""
    return datetime.now().astimezone()


class LiveTree:
    """Draws a run on a terminal, in place, for as long as it is entered as a context."""

    def __init__(
        self, stream: TextIO, *, has_colours: bool = True, now: Callable[[], datetime] = local_now
    ) -> None:
        self._stream = safe(stream)
        self._now = now
        self._paint = painted if has_colours else text_of
        self._charset = charset_for(stream.encoding)
        self._seen: tuple[RunState, Timeline] | None = None
        self._is_changed = False
        self._drawn_at: datetime | None = None
        self._frame: list[str] = []
        self._size: os.terminal_size | None = None

    def __enter__(self) -> Self:
        self._write(_TAKE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._draw(is_last=True)
        finally:
            self._write(_GIVE_BACK)

    def update(self, run: RunState, timeline: Timeline) -> None:
        """Takes note of where the run stands now, and draws it if the last drawing is old enough."""
        self._seen = run, timeline
        self._is_changed = True
        self.tick()

    def tick(self) -> None:
        """Draws the run again if the last drawing is old enough."""
        now = self._now()
        is_changed = self._is_changed or self._terminal_size() != self._size
        interval = _INTERVAL if is_changed else _QUIET_INTERVAL
        # A clock that was set back is no reason to stand still.
        if self._drawn_at is None or not timedelta(0) <= now - self._drawn_at < interval:
            self._drawn_at, self._is_changed = now, False
            self._draw(is_last=False)

    def _draw(self, *, is_last: bool) -> None:
        if self._seen is None:
            return
        run, timeline = self._seen
        size = self._terminal_size()
        lines = draw_run(
            run,
            timeline,
            self._now(),
            width=size.columns,
            height=_MOST_LINES if is_last else size.lines - 1,
            charset=self._charset,
        )
        frame = [self._paint(line) for line in lines]
        if is_last or frame != self._frame or size != self._size:
            end = "\n" if is_last else ""
            text = f"{_ERASE_LINE}\n".join(frame)
            self._write(f"{self._start(size)}{text}{_ERASE_LINE}{end}{_ERASE_BELOW}")
        self._frame, self._size = frame, size

    def _start(self, size: os.terminal_size) -> str:
        """Returns the way to where the frame before began.

        A terminal that changed its size may have broken its lines anew: then the screen is cleared.
        """
        if self._size is not None and size != self._size:
            return f"{_HOME}{_ERASE_BELOW}"
        above = len(self._frame) - 1
        return sequence("\r") + (sequence(f"\x1b[{above}A") if above > 0 else "")

    def _terminal_size(self) -> os.terminal_size:
        size = os.get_terminal_size(self._stream.fileno())
        return size if size.columns and size.lines else _USUAL_SIZE

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
