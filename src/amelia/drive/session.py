"""Whole turns over the drivers of a profile: what the rest of Amelia uses.

- Three clocks bound every turn: until the first event, between two events, and over all. The one that runs
  out first ends the turn and gives its end the name. They stand still while Amelia itself is stopped.
- A turn that uses up its allowance is ended at once. So is one that would wait for its provider: the run
  waits without keeping a lane.
- An agent whose login is refused has a bounded time to heal that by itself, for another process may have
  renewed the login meanwhile; how the turn ended is then the agent's word.
- A session belongs to the role that used it first and is refused in another: a reviewer never reads along in
  the developer's thoughts.
- Cancelling a turn ends the agent's processes, within a bound, before the cancellation goes on.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import anyio

from amelia.model.agents import (
    AgentEvent,
    Allowance,
    Clocks,
    Driver,
    Ending,
    Retrying,
    Role,
    Said,
    SessionId,
    Spent,
    ToolEnded,
    ToolStarted,
    Turn,
    TurnEnded,
    TurnSpec,
    Used,
)
from amelia.model.errors import AmeliaError
from amelia.system.awake import Awake

_DAY = 86_400.0
LONGEST_RETRY = 60.0  # seconds that an agent may wait for its provider by itself
REFUSAL_GRACE = 60.0  # seconds in which a refused login may heal, from the first refusal on


class SessionError(AmeliaError):
    """A session was to be used in a role it does not belong to."""


class Sessions:
    """Takes turns with the driver of each role."""

    def __init__(
        self, drivers: Mapping[Role, Driver], owners: Mapping[SessionId, Role] | None = None
    ) -> None:
        self._drivers = drivers
        self._roles = dict(owners or {})

    async def take_turn(
        self, spec: TurnSpec, on_event: Callable[[AgentEvent], None] | None = None
    ) -> TurnEnded:
        """Carries out one whole turn: bounded by its clocks, recorded, its processes ended in any case."""
        self._claim(spec.session, spec.role)
        turn = await self._drivers[spec.role].start(spec)
        ended = None
        try:
            async with anyio.create_task_group() as tasks:
                alarm = _Alarm(spec.clocks)
                tasks.start_soon(alarm.guard, turn)
                ended = await self._follow(spec, turn, lambda event: _hear(event, alarm, on_event))
                tasks.cancel_scope.cancel()
        except* AmeliaError as group:
            raise group.exceptions[0] from None
        assert ended is not None, f"a turn of {spec.role} in {spec.unit} has no end"
        if ended.session and self._roles.setdefault(ended.session, spec.role) is not spec.role:
            return replace(ended, session=None)  # an agent that names all its sessions the same
        return ended

    async def _follow(
        self, spec: TurnSpec, turn: Turn, hear: Callable[[AgentEvent], None]
    ) -> TurnEnded | None:
        ended, spent, stop = None, Spent(), None
        async with aclosing(turn.events()) as events:
            async for event in events:
                hear(event)
                if isinstance(event, TurnEnded):
                    ended = event
                if isinstance(event, Used):
                    spent = spent.plus(event.usage)
                if stop is None and (stop := _reason_to_stop(event, spent, spec.allowance)) is not None:
                    await turn.kill(stop.ending)
        if ended is not None and stop is not None and stop.until is not None:
            return replace(ended, until=stop.until)
        return ended

    def _claim(self, session: SessionId | None, role: Role) -> None:
        if not session:
            return
        owner = self._roles.setdefault(session, role)
        if owner is not role:
            raise SessionError(
                f"session {session} belongs to the {owner} and cannot be used by the {role}",
                hint="this is a mistake in Amelia; please report it",
            )


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why a turn is ended, and from when on another one makes sense, if that is known."""

    ending: Ending
    until: str | None = None


def _reason_to_stop(event: AgentEvent, spent: Spent, allowance: Allowance) -> _Stop | None:
    match event:
        case Retrying(is_refused=True, delay=delay) if delay > LONGEST_RETRY:
            return _Stop(Ending.AUTH)
        case Retrying(delay=delay) if delay > LONGEST_RETRY:
            again = datetime.now(UTC) + timedelta(seconds=min(delay, _DAY))
            return _Stop(Ending.LIMITED, again.isoformat())
        case Used(is_estimate=False) if allowance.is_used_up_by(spent):
            return _Stop(Ending.OUT_OF_BUDGET)
        case _:
            return None


def _hear(event: AgentEvent, alarm: "_Alarm", on_event: Callable[[AgentEvent], None] | None) -> None:
    alarm.heard(event)
    if on_event is not None:
        on_event(event)


class _Alarm:
    """Ends a turn when one of its clocks runs out; they stand still while nobody could listen."""

    def __init__(self, clocks: Clocks) -> None:
        self._clock = Awake()
        now = self._clock.now()
        self._silence = clocks.silence.total_seconds()
        self._wall = now + clocks.wall.total_seconds()
        self._quiet = now + clocks.first_event.total_seconds()
        self._refused = math.inf
        self._has_heard = False

    def heard(self, event: AgentEvent) -> None:
        """Winds the clocks; only an answer of the provider tells that a refusal is over."""
        now = self._clock.now()
        self._quiet = now + self._silence
        self._has_heard = True
        match event:
            case Retrying(is_refused=True):
                self._refused = min(self._refused, now + REFUSAL_GRACE)
            case Said() | ToolStarted() | ToolEnded() | Used():
                self._refused = math.inf
            case _:
                pass

    async def guard(self, turn: Turn) -> None:
        """Waits until a clock has run out, and ends the turn."""
        await self._clock.until(lambda: self._due)
        await turn.kill(self._ending)

    @property
    def _due(self) -> float:
        return min(self._quiet, self._wall, self._refused)

    @property
    def _ending(self) -> Ending:
        if self._refused == self._due:
            return Ending.AUTH
        if self._wall <= self._quiet:
            return Ending.TIMED_OUT_WALL
        return Ending.TIMED_OUT_SILENCE if self._has_heard else Ending.TIMED_OUT_FIRST_EVENT
