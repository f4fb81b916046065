"""The port to coding agents: what one turn is asked, what is seen of it, and how it ended.

- Every turn ends in exactly one `TurnEnded`, the last of its events, whatever the agent does.
- What an agent says is data: `report` is an unvalidated JSON object, texts may hold any character.
- Paths are plain strings here; whoever drives an agent turns them into paths.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import NewType, Protocol, TypeAlias

SessionId = NewType("SessionId", str)


class Role(StrEnum):
    """What an agent is there for; a session belongs to one role for ever."""

    ARCHITECT = "architect"
    DEVELOPER = "developer"
    REVIEWER = "reviewer"
    EVALUATOR = "evaluator"


class Ending(StrEnum):
    """How a turn ended."""

    OK = "ok"  # a result with a report, and a clean exit
    FAILED = "failed"  # the agent itself says that it failed, or left badly after its result
    NO_REPORT = "no_report"  # a clean exit, but nothing that could be judged
    LIMITED = "limited"  # the provider's limit is reached; `until` says when to go on, if it is known
    AUTH = "auth"  # the provider refuses the key or the login
    CRASHED = "crashed"  # a bad exit without a result
    TIMED_OUT_FIRST_EVENT = "timed_out_first_event"
    TIMED_OUT_SILENCE = "timed_out_silence"
    TIMED_OUT_WALL = "timed_out_wall"
    INTERRUPTED = "interrupted"  # asked softly to stop
    KILLED = "killed"  # stopped together with everything it had started
    GARBAGE = "garbage"  # a clean exit, and not one line that could be understood


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """The three bounds of a turn: until something is heard, between two events, and over all."""

    first_event: timedelta = timedelta(minutes=5)
    silence: timedelta = timedelta(minutes=15)
    wall: timedelta = timedelta(minutes=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSpec:
    """One turn of one agent: who, on what, where, and within which bounds.

    `session` is the id to use; with `resume` it is continued, without a fresh session starts under it.
    `transcript` is the file the turn is recorded in, `lock` the file that tells of its processes.
    """

    role: Role
    unit: str
    attempt: int
    prompt: str
    cwd: str
    session: SessionId | None = None
    resume: bool = False
    clocks: Clocks = Clocks()
    transcript: str
    lock: str | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn used; `cost` is None where the agent does not tell."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def plus(self, used: "Used") -> "Usage":
        """Returns the sum with one more report of use."""
        costs = [cost for cost in (self.cost, used.cost) if cost is not None]
        return Usage(
            self.input_tokens + used.input_tokens,
            self.output_tokens + used.output_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The agent is there and has a session."""

    session: SessionId
    model: str


@dataclass(frozen=True, slots=True)
class Said:
    """The agent wrote a message."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The agent began to use a tool."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool came back."""

    name: str
    ok: bool


@dataclass(frozen=True, slots=True)
class PermissionDenied:
    """The agent was refused something by its own rules."""

    what: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The provider did not answer; the agent tries again after `delay` seconds."""

    attempt: int
    delay: float
    status: int | None


@dataclass(frozen=True, slots=True)
class Used:
    """What was used since the last such event."""

    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A line that nobody understands, cut to a bounded length."""

    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The turn is over: derived from the agent's result, its exit code and who ended it.

    `text` is the agent's last message, `detail` says for people what happened,
    `until` is the ISO time from which a limited agent can go on.
    """

    ending: Ending
    session: SessionId | None
    report: Mapping[str, object] | None = None
    text: str = ""
    detail: str = ""
    exit_code: int | None = None
    until: str | None = None
    usage: Usage = Usage()


AgentEvent: TypeAlias = (
    SessionStarted
    | Said
    | ToolStarted
    | ToolEnded
    | PermissionDenied
    | Retrying
    | Used
    | Unparsed
    | TurnEnded
)


@dataclass(frozen=True, slots=True)
class DriverInfo:
    """What a probe found: the program that would run, and its version."""

    program: str
    version: str


class Turn(Protocol):
    """One running turn; the agent's processes live exactly as long as the iteration over its events."""

    def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Starts the agent and yields what it does; the last event is the only `TurnEnded`."""
        ...

    async def interrupt(self) -> None:
        """Asks the agent to stop by itself."""
        ...

    async def kill(self, because: Ending = Ending.KILLED) -> None:
        """Ends the agent and everything it started; the turn then ends as `because`."""
        ...


class Driver(Protocol):
    """One kind of agent."""

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        ...

    def probe(self) -> DriverInfo:
        """Finds the agent's program; a `ConfigError` says what is missing."""
        ...

    async def start(self, spec: TurnSpec) -> Turn:
        """Prepares one turn."""
        ...


class Agents(Protocol):
    """What the rest of Amelia knows of agents."""

    async def take_turn(self, spec: TurnSpec) -> TurnEnded:
        """Carries out one whole turn: bounded by its clocks, recorded, its processes ended in any case."""
        ...
