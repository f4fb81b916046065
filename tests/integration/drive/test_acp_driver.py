"""The `acp` driver over real processes: what it starts, what the agent may see, and how turns end."""

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from amelia.drive import programs
from amelia.drive.acp.driver import AcpDriver
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Driver,
    DriverInfo,
    Ending,
    PermissionDenied,
    Role,
    SessionId,
    SessionStarted,
    Turn,
    TurnEnded,
    TurnSpec,
    Usage,
)
from amelia.model.errors import ConfigError
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

AGENT = Path(__file__).parents[2] / "real" / "acp_agents.py"
CANNOT_SWITCH_OFF = "what a repository brings for it may count: that cannot be switched off"


def say(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}


REPORT = say('```json\n{"status": "completed"}\n```')
HANGS = [{"shell": "setsid sleep 600 & echo > ready"}, {"hang": "deaf"}]


class Desk:
    """A place to take turns at, with the small agent."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.log = trace.folder / "log"
        self.events: list[AgentEvent] = []
        self.spec = TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="Do it.",
            cwd=str(trace.folder),
            transcript=str(trace.folder / "turn.jsonl"),
            lock=str(trace.folder / "lock"),
            state=str(trace.folder / "state"),
        )

    def driver(self, *, settings: dict[str, Any] | None = None, **script: Any) -> Driver:
        command = (sys.executable, str(AGENT), json.dumps({"log": str(self.log), **script}))
        facts: dict[str, Any] = {"command": command, "passes": ("AMELIA_TRACE",), **(settings or {})}
        return AcpDriver(AgentSettings(driver="acp", **facts))

    async def take(self, driver: Driver, **facts: Any) -> TurnEnded:
        return await self.follow(await driver.start(replace(self.spec, **facts)))

    async def follow(self, turn: Turn) -> TurnEnded:
        async with aclosing(turn.events()) as events:
            self.events = [event async for event in events]
        ended = self.events[-1]
        assert isinstance(ended, TurnEnded)
        return ended

    async def meanwhile(self, turn: Turn, act: Callable[[], Awaitable[None]]) -> TurnEnded:
        """Returns the end of a turn to which something happens once the agent is at work."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.follow, turn)
            await anyio.to_thread.run_sync(self.trace.read, "ready")
            await act()
        ended = self.events[-1]
        assert isinstance(ended, TurnEnded)
        return ended

    def asked(self, method: str) -> dict[str, Any]:
        messages = [json.loads(line) for line in self.log.read_text().splitlines()]
        [params] = [message["params"] for message in messages if message.get("method") == method]
        return params

    def transcript(self) -> str:
        return Path(self.spec.transcript).read_text()


@pytest.fixture
def desk(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("AMELIA_TRACE", trace.mark)
    return Desk(trace)


async def test_a_probe_shakes_hands(desk: Desk) -> None:
    assert desk.driver().name == "acp"
    assert await desk.driver().probe() == DriverInfo(sys.executable, "small 1.2", (CANNOT_SWITCH_OFF,))


async def test_a_probe_says_what_the_agent_cannot(desk: Desk) -> None:
    driver = desk.driver(settings={"trusts_repository": True}, hello={"protocolVersion": 1})
    info = await driver.probe()
    assert info.version == "unknown"
    assert info.notes == ("it cannot go on with a session: feedback goes to a fresh one",)


async def test_a_probe_of_something_else_says_what_it_heard(desk: Desk) -> None:
    driver = desk.driver(settings={"command": ("sh", "-c", "echo no agent here; exit 3")})
    with pytest.raises(ConfigError, match=r"sh does not answer in its handshake: .*no agent here") as error:
        await driver.probe()
    assert error.value.hint


async def test_a_probe_of_an_agent_that_says_nothing_ends(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "PROBE_TIME", timedelta(seconds=1))
    with pytest.raises(ConfigError, match="does not answer in time: it says nothing"):
        await desk.driver(silent=["initialize"]).probe()
    assert not desk.trace.living()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"command": ()}, "no command line of an agent"),
        ({"command": ("no-such-agent-anywhere",)}, "no-such-agent-anywhere is not installed"),
        ({"key": "AMELIA_NO_SUCH_KEY"}, "AMELIA_NO_SUCH_KEY is not set"),
        ({"max_turns": 3}, "max_turns = 3, but this agent cannot bound its turns"),
    ],
)
async def test_wrong_settings_are_said_before_anything_starts(
    desk: Desk, settings: dict[str, Any], words: str
) -> None:
    driver = desk.driver(settings=settings)
    for act in (driver.probe, lambda: driver.start(desk.spec)):
        with pytest.raises(ConfigError, match=words) as error:
            await act()
        assert error.value.hint


async def test_a_turn_that_works_is_told_and_recorded(desk: Desk) -> None:
    usage = {"inputTokens": 7, "outputTokens": 8}
    ended = await desk.take(desk.driver(steps=[{"write": "made.txt"}, REPORT], answer={"usage": usage}))
    assert ended.ending is Ending.OK
    assert ended.report == {"status": "completed"}
    assert ended.usage == Usage(7, 8)
    assert desk.events[0] == SessionStarted(SessionId("acp-1"), "")
    assert (desk.trace.folder / "made.txt").exists()
    assert "acp-1" in desk.transcript()


async def test_the_agent_sees_what_is_passed_and_nothing_else(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MY_PROVIDER", "MY_SETTING", "MY_SECRET"):
        monkeypatch.setenv(name, f"the-value-of-{name}")
    settings = {"passes": ("AMELIA_TRACE", "MY_SETTING", "MY_ABSENT"), "key": "MY_PROVIDER"}
    await desk.take(
        desk.driver(settings=settings, steps=[{"shell": "env > seen; echo $MY_PROVIDER >&2"}, {"exit": 3}])
    )
    seen = (desk.trace.folder / "seen").read_text()
    assert "MY_PROVIDER=the-value-of-MY_PROVIDER" in seen
    assert "MY_SETTING=the-value-of-MY_SETTING" in seen
    assert "MY_SECRET" not in seen
    assert "the small agent gives up" in desk.transcript()
    assert "the-value-of-MY_PROVIDER" not in desk.transcript()
    assert "the-value-of-MY_PROVIDER" not in repr(desk.events)


async def test_nothing_in_the_worktree_gets_into_our_own_program(desk: Desk) -> None:
    for name in ("amelia.py", "json.py", "msgspec.py", "signal.py"):
        (desk.trace.folder / name).write_text("raise SystemExit('taken over')")
    assert (await desk.take(desk.driver(steps=[REPORT]))).ending is Ending.OK


async def test_a_session_goes_on_where_it_stopped(desk: Desk) -> None:
    told = {"sessionUpdate": "usage_update", "cost": {"amount": 1.5, "currency": "USD"}}
    ended = await desk.take(
        desk.driver(settings={"model": "m"}, offers={"models": {}}, steps=[{"update": told}, REPORT]),
        session=SessionId("acp-1"),
        resume=True,
        before=Usage(1, 2, 1.0),
    )
    assert ended.usage == Usage(0, 0, 0.5)
    assert desk.asked("session/resume")["sessionId"] == "acp-1"
    assert desk.asked("session/set_model")["modelId"] == "m"


async def test_a_lost_session_is_told(desk: Desk) -> None:
    driver = desk.driver(hello={"protocolVersion": 1})
    ended = await desk.take(driver, session=SessionId("acp-1"), resume=True, before=Usage(1, 2))
    assert ended.ending is Ending.SESSION_LOST


async def test_a_limit_says_what_the_agent_said(desk: Desk) -> None:
    error = {"code": -32603, "message": "HTTP 429: slow down"}
    ended = await desk.take(desk.driver(errors={"session/prompt": error}))
    assert ended.ending is Ending.LIMITED
    assert "HTTP 429: slow down" in ended.detail


NO_WRITERS = [*({"role": role} for role in Role if role is not Role.DEVELOPER), {"is_repair": True}]


@pytest.mark.parametrize("facts", NO_WRITERS, ids=lambda facts: str(*facts.values()))
async def test_only_a_developer_at_work_gets_permissions(desk: Desk, facts: dict[str, Any]) -> None:
    modes = {"modes": {"availableModes": [{"id": "code"}, {"id": "plan"}]}}
    driver = desk.driver(offers=modes, steps=[{"ask": {"title": "Write a.py"}}, REPORT])
    ended = await desk.take(driver, **facts)
    assert desk.asked("session/set_mode")["modeId"] == "plan"
    assert PermissionDenied("Write a.py") in desk.events
    assert ended.ending is Ending.OK


async def test_trust_reaches_the_agent(desk: Desk) -> None:
    await desk.take(desk.driver(settings={"trusts_repository": True}, steps=[REPORT]))
    assert desk.asked("session/new")["_meta"] == {"claudeCode": {"options": {}}}


async def test_an_agent_that_dies_says_its_last_words(desk: Desk) -> None:
    ended = await desk.take(desk.driver(steps=[{"exit": 3}]))
    assert ended.ending is Ending.CRASHED
    assert ended.exit_code == 3
    assert "the small agent gives up" in ended.detail


async def test_a_killed_turn_leaves_nothing(desk: Desk) -> None:
    turn = await desk.driver(steps=HANGS).start(desk.spec)
    ended = await desk.meanwhile(turn, lambda: turn.kill(Ending.TIMED_OUT_SILENCE))
    assert ended.ending is Ending.TIMED_OUT_SILENCE
    assert not desk.trace.living()


@pytest.mark.parametrize("ear", ["open", "deaf"])
async def test_an_interrupted_turn_leaves_nothing(desk: Desk, ear: str) -> None:
    turn = await desk.driver(steps=[HANGS[0], {"hang": ear}]).start(desk.spec)
    ended = await desk.meanwhile(turn, turn.interrupt)
    assert ended.ending is Ending.INTERRUPTED
    assert not desk.trace.living()
