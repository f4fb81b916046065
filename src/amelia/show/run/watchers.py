"""Who looks on while a run goes: a live tree, a line for every change, JSON, or nobody.

A reader that went away (a closed pipe, a lost terminal) never disturbs the run.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from amelia.model.events import RunFinished, RunStarted
from amelia.model.journal import Recorded
from amelia.model.state import RunState
from amelia.schedule.machine import evolve, fold
from amelia.schedule.questions import awaits_default
from amelia.show.output import safe
from amelia.show.run.events import event_json
from amelia.show.run.lines import draw_change
from amelia.show.run.live import LiveTree, can_redraw, local_now
from amelia.show.run.spans import charset_for, text_of
from amelia.show.run.times import Timeline
from amelia.show.run.tree import draw_run

_WIDTH = 100
_MOST_LINES = 60


class Silent:
    """Shows nothing."""

    def begin(self, past: Sequence[Recorded]) -> None:
        """Takes no note of what happened before."""

    def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
        """Looks away."""

    def tick(self) -> None:
        """Lets time pass."""


class JsonWatcher(Silent):
    """Writes every event as a line of JSON."""

    def __init__(self, stream: TextIO) -> None:
        self._write = tolerant(stream)

    def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
        """Writes the events."""
        for one in recorded:
            told = event_json(one, run=run.facts.run, mode=run.facts.mode)
            self._write(json.dumps(told) + "\n")


class LineWatcher(Silent):
    """Writes a line for every change that a person wants to know of, and the tree when the run is over.

    The line of an event is drawn with the state of the run right after that event.
    """

    _run: RunState

    def __init__(self, stream: TextIO) -> None:
        self._write = tolerant(stream)
        self._charset = charset_for(stream.encoding)
        self._timeline = Timeline()

    def begin(self, past: Sequence[Recorded]) -> None:
        """Takes the times of what happened before, and the state it led to."""
        self._timeline = Timeline().after(past)
        self._run = fold(one.event for one in past)

    def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
        """Writes the lines."""
        self._timeline = self._timeline.after(recorded)
        for one in recorded:
            is_first = isinstance(one.event, RunStarted)
            self._run = fold([one.event]) if is_first else evolve(self._run, one.event)
            if line := draw_change(one, self._run):
                self._write(f"{line}\n")
        self._run = run  # which knows what the draft used
        if run.outcome is not None and any(isinstance(one.event, RunFinished) for one in recorded):
            self._conclude(run)
            if awaits_default(run):
                self._write("waiting until the default answer counts; Ctrl-C leaves the run as it is\n")

    def _conclude(self, run: RunState) -> None:
        tree = draw_run(
            run, self._timeline, local_now(), width=_WIDTH, height=_MOST_LINES, charset=self._charset
        )
        self._write("\n" + "".join(f"{text_of(line)}\n" for line in tree))


class LiveWatcher(Silent):
    """Draws the run as a tree that changes in place."""

    def __init__(self, tree: LiveTree) -> None:
        self._tree = tree
        self._timeline = Timeline()

    def begin(self, past: Sequence[Recorded]) -> None:
        """Takes the times of what happened before."""
        self._timeline = Timeline().after(past)

    def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
        """Draws where the run stands now."""
        self._timeline = self._timeline.after(recorded)
        with suppress(OSError):
            self._tree.update(run, self._timeline)

    def tick(self) -> None:
        """Draws the times that have passed."""
        with suppress(OSError):
            self._tree.tick()


@contextmanager
def watching(stream: TextIO, *, as_json: bool, environment: Mapping[str, str]) -> Generator[Silent]:
    """Gives whoever suits the stream: a live tree on a terminal, else a line for every change, or JSON."""
    if as_json:
        yield JsonWatcher(stream)
    elif not can_redraw(stream, environment):
        yield LineWatcher(stream)
    else:
        with LiveTree(stream, has_colours=not environment.get("NO_COLOR")) as tree:
            yield LiveWatcher(tree)


def tolerant(stream: TextIO) -> Callable[[str], None]:
    """Returns what writes to a stream, and to nobody once the reader has gone."""
    is_gone = False
    written = safe(stream)

    def write(text: str) -> None:
        nonlocal is_gone
        if is_gone:
            return
        try:
            written.write(text)
            written.flush()
        except (OSError, ValueError):
            is_gone = True

    return write
