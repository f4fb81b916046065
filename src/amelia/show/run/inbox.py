"""Everything that waits for a person, of all runs: why, since when, what it blocks, and what can be done.

An item is called after its run, or after its run and its unit: `RUN`, `RUN/UNIT`. What can be done comes
from where `status` has it, so that no two places offer different things.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from amelia.app.history import Known, KnownDraft
from amelia.model.outcome import Outcome, Reason
from amelia.model.plan import UnitId
from amelia.model.proposal import Proposed, Stopped
from amelia.model.questions import Question
from amelia.model.state import Landed, Parked, RunState, Skipped
from amelia.schedule.standing import Blocked, blocked_units
from amelia.show.draft import choices
from amelia.show.run.standing import Exit, exits_of, exits_of_run, is_settled, question_json
from amelia.show.run.times import Timeline, instant


class Kind(StrEnum):
    """What kind of thing waits for a person."""

    APPROVAL = "approval"
    QUESTION = "question"
    LOGIN = "login"
    PARKED = "parked"
    BLOCKED = "blocked"
    BUDGET = "budget"
    BRANCH = "branch"
    DELIVERY = "delivery"
    STOPPED = "stopped"


_PAUSED = "it was stopped"
_KINDS = {
    Reason.QUESTION: Kind.QUESTION,
    Reason.AUTH: Kind.LOGIN,
    Reason.BUDGET: Kind.BUDGET,
    Reason.BRANCH_RED: Kind.BRANCH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that waits for a person."""

    kind: Kind
    run: str
    unit: UnitId | None = None
    goal: str
    repository: str
    why: str
    detail: str = ""
    question: Question | None = None
    blocks: tuple[UnitId, ...] = ()
    since: datetime | None = None
    choices: tuple[Exit, ...] = ()

    @property
    def id(self) -> str:
        """What `amelia answer` calls it."""
        return self.run if self.unit is None else f"{self.run}/{self.unit}"


def items_of(known: Known, timeline: Timeline) -> Iterator[Item]:
    """Yields what of a run waits for a person."""
    run = known.run
    if is_settled(run):
        return
    blocked = blocked_units(run)
    parked = [unit for unit in run.open if isinstance(run.units[unit], Parked)]
    for unit in parked:
        state = run.units[unit]
        assert isinstance(state, Parked)
        yield _unit_item(
            run, unit, state, since=timeline.of(unit).ended_at, choices=exits_of(run, unit, blocked)
        )
    if not parked and run.outcome is not None:
        yield from _blocked_items(run, blocked, timeline)
    if ways := exits_of_run(run):
        yield _run_item(run, ways, since=timeline.finished_at)


def draft_items(known: KnownDraft) -> Iterator[Item]:
    """Yields what of a plan that is not approved waits for a person."""
    draft, facts = known.draft, known.draft.facts
    match draft.stage, draft.outcome:
        case Stopped(reason, detail), Outcome(is_final=False):
            why, kind = reason.meaning, _KINDS.get(reason, Kind.STOPPED)
        case Proposed(), Outcome(is_final=False, reason=Reason() as reason):
            why, kind = f"version {draft.version}: {reason.meaning}", Kind.APPROVAL
            detail = "\n".join(draft.newest.problems) if draft.newest is not None else ""
        case _, None if draft.is_paused:
            why, kind, detail = _PAUSED, Kind.STOPPED, ""
        case _:
            return
    yield Item(
        kind=kind,
        run=facts.run,
        goal=facts.goal,
        repository=facts.repository,
        why=why,
        detail=detail,
        since=known.since,
        choices=tuple(choices(draft)),
    )


def _unit_item(
    run: RunState, unit: UnitId, state: Parked, *, since: datetime | None, choices: tuple[Exit, ...]
) -> Item:
    return Item(
        kind=_KINDS.get(state.reason, Kind.PARKED),
        run=run.facts.run,
        unit=unit,
        goal=run.facts.goal,
        repository=run.facts.repository,
        why=state.reason.meaning,
        detail=state.detail,
        question=state.asking.question if state.asking is not None else None,
        blocks=_behind(run, unit),
        since=since,
        choices=choices,
    )


def _blocked_items(run: RunState, blocked: Blocked, timeline: Timeline) -> Iterator[Item]:
    for unit, culprits in blocked.items():
        if choices := exits_of(run, unit, blocked):
            yield Item(
                kind=Kind.BLOCKED,
                run=run.facts.run,
                unit=unit,
                goal=run.facts.goal,
                repository=run.facts.repository,
                why=f"it needs {', '.join(culprits)}, which was skipped",
                blocks=_behind(run, unit),
                since=timeline.finished_at,
                choices=choices,
            )


def _run_item(run: RunState, ways: tuple[Exit, ...], *, since: datetime | None) -> Item:
    if (refused := run.delivery.refused) is not None:
        return Item(
            kind=Kind.DELIVERY,
            run=run.facts.run,
            goal=run.facts.goal,
            repository=run.facts.repository,
            why="its branch was not delivered",
            detail=refused.detail,
            since=since,
            choices=ways,
        )
    reason = run.outcome.reason if run.outcome is not None else None
    left = (unit for unit, state in run.units.items() if not isinstance(state, Landed | Skipped))
    return Item(
        kind=_KINDS.get(reason, Kind.STOPPED) if reason is not None else Kind.STOPPED,
        run=run.facts.run,
        goal=run.facts.goal,
        repository=run.facts.repository,
        why=reason.meaning if reason is not None else _PAUSED,
        detail=run.branch_feedback,
        blocks=tuple(left),
        since=since,
        choices=ways,
    )


def _behind(run: RunState, unit: UnitId) -> tuple[UnitId, ...]:
    """Returns the units that cannot start before this one is done, near or far."""
    behind: dict[UnitId, None] = {}
    for other in run.facts.units:
        if any(need == unit or need in behind for need in other.depends_on):
            behind[other.id] = None
    return tuple(behind)


def inbox_json(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Returns items with nothing in them but what JSON knows."""
    return [
        {
            "id": item.id,
            "kind": item.kind,
            "run": item.run,
            "unit": item.unit,
            "goal": item.goal,
            "repository": item.repository,
            "why": item.why,
            "detail": item.detail,
            "question": question_json(item.question),
            "blocks": list(item.blocks),
            "since": None if item.since is None else instant(item.since),
            "choices": [{"command": way.command, "effect": way.effect} for way in item.choices],
        }
        for item in items
    ]
