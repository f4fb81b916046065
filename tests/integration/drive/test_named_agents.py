"""Agents of the Agent Client Protocol that are known by name: what their recipes add to a turn."""

import json
import os
import shlex
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from amelia.app.agents import make_driver
from amelia.model.agents import NAMED, AgentSettings, Ending, Role, TurnEnded, TurnSpec
from amelia.model.errors import ConfigError
from repositories import executable
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

AGENT = Path(__file__).parents[2] / "real" / "acp_agents.py"
REPORT = {
    "update": {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": '{"status": "completed"}'},
    }
}
FAULT = {"code": -32603, "message": "Internal error: it broke", "data": {"errorName": "APIError"}}


class Desk:
    """A program on the path that answers like a known agent, and turns taken with it."""

    def __init__(self, trace: Trace, patch: pytest.MonkeyPatch) -> None:
        self.folder = trace.folder
        self.bin = trace.folder / "bin"
        patch.setenv("AMELIA_TRACE", trace.mark)
        patch.setenv("PATH", f"{self.bin}{os.pathsep}{os.environ['PATH']}")

    def put(
        self, name: str = "opencode", *, shown: str = "", version: str = "1.18.33", **script: Any
    ) -> Path:
        small = shlex.join([sys.executable, str(AGENT), json.dumps(script)])
        seen = shlex.quote(str(self.folder / "seen"))
        return executable(
            self.bin / name,
            f"case $1 in\n--version) echo {version};;\nexport) [ $2 = acp-1 ] && echo {shlex.quote(shown)};;\n"
            f'*) echo "$@" > {seen}; env >> {seen}; exec {small};;\nesac',
        )

    @property
    def seen(self) -> str:
        return (self.folder / "seen").read_text()

    async def take(self, *, role: Role = Role.DEVELOPER, **settings: Any) -> TurnEnded:
        facts: dict[str, Any] = {"driver": "opencode", "passes": ("AMELIA_TRACE",), **settings}
        spec = TurnSpec(
            role=role,
            unit="1",
            attempt=1,
            prompt="Do it.",
            cwd=str(self.folder),
            transcript=str(self.folder / "turn.jsonl"),
            state=str(self.folder / "state"),
        )
        turn = await make_driver(AgentSettings(**facts)).start(spec)
        async with aclosing(turn.events()) as events:
            ended = [event async for event in events][-1]
        assert isinstance(ended, TurnEnded)
        return ended


@pytest.fixture
def desk(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(trace, monkeypatch)


async def test_an_agent_by_its_name_is_started_as_its_recipe_says(desk: Desk) -> None:
    desk.put(steps=[REPORT])
    assert (await desk.take()).ending is Ending.OK
    assert desk.seen.startswith("acp\n")
    assert "OPENCODE_DISABLE_AUTOUPDATE=1" in desk.seen
    assert "OPENCODE_DISABLE_PROJECT_CONFIG=1" in desk.seen
    assert "OPENCODE_PERMISSION" not in desk.seen
    assert "NO_BROWSER=1" in desk.seen


async def test_who_may_only_read_and_who_is_trusted_is_told_by_variables(desk: Desk) -> None:
    desk.put(steps=[REPORT])
    await desk.take(role=Role.REVIEWER, trusts_repository=True)
    assert 'OPENCODE_PERMISSION={"edit": "deny", "bash": "deny"' in desk.seen
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" not in desk.seen


async def test_the_variables_of_an_agent_are_its_own_and_a_key_is_passed_on_by_name_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.put(steps=[REPORT])
    monkeypatch.setenv("OPENCODE_CONFIG", "/my/config.json")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up-for-these-tests")
    await desk.take()
    assert "OPENCODE_CONFIG=/my/config.json" in desk.seen
    assert "OPENAI_API_KEY" not in desk.seen
    await desk.take(key="OPENAI_API_KEY")
    assert "OPENAI_API_KEY=sk-made-up-for-these-tests" in desk.seen


@pytest.mark.parametrize("arguments", [(), ("acp",)])
async def test_its_program_may_be_elsewhere(desk: Desk, arguments: tuple[str, ...]) -> None:
    program = desk.put("my-own", steps=[REPORT])
    assert (await desk.take(command=(str(program), *arguments))).ending is Ending.OK
    assert desk.seen.startswith("acp\n")


@pytest.mark.parametrize(
    ("shown", "ending"),
    [
        ('{"error": {"statusCode": 401}}', Ending.AUTH),
        ('{"error": {"statusCode": 401}, "then": {"statusCode":503}}', Ending.LIMITED),
        ('{"error": {"statusCode": 400}}', Ending.FAILED),
        ('{"tokens": 401}', Ending.FAILED),
        ("", Ending.FAILED),
    ],
)
async def test_an_agent_that_keeps_the_status_of_its_provider_to_itself_is_asked_for_it(
    desk: Desk, shown: str, ending: Ending
) -> None:
    desk.put(shown=shown, errors={"session/prompt": FAULT})
    ended = await desk.take()
    assert ended.ending is ending
    assert "it broke" in ended.detail


async def test_it_is_asked_also_if_the_settings_name_it_as_any_agent_of_the_protocol(desk: Desk) -> None:
    program = desk.put(shown='{"statusCode": 429}', errors={"session/prompt": FAULT})
    assert (await desk.take(driver="acp", command=(str(program), "acp"))).ending is Ending.LIMITED


async def test_a_missing_login_names_the_command_for_it(desk: Desk) -> None:
    desk.put(login="nobody")
    ended = await desk.take()
    assert ended.ending is Ending.AUTH
    assert "log in with `opencode auth login`" in ended.detail


async def test_a_probe_asks_for_the_version_and_compares_it(desk: Desk) -> None:
    program = desk.put()
    info = await make_driver(AgentSettings(driver="opencode")).probe()
    assert (info.program, info.version, info.is_ready) == (str(program), "1.18.33", True)
    desk.put(version="0.5.29")
    old = await make_driver(AgentSettings(driver="opencode")).probe()
    assert not old.is_ready
    assert "version 1.0.0 or newer is needed: npm install -g opencode-ai" in old.notes


@pytest.mark.parametrize("name", NAMED)
async def test_an_agent_that_is_not_installed_says_how_to_get_it(name: str) -> None:
    with pytest.raises(ConfigError, match=f"driver {name}: .* is not installed") as problem:
        await make_driver(AgentSettings(driver=name)).probe()
    assert problem.value.hint
