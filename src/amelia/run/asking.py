"""One answer of an agent: its turn, and what is done when that gives no valid answer.

- An answer counts only if it is exactly what was asked for. An agent that ended well without one is asked
  for it once more, in the same session; after that there is none.
- A session that is gone is replaced by a fresh one that is told everything, and the journal says so.
- Where an agent has no right to write, a changed file makes its turn a failed one.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from anyio import to_thread

from amelia.context.prompts import repair_prompt
from amelia.context.texts import Texts
from amelia.judge.answers import Invalid
from amelia.judge.written import last_valid, only_valid
from amelia.model import events as ev
from amelia.model.agents import (
    UNBOUNDED,
    AgentEvent,
    Agents,
    AgentSettings,
    Allowance,
    Clocks,
    Ending,
    Role,
    SessionId,
    SessionStarted,
    Spent,
    TurnEnded,
    TurnSpec,
    Usage,
    Used,
    total,
)
from amelia.model.commands import Place
from amelia.model.git import ref_component
from amelia.model.plan import UnitId
from amelia.model.walls import Wall
from amelia.record.runs import RunDirectory
from amelia.run.faults import MENDED_BY_PERSON
from amelia.system.git_commands import untracked
from amelia.system.git_places import Lane
from amelia.workspace.pipes import remove_pipes

A = TypeVar("A")
Tell: TypeAlias = Callable[[ev.Event], None]
"""Has something written down while a step is still under way."""

_SHOWN = 5
_DECIDING = frozenset({Role.REVIEWER, Role.EVALUATOR})
ENDED_WELL = frozenset({Ending.OK, Ending.NO_REPORT})
"""How a turn ends that went well, with a report or without one."""

_NOT_ITS_FAULT = frozenset({Ending.LIMITED, Ending.OUT_OF_BUDGET, *MENDED_BY_PERSON})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Desk:
    """Where the agents of a run are asked: who they are, in which words, where it is recorded.

    `shown` are the beginnings of paths that are put into their worktrees for them to read, `wall_of` tells
    the wall of a role in a lane and its worktree.
    """

    directory: RunDirectory
    agents: Agents
    settings: Mapping[str, AgentSettings]
    clocks: Clocks
    texts: Texts
    shown: tuple[str, ...] = ()
    wall_of: Callable[[Role, int, Path], Wall | None] = lambda role, lane, worktree: None  # noqa: ARG005


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[A]):
    """What is asked of an agent, where, and how its answer is read.

    A fresh session is told `in_full`; `to_go_on` is what one is told that knows the rest already.
    """

    role: Role
    at: Place
    lane: Lane
    in_full: str
    to_go_on: str = ""
    schema: Mapping[str, object]
    read: Callable[[Mapping[str, object] | None], A | Invalid]
    session: SessionId | None = None
    before: Usage | None = None
    allowance: Allowance = UNBOUNDED


@dataclass(frozen=True, slots=True)
class Answer(Generic[A]):
    """How the agent ended, its answer if valid, what it used, and whether it changed what it may not."""

    ended: TurnEnded
    found: A | Invalid
    spent: Spent
    has_meddled: bool = False


async def ask(desk: Desk, question: Question[A], tell: Tell) -> Answer[A]:
    """Lets an agent answer."""
    spec = await to_thread.run_sync(_spec, desk, question)
    ended = await _turn(desk, spec, tell)
    if ended.ending is Ending.SESSION_LOST and spec.resume:
        fresh = _fresh_session()
        tell(ev.SessionReplaced(unit=question.at.unit, attempt=question.at.attempt, session=fresh))
        spec = replace(spec, prompt=question.in_full, session=fresh, resume=False, before=None)
        ended = await _turn(desk, spec, tell)
    spent = Spent().plus(ended.usage)
    found = _read(question, ended)
    if isinstance(found, Invalid) and ended.ending in ENDED_WELL and ended.session:
        ended, found, spent = await _ask_again(desk, question, (spec, ended, found), tell=tell)
    if not question.role.may_write and (changed := await to_thread.run_sync(_changed, desk, question.lane)):
        meddled = Invalid(f"the {question.role} is not to change files, but changed {changed}")
        return Answer(ended, meddled, spent, has_meddled=True)
    return Answer(ended, found, spent)


async def _ask_again(
    desk: Desk, question: Question[A], before: tuple[TurnSpec, TurnEnded, Invalid], *, tell: Tell
) -> tuple[TurnEnded, A | Invalid, Spent]:
    """Asks for an answer once more, if that can be paid; a limit on the way is one of the whole turn.

    Nobody waits for a developer's report: without one, the work is judged as it is.
    """
    spec, ended, problem = before
    is_needed = question.role is not Role.DEVELOPER
    spent = Spent().plus(ended.usage)
    if spec.allowance.is_used_up_by(spent):
        return (replace(ended, ending=Ending.OUT_OF_BUDGET) if is_needed else ended), problem, spent
    repaired = await _turn(desk, _repair(desk, spec, ended, problem=problem.detail), tell)
    spent = spent.plus(repaired.usage)
    found = _read(question, repaired)
    if not isinstance(found, Invalid) or (is_needed and repaired.ending in _NOT_ITS_FAULT):
        return replace(repaired, text=ended.text), found, spent
    if repaired.ending is Ending.OVERFLOW:
        ended = replace(ended, session=None)  # it has no room for feedback either
    return ended, Invalid(f"{problem.detail}; asked once more: {found.detail}"), spent


def _spec(desk: Desk, question: Question[A]) -> TurnSpec:
    at, is_resumed = question.at, question.session is not None
    return TurnSpec(
        role=question.role,
        unit=at.unit,
        attempt=at.attempt,
        prompt=question.to_go_on if is_resumed else question.in_full,
        cwd=str(question.lane.directory),
        session=question.session or _fresh_session(),
        resume=is_resumed,
        before=question.before,
        schema=question.schema,
        allowance=question.allowance,
        clocks=desk.clocks,
        transcript=str(desk.directory.transcript(ref_component(at.unit), at.attempt, question.role)),
        lock=str(desk.directory.lock(at.lane)),
        state=str(desk.directory.agents),
        run=desk.directory.run,
        wall=desk.wall_of(question.role, at.lane, question.lane.directory),
    )


def _repair(desk: Desk, spec: TurnSpec, ended: TurnEnded, *, problem: str) -> TurnSpec:
    return replace(
        spec,
        prompt=repair_prompt(desk.texts, problem),
        session=ended.session,
        resume=True,
        before=total(spec.before, ended.usage),
        allowance=spec.allowance.without(Spent().plus(ended.usage)),
        is_repair=True,
    )


async def _turn(desk: Desk, spec: TurnSpec, tell: Tell) -> TurnEnded:
    """Takes a turn; its session and what it uses are told as they come, for nobody knows how it ends."""
    known = spec

    def hear(event: AgentEvent) -> None:
        nonlocal known
        match event:
            case SessionStarted(session):
                known = replace(spec, session=session)  # some agents name their sessions themselves
                if not spec.is_repair:
                    tell(_opened(desk, spec, session))
            case Used(usage):
                tell(_used(known, usage))
            case _:
                pass

    ended = await desk.agents.take_turn(spec, hear)
    if ended.usage is None and ended.ending is not Ending.SESSION_LOST:
        tell(_used(known, None))
    return ended


def _opened(desk: Desk, spec: TurnSpec, session: SessionId) -> ev.SessionOpened:
    return ev.SessionOpened(
        unit=UnitId(spec.unit),
        attempt=spec.attempt,
        role=spec.role,
        session=session,
        driver=desk.settings[spec.role].driver,
    )


def _used(spec: TurnSpec, usage: Usage | None) -> ev.UsageReported:
    return ev.UsageReported(
        unit=UnitId(spec.unit), attempt=spec.attempt, role=spec.role, session=spec.session, usage=usage
    )


def _read(question: Question[A], ended: TurnEnded) -> A | Invalid:
    if ended.ending is not Ending.OK:
        return Invalid(f"the turn ended as {ended.ending}: {ended.detail or ended.text}")
    if not ended.written:
        return question.read(ended.report)
    if question.role in _DECIDING:
        return only_valid(question.read, ended.written, question.schema, unread=ended.unread)
    return last_valid(question.read, ended.written)


def _changed(desk: Desk, lane: Lane) -> str:
    """Returns which files of a lane are not what was put there, as far as a line has room."""
    found = {*remove_pipes(lane.directory), *untracked(lane.repository, "--modified", "--deleted")}
    paths = sorted(path for path in found if not path.startswith(desk.shown))
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


def _fresh_session() -> SessionId:
    return SessionId(str(uuid.uuid4()))
