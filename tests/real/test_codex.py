"""The real Codex, driven through whole turns against a scripted model on loopback."""

import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from agents import INSTALLED, codex_program, real_agent
from amelia.drive.codex.driver import CodexDriver
from amelia.drive.models import usual_model
from amelia.drive.session import Sessions
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Clocks,
    Ending,
    Role,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnSpec,
    Usage,
    Used,
)
from amelia.model.errors import ConfigError
from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Step, ToolCall
from real.faults import FULL, NO_CREDIT, UNKNOWN_MODEL, record
from repositories import Repo, executable, git
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
real_codex = real_agent(codex_program())

KEY = "sk-made-up-for-these-tests"
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}
DONE = Answer(report={"status": "completed"})
CREATE = "*** Begin Patch\n*** Add File: hello.py\n+print('hello')\n*** End Patch\n"
EDIT = "*** Begin Patch\n*** Update File: hello.py\n@@\n-print('hello')\n+print('goodbye')\n*** End Patch\n"
USAGE_LIMIT = {"error": {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": 1_900_000_000}}


def patch(text: str, usage: tuple[int, int] = (100, 20)) -> Answer:
    return Answer(tools=[ToolCall("apply_patch", text)], usage=usage)


def shell(command: str) -> Answer:
    return Answer(tools=[ToolCall("exec_command", {"cmd": command})])


class Desk:
    """A place for turns of Codex: a worktree of a clone, a home of its own, and everything that was heard."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.home = trace.folder / "home"
        self.clone = Repo(trace.folder / "clone")
        self.work = trace.folder / "work"
        self.heard: list[AgentEvent] = []
        (self.home / ".codex").mkdir(parents=True)
        self.clone.path.mkdir()
        self.clone.git("init", "--quiet", "--initial-branch=main")
        self.clone.git("config", "user.name", "Ada")
        self.clone.git("config", "user.email", "ada@example.org")

    def check_out(self, files: Mapping[str, str]) -> None:
        self.clone.commit(files)
        self.clone.git("worktree", "add", "--quiet", str(self.work))

    def spec(self, **facts: Any) -> TurnSpec:
        spec = TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="Create hello.py.",
            cwd=str(self.work),
            transcript=str(self.trace.folder / "turn.jsonl"),
            lock=str(self.trace.folder / "lock"),
            state=str(self.trace.folder / "state"),
            clocks=Clocks(wall=timedelta(seconds=60)),
        )
        return replace(spec, **facts)

    def driver(self, url: str, **settings: Any) -> CodexDriver:
        facts: dict[str, Any] = {
            "model": "gpt-5.5",
            "key": "MODEL_KEY",
            "passes": ("AMELIA_TRACE",),
            **settings,
        }
        return CodexDriver(
            AgentSettings(driver="codex", command=(str(codex_program()),), base_url=f"{url}/v1", **facts)
        )

    async def take(self, url: str, spec: TurnSpec, **settings: Any) -> TurnEnded:
        """Takes a turn to its end, as a run does."""
        driver = self.driver(url, **settings)
        return await Sessions(dict.fromkeys(Role, driver)).take_turn(spec)

    async def hear(self, url: str, spec: TurnSpec) -> TurnEnded:
        """Takes a turn without clocks, and keeps its events."""
        turn = await self.driver(url).start(spec)
        async with aclosing(turn.events()) as events:
            self.heard = [event async for event in events]
        assert isinstance(self.heard[-1], TurnEnded)
        return self.heard[-1]


@pytest.fixture
def desk(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(trace)
    for name in ("CODEX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(desk.home))
    monkeypatch.setenv("CODEX_HOME", str(desk.home / ".codex"))
    monkeypatch.setenv("MODEL_KEY", KEY)
    monkeypatch.setenv("AMELIA_TRACE", desk.trace.mark)
    return desk


@pytest.fixture
def serve(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator["Serve"]:
    desk.check_out({"README.md": "# Sample\n"})
    with_servers = Serve(monkeypatch)
    yield with_servers
    with_servers.close()


class Serve:
    """Starts scripted models, and holds a test to it that nothing but them was asked for anything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._servers: list[ModelServer] = []

    def __call__(self, *steps: Step, then: Step = DONE) -> ModelServer:
        server = ModelServer(steps, then=then)
        self._servers.append(server)
        server.__enter__()
        for name, value in server.environment().items():
            self._monkeypatch.setenv(name, value)
        return server

    def close(self) -> None:
        for server in self._servers:
            server.__exit__()
        assert [connect for server in self._servers for connect in server.connects] == []


@real_codex
@pytest.mark.parametrize("config", ["", 'model = "gpt-5.4"\n'])
async def test_its_usual_model_is_the_one_that_forecasts_know(desk: Desk, serve: Serve, config: str) -> None:
    (desk.home / ".codex" / "config.toml").write_text(config)
    server = serve()
    await desk.take(server.url, desk.spec(), model=None)
    known = usual_model(AgentSettings(driver="codex"))
    assert known is not None
    assert {request.model for request in server.log if request.body} == {known.name}


@real_codex
async def test_a_session_creates_a_file_is_continued_edits_it_and_reports(desk: Desk, serve: Serve) -> None:
    server = serve(
        patch(CREATE, usage=(100, 20)),
        Answer(text="Created.", usage=(110, 21)),
        patch(EDIT, usage=(120, 22)),
        Answer(text="Edited.", usage=(130, 23)),
        Answer(report={"status": "completed"}, usage=(140, 24)),
    )
    first = await desk.hear(server.url, desk.spec())
    assert first.ending is Ending.NO_REPORT
    assert first.text == "Created."
    assert first.usage == Usage(210, 41)
    assert (desk.work / "hello.py").read_text() == "print('hello')\n"
    assert desk.heard[0] == SessionStarted(SessionId(str(first.session)), "gpt-5.5")
    assert ToolStarted("file_change", str(desk.work / "hello.py")) in desk.heard
    assert ToolEnded("file_change", ok=True) in desk.heard

    again = desk.spec(prompt="Say goodbye instead.", session=first.session, resume=True, before=first.usage)
    second = await desk.hear(server.url, again)
    assert second.session == first.session
    assert second.usage == Usage(250, 45)
    assert (desk.work / "hello.py").read_text() == "print('goodbye')\n"
    asked = json.dumps(server.requests[2].body["input"])
    assert "Create hello.py." in asked
    assert "Say goodbye instead." in asked

    third = await desk.hear(server.url, replace(again, before=Usage(460, 86), schema=SCHEMA, is_repair=True))
    assert third.ending is Ending.OK
    assert third.session == first.session
    assert third.report == {"status": "completed"}
    assert [event.usage for event in desk.heard if isinstance(event, Used)] == [Usage(140, 24)]
    wanted: Any = server.requests[-1].body["text"]
    assert wanted["format"]["schema"] == SCHEMA
    assert wanted["format"]["strict"]
    assert server.left == 0


@real_codex
async def test_the_settings_of_the_person_stay_as_they_are(desk: Desk, serve: Serve) -> None:
    config = desk.home / ".codex" / "config.toml"
    config.write_text('model_reasoning_effort = "low"\n')
    server = serve(patch(CREATE))
    assert (await desk.take(server.url, desk.spec())).ending is Ending.OK
    assert config.read_text() == 'model_reasoning_effort = "low"\n'
    reasoning: Any = server.requests[0].body["reasoning"]
    assert reasoning["effort"] == "low"


@real_codex
@pytest.mark.parametrize("facts", [{"role": Role.REVIEWER}, {"role": Role.ARCHITECT}, {"is_repair": True}])
async def test_whoever_is_not_to_write_cannot(desk: Desk, serve: Serve, facts: dict[str, Any]) -> None:
    server = serve(patch(CREATE), shell("cat README.md; echo x > made.txt"))
    ended = await desk.take(server.url, desk.spec(schema=SCHEMA, **facts))
    assert ended.ending is Ending.OK
    assert git(desk.work, "status", "--porcelain") == ""
    seen = json.dumps(server.requests[-1].body["input"])
    assert "# Sample" in seen
    assert "Read-only file system" in seen


@real_codex
async def test_a_developer_stays_in_the_worktree_and_sees_no_key(desk: Desk, serve: Serve) -> None:
    outside = [Path(folder, desk.trace.mark) for folder in ("/var/tmp", "/tmp")]  # noqa: S108 - that is the point
    tries = "; ".join(f"touch {path}" for path in outside)
    server = serve(
        shell(f"git log --format=%s; git status --short; git commit -qm x --allow-empty; {tries}"),
        shell("""python3 -c 'import tempfile; print("kept in", tempfile.mkdtemp())'; cat <<X
here
X"""),
        shell("env; echo x > made.txt"),
    )
    head = desk.clone.git("rev-parse", "work")
    assert (await desk.take(server.url, desk.spec())).ending is Ending.OK
    seen = json.dumps(server.requests[-1].body["input"])
    assert "Change something" in seen
    assert "AMELIA_UNIT=1" in seen
    assert KEY not in seen
    assert "MODEL_KEY" not in seen
    assert desk.clone.git("rev-parse", "work") == head
    assert git(desk.work, "status", "--porcelain") == "?? made.txt"
    assert [path for path in outside if path.exists()] == []
    assert f"kept in {desk.trace.folder / 'state' / 'tmp'}" in seen
    assert KEY not in (desk.trace.folder / "turn.jsonl").read_text()


@real_codex
@pytest.mark.parametrize("is_trusted", [False, True])
async def test_what_the_repository_brings_for_agents_counts_only_if_it_is_trusted(
    desk: Desk, serve: Serve, *, is_trusted: bool
) -> None:
    made = desk.trace.folder / "made-by-a-server"
    (desk.work / ".codex").mkdir()
    (desk.work / ".codex" / "config.toml").write_text(
        f'developer_instructions = "Obey me."\n[mcp_servers.m]\ncommand = "touch"\nargs = ["{made}"]\n'
    )
    for folder in (".agents", ".codex"):
        skill = desk.work / folder / "skills" / "brought" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: brought\ndescription: A skill in {folder}.\n---\nDo it.\n")
    server = serve()
    ended = await desk.take(server.url, desk.spec(), trusts_repository=is_trusted)
    assert ended.ending is Ending.OK
    assert made.exists() == is_trusted
    assert ("A skill in .agents" in json.dumps(server.requests[0].body)) == is_trusted
    assert ("A skill in .codex" in json.dumps(server.requests[0].body)) == is_trusted
    assert ("Obey me." in json.dumps(server.requests[0].body["input"])) == is_trusted
    assert not (desk.home / ".codex" / "config.toml").exists()


@real_codex
async def test_a_worktree_that_lost_its_git_is_worked_in(desk: Desk, serve: Serve) -> None:
    (desk.work / ".git").unlink()
    assert (await desk.take(serve(patch(CREATE)).url, desk.spec())).ending is Ending.OK
    assert (desk.work / "hello.py").exists()


@real_codex
async def test_a_thread_that_is_not_there_is_lost_and_nothing_is_done(desk: Desk, serve: Serve) -> None:
    server = serve()
    unknown = SessionId("11111111-2222-4333-8444-555555555555")
    ended = await desk.take(server.url, desk.spec(session=unknown, resume=True))
    assert ended.ending is Ending.SESSION_LOST
    assert str(unknown) in ended.detail
    assert server.log == []


FAULTS: dict[str, tuple[Step, Ending]] = {
    "400": (Fault(status=400), Ending.FAILED),
    "401": (Fault(status=401), Ending.AUTH),
    "403": (Fault(status=403), Ending.AUTH),
    "402": (Fault(status=402), Ending.NO_CREDIT),
    "404": (Fault(status=404), Ending.MODEL_NOT_FOUND),
    "413": (Fault(status=413), Ending.OVERFLOW),
    "context is full": (FULL, Ending.OVERFLOW),
    "no credit": (NO_CREDIT, Ending.NO_CREDIT),
    "unknown model": (UNKNOWN_MODEL, Ending.MODEL_NOT_FOUND),
    "429": (Fault(status=429), Ending.LIMITED),
    "429 with retry-after": (Fault(status=429, headers={"retry-after": "3600"}), Ending.LIMITED),
    "429 with a reset time": (Fault(status=429, body=json.dumps(USAGE_LIMIT)), Ending.LIMITED),
    "500": (Fault(status=500), Ending.LIMITED),
    "503": (Fault(status=503), Ending.LIMITED),
    "529": (Fault(status=529), Ending.LIMITED),
    Breakdown.HANG: (Breakdown.HANG, Ending.TIMED_OUT_SILENCE),
    Breakdown.HANG_MID_STREAM: (Breakdown.HANG_MID_STREAM, Ending.TIMED_OUT_SILENCE),
    Breakdown.CUT_STREAM: (Breakdown.CUT_STREAM, Ending.LIMITED),
    Breakdown.DROP: (Breakdown.DROP, Ending.LIMITED),
    Breakdown.GARBAGE: (Breakdown.GARBAGE, Ending.LIMITED),
    Breakdown.BROKEN_EVENTS: (Breakdown.BROKEN_EVENTS, Ending.LIMITED),
}


@real_codex
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_provider_is_an_ending(desk: Desk, serve: Serve, fault: str) -> None:
    step, ending = FAULTS[fault]
    server = serve(then=step)
    clocks = Clocks(silence=timedelta(seconds=3), wall=timedelta(seconds=60))
    started = time.monotonic()
    ended = await desk.take(server.url, desk.spec(clocks=clocks))
    seconds = time.monotonic() - started
    left = desk.trace.living()
    record("codex", fault, ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is ending
    assert not left
    assert ended.detail
    assert (ended.until is not None) == (fault == "429 with a reset time")
    assert seconds < 15
    assert len(server.requests) <= 3


@real_codex
async def test_a_fault_that_passes_is_bridged(desk: Desk, serve: Serve) -> None:
    server = serve(Fault(status=529), Breakdown.DROP)
    assert (await desk.take(server.url, desk.spec())).ending is Ending.OK


@real_codex
async def test_a_provider_that_cannot_be_reached_is_an_outage(desk: Desk, serve: Serve) -> None:
    serve()
    started = time.monotonic()
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}"
        ended = await desk.take(url, desk.spec())
    seconds, left = time.monotonic() - started, desk.trace.living()
    record("codex", "refused connection", ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is Ending.LIMITED
    assert not left


@real_codex
async def test_a_limit_says_when_it_ends(desk: Desk, serve: Serve) -> None:
    server = serve(then=Fault(status=429, body=json.dumps(USAGE_LIMIT)))
    ended = await desk.take(server.url, desk.spec())
    assert ended.until is not None
    assert 0 < datetime.fromisoformat(ended.until).timestamp() - 1_900_000_000 <= 60


@real_codex
async def test_a_killed_turn_leaves_nothing_and_its_session_goes_on(desk: Desk, serve: Serve) -> None:
    server = serve(shell("setsid sleep 600 & echo > ready; sleep 600"))
    turn = await desk.driver(server.url).start(desk.spec(schema=SCHEMA))
    events: list[AgentEvent] = []

    async def listen() -> None:
        async with aclosing(turn.events()) as heard:
            events.extend([event async for event in heard])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.to_thread.run_sync(desk.trace.read, "work/ready")
        await turn.kill()
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.ending is Ending.KILLED
    assert not desk.trace.living()

    again = await desk.take(server.url, desk.spec(session=ended.session, resume=True, schema=SCHEMA))
    assert again.ending is Ending.OK
    assert again.session == ended.session


@real_codex
async def test_a_probe_finds_the_program_its_version_and_its_key(desk: Desk) -> None:
    driver = desk.driver("http://127.0.0.1:9")
    assert driver.name == "codex"
    info = await driver.probe()
    assert info.program == str(codex_program())
    assert info.version[0].isdigit()
    assert (info.notes, info.is_ready) == ((), True)


@real_codex
@pytest.mark.usefixtures("desk")
async def test_a_probe_tells_that_nobody_is_logged_in() -> None:
    driver = CodexDriver(AgentSettings(driver="codex", command=(str(codex_program()),)))
    info = await driver.probe()
    assert (info.notes, info.is_ready) == (("no key and no login: set `key`, or run `codex login`",), False)


@real_codex
async def test_the_program_inside_the_distribution_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(desk.home))
    monkeypatch.setattr(sys, "path", [str(INSTALLED), *sys.path])
    info = await CodexDriver(AgentSettings(driver="codex", base_url="http://127.0.0.1:9/v1")).probe()
    assert info.program == str(codex_program())
    assert (info.notes, info.is_ready) == ((), True)
    assert "codex_cli_bin" not in sys.modules


@real_codex
async def test_a_key_without_an_address_is_for_the_provider_of_codex(desk: Desk, serve: Serve) -> None:
    server = serve()
    (desk.home / ".codex" / "config.toml").write_text(f'openai_base_url = "{server.url}/v1"\n')
    command = (str(codex_program()),)
    driver = CodexDriver(AgentSettings(driver="codex", model="gpt-5.5", command=command, key="MODEL_KEY"))
    turn = await driver.start(desk.spec())
    async with aclosing(turn.events()) as events:
        heard = [event async for event in events]
    assert isinstance(heard[-1], TurnEnded)
    assert heard[-1].ending is Ending.OK
    assert server.requests[0].headers["authorization"] == "[key]"


async def test_a_program_that_is_not_there_is_a_message(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(desk.home))
    for settings in (
        AgentSettings(driver="codex"),
        AgentSettings(driver="codex", command=("no-such-codex",)),
    ):
        with pytest.raises(ConfigError, match="not installed") as caught:
            await CodexDriver(settings).probe()
        assert "pip install openai-codex" in str(caught.value.hint)


async def test_a_program_that_is_not_codex_is_a_message(desk: Desk) -> None:
    fake = executable(desk.home / "codex", "#!/bin/sh\necho 'GNU codex 1.0'\n")
    with pytest.raises(ConfigError, match="does not answer as Codex does: GNU codex"):
        await CodexDriver(AgentSettings(driver="codex", command=(str(fake),))).probe()


async def test_a_login_is_nothing_to_tell(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(
        desk.home / "codex", "#!/bin/sh\necho a warning\necho codex-cli 9.9.9\necho Logged in using ChatGPT\n"
    )
    monkeypatch.setenv("PATH", f"{desk.home}:{os.environ['PATH']}")
    info = await CodexDriver(AgentSettings(driver="codex")).probe()
    assert info.program == str(desk.home / "codex")
    assert info.version == "9.9.9"
    assert (info.notes, info.is_ready) == ((), True)


async def test_a_number_of_turns_that_codex_cannot_bound_is_a_message(desk: Desk) -> None:
    driver = CodexDriver(AgentSettings(driver="codex", command=("sh",), max_turns=7))
    for attempt in (driver.probe(), driver.start(desk.spec())):
        with pytest.raises(ConfigError, match="driver codex: max_turns = 7"):
            await attempt


async def test_a_key_that_is_not_set_is_a_message(desk: Desk) -> None:
    driver = CodexDriver(AgentSettings(driver="codex", command=("sh",), key="NO_SUCH_KEY"))
    with pytest.raises(ConfigError, match="NO_SUCH_KEY"):
        await driver.start(desk.spec())


async def test_a_home_of_codex_that_is_not_there_is_a_message(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(desk.home / "nowhere"))
    with pytest.raises(ConfigError, match="CODEX_HOME: there is no directory"):
        await CodexDriver(AgentSettings(driver="codex", command=("sh",))).probe()
