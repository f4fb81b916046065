"""How far a run is, as plain data for whoever reads `execution-state.json`; no decision depends on it.

Phases and tasks are counted from 1.
"""

from dataclasses import dataclass

from amelia.context.chronicle import Chapter, Chronicle
from amelia.context.places import unit_directory
from amelia.model.plan import Mode
from amelia.model.standing import RunStanding, UnitStanding, UnitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskState:
    """Where one task of a unit stands; it is accepted once its unit has landed, reported or `unreported`."""

    id: str
    title: str
    status: str
    accepted: bool = False
    unreported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRecord:
    """Where one unit stands, and the commit it is if it has landed; `by_person` was done by hand."""

    id: str
    title: str
    directory: str
    status: str
    attempts: int
    iterations: int = 0
    turns: int = 0
    commit: str | None = None
    reason: str | None = None
    blocked_by: tuple[str, ...] = ()
    by_person: bool = False
    reviewed: bool = False
    subtasks: tuple[SubtaskState, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionState:
    """Where a run stands."""

    run: str
    goal: str
    mode: str
    plan_hash: str
    base: str
    tip: str
    status: str
    completed: int
    units: tuple[UnitRecord, ...]
    format: int = 1


def execution_state(chronicle: Chronicle, standing: RunStanding) -> ExecutionState:
    """Returns where a run stands."""
    facts = chronicle.facts
    units = tuple(
        _unit(chapter, standing.units[unit], mode=facts.mode) for unit, chapter in chronicle.chapters.items()
    )
    return ExecutionState(
        run=facts.run,
        goal=facts.goal,
        mode=facts.mode.value,
        plan_hash=facts.plan_hash,
        base=facts.base,
        tip=chronicle.tip,
        status=standing.status,
        completed=sum(unit.commit is not None for unit in units),
        units=units,
    )


def _unit(chapter: Chapter, standing: UnitStanding, *, mode: Mode) -> UnitRecord:
    unit, counters = chapter.unit, standing.counters
    return UnitRecord(
        id=unit.id,
        title=unit.title,
        directory=unit_directory(unit.id, mode),
        status=standing.status.value,
        attempts=counters.attempts,
        iterations=counters.iterations,
        turns=counters.turns,
        commit=chapter.landing.commit if chapter.landing is not None else None,
        reason=standing.reason.value if standing.reason is not None else None,
        blocked_by=standing.blocked_by,
        by_person=standing.by_person,
        reviewed=standing.is_reviewed,
        subtasks=tuple(
            SubtaskState(
                id=piece.id,
                title=piece.title,
                status=standing.subtasks.get(piece.id, standing.status).value,
                accepted=standing.status is UnitStatus.COMPLETED,
                unreported=piece.id in standing.unreported,
            )
            for piece in unit.pieces
        ),
    )
