"""The real Claude Code, driven through whole turns against a scripted model on loopback."""

import json
import os
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from agents import claude_program, real_agent
from amelia.drive.claude.driver import ClaudeDriver
from amelia.drive.models import full_name, usual_model
from amelia.drive.session import Sessions
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Allowance,
    Clocks,
    Ending,
    PermissionDenied,
    Retrying,
    Role,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    Turn,
    TurnEnded,
    TurnSpec,
    Usage,
)
from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Request, Step, ToolCall
from modelserver.wires import tools_offered
from real.faults import record
from repositories import executable, git, make_repository
from tracing import Trace

PROGRAM = claude_program()
pytestmark = [pytest.mark.anyio, pytest.mark.slow, real_agent(PROGRAM)]

KEY = "sk-made-up-for-these-tests"
MODEL = "claude-sonnet-4-5"
COST = 0.0006  # of 100 tokens in and 20 out, as Claude prices this model
KEPT = ("PATH", "TMPDIR", "LANG", "AMELIA_FAULT_TABLE")
REPORT = {"status": "completed"}
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}
DONE = Answer(report=REPORT)
WAITS = "touch ready; echo >> ready; setsid python3 -c 'import time; time.sleep(600)' & python3 -c 'import time; time.sleep(600)'"


def bash(command: str) -> Answer:
    return Answer(tools=[ToolCall("Bash", {"command": command})])


@dataclass
class Desk:
    """A place for turns: a repository, a home of its own, and everything that was heard."""

    trace: Trace
    repo: Path
    patch: pytest.MonkeyPatch
    session: SessionId = field(default_factory=lambda: SessionId(str(uuid.uuid4())))
    heard: list[AgentEvent] = field(default_factory=list[AgentEvent])

    def driver(self, server: ModelServer, **settings: Any) -> ClaudeDriver:
        facts: dict[str, Any] = {"model": MODEL, "key": "MODEL_KEY", "passes": ("AMELIA_TRACE",), **settings}
        for name, value in server.environment().items():
            self.patch.setenv(name, value)
        return ClaudeDriver(
            AgentSettings(driver="claude", command=(str(PROGRAM),), base_url=server.url, **facts)
        )

    def spec(self, **facts: Any) -> TurnSpec:
        spec = TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="Do what the plan says.",
            cwd=str(self.repo),
            session=self.session,
            schema=SCHEMA,
            transcript=str(self.trace.folder / "turn.jsonl"),
            lock=str(self.trace.folder / "lock"),
            state=str(self.trace.folder / "state"),
            clocks=Clocks(wall=timedelta(seconds=60)),
        )
        return replace(spec, **facts)

    async def take(self, driver: ClaudeDriver, **facts: Any) -> TurnEnded:
        """Carries out one turn as Amelia does, with its clocks."""
        spec = self.spec(**facts)
        return await Sessions({spec.role: driver}).take_turn(spec, self.heard.append)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.heard if isinstance(event, kind)]

    def write(self, name: str) -> ToolCall:
        return ToolCall("Write", {"file_path": str(self.repo / name), "content": "print('hello')\n"})

    def status(self) -> str:
        return git(self.repo, "status", "--short", "--untracked-files=all")

    def transcript(self) -> str:
        return Path(self.spec().transcript).read_text()


@pytest.fixture
def desk(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Gives a desk, and an environment in which no key, no login and no setting of this machine is left."""
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(("COV", "PYTEST")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(trace.folder / "home"))
    monkeypatch.setenv("AMELIA_TRACE", trace.mark)
    monkeypatch.setenv("MODEL_KEY", KEY)
    (trace.folder / "home").mkdir()
    repo = make_repository(trace.folder / "repo", {"README.md": "A sample.\n"})
    return Desk(trace, repo.path, monkeypatch)


@pytest.mark.rows("L17")
async def test_a_session_creates_is_rejected_goes_on_edits_and_reports(desk: Desk) -> None:
    path = desk.repo / "hello.py"
    edit = {"file_path": str(path), "old_string": "hello", "new_string": "goodbye"}
    first = [Answer(text="I write.", tools=[desk.write("hello.py")], usage=(1000, 50)), DONE]
    second = [Answer(tools=[ToolCall("Edit", edit)]), bash("python3 hello.py > said.txt"), DONE]
    with ModelServer([*first, *second]) as server:
        driver = desk.driver(server)
        created = await desk.take(driver)
        assert (created.ending, created.report, created.session) == (Ending.OK, REPORT, desk.session)
        assert created.text == "I write."
        assert path.read_text() == "print('hello')\n"
        edited = await desk.take(driver, prompt="Say goodbye.", resume=True, before=created.usage)
    assert (edited.ending, edited.report, edited.session) == (Ending.OK, REPORT, desk.session)
    assert (desk.repo / "said.txt").read_text() == "goodbye\n"
    assert "I write." in json.dumps(server.requests[2].body), "it is the same session"
    assert {request.model for request in server.requests} == {MODEL}
    assert (server.left, server.connects) == (0, [])
    assert desk.of(SessionStarted) == [SessionStarted(desk.session, MODEL)] * 2
    assert [tool.name for tool in desk.of(ToolStarted) if tool.name != "StructuredOutput"] == [
        "Write",
        "Edit",
        "Bash",
    ]
    assert all(tool.ok for tool in desk.of(ToolEnded))


@pytest.mark.parametrize("name", [None, "default", "best", "opus", "sonnet", "haiku", "opusplan"])
async def test_its_usual_models_are_the_ones_that_forecasts_know(desk: Desk, name: str | None) -> None:
    with ModelServer([DONE]) as server:
        await desk.take(desk.driver(server, model=name))
    [began] = desk.of(SessionStarted)
    known = usual_model(AgentSettings(driver="claude", model=name))
    assert known is not None
    assert began.model == full_name("claude", known.name)


async def test_usage_is_exact_and_what_each_turn_added(desk: Desk) -> None:
    with ModelServer([Answer(text="a", usage=(1000, 50)), DONE, DONE]) as server:
        driver = desk.driver(server)
        first = await desk.take(driver, schema=None)
        second = await desk.take(driver, resume=True, before=first.usage)
        third = await desk.take(driver, resume=True, before=Usage(1100, 70, 0.00435))
    assert first.usage == Usage(1000, 50, 0.00375)
    assert second.usage == Usage(100, 20, COST)
    assert third.usage == Usage(100, 20, COST)
    assert third.ending is Ending.OK


@pytest.mark.parametrize("facts", [{"role": Role.REVIEWER}, {"is_repair": True}], ids=["reviewer", "repair"])
async def test_who_may_not_write_cannot(desk: Desk, facts: dict[str, Any]) -> None:
    read = ToolCall("Read", {"file_path": str(desk.repo / "README.md")})
    tries = [desk.write("evil.py"), ToolCall("Bash", {"command": "touch evil.txt"}), read]
    with ModelServer([Answer(tools=tries), DONE]) as server:
        ended = await desk.take(desk.driver(server), **facts)
    assert (ended.ending, ended.report) == (Ending.OK, REPORT)
    assert desk.status() == ""
    assert [tool.ok for tool in desk.of(ToolEnded)] == [False, False, True, True]
    assert tools_offered(server.requests[0]) == {"Glob", "Grep", "Read", "StructuredOutput"}


async def test_a_developer_is_kept_to_the_tree_and_told_so(desk: Desk) -> None:
    outside = {"file_path": str(desk.trace.folder / "outside.py"), "content": "1"}
    hook = {"file_path": str(desk.repo / ".git/hooks/pre-commit"), "content": "1"}
    with ModelServer([Answer(tools=[ToolCall("Write", outside), ToolCall("Write", hook)]), DONE]) as server:
        ended = await desk.take(desk.driver(server))
    assert ended.ending is Ending.OK
    assert [denied.what.split(":")[0] for denied in desk.of(PermissionDenied)] == ["Write", "Write"]
    assert not (desk.trace.folder / "outside.py").exists()
    assert not (desk.repo / ".git/hooks/pre-commit").exists()


def bring(repo: Path) -> None:
    """Puts into a repository what it could bring for Claude."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"touch {repo}/brought-{event}"}]}]
        for event in ("SessionStart", "UserPromptSubmit", "Stop")
    }
    server = {"command": "touch", "args": [f"{repo}/brought-server"]}
    skill = "---\nname: brought\ndescription: brought-skill\n---\nbrought-skill"
    files = {
        ".claude/settings.json": json.dumps({"hooks": hooks, "enableAllProjectMcpServers": True}),
        ".claude/settings.local.json": json.dumps({"hooks": hooks}),
        ".claude/skills/brought/SKILL.md": skill,
        ".claude/agents/brought.md": skill,
        ".mcp.json": json.dumps({"mcpServers": {"brought": server}}),
        "CLAUDE.md": "brought-memory",
    }
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.REVIEWER])
async def test_what_the_repository_brings_for_agents_is_ignored(desk: Desk, role: Role) -> None:
    bring(desk.repo)
    before = desk.status()
    with ModelServer([Answer(text="Hello"), DONE]) as server:
        assert (await desk.take(desk.driver(server), role=role)).ending is Ending.OK
    assert desk.status() == before
    assert "brought" not in json.dumps([request.body["messages"] for request in server.requests])
    assert "brought" not in json.dumps([request.body["system"] for request in server.requests])


async def test_servers_of_the_person_count_without_trust_and_never_for_who_only_reads(desk: Desk) -> None:
    bring(desk.repo)
    marks = desk.trace.folder / "marks"
    marks.mkdir()
    server = {"command": "touch", "args": [f"{marks}/own"]}
    home = Path(os.environ["HOME"])
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"own": server}}))
    (home / ".claude" / "settings.json").write_text(json.dumps({"enableAllProjectMcpServers": True}))
    before = desk.status()
    for role, started in ((Role.REVIEWER, []), (Role.DEVELOPER, ["own"])):
        with ModelServer([Answer(text="Hello"), DONE]) as model:
            fresh = SessionId(str(uuid.uuid4()))
            assert (await desk.take(desk.driver(model), role=role, session=fresh)).ending is Ending.OK
        assert [mark.name for mark in marks.iterdir()] == started
    assert desk.status() == before, "what the repository brings does not count all the same"


async def test_what_a_trusted_repository_brings_counts(desk: Desk) -> None:
    bring(desk.repo)
    with ModelServer([Answer(text="Hello"), DONE]) as server:
        ended = await desk.take(desk.driver(server, trusts_repository=True))
    assert ended.ending is Ending.OK
    assert "brought-SessionStart" in desk.status()
    assert "brought-memory" in json.dumps(server.requests[0].body)


async def test_a_path_in_a_prompt_is_a_text(desk: Desk) -> None:
    secret = desk.trace.folder / "secret.txt"
    secret.write_text("needle")
    with ModelServer([DONE]) as server:
        await desk.take(desk.driver(server), prompt=f"Look at @{secret} and @README.md.", role=Role.REVIEWER)
    asked = json.dumps(server.requests[0].body["messages"])
    assert f"@{secret}" in asked
    assert "needle" not in asked
    assert "A sample." not in asked


async def test_the_key_is_used_and_not_seen_by_commands(desk: Desk) -> None:
    looks = (
        "(env; cat /proc/self/environ /proc/$PPID/environ /proc/$PPID/cmdline; cat <&3) > seen.txt 2>&1; true"
    )
    with ModelServer([bash(looks), DONE]) as server:
        assert (await desk.take(desk.driver(server))).ending is Ending.OK
    assert server.requests[0].headers["x-api-key"] == "[key]"
    seen = (desk.repo / "seen.txt").read_text()
    assert "AMELIA_UNIT=1" in seen
    assert "--permission-mode" in seen, "the parent of the command is Claude"
    assert KEY not in seen
    assert KEY not in desk.transcript()


async def test_a_login_of_the_person_is_not_sent_to_an_address_of_the_profile(desk: Desk) -> None:
    log_in(desk.trace.folder / "home", "made-up")
    with ModelServer([DONE]) as server:
        assert (await desk.take(desk.driver(server, key=None))).ending is Ending.OK
    assert "oauth" not in server.requests[0].headers["anthropic-beta"], "it is not the login that is used"


async def test_the_same_answer_is_asked_for_again_if_it_has_the_wrong_shape(desk: Desk) -> None:
    with ModelServer([Answer(report={"status": 5}), DONE]) as server:
        assert (await desk.take(desk.driver(server))).report == REPORT
    with ModelServer([Answer(report={"status": 5})] * 9) as server:
        ended = await desk.take(desk.driver(server), session=SessionId(str(uuid.uuid4())))
    assert (ended.ending, ended.report) == (Ending.NO_REPORT, None)
    assert "must be string" in ended.detail


async def test_without_the_report_that_was_asked_for_there_is_none(desk: Desk) -> None:
    with ModelServer([Answer(text="All done!")] * 4) as server:
        ended = await desk.take(desk.driver(server))
    assert (ended.ending, ended.report, ended.text) == (Ending.NO_REPORT, None, "All done!")


async def test_the_price_of_an_unknown_model_is_unknown(desk: Desk) -> None:
    with ModelServer([DONE]) as server:
        ended = await desk.take(desk.driver(server, model="our-own-model"))
    assert ended.usage == Usage(100, 20)


async def test_nobody_is_stopped_by_a_price_that_is_a_guess(desk: Desk) -> None:
    with ModelServer([bash("true"), DONE]) as server:
        driver = desk.driver(server, model="our-own-model")
        ended = await desk.take(driver, allowance=Allowance(cost=COST / 100))
    assert (ended.ending, ended.usage) == (Ending.OK, Usage(200, 40))


async def test_a_turn_ends_at_its_budget_and_at_its_number_of_steps(desk: Desk) -> None:
    with ModelServer([Answer(text="Hello"), *[bash("true")] * 20]) as server:
        driver = desk.driver(server)
        first = await desk.take(driver, schema=None)
        paid = await desk.take(driver, resume=True, before=first.usage, allowance=Allowance(cost=3 * COST))
        assert paid.ending is Ending.OUT_OF_BUDGET
        assert paid.usage == Usage(300, 60, 3 * COST)
        stepped = await desk.take(desk.driver(server, max_turns=2), session=SessionId(str(uuid.uuid4())))
    assert stepped.ending is Ending.FAILED
    assert "maximum number of turns (2)" in stepped.detail


async def test_an_unknown_session_is_lost_and_nothing_is_asked(desk: Desk) -> None:
    with ModelServer([DONE]) as server:
        ended = await desk.take(desk.driver(server), resume=True, before=Usage(5, 5, 0.5))
    assert (ended.ending, ended.usage, server.requests) == (Ending.SESSION_LOST, None, [])


async def test_a_server_that_wants_no_key_is_asked_without_one(desk: Desk) -> None:
    with ModelServer([DONE]) as server:
        ended = await desk.take(desk.driver(server, key=None))
    assert ended.ending is Ending.OK
    assert "x-api-key" not in server.requests[0].headers


async def test_without_a_login_nobody_is_asked(desk: Desk) -> None:
    with ModelServer([DONE]) as server:
        named = desk.driver(server, key=None)
        ended = await desk.take(replace(named, settings=replace(named.settings, base_url=None)))
    assert (ended.ending, server.requests, server.connects) == (Ending.AUTH, [], [])
    assert "Not logged in" in ended.detail


@pytest.mark.parametrize("way", ["apiKeyHelper", "env"])
async def test_a_login_of_its_own_settings_that_a_probe_sees_is_one(desk: Desk, way: str) -> None:
    own = desk.trace.folder / "home" / ".claude"
    own.mkdir()
    helper = executable(own / "key.sh", f"echo {KEY}")
    with ModelServer([DONE]) as server:
        variables = {"ANTHROPIC_BASE_URL": server.url, **({"ANTHROPIC_API_KEY": KEY} if way == "env" else {})}
        settings = {"env": variables, **({"apiKeyHelper": str(helper)} if way == "apiKeyHelper" else {})}
        (own / "settings.json").write_text(json.dumps(settings))
        named = desk.driver(server, key=None)
        driver = replace(named, settings=replace(named.settings, base_url=None))
        info = await driver.probe()
        ended = await desk.take(driver)
    assert (info.is_ready, info.notes, str(own / "settings.json") in info.login) == (True, (), True)
    assert (ended.ending, len(server.requests)) == (Ending.OK, 1)


FAULTS: list[tuple[str, Step, Ending]] = [
    ("400", Fault(status=400), Ending.FAILED),
    ("401", Fault(status=401), Ending.AUTH),
    ("403", Fault(status=403), Ending.AUTH),
    ("402", Fault(status=402), Ending.NO_CREDIT),
    ("404", Fault(status=404), Ending.MODEL_NOT_FOUND),
    ("413", Fault(status=413), Ending.OVERFLOW),
    (
        "context is full",
        Fault(status=400, message="prompt is too long: 9 tokens > 8 maximum"),
        Ending.OVERFLOW,
    ),
    ("unknown model", Fault(status=404, message="model: claude-nope"), Ending.MODEL_NOT_FOUND),
    ("429", Fault(status=429), Ending.LIMITED),
    ("429 with retry-after", Fault(status=429, headers={"retry-after": "3600"}), Ending.LIMITED),
    ("500", Fault(status=500), Ending.LIMITED),
    ("503", Fault(status=503), Ending.LIMITED),
    ("529", Fault(status=529), Ending.LIMITED),
    ("no credit", Fault(status=400, message="Your credit balance is too low"), Ending.NO_CREDIT),
    (Breakdown.HANG, Breakdown.HANG, Ending.TIMED_OUT_SILENCE),
    (Breakdown.HANG_MID_STREAM, Breakdown.HANG_MID_STREAM, Ending.TIMED_OUT_SILENCE),
    (Breakdown.CUT_STREAM, Breakdown.CUT_STREAM, Ending.LIMITED),
    (Breakdown.DROP, Breakdown.DROP, Ending.LIMITED),
    (Breakdown.GARBAGE, Breakdown.GARBAGE, Ending.LIMITED),
    (Breakdown.BROKEN_EVENTS, Breakdown.BROKEN_EVENTS, Ending.LIMITED),
    ("refusal", Answer(text="No", stop="refusal"), Ending.FAILED),
]


@pytest.mark.parametrize(("name", "step", "ending"), FAULTS, ids=[name for name, _, _ in FAULTS])
async def test_a_fault_of_the_provider_has_an_ending(
    desk: Desk, name: str, step: Step, ending: Ending
) -> None:
    clocks = Clocks(silence=timedelta(seconds=3), wall=timedelta(seconds=60))
    with ModelServer(then=step) as server:
        begun = time.monotonic()
        ended = await desk.take(desk.driver(server), clocks=clocks)
        seconds = time.monotonic() - begun
    left = desk.trace.living()
    record("claude", name, ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is ending
    assert ended.detail
    assert seconds < 15
    assert not left
    assert server.connects == []
    assert KEY not in ended.detail + desk.transcript()


async def test_a_passing_fault_is_bridged(desk: Desk) -> None:
    with ModelServer([Fault(status=529), Breakdown.DROP, DONE]) as server:
        ended = await desk.take(desk.driver(server))
    assert (ended.ending, ended.report) == (Ending.OK, REPORT)
    assert [retry.status for retry in desk.of(Retrying)] == [529, None]


async def test_a_wrong_key_is_told_by_claude_after_its_few_retries(desk: Desk) -> None:
    with ModelServer(then=Fault(status=401, message="invalid x-api-key")) as server:
        ended = await desk.take(desk.driver(server))
    assert (ended.ending, len(server.requests)) == (Ending.AUTH, 3)
    assert [retry.status for retry in desk.of(Retrying)] == [401, 401]
    assert ended.detail == "the provider refuses the login: Invalid API key · Fix external API key"


def log_in(home: Path, token: str) -> None:
    """Writes the login of a subscription as Claude does, or as another Claude does meanwhile."""
    facts = {"accessToken": f"sk-ant-oat01-{token}", "refreshToken": f"sk-ant-ort01-{token}"}
    scopes = ["user:inference", "user:profile"]
    login = {"claudeAiOauth": {**facts, "expiresAt": 4102444800000, "scopes": scopes}}
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude" / ".credentials.json").write_text(json.dumps(login))


async def test_a_login_that_another_process_has_renewed_heals_by_itself(desk: Desk) -> None:
    home = desk.trace.folder / "home"
    log_in(home, "old")

    def model(request: Request) -> Step:
        if request.number > 1:
            return DONE
        log_in(home, "new")
        return Fault(status=401, message="OAuth token has been revoked")

    with ModelServer(model) as server:
        desk.patch.setenv("ANTHROPIC_BASE_URL", server.url)
        named = desk.driver(server, key=None)
        ended = await desk.take(replace(named, settings=replace(named.settings, base_url=None)))
    assert [retry.status for retry in desk.of(Retrying)] == [401]
    assert (ended.ending, ended.report) == (Ending.OK, REPORT), ended.detail


async def test_a_limit_of_a_subscription_tells_when_it_is_over(desk: Desk) -> None:
    reset = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    limit = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(int(reset.timestamp())),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    desk.patch.setenv("CLAUDE_CODE_OAUTH_TOKEN", KEY)
    with ModelServer(then=Fault(status=429, headers=limit)) as server:
        ended = await desk.take(desk.driver(server, key="CLAUDE_CODE_OAUTH_TOKEN"))
    assert (ended.ending, ended.until) == (Ending.LIMITED, reset.isoformat())
    assert "5-hour limit" in ended.detail


async def while_it_works(desk: Desk, turn: Turn, act: Callable[[], Any]) -> TurnEnded:
    """Returns the end of a turn to which something happens once its command runs."""
    heard: list[AgentEvent] = []

    async def listen() -> None:
        async with aclosing(turn.events()) as events:
            heard.extend([event async for event in events])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.to_thread.run_sync(desk.trace.read, "repo/ready")
        await act()
    assert isinstance(heard[-1], TurnEnded)
    return heard[-1]


async def test_a_killed_turn_leaves_nothing_and_its_session_goes_on(desk: Desk) -> None:
    with ModelServer([DONE, bash(WAITS), DONE]) as server:
        driver = desk.driver(server)
        first = await desk.take(driver)
        turn = await driver.start(desk.spec(resume=True, before=first.usage))
        ended = await while_it_works(desk, turn, turn.kill)
        assert ended.ending is Ending.KILLED
        assert not desk.trace.living()
        after = await desk.take(driver, resume=True, before=first.usage)
    assert (after.ending, after.report, after.session) == (Ending.OK, REPORT, desk.session)
    # Claude counts what it had used until it was killed, if it was given the time to write that down.
    assert after.usage in (Usage(200, 40, 2 * COST), Usage(100, 20, COST))


async def test_an_interrupted_turn_ends_by_itself_and_its_session_goes_on(desk: Desk) -> None:
    with ModelServer([bash(WAITS), DONE]) as server:
        driver = desk.driver(server)
        turn = await driver.start(desk.spec())
        ended = await while_it_works(desk, turn, turn.interrupt)
        assert ended.ending is Ending.INTERRUPTED
        assert not desk.trace.living()
        after = await desk.take(driver, resume=True, before=ended.usage)
    assert (after.ending, after.report) == (Ending.OK, REPORT)


async def test_a_probe_says_what_is_installed_and_whether_anybody_is_logged_in(desk: Desk) -> None:
    with ModelServer() as server:
        info = await desk.driver(server).probe()
        assert (info.program, info.notes) == (str(PROGRAM), ())
        assert info.version.count(".") == 2
        named = desk.driver(server, key=None)
        [note] = (await replace(named, settings=replace(named.settings, base_url=None)).probe()).notes
    assert "no key and no login" in note
    assert server.log == []
