"""Which agent takes a role, with real programs on a PATH of our own."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from amelia.app import agents
from amelia.app.agents import best_of, candidates, choose_agents, make_driver, missing_of, probe_agent
from amelia.model.agents import AgentSettings, DriverInfo, Role
from amelia.model.errors import ConfigError
from amelia.model.settings import RunSettings
from repositories import executable

pytestmark = pytest.mark.anyio

AUTO = AgentSettings()
CLAUDE = "echo '2.1.119 (Claude Code)'"
CODEX = "echo codex-cli 0.166.0"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing but what is needed to run a program, and a home without any login."""
    folder = tmp_path / "bin"
    folder.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "CLAUDE_", "CODEX_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(home))
    return folder


@pytest.fixture
def script(tmp_path: Path) -> AgentSettings:
    path = tmp_path / "moves.toml"
    path.write_text('[[turn]]\nrole = "developer"\n')
    return AgentSettings(driver="script", script=str(path))


def everybody(agent: AgentSettings) -> RunSettings:
    return replace(RunSettings(), agents=dict.fromkeys(Role, agent))


@pytest.mark.parametrize("name", ["claude", "codex", "api", "acp"])
def test_every_driver_is_made_by_its_name(name: str) -> None:
    settings = AgentSettings(driver=name, model="openai:x", command=("true",))
    assert make_driver(settings).name == name


def test_a_script_driver_needs_a_script_that_can_be_played(script: AgentSettings, tmp_path: Path) -> None:
    assert make_driver(script).name == "script"
    with pytest.raises(ConfigError, match="no script"):
        make_driver(AgentSettings(driver="script"))
    (tmp_path / "moves.toml").write_text("nonsense")
    with pytest.raises(ConfigError, match=r"moves\.toml"):
        make_driver(script)


@pytest.mark.parametrize(("name", "hint"), [("claud", "did you mean claude?"), ("magic", "known drivers: ")])
def test_an_unknown_driver_is_told_a_known_one(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no driver '{name}'") as caught:
        make_driver(AgentSettings(driver=name))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)


async def test_the_agents_that_are_named_stay_what_they_are(script: AgentSettings) -> None:
    assert await choose_agents(everybody(script)) == dict.fromkeys(Role, script)


@pytest.mark.usefixtures("programs")
async def test_an_agent_that_is_named_and_missing_is_an_error() -> None:
    with pytest.raises(ConfigError) as caught:
        await choose_agents(everybody(AgentSettings(driver="claude")))
    assert caught.value.hint


async def test_the_choice_falls_on_the_first_agent_that_answers(
    programs: Path, script: AgentSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(programs / "codex", CODEX)
    wanted = {**dict.fromkeys(Role, replace(AUTO, model="m", passes=("GOPATH",))), Role.REVIEWER: script}
    chosen = await choose_agents(replace(RunSettings(), agents=wanted))
    assert chosen[Role.DEVELOPER] == AgentSettings(driver="codex", model="m", passes=("GOPATH",))
    assert chosen[Role.REVIEWER] == script
    executable(programs / "claude", CLAUDE)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    assert (await choose_agents(everybody(AUTO)))[Role.DEVELOPER].driver == "claude"


async def test_an_agent_that_nobody_is_logged_in_to_is_the_second_choice(programs: Path) -> None:
    executable(programs / "claude", CLAUDE)
    executable(programs / "codex", CODEX)
    assert (await choose_agents(everybody(AUTO)))[Role.DEVELOPER].driver == "codex"
    executable(programs / "codex", f'[ "$1" != login ] || exit 1; {CODEX}')
    (chosen,) = set((await choose_agents(everybody(AUTO))).values())
    assert chosen.driver == "claude"
    (said,) = await missing_of(chosen)
    assert "log in" in said


def test_the_best_is_the_first_that_is_ready_else_the_first_that_is_there() -> None:
    ready, unready = DriverInfo("/bin/x", "1"), DriverInfo("/bin/x", "1", ("no login",), is_ready=False)
    lost = ConfigError("not there")
    claude, codex = candidates(AUTO)
    assert best_of({claude: ready, codex: ready}) == claude
    assert best_of({claude: unready, codex: ready}) == codex
    assert best_of({claude: unready, codex: unready}) == claude
    assert best_of({claude: lost, codex: unready}) == codex
    with pytest.raises(ConfigError, match="not there; not there"):
        best_of({claude: lost, codex: lost})


async def test_an_agent_that_is_ready_lacks_nothing_and_one_that_is_gone_says_so(
    script: AgentSettings, tmp_path: Path
) -> None:
    assert await missing_of(script) == ()
    (tmp_path / "moves.toml").unlink()
    (said,) = await missing_of(script)
    assert "moves.toml" in said


async def test_an_agent_that_fails_its_handshake_is_passed_over(programs: Path) -> None:
    executable(programs / "claude", "exit 7")
    executable(programs / "codex", CODEX)
    assert (await choose_agents(everybody(AUTO)))[Role.DEVELOPER].driver == "codex"


@pytest.mark.usefixtures("programs")
async def test_where_no_agent_is_there_all_that_was_tried_is_told_and_how_to_get_one() -> None:
    with pytest.raises(ConfigError) as caught:
        await choose_agents(everybody(AUTO))
    said, hint = str(caught.value), caught.value.hint or ""
    assert said.startswith("no agent is there to do the work (")
    assert "claude" in said
    assert "codex" in said
    for way in ("@anthropic-ai/claude-code", "@openai/codex", "amelia-orchestrator[api]", "amelia doctor"):
        assert way in hint


@pytest.mark.parametrize(
    ("model", "drivers"),
    [
        (None, ["claude", "codex"]),
        ("opus", ["claude", "codex"]),
        ("anthropic.claude-sonnet-v2:0", ["claude", "codex"]),
        ("openai:gpt-5.5", ["api"]),
        ("google-gla:gemini", ["api"]),
    ],
)
def test_a_model_of_a_provider_is_asked_directly(model: str | None, drivers: list[str]) -> None:
    assert [each.driver for each in candidates(replace(AUTO, model=model))] == drivers


@pytest.mark.parametrize(
    "settings",
    [replace(AUTO, command=("x",)), replace(AUTO, base_url="http://x"), replace(AUTO, key="MY_KEY")],
)
def test_a_key_a_program_or_an_address_is_never_given_to_whoever_is_there(settings: AgentSettings) -> None:
    with pytest.raises(ConfigError, match="no driver says for which"):
        candidates(settings)
    assert [each.key for each in candidates(replace(settings, model="openai:x"))] == [settings.key]


async def test_an_agent_that_does_not_answer_is_given_up(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "PATIENCE", timedelta(seconds=0.2))
    executable(programs / "claude", "while :; do /bin/sleep 1; done")
    with pytest.raises(ConfigError, match="claude does not answer within 0 seconds"):
        await probe_agent(AgentSettings(driver="claude"))
