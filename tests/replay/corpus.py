"""Journals of real runs, kept as text for ever; as a program, adds one:

PYTHONPATH=tests python -m replay.corpus RUN/journal.db NAME
"""

import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amelia.model.events import Event
from amelia.model.proposal import Draft
from amelia.model.state import Landed, RunState, Waiting
from amelia.record.codec import decode, plain
from amelia.schedule.draft import fold_draft, is_draft
from amelia.schedule.machine import fold

HERE = Path(__file__).parent
FACTS = ("attempt", "commit", "reason", "detail", "satisfies", "feedback")


@dataclass(frozen=True, slots=True)
class Replay:
    """One journal: what was written, and where it leads."""

    name: str

    @property
    def lines(self) -> Path:
        return HERE / f"{self.name}.jsonl"

    @property
    def expected(self) -> Path:
        return HERE / f"{self.name}.expected.json"

    def events(self) -> list[Event]:
        """Returns the events as they are understood today."""
        rows = [json.loads(line) for line in self.lines.read_text(encoding="utf-8").splitlines()]
        return [decode(row["type"], row["version"], json.dumps(row["body"]).encode()) for row in rows]


def all_replays() -> list[Replay]:
    return [Replay(path.stem) for path in sorted(HERE.glob("*.jsonl"))]


def portrait_of(events: list[Event]) -> dict[str, Any]:
    """Returns where a journal leads, to a run or to the draft of one."""
    return portrait_of_draft(fold_draft(events)) if is_draft(events) else portrait(fold(events))


def portrait_of_draft(draft: Draft) -> dict[str, Any]:
    return {
        "draft": draft.facts.run,
        "is": type(draft.stage).__name__,
        "outcome": str(draft.outcome) if draft.outcome else None,
        "versions": [
            [one.version, one.author.value, len(one.errors), len(one.gaps)] for one in draft.versions
        ],
        "feedback": draft.feedback,
        "tries": draft.tries,
        "wish": draft.wish.value if draft.wish else None,
        "is_paused": draft.is_paused,
    }


def portrait(run: RunState) -> dict[str, Any]:
    """Returns where a run stands, in words that outlive the classes behind them."""
    return {
        "run": repr(run),
        "outcome": str(run.outcome) if run.outcome else None,
        "tip": run.tip,
        "branch": run.branch.value,
        "wish": run.wish.value if run.wish else None,
        "is_paused": run.is_paused,
        "queue": list(run.queue),
        "red": plain(run.red),
        "rulings": [[unit, str(finding), ruling.disposition] for unit, finding, ruling in run.rulings],
        "units": {unit: _portrait_of_unit(state) for unit, state in run.units.items()},
    }


def _portrait_of_unit(state: object) -> dict[str, Any]:
    track = getattr(state, "track", None)
    own = {name: plain(getattr(state, name)) for name in FACTS if hasattr(state, name)}
    turns = {"attempts": state.turns} if isinstance(state, Waiting) else {}
    said = {"accepted": plain(state.accepted)} if isinstance(state, Landed) and state.accepted else {}
    number = {"attempt": track.attempt} if track else {}
    return {"is": type(state).__name__, **turns, **own, **said, **number}


def add(journal: Path, name: str) -> Replay:
    """Writes down a journal, row by row as it is, and where it leads."""
    replay = Replay(name)
    with closing(sqlite3.connect(journal)) as base:
        rows = base.execute("SELECT type, version, body, at FROM events ORDER BY seq").fetchall()
    lines = [
        json.dumps({"type": kind, "version": version, "body": json.loads(body), "at": at}, ensure_ascii=False)
        for kind, version, body, at in rows
    ]
    replay.lines.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    told = json.dumps(portrait_of(replay.events()), ensure_ascii=False, indent=2)
    replay.expected.write_text(f"{told}\n", encoding="utf-8")
    return replay


if __name__ == "__main__":
    add(Path(sys.argv[1]), sys.argv[2])
