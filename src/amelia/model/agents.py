"""The port to coding agents: what one turn is asked, what is seen of it, and how it ended.

- Every turn ends in exactly one `TurnEnded`, the last of its events, whatever the agent does.
- What an agent says is data: `report` is an unvalidated JSON object, texts may hold any character.
- Paths are plain strings here; whoever drives an agent turns them into paths.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import NewType, Protocol, TypeAlias

from amelia.model.walls import Wall

AUTO = "auto"
DRIVERS = ("claude", "codex", "api", "acp", "command", "script")
"""Every kind of driver, by its name in the settings; `AUTO` stands for the first that is there and ready."""
NAMED = ("opencode", "gemini", "copilot", "goose", "qwen", "kimi", "vibe", "openhands", "kilo", "aider")
"""Agents that are drivers by their own names; recipes of `drive` say how each is started."""

SessionId = NewType("SessionId", str)
REFUSED = frozenset({401, 403})
"""The statuses of HTTP with which a provider refuses a key or a login."""

_DIGITS = 9  # of an amount of money, so that a difference of two is not full of noise


class Role(StrEnum):
    """What an agent is there for; a session belongs to one role for ever."""

    ARCHITECT = "architect"
    DEVELOPER = "developer"
    REVIEWER = "reviewer"
    EVALUATOR = "evaluator"

    @property
    def may_write(self) -> bool:
        """Says whether an agent in this role may change files: only a developer may."""
        return self is Role.DEVELOPER


class Ending(StrEnum):
    """How a turn ended."""

    OK = "ok"  # a result with a report, and a clean exit
    FAILED = "failed"  # the agent itself says that it failed, or left badly after its result
    NO_REPORT = "no_report"  # a clean exit, but nothing that could be judged
    LIMITED = "limited"  # the provider's limit is reached; `until` says when to go on, if it is known
    AUTH = "auth"  # the provider refuses the key or the login
    NO_CREDIT = "no_credit"  # nothing is left of the provider's credit, and no wait brings it back
    MODEL_NOT_FOUND = "model_not_found"  # the provider has no such model, or is not at that address
    UNUSABLE = "unusable"  # the program does not take the way it was started, or cannot be started at all
    OVERFLOW = "overflow"  # the session does not fit into the model's context window any more
    SESSION_LOST = "session_lost"  # the session to go on with is not there any more; nothing was done
    OUT_OF_BUDGET = "out_of_budget"  # used up what it may use, and was stopped
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


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used; `cost` is None where neither the agent nor a table of prices tells it."""

    input_tokens: int
    output_tokens: int
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """All of its tokens."""
        return self.input_tokens + self.output_tokens

    def since(self, before: "Usage | None") -> "Usage":
        """Returns what was used since an earlier count; if that is larger, this one began anew."""
        if before is None:
            return self
        tokens = self.input_tokens - before.input_tokens, self.output_tokens - before.output_tokens
        if min(tokens) < 0:
            return self
        if self.cost is None or before.cost is None:
            return Usage(*tokens)
        return Usage(*tokens, round(max(0.0, self.cost - before.cost), _DIGITS))

    def beyond(self, known: "Usage | None") -> "Usage":
        """Returns what of this a count that is known does not hold; a cost only if both are known."""
        if known is None:
            return self
        tokens = self.input_tokens - known.input_tokens, self.output_tokens - known.output_tokens
        more = max(0, tokens[0]), max(0, tokens[1])
        if self.cost is None or known.cost is None:
            return Usage(*more)
        return Usage(*more, round(max(0.0, self.cost - known.cost), _DIGITS))


def total(first: Usage | None, second: Usage | None) -> Usage | None:
    """Returns the sum of what was used; a cost is known only if both are. None is no report, not zero."""
    if first is None or second is None:
        return first or second
    is_known = first.cost is not None and second.cost is not None
    return Usage(
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        round((first.cost or 0.0) + (second.cost or 0.0), _DIGITS) if is_known else None,
    )


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent in all: money, tokens of which nobody knows what they cost, turns that told nothing.

    A cost is None until one is known.
    """

    cost: float | None = None
    unpriced: int = 0
    untold: int = 0

    def plus(self, used: Usage | None) -> "Spent":
        """Returns the sum with one more report of use; None is a turn that told nothing."""
        if used is None:
            return Spent(self.cost, self.unpriced, self.untold + 1)
        if used.cost is None:
            return Spent(self.cost, self.unpriced + used.tokens, self.untold)
        return Spent((self.cost or 0.0) + used.cost, self.unpriced, self.untold)

    def and_(self, more: "Spent") -> "Spent":
        """Returns the sum with what was spent elsewhere."""
        costs = [cost for cost in (self.cost, more.cost) if cost is not None]
        return Spent(sum(costs) if costs else None, self.unpriced + more.unpriced, self.untold + more.untold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How much may be used: money where the cost is known, tokens where it is not; None is no bound."""

    cost: float | None = None
    tokens: int | None = None

    def is_used_up_by(self, spent: Spent) -> bool:
        """Says whether this much is all there is, or more."""
        is_paid_out = self.cost is not None and (spent.cost or 0.0) >= self.cost
        return is_paid_out or (self.tokens is not None and spent.unpriced >= self.tokens)

    def changed_by(self, said: "Allowance") -> "Allowance":
        """Returns it with what was said of it."""
        return Allowance(
            cost=self.cost if said.cost is None else said.cost,
            tokens=self.tokens if said.tokens is None else said.tokens,
        )

    def without(self, spent: Spent) -> "Allowance":
        """Returns what is left of it."""
        return Allowance(
            cost=None if self.cost is None else max(0.0, self.cost - (spent.cost or 0.0)),
            tokens=None if self.tokens is None else max(0, self.tokens - spent.unpriced),
        )


UNBOUNDED = Allowance()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Which agent takes a role; `auto` is the first that is there and healthy.

    `command` is its program where it is not to be looked for, with arguments that always come first, and
    `resume_command` the line by which the `command` driver goes on with a session; `key` names the
    environment variable that holds the key, `passes` more variables that the agent may see.
    Settings, servers and hooks that the repository brings for agents count only if it is trusted.
    """

    driver: str = AUTO
    model: str | None = None
    command: tuple[str, ...] = ()
    base_url: str | None = None
    key: str | None = None
    passes: tuple[str, ...] = ()
    script: str | None = None
    trusts_repository: bool = False
    max_turns: int | None = None
    resume_command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSpec:
    """One turn of one agent: who, on what, where, and within which bounds.

    `session` is the id to use; with `resume` it is continued, without a fresh session starts under it, and
    `before` is what it had used until then. `schema` describes the report that is asked for, as a strict
    JSON schema; a repair asks for that report once more, and for no work.
    `transcript` is the file the turn is recorded in, `lock` the file that tells of its processes, `state` a
    directory of the run in which a driver may keep what its sessions need, `wall` what it can reach.
    """

    role: Role
    unit: str
    attempt: int
    prompt: str
    cwd: str
    session: SessionId | None = None
    resume: bool = False
    before: Usage | None = None
    schema: Mapping[str, object] | None = None
    is_repair: bool = False
    allowance: Allowance = UNBOUNDED
    clocks: Clocks = Clocks()
    transcript: str
    lock: str | None = None
    state: str
    run: str = ""
    wall: Wall | None = None

    @property
    def may_write(self) -> bool:
        """Says whether the agent may change files: not to repair a report."""
        return self.role.may_write and not self.is_repair


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
    """The provider did not answer; the agent tries again after `delay` seconds. `status` is that of HTTP."""

    attempt: int
    delay: float
    status: int | None

    @property
    def is_refused(self) -> bool:
        """Says whether the key or the login is refused; trying again helps only if somebody renews it."""
        return self.status in REFUSED


@dataclass(frozen=True, slots=True)
class Used:
    """What was used since the last such event of the turn; the cost of an estimate is corrected later on."""

    usage: Usage
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A line that nobody understands, cut to a bounded length."""

    line: str


@dataclass(frozen=True, slots=True)
class Written:
    """A JSON object in a message; one that does not stand alone may be a quote of something else."""

    value: Mapping[str, object]
    stands_alone: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The turn is over: derived from the agent's result, its exit code and who ended it.

    `text` is the agent's last message, `detail` says for people what happened,
    `until` is the ISO time from which a limited agent can go on. Where the report had to be looked for in
    the last message, `written` are all the objects that are there, and `report` is the last of them;
    `unread` are the first names in what was to be an object there and cannot be read. The wall kept it from
    writing the paths that were `denied`.
    """

    ending: Ending
    session: SessionId | None
    report: Mapping[str, object] | None = None
    text: str = ""
    detail: str = ""
    exit_code: int | None = None
    until: str | None = None
    usage: Usage | None = None
    written: tuple[Written, ...] = ()
    unread: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


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
    """What a probe found: the program that would run, its version, and what a person should know of it.

    It is ready unless no key and no `login` is there that its provider could accept.
    """

    program: str
    version: str
    notes: tuple[str, ...] = ()
    is_ready: bool = True
    login: str = ""


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

    async def probe(self) -> DriverInfo:
        """Finds the agent and shakes hands with it; a `ConfigError` says what is missing and what to do."""
        ...

    async def start(self, spec: TurnSpec) -> Turn:
        """Prepares one turn."""
        ...


class Agents(Protocol):
    """What the rest of Amelia knows of agents."""

    async def take_turn(
        self, spec: TurnSpec, on_event: Callable[[AgentEvent], None] | None = None
    ) -> TurnEnded:
        """Carries out one whole turn: bounded by its clocks, recorded, its processes ended in any case."""
        ...
