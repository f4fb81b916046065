"""A draft for those who look on: a line for every change, JSON, or nothing."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TextIO

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.journal import Recorded
from amelia.model.plan import Mode
from amelia.model.proposal import Draft, Drafting
from amelia.show.run.events import event_json
from amelia.show.run.lines import line_of
from amelia.show.run.spans import UNICODE, Charset, charset_for
from amelia.show.run.times import duration
from amelia.show.text import counted

_ERASE = "\r\x1b[2K"


def draw_draft_change(
    recorded: Recorded, run: str, *, charset: Charset = UNICODE, zone: tzinfo | None = None
) -> str | None:
    """Draws what happened to a draft; nothing if nobody cares."""
    text = _text(recorded.event)
    return line_of(recorded.at.astimezone(zone), run, text, charset=charset) if text else None


def _text(event: ev.Event) -> str | None:
    if isinstance(event, dr.DraftEvent):
        return _of_draft(event)
    match event:
        case ev.RunResumed():
            return "resumed"
        case ev.PauseRequested():
            return "pausing: what is under way is finished first"
        case ev.RunPaused():
            return "paused"
        case ev.CancelRequested() | ev.AbortRequested():
            return "stopping"
        case ev.AnswerDelayed(until=until):
            return f"the architect has to wait until {until}"
        case ev.RunFinished(outcome):
            return outcome.in_words
        case _:
            return None


def _of_draft(event: dr.DraftEvent) -> str:
    match event:
        case dr.RunProposed(goal=goal):
            return f"proposed: {goal}"
        case dr.DraftStarted(version):
            return f"the architect writes version {version} of the plan"
        case dr.PlanDrafted(version=version, author=author):
            by = "you" if author is dr.Author.PERSON else f"the {author}"
            found = (
                f", {counted(len(event.problems), 'problem')}: {event.problems[0]}" if event.problems else ""
            )
            return f"version {version} of the plan is there, by {by}{found}"
        case dr.ArchitectFailed(detail=detail):
            return f"the architect gave no valid plan: {detail}"
        case dr.DraftFailed(reason, detail):
            return f"it cannot go on, because {reason.meaning}: {detail}"
        case dr.PlanRejected(version, feedback):
            return f"version {version} was rejected: {feedback}"
        case dr.PlanApproved(version):
            return f"version {version} was approved"
        case dr.PlanHandedOver(version, path):
            return f"version {version} was written to {path}"


class SilentDraft:
    """Shows nothing."""

    def begin(self, past: Sequence[Recorded]) -> None:
        """Takes no note of what happened before."""

    def show(self, recorded: Sequence[Recorded], run: Draft) -> None:
        """Looks away."""

    def tick(self) -> None:
        """Lets time pass."""


class JsonDraft(SilentDraft):
    """Writes every event as a line of JSON."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def show(self, recorded: Sequence[Recorded], run: Draft) -> None:
        """Writes the events."""
        for one in recorded:
            told = event_json(one, run=run.facts.run, mode=run.facts.mode or Mode.TASKS)
            self._write(json.dumps(told) + "\n")


class LineDraft(SilentDraft):
    """Writes a line for every change; on a terminal also how long the architect has been at work."""

    def __init__(self, write: Callable[[str], None], stream: TextIO) -> None:
        self._write = write
        self._charset = charset_for(stream.encoding)
        self._is_live = stream.isatty()
        self._since: datetime | None = None
        self._shown = ""

    def show(self, recorded: Sequence[Recorded], run: Draft) -> None:
        """Writes the lines."""
        for one in recorded:
            if line := draw_draft_change(one, run.facts.run, charset=self._charset):
                self._write(f"{_ERASE if self._shown else ''}{line}\n")
                self._shown = ""
        is_writing = isinstance(run.stage, Drafting) and run.stage.is_busy
        self._since = (self._since or datetime.now(UTC)) if is_writing else None

    def tick(self) -> None:
        """Shows that time passes."""
        if not self._is_live or self._since is None:
            return
        shown = f"  the architect has been at work for {duration(datetime.now(UTC) - self._since)}"
        if shown != self._shown:
            self._shown = shown
            self._write(f"{_ERASE}{shown}")
