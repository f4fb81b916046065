"""What the contract of drivers is played on: each kind of agent in each situation, on a tree of its own.

The real agents and the models ask a scripted provider on loopback. What an agent cannot have by its nature
stands in `CANNOT`, with the reason.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from pathlib import Path
from typing import Any, Protocol

import pytest

from agents import claude_program, codex_program
from amelia.drive.acp.driver import AcpDriver
from amelia.drive.api.driver import ApiDriver
from amelia.drive.claude.driver import ClaudeDriver
from amelia.drive.codex.driver import CodexDriver
from amelia.drive.command.driver import CommandDriver
from amelia.drive.script.driver import ScriptDriver
from amelia.model.agents import AgentSettings, Driver
from modelserver.server import ModelServer
from modelserver.steps import Answer, Fault, Request, Step, ToolCall
from repositories import executable
from stories import toml
from tracing import Trace

KEY = "sk-made-up-for-these-tests"
KEPT = ("PATH", "TMPDIR", "LANG", "AMELIA_FAULT_TABLE")
REPORT = {"status": "completed"}
TALK = f'I quote {{"status": "failed"}} first.\r\n\r\n```JSON\r\n{json.dumps(REPORT)}\r\n```\r\nThat is it.'
SLEEPS = "python3 -c 'import time; time.sleep(600)'"
WAITS = f"setsid {SLEEPS} & echo > ready"
"""Leaves a process in a session of its own, and says that it has."""

GIVES_UP = ("sh", "-c", "echo it gives up >&2; exit 5")
SMALL_AGENT = Path(__file__).parents[1] / "real" / "acp_agents.py"


class Case(Enum):
    """What the agent does in a turn."""

    WORKS = auto()  # writes made.txt, says "finished" and reports; uses 7 tokens in and 8 out
    GOES_ON = auto()  # reports once more, in a session that was there; uses 5 tokens in and 6 out
    TALKS = auto()  # reports in a message with more in it, by no other means
    SAYS_NOTHING = auto()  # ends well, without a report
    CRASHES = auto()
    IS_LIMITED = auto()
    IS_REFUSED = auto()
    IS_UNKNOWN = auto()  # the session to go on with is not there
    TRIES_TO_WRITE = auto()  # and reports
    SPENDS = auto()  # works without end, 100 tokens in and 20 out at a time
    HANGS = auto()  # in a command, with a process in a session of its own


class Promise(Enum):
    """What not every kind of agent can have."""

    NAMED_SESSION = auto()
    READ_ONLY = auto()
    TOLD_REFUSALS = auto()
    RESET_TIME = auto()
    ALLOWANCE = auto()


CANNOT: Mapping[tuple[str, Promise], str] = {
    ("script", Promise.READ_ONLY): "a script does what it says in every role; the run looks at the tree",
    ("script", Promise.TOLD_REFUSALS): "a script is refused nothing",
    ("codex", Promise.NAMED_SESSION): "Codex names its threads itself",
    ("codex", Promise.TOLD_REFUSALS): "Codex tells of a refusal to its model only",
    ("codex", Promise.ALLOWANCE): "Codex counts its tokens at the end of a turn only",
    ("acp", Promise.NAMED_SESSION): "agents of the protocol name their sessions themselves",
    ("acp", Promise.RESET_TIME): "the protocol has no word for the end of a limit",
    ("command", Promise.READ_ONLY): "a program does what its line says; roles have lines of their own",
    ("command", Promise.TOLD_REFUSALS): "what a program refuses itself, nobody hears of",
}


class Stage(Protocol):
    """One kind of agent, to be put into situations one after the other."""

    @property
    def name(self) -> str: ...

    def driver(self, case: Case) -> Driver:
        """Prepares the next turn, and returns who takes it."""
        ...

    def went_on(self, session: str, prompt: str) -> bool:
        """Says whether the agent took its last turn in a session, in which it was first told the prompt."""
        ...


@dataclass(frozen=True)
class ScriptStage:
    """The player of scripts."""

    trace: Trace
    name: str = "script"

    def driver(self, case: Case) -> Driver:
        path = self.trace.folder / "script.toml"
        path.write_text("[[turn]]\n" + SCRIPTS[case])
        return ScriptDriver(path, {"AMELIA_TRACE": self.trace.mark})

    def went_on(self, session: str, prompt: str) -> bool:
        assert prompt
        asked = (self.trace.folder / "tree" / "asked.txt").read_text().split("\0")
        return f"--session={session}" in asked and "--resume" in asked


def _acts(*acts: Mapping[str, Any]) -> str:
    return f"do = {toml(list(acts))}\n"


def _says(**message: object) -> Mapping[str, Any]:
    return {"raw": json.dumps(message)}


SCRIPTS = {
    Case.WORKS: _acts({"write": "made.txt", "text": "x"}, {"say": "finished"})
    + f"report = {toml(REPORT)}\nusage = {{input=7, output=8}}\n",
    Case.GOES_ON: _acts({"run": "cat /proc/$PPID/cmdline > asked.txt"})
    + f"report = {toml(REPORT)}\nusage = {{input=5, output=6}}\n",
    Case.TALKS: _acts({"say": "It begins."}, {"say": TALK}),
    Case.SAYS_NOTHING: "",
    Case.CRASHES: _acts({"exit": 5}),
    Case.IS_LIMITED: _acts({"limit": "2026-11-15T12:00:00Z"}),
    Case.IS_REFUSED: _acts(_says(type="end", ending="auth", detail="wrong key"), {"exit": 1}),
    Case.IS_UNKNOWN: _acts(_says(type="end", ending="session_lost", detail="gone"), {"exit": 1}),
    Case.TRIES_TO_WRITE: _acts({"write": "made.txt", "text": "x"}) + f"report = {toml(REPORT)}\n",
    Case.SPENDS: _acts(_says(type="usage", input=100, output=20), {"hang": True}),
    Case.HANGS: _acts({"run": WAITS}, {"hang": True}),
}


@dataclass(frozen=True)
class AcpStage:
    """A small agent of the Agent Client Protocol."""

    trace: Trace
    name: str = "acp"

    def driver(self, case: Case) -> Driver:
        script = {"log": str(self.trace.folder / "log"), **ACP_SCRIPTS[case]}
        command = (sys.executable, str(SMALL_AGENT), json.dumps(script))
        return AcpDriver(AgentSettings(driver="acp", command=command, passes=("AMELIA_TRACE",)))

    def went_on(self, session: str, prompt: str) -> bool:
        assert prompt
        messages = [json.loads(line) for line in (self.trace.folder / "log").read_text().splitlines()]
        [resumed] = [one["params"] for one in messages if one.get("method") == "session/resume"]
        return resumed["sessionId"] == session


@dataclass(frozen=True)
class CommandStage:
    """A program that prints what it does, partly in lines of the plain dialect, partly as it likes."""

    trace: Trace
    name: str = "command"

    def driver(self, case: Case) -> Driver:
        log = shlex.quote(str(self.trace.folder / "asked.txt"))
        body = f'echo "$@" >> {log}; cat "$3" >> {log}\n{COMMANDS[case]}'
        program = str(executable(self.trace.folder / "agent", body))
        return CommandDriver(
            AgentSettings(
                driver="command",
                command=(program, "begin", "{session}", "{prompt_file}"),
                resume_command=(program, "go-on", "{session}", "{prompt_file}"),
                key="MODEL_KEY",
                passes=("AMELIA_TRACE",),
            )
        )

    def went_on(self, session: str, prompt: str) -> bool:
        asked = (self.trace.folder / "asked.txt").read_text()
        return f"begin {session} " in asked and f"go-on {session} " in asked and prompt in asked


def _prints(**message: object) -> str:
    return f"echo {shlex.quote(json.dumps(message))}\n"


COMMANDS = {
    Case.WORKS: _prints(type="tool", state="started", name="edit", detail="made.txt")
    + "echo x > made.txt\n"
    + _prints(type="tool", state="ended", name="edit", ok=True)
    + f"echo finished; echo $MODEL_KEY\n{_prints(type='usage', input=7, output=8)}{_prints(**REPORT)}",
    Case.GOES_ON: f"echo I go on.\n{_prints(type='usage', input=5, output=6)}{_prints(**REPORT)}",
    Case.TALKS: f"printf '%s\\n' {shlex.quote(TALK)}\n",
    Case.SAYS_NOTHING: "echo That is it.\n",
    Case.CRASHES: "echo it gives up >&2; exit 5\n",
    Case.IS_LIMITED: _prints(type="limit", until="2026-11-15T12:00:00Z") + "exit 1\n",
    Case.IS_REFUSED: "echo 'Error: 401 Unauthorized' >&2; exit 1\n",
    Case.IS_UNKNOWN: 'echo "No session found with id $2" >&2; exit 1\n',
    Case.TRIES_TO_WRITE: f"echo x > made.txt\n{_prints(**REPORT)}",
    Case.SPENDS: f"{_prints(type='usage', input=100, output=20)}exec {SLEEPS}\n",
    Case.HANGS: f"echo I wait.\n{WAITS}; exec {SLEEPS}\n",
}


def _update(name: str, /, **facts: object) -> Mapping[str, Any]:
    return {"update": {"sessionUpdate": name, **facts}}


def _message(text: str) -> Mapping[str, Any]:
    return _update("agent_message_chunk", content={"type": "text", "text": text})


def _refusal(**error: object) -> Mapping[str, Any]:
    return {"errors": {"session/prompt": {"code": -32603, **error}}}


EDIT = {"toolCallId": "1", "kind": "edit", "title": "made.txt"}
ACP_REPORT = _message(json.dumps(REPORT))
ACP_SCRIPTS: Mapping[Case, Mapping[str, Any]] = {
    Case.WORKS: {
        "steps": [
            _message("finished"),
            _update("tool_call", **EDIT),
            {"write": "made.txt"},
            _update("tool_call_update", toolCallId="1", status="completed"),
            ACP_REPORT,
        ],
        "answer": {"usage": {"inputTokens": 7, "outputTokens": 8}},
    },
    Case.GOES_ON: {"steps": [ACP_REPORT], "answer": {"usage": {"inputTokens": 5, "outputTokens": 6}}},
    Case.TALKS: {"steps": [_message(TALK)]},
    Case.SAYS_NOTHING: {},
    Case.CRASHES: {"steps": [{"exit": 5}]},
    Case.IS_LIMITED: _refusal(message="Too many requests", data={"errorKind": "rate_limit"}),
    Case.IS_REFUSED: _refusal(message="Wrong key", data={"errorKind": "authentication_failed"}),
    Case.IS_UNKNOWN: {"errors": {"session/resume": {"code": -32002, "message": "There is no such session"}}},
    # An agent that asks before it writes, as the protocol wants it.
    Case.TRIES_TO_WRITE: {
        "steps": [{"ask": EDIT}, {"shell": """grep -q '"yes"' ../log && echo x > made.txt"""}, ACP_REPORT]
    },
    Case.SPENDS: {
        "steps": [
            _update("usage_update", used=120, size=1000, cost={"amount": 1.0, "currency": "USD"}),
            {"hang": True},
        ]
    },
    Case.HANGS: {"steps": [{"shell": WAITS}, {"hang": True}]},
}


@dataclass(frozen=True, kw_only=True)
class Agent:
    """What is particular to an agent that asks a model over the network."""

    name: str
    make: Callable[[AgentSettings], Driver]
    command: tuple[str, ...]
    model: str
    path: str
    write: ToolCall
    run: Callable[[str], ToolCall]
    limit: Fault
    limited_key: str = "MODEL_KEY"


class ModelStage:
    """An agent that asks the scripted provider."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.server = ModelServer(self._answer)
        self._agent = agent
        self._steps: list[Step] = []

    def driver(self, case: Case) -> Driver:
        agent = self._agent
        self._steps = _steps(agent)[case]
        return agent.make(
            AgentSettings(
                driver=agent.name,
                command=GIVES_UP if case is Case.CRASHES else agent.command,
                model=agent.model,
                base_url=self.server.url + agent.path,
                key=agent.limited_key if case is Case.IS_LIMITED else "MODEL_KEY",
                passes=("AMELIA_TRACE",),
            )
        )

    def went_on(self, session: str, prompt: str) -> bool:
        assert session
        return prompt in json.dumps(self.server.requests[-1].body)

    def _answer(self, _: Request) -> Step:
        return self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]


def _steps(agent: Agent) -> Mapping[Case, list[Step]]:
    """Returns what the model answers in each case; the last answer it gives again and again."""
    write, report = agent.write, Answer(report=REPORT)
    return {
        Case.WORKS: [
            Answer(text="finished", tools=[write], usage=(3, 4)),
            Answer(report=REPORT, usage=(4, 4)),
        ],
        Case.GOES_ON: [Answer(report=REPORT, usage=(5, 6))],
        Case.TALKS: [Answer(text=TALK)],
        Case.SAYS_NOTHING: [Answer(text="That is it.")],
        Case.CRASHES: [report],
        Case.IS_LIMITED: [agent.limit],
        Case.IS_REFUSED: [Fault(status=401, message="wrong key")],
        Case.IS_UNKNOWN: [report],
        Case.TRIES_TO_WRITE: [
            Answer(tools=[write]),
            Answer(tools=[agent.run("echo x > made.txt")]),
            report,
        ],
        Case.SPENDS: [Answer(tools=[agent.run("true")])],
        Case.HANGS: [Answer(tools=[agent.run(f"{WAITS}; {SLEEPS}")]), report],
    }


def _claude(tree: Path) -> Agent:
    reset = datetime.now(UTC) + timedelta(hours=1)
    return Agent(
        name="claude",
        make=ClaudeDriver,
        command=(_installed(claude_program()),),
        model="claude-sonnet-4-5",
        path="",
        write=ToolCall("Write", {"file_path": str(tree / "made.txt"), "content": "x"}),
        run=lambda command: ToolCall("Bash", {"command": command}),
        limit=Fault(
            status=429,
            headers={
                "anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-reset": str(int(reset.timestamp())),
                "anthropic-ratelimit-unified-representative-claim": "five_hour",
            },
        ),
        limited_key="CLAUDE_CODE_OAUTH_TOKEN",  # only a subscription has limits that tell when they end
    )


def _codex(_: Path) -> Agent:
    reached = {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": 1_900_000_000}
    return Agent(
        name="codex",
        make=CodexDriver,
        command=(_installed(codex_program()),),
        model="gpt-5.5",
        path="/v1",
        write=ToolCall("apply_patch", "*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\n"),
        run=lambda command: ToolCall("exec_command", {"cmd": command}),
        limit=Fault(status=429, body=json.dumps({"error": reached})),
    )


def _api(_: Path) -> Agent:
    return Agent(
        name="api",
        make=ApiDriver,
        command=(),
        model="openai:scripted",
        path="/v1",
        write=ToolCall("write_file", {"path": "made.txt", "text": "x"}),
        run=lambda command: ToolCall("shell", {"command": command}),
        limit=Fault(status=429, headers={"retry-after": "3600"}),
    )


def _installed(program: Path | None) -> str:
    if program is None:
        pytest.skip("the real agent is not installed: run scripts/agents")
    return str(program)


AGENTS = {"claude": _claude, "codex": _codex, "api": _api}
OWN = {"script": ScriptStage, "acp": AcpStage, "command": CommandStage}
KINDS: Sequence[str] = (*OWN, *AGENTS)


@contextmanager
def make_stage(kind: str, trace: Trace, patch: pytest.MonkeyPatch) -> Generator[Stage]:
    """Gives a stage, in an environment in which no key, no login and no setting of this machine is left."""
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(("COV", "PYTEST")):
            patch.delenv(name)
    home, tree = trace.folder / "home", trace.folder / "tree"
    (home / ".codex").mkdir(parents=True)
    tree.mkdir()
    own = {"HOME": str(home), "AMELIA_TRACE": trace.mark, "MODEL_KEY": KEY, "CLAUDE_CODE_OAUTH_TOKEN": KEY}
    for name, value in own.items():
        patch.setenv(name, value)
    if kind in OWN:
        yield OWN[kind](trace)
        return
    stage = ModelStage(AGENTS[kind](tree))
    with stage.server as server:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        yield stage
    assert server.connects == [], "it asked somebody else"
