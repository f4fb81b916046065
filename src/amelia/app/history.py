"""What runs left behind: which there are, and what their units changed."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from amelia.app.people import standing
from amelia.app.workshops import open_store
from amelia.model import events as ev
from amelia.model.errors import AmeliaError, InternalError, JournalError
from amelia.model.git import CommitId
from amelia.model.journal import Recorded
from amelia.model.plan import UnitId
from amelia.model.proposal import Draft
from amelia.model.state import RunState
from amelia.record.journal import is_driven, read_journal
from amelia.record.runs import RunDirectory, all_runs, begun_journal
from amelia.schedule.draft import fold_draft, is_draft
from amelia.schedule.machine import fold
from amelia.system.git_commands import diff_text

_LONGEST_DIFF = 50_000_000


class UnknownTurnError(AmeliaError):
    """A unit has no such turn."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Known:
    """A run that there is, and where it stands."""

    directory: RunDirectory
    at: datetime
    run: RunState
    is_driven: bool


@dataclass(frozen=True, slots=True)
class KnownDraft:
    """A run that has no approved plan yet, where its draft stands, and since when."""

    directory: RunDirectory
    at: datetime
    draft: Draft
    since: datetime
    is_driven: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A run whose journal cannot be read, and why."""

    directory: RunDirectory
    problem: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """All runs, newest first: those that have started, those without an approved plan, the unreadable."""

    runs: list[Known]
    drafts: list[KnownDraft]
    lost: list[Unreadable]


def take_inventory(home: Path) -> Inventory:
    """Returns all runs that there are; each journal is read once."""
    runs: list[Known] = []
    drafts: list[KnownDraft] = []
    lost: list[Unreadable] = []
    for directory in all_runs(home):
        try:
            found = _known(directory)
        except (JournalError, InternalError) as problem:
            lost.append(Unreadable(directory, str(problem)))
            continue
        if isinstance(found, Known):
            runs.append(found)
        else:
            drafts.append(found)
    runs.sort(key=lambda known: known.at, reverse=True)
    drafts.sort(key=lambda known: known.at, reverse=True)
    return Inventory(runs, drafts, lost)


def _known(directory: RunDirectory) -> Known | KnownDraft:
    past = begun_journal(directory)
    events = [recorded.event for recorded in past]
    if is_draft(events):
        draft, since = fold_draft(events), past[-1].at
        return KnownDraft(directory, past[0].at, draft, since, is_driven(directory.journal))
    run = fold(events)
    return Known(directory, past[0].at, run, is_driven(directory.journal))


def turn_diff(directory: RunDirectory, unit: UnitId, turn: int | None) -> bytes:
    """Returns what a turn on a unit changed; without a number, what was done last, also by a person."""
    facts, past = standing(directory).facts, read_journal(directory.journal)
    turns, last = _turns(past, unit)
    if last is None and unit not in (units := [known.id for known in facts.units]):
        shown = ", ".join(units[:8])
        raise UnknownTurnError(f"run {directory.run} has no unit {unit!r}; it has {shown}")
    found = last if turn is None else turns.get(turn)
    if found is None and turn is not None and turns:
        have = ", ".join(map(str, sorted(turns)))
        raise UnknownTurnError(f"{unit} has no finished turn {turn}; it has {have}")
    if found is None:
        raise UnknownTurnError(f"{unit} has no finished turn", hint=f"amelia status {directory.run}")
    base, commit = found
    return _diff(directory, facts, base=base, commit=commit)


def landed_diff(directory: RunDirectory) -> bytes:
    """Returns all that a run has landed, without its record."""
    facts, past = standing(directory).facts, read_journal(directory.journal)
    landed = [recorded.event.commit for recorded in past if isinstance(recorded.event, ev.UnitLanded)]
    return _diff(directory, facts, base=facts.base, commit=landed[-1]) if landed else b""


def _diff(directory: RunDirectory, facts: ev.RunStarted, *, base: CommitId, commit: CommitId) -> bytes:
    store = open_store(directory, facts)
    # Once the run was cleared away, its commits are in the user's repository.
    where = store.repository if store.git_dir.exists() else store.source.repository
    return diff_text(where, base, commit, limit=_LONGEST_DIFF)


_Work: TypeAlias = tuple[CommitId, CommitId]


def _turns(past: list[Recorded], unit: UnitId) -> tuple[dict[int, _Work], _Work | None]:
    """Returns the base and the snapshot of every turn on a unit that ended, and of what was done last."""
    base: CommitId | None = None
    found: dict[int, _Work] = {}
    last: _Work | None = None
    for recorded in past:
        match recorded.event:
            case ev.UnitStarted(name, _, start) if name == unit:
                base = start
            case ev.UnitRetried(unit=name, base=start) if name == unit:
                base = start
            case ev.AttemptEnded(unit=name, attempt=turn, work=work) if name == unit and base is not None:
                last = found[turn] = base, work.commit
            case ev.UnitFixed(name, work) if name == unit and base is not None:
                last = base, work.commit
            case _:
                pass
    return found, last
