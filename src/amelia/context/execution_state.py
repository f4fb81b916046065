"""How far a run is, as plain data for whoever reads `execution-state.json`; no decision depends on it.

Phases and tasks are counted from 1.
"""

from dataclasses import dataclass

from amelia.context.chronicle import Chapter, Chronicle
from amelia.context.places import unit_directory


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskState:
    """Where one task of a unit stands."""

    id: str
    title: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRecord:
    """Where one unit stands, and the commit it is if it has landed."""

    id: str
    title: str
    directory: str
    status: str
    attempts: int
    commit: str | None = None
    reason: str | None = None
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


def execution_state(chronicle: Chronicle) -> ExecutionState:
    """Returns where a run stands, as its chronicle tells it."""
    facts = chronicle.facts
    units = tuple(_unit(chapter, chronicle) for chapter in chronicle.chapters.values())
    return ExecutionState(
        run=facts.run,
        goal=facts.goal,
        mode=facts.mode.value,
        plan_hash=facts.plan_hash,
        base=facts.base,
        tip=chronicle.tip,
        status=run_status(chronicle),
        completed=sum(unit.status == "completed" for unit in units),
        units=units,
    )


def run_status(chronicle: Chronicle) -> str:
    """Returns in one word, or two, how a run stands."""
    return "running" if chronicle.outcome is None else str(chronicle.outcome)


def unit_status(chapter: Chapter) -> str:
    """Returns in one word how a unit stands."""
    if chapter.landing is not None:
        return "completed"
    if chapter.skipped is not None:
        return "skipped"
    if chapter.stopped is not None:
        return "failed"
    if chapter.is_running:
        return "retrying" if chapter.tried else "running"
    return "pending"


def _unit(chapter: Chapter, chronicle: Chronicle) -> UnitRecord:
    unit = chapter.unit
    status = unit_status(chapter)
    return UnitRecord(
        id=unit.id,
        title=unit.title,
        directory=unit_directory(unit.id, chronicle.facts.mode),
        status=status,
        attempts=len(chapter.tried),
        commit=chapter.landing.commit if chapter.landing is not None else None,
        reason=chapter.stopped[0].value if chapter.stopped is not None else None,
        subtasks=tuple(
            SubtaskState(id=piece.id, title=piece.title, status=chapter.subtasks.get(piece.id, status))
            for piece in unit.pieces
        ),
    )
