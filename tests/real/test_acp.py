"""Real agents of the Agent Client Protocol, driven through whole turns against a scripted model on loopback."""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from agents import claude_program, codex_program
from amelia.drive.acp.driver import AcpDriver
from amelia.drive.session import Sessions
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Clocks,
    Ending,
    PermissionDenied,
    Role,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    Turn,
    TurnEnded,
    TurnSpec,
)
from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Step, ToolCall
from real.faults import record
from repositories import git, make_repository
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

INSTALLED = Path(__file__).parents[2] / ".agents-acp" / "node_modules" / "@agentclientprotocol"
KEY = "sk-made-up-for-these-tests"
KEPT = ("PATH", "TMPDIR", "LANG", "AMELIA_FAULT_TABLE")
REPORT = {"status": "completed"}
DONE = Answer(text=f"Here it is.\n```json\n{json.dumps(REPORT)}\n```", usage=(110, 30))
WAITS = "setsid sleep 600 & echo > ready; sleep 600"
CODEX_SETTINGS = """
check_for_update_on_startup = false
analytics.enabled = false
features = {plugins = false, apps = false}
"""


@dataclass(frozen=True)
class Agent:
    """How one real agent is started, how its model uses tools, and what is particular to it."""

    name: str
    entry: Path
    program: Path | None
    environment: Callable[[Path, str], dict[str, str]]
    write: Callable[[Path, str], ToolCall]
    edit: Callable[[Path, str], ToolCall]
    run: Callable[[str], ToolCall]
    model: str
    has_cost: bool


def claude_environment(program: Path, url: str) -> dict[str, str]:
    return {
        "CLAUDE_CODE_EXECUTABLE": str(program),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "MAX_THINKING_TOKENS": "0",
    }


def codex_environment(program: Path, url: str) -> dict[str, str]:
    provider = {
        "name": "loop",
        "base_url": f"{url}/v1",
        "env_key": "MODEL_KEY",
        "wire_api": "responses",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    }
    return {
        "CODEX_PATH": str(program),
        "MODEL_KEY": KEY,
        "MODEL_PROVIDER": "loop",
        "NO_BROWSER": "1",
        "CODEX_CONFIG": json.dumps({"model": "gpt-5.5", "model_providers": {"loop": provider}}),
    }


def patch(name: str, *lines: str) -> ToolCall:
    return ToolCall("apply_patch", "\n".join(["*** Begin Patch", name, *lines, "*** End Patch"]))


AGENTS = [
    Agent(
        name="claude",
        entry=INSTALLED / "claude-agent-acp" / "dist" / "index.js",
        program=claude_program(),
        environment=claude_environment,
        write=lambda repo, name: ToolCall("Write", {"file_path": str(repo / name), "content": "hello\n"}),
        edit=lambda repo, name: ToolCall(
            "Edit", {"file_path": str(repo / name), "old_string": "hello", "new_string": "goodbye"}
        ),
        run=lambda command: ToolCall("Bash", {"command": command}),
        model="sonnet",
        has_cost=True,
    ),
    Agent(
        name="codex",
        entry=INSTALLED / "codex-acp" / "dist" / "index.js",
        program=codex_program(),
        environment=codex_environment,
        write=lambda _, name: patch(f"*** Add File: {name}", "+hello"),
        edit=lambda _, name: patch(f"*** Update File: {name}", "@@", "-hello", "+goodbye"),
        run=lambda command: ToolCall("exec_command", {"cmd": command}),
        model="gpt-5.5",
        has_cost=False,
    ),
]


@dataclass
class Desk:
    """A place for turns: a repository, a home of its own, one real agent, and everything that was heard."""

    trace: Trace
    repo: Path
    agent: Agent
    patch: pytest.MonkeyPatch
    heard: list[AgentEvent] = field(default_factory=list[AgentEvent])

    def driver(self, server: ModelServer, **settings: Any) -> AcpDriver:
        assert self.agent.program is not None
        variables = {**server.environment(), **self.agent.environment(self.agent.program, server.url)}
        for name, value in variables.items():
            self.patch.setenv(name, value)
        passed = ("AMELIA_TRACE", *variables)
        command = ("node", str(self.agent.entry))
        return AcpDriver(AgentSettings(driver="acp", command=command, passes=passed, **settings))

    @property
    def spec(self) -> TurnSpec:
        return TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="Do what the plan says.",
            cwd=str(self.repo),
            transcript=str(self.trace.folder / "turn.jsonl"),
            lock=str(self.trace.folder / "lock"),
            state=str(self.trace.folder / "state"),
        )

    async def start(
        self, server: ModelServer, *, settings: dict[str, Any] | None = None, **facts: Any
    ) -> Turn:
        return await self.driver(server, **(settings or {})).start(replace(self.spec, **facts))

    async def take(self, server: ModelServer, **facts: Any) -> TurnEnded:
        turn = await self.start(server, **facts)
        with anyio.fail_after(60):
            return await self.follow(turn)

    async def follow(self, turn: Turn) -> TurnEnded:
        async with aclosing(turn.events()) as events:
            self.heard = [event async for event in events]
        ended = self.heard[-1]
        assert isinstance(ended, TurnEnded)
        return ended

    def changes(self) -> list[str]:
        return git(self.repo, "status", "--short", "--untracked-files=all").splitlines()

    def usage(self, given: int, made: int, ended: TurnEnded) -> None:
        assert ended.usage is not None
        assert (ended.usage.input_tokens, ended.usage.output_tokens) == (given, made)
        assert (ended.usage.cost is not None) == self.agent.has_cost


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
def desk(request: pytest.FixtureRequest, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Gives a desk, and an environment in which no key, no login and no setting of this machine is left."""
    agent: Agent = request.param
    if shutil.which("node") is None or not agent.entry.exists():
        pytest.skip("the real ACP agents are not installed: run scripts/acp-agent")
    if agent.program is None:
        pytest.skip("the program behind the ACP agent is not installed: run scripts/agents")
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(("COV", "PYTEST")):
            monkeypatch.delenv(name)
    home = trace.folder / "home"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text(CODEX_SETTINGS)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AMELIA_TRACE", trace.mark)
    repo = make_repository(trace.folder / "repo", {"README.md": "A sample.\n"})
    return Desk(trace, repo.path, agent, monkeypatch)


async def test_a_probe_shakes_hands(desk: Desk) -> None:
    with ModelServer() as server:
        info = await desk.driver(server).probe()
    assert f"{desk.agent.name}" in info.version
    assert info.program.endswith("node")
    assert not any("go on" in note for note in info.notes)
    assert server.connects == []
    assert not desk.trace.living()


async def test_a_session_creates_goes_on_edits_and_reports(desk: Desk) -> None:
    agent = desk.agent
    first = [Answer(text="I write.", tools=[agent.write(desk.repo, "hello.txt")]), DONE]
    cat = agent.run("cat hello.txt > said.txt")
    second = [Answer(tools=[agent.edit(desk.repo, "hello.txt")]), Answer(tools=[cat]), DONE]
    with ModelServer([*first, *second]) as server:
        began = await desk.take(server)
        assert (began.ending, began.report) == (Ending.OK, REPORT)
        desk.usage(210, 50, began)
        assert {SessionStarted, ToolStarted} <= set(map(type, desk.heard))
        assert ToolEnded("edit", ok=True) in desk.heard
        went_on = await desk.take(server, session=began.session, resume=True, before=began.usage)
        assert (went_on.ending, went_on.report, went_on.session) == (Ending.OK, REPORT, began.session)
        desk.usage(310, 70, went_on)
        assert "I write." in json.dumps(server.requests[2].body)
    if began.usage and began.usage.cost and went_on.usage:
        assert went_on.usage.cost == pytest.approx(
            began.usage.cost * (310 * 4 + 70 * 20) / (210 * 4 + 50 * 20)
        )
    assert (desk.repo / "said.txt").read_text() == "goodbye\n"
    assert server.connects == []
    assert KEY not in (desk.trace.folder / "turn.jsonl").read_text()
    assert not desk.trace.living()


async def test_a_role_that_may_not_write_cannot(desk: Desk) -> None:
    tries = [desk.agent.write(desk.repo, "bad.txt"), desk.agent.run("echo x > worse.txt")]
    with ModelServer([*(Answer(tools=[each]) for each in tries), DONE], then=DONE) as server:
        ended = await desk.take(server, role=Role.REVIEWER)
    assert desk.changes() == []
    assert ToolEnded("edit", ok=True) not in desk.heard
    # Claude has no such tools in that role; Codex asks, takes a refusal as the end, and is told to go on.
    assert ended.ending is Ending.OK, ended.detail
    assert desk.agent.name == "claude" or PermissionDenied in map(type, desk.heard)


async def test_a_repair_cannot_write_and_the_turn_after_it_can(desk: Desk) -> None:
    bad, good = (Answer(tools=[desk.agent.write(desk.repo, name)]) for name in ("bad.txt", "good.txt"))
    with ModelServer([DONE]) as server:
        began = await desk.take(server)
    with ModelServer([bad, DONE], then=DONE) as server:
        await desk.take(server, session=began.session, resume=True, is_repair=True)
        assert desk.changes() == []
    with ModelServer([good, DONE], then=DONE) as server:
        ended = await desk.take(server, session=began.session, resume=True)
    assert (ended.ending, ended.session) == (Ending.OK, began.session)
    assert desk.changes() == ["?? good.txt"]


@pytest.mark.parametrize("is_trusted", [False, True])
async def test_what_the_repository_brings_for_the_agent_counts_only_with_trust(
    desk: Desk, *, is_trusted: bool
) -> None:
    hook = {"hooks": [{"type": "command", "command": "touch hooked"}]}
    (desk.repo / ".claude").mkdir()
    (desk.repo / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"SessionStart": [hook]}}))
    (desk.repo / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "touch", "args": ["served"]}}}')
    with ModelServer([DONE]) as server:
        ended = await desk.take(server, settings={"trusts_repository": is_trusted})
    assert ended.ending is Ending.OK
    assert (desk.repo / "hooked").exists() == (is_trusted and desk.agent.name == "claude")
    assert is_trusted or not (desk.repo / "served").exists()


async def test_the_wanted_model_is_asked(desk: Desk) -> None:
    with ModelServer([DONE]) as server:
        ended = await desk.take(server, settings={"model": desk.agent.model})
    assert ended.ending is Ending.OK
    assert desk.agent.model in server.requests[0].model


async def test_a_model_that_the_agent_does_not_know_fails(desk: Desk) -> None:
    with ModelServer() as server:
        ended = await desk.take(server, settings={"model": "no-such-model"})
    assert ended.ending is Ending.FAILED
    assert server.requests == []


async def test_an_unknown_session_is_lost(desk: Desk) -> None:
    unknown = SessionId("11111111-2222-4333-8444-555555555555")
    with ModelServer() as server:
        ended = await desk.take(server, session=unknown, resume=True)
    assert ended.ending is Ending.SESSION_LOST
    assert server.requests == []


FAULTS: dict[str, tuple[Step, set[Ending]]] = {
    "400": (Fault(status=400), {Ending.FAILED}),
    "401": (Fault(status=401), {Ending.AUTH}),
    "429": (Fault(status=429), {Ending.LIMITED}),
    "500": (Fault(status=500), {Ending.LIMITED}),
    "529": (Fault(status=529), {Ending.LIMITED}),
    "dropped connection": (Breakdown.DROP, {Ending.LIMITED}),
    "cut stream": (Breakdown.CUT_STREAM, {Ending.LIMITED, Ending.FAILED}),
    "garbage": (Breakdown.GARBAGE, {Ending.LIMITED, Ending.FAILED}),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_provider_is_told_as_what_it_is(desk: Desk, fault: str) -> None:
    step, endings = FAULTS[fault]
    began = time.monotonic()
    with ModelServer(then=step) as server:
        ended = await desk.take(server)
    seconds, left = time.monotonic() - began, desk.trace.living()
    record(f"acp ({desk.agent.name})", fault, ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending in endings, ended.detail
    assert ended.detail
    assert not left


@pytest.mark.parametrize("fault", [Breakdown.HANG, Breakdown.HANG_MID_STREAM])
async def test_a_provider_that_hangs_is_waited_for_no_longer_than_the_clocks_say(
    desk: Desk, fault: Breakdown
) -> None:
    began = time.monotonic()
    with ModelServer(then=fault) as server:
        sessions = Sessions({Role.DEVELOPER: desk.driver(server)})
        spec = replace(desk.spec, clocks=Clocks(silence=timedelta(seconds=3)))
        ended = await sessions.take_turn(spec, desk.heard.append)
    seconds, left = time.monotonic() - began, desk.trace.living()
    record(f"acp ({desk.agent.name})", fault, ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is Ending.TIMED_OUT_SILENCE
    assert not left


@pytest.mark.parametrize("how", [Ending.KILLED, Ending.INTERRUPTED])
async def test_a_turn_that_is_stopped_leaves_nothing(desk: Desk, how: Ending) -> None:
    with ModelServer([Answer(tools=[desk.agent.run(WAITS)])], then=DONE) as server:
        turn = await desk.start(server)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(desk.follow, turn)
                while not (desk.repo / "ready").exists():  # noqa: ASYNC110 - a file gives no event
                    await anyio.sleep(0.02)
                await (turn.kill() if how is Ending.KILLED else turn.interrupt())
    ended = desk.heard[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.ending is how
    assert not desk.trace.living()
