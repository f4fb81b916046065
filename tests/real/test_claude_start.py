"""How Claude Code is found and started; the program here is a script that writes down what it was given."""

import json
import os
import sys
from dataclasses import replace
from typing import Any

import pytest

from amelia.drive.claude.driver import ClaudeDriver
from amelia.drive.session import Sessions
from amelia.model.agents import AgentSettings, Allowance, Ending, Role, SessionId, TurnEnded, TurnSpec, Usage
from amelia.model.errors import ConfigError
from repositories import executable
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SESSION = SessionId("11111111-2222-4333-8444-555555555555")
TELL = """#!/bin/sh
case "$*" in *--version) echo "2.1.325 (Claude Code)"; exit;; esac
printf '%s\\n' "$@" > arguments
env > environment
tr '\\0' '\\n' < /proc/$$/environ >> environment
test -z "$CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR$CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR" || cat <&3 > key
cat > prompt
echo '{"type": "result", "subtype": "success", "is_error": false, "result": "", "structured_output": {"a": 1}}'
"""
FAILS = "#!/bin/sh\necho 'error: unknown option' >&2\nexit 1\n"
BABBLES = "#!/bin/sh\necho hello\necho world\n"


@pytest.fixture(autouse=True)
def no_logins(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "AWS_", "GOOGLE_", "CLOUD_ML")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(trace.folder))
    monkeypatch.setenv("AMELIA_TRACE", trace.mark)


def driver(trace: Trace, script: str = TELL, **settings: Any) -> ClaudeDriver:
    program = executable(trace.folder / "bin" / "claude", script)
    facts: dict[str, Any] = {"command": (str(program),), **settings}
    return ClaudeDriver(AgentSettings(driver="claude", **facts))


async def take(trace: Trace, agent: ClaudeDriver, **facts: Any) -> TurnEnded:
    spec = TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="Do it.",
        cwd=str(trace.folder),
        session=SESSION,
        transcript=str(trace.folder / "turn.jsonl"),
        state=str(trace.folder / "state"),
    )
    spec = replace(spec, **facts)
    return await Sessions({spec.role: agent}).take_turn(spec)


def arguments(trace: Trace) -> list[str]:
    return (trace.folder / "arguments").read_text().splitlines()


def environment(trace: Trace) -> dict[str, str]:
    lines = (trace.folder / "environment").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.mark.rows("L17")
async def test_a_developer_may_edit_and_run_commands(trace: Trace) -> None:
    ended = await take(trace, driver(trace))
    assert (ended.ending, ended.report, ended.session) == (Ending.OK, {"a": 1}, SESSION)
    assert arguments(trace) == [
        "--print",
        "--output-format=stream-json",
        "--verbose",
        f"--session-id={SESSION}",
        "--tools=Bash,Edit,Glob,Grep,NotebookEdit,Read,Write",
        "--permission-mode=acceptEdits",
        "--allowedTools=Bash",
        "--setting-sources=user",
        "--disable-slash-commands",
    ]
    assert (trace.folder / "prompt").read_text() == "Do it."


@pytest.mark.parametrize(
    "facts", [{"role": role} for role in Role if role is not Role.DEVELOPER] + [{"is_repair": True}]
)
async def test_who_may_not_write_has_no_tool_that_can(trace: Trace, facts: dict[str, Any]) -> None:
    await take(trace, driver(trace, trusts_repository=True), **facts)
    given = arguments(trace)
    assert "--tools=Glob,Grep,Read" in given
    assert "--permission-mode=dontAsk" in given
    assert "--strict-mcp-config" in given, "a server could write"
    assert not [argument for argument in given if argument.startswith("--allowedTools")]


async def test_everything_is_said_again_when_a_session_goes_on(trace: Trace) -> None:
    schema = {"type": "object"}
    agent = driver(trace, model="opus", max_turns=7, trusts_repository=True)
    said: list[list[str]] = []
    for resume in (False, True):
        await take(
            trace, agent, resume=resume, schema=schema, allowance=Allowance(cost=1.5), before=Usage(1, 1, 0.1)
        )
        said.append(arguments(trace))
    first, second = said
    assert {f"--session-id={SESSION}"} == set(first) - set(second)
    assert {f"--resume={SESSION}"} == set(second) - set(first)
    wanted = {
        "--model=opus",
        "--max-turns=7",
        "--max-budget-usd=1.500000",
        '--json-schema={"type": "object"}',
    }
    assert wanted | {"--setting-sources=user,project,local"} <= set(second)
    assert "--strict-mcp-config" not in second


async def test_a_session_and_a_budget_are_always_ones_that_claude_takes(trace: Trace) -> None:
    ended = await take(trace, driver(trace), session=None, allowance=Allowance(cost=0.0))
    assert f"--session-id={ended.session}" in arguments(trace)
    assert "--max-budget-usd=0.000001" in arguments(trace)


async def test_a_key_of_any_name_is_given_under_the_name_claude_knows(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEY", "made-up-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://elsewhere.test")
    await take(trace, driver(trace, key="OUR_KEY", base_url="http://here.test"))
    seen = environment(trace)
    assert (seen["CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"], seen["ANTHROPIC_BASE_URL"]) == (
        "3",
        "http://here.test",
    )
    assert (trace.folder / "key").read_text() == "made-up-key\n"
    assert not {"OUR_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "AMELIA_AGENT_KEY"} & set(seen)
    assert "made-up-key" not in seen.values()
    await take(trace, driver(trace, key="ANTHROPIC_AUTH_TOKEN"))
    seen = environment(trace)
    assert (seen["ANTHROPIC_AUTH_TOKEN"], seen["ANTHROPIC_BASE_URL"]) == (
        "another-key",
        "http://elsewhere.test",
    )
    assert "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR" not in seen


async def test_a_key_is_given_as_it_is_and_seen_by_nobody(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = """made "up" $HOME `id` \\ 'key'"""
    monkeypatch.setenv("OURS", key)
    await take(trace, driver(trace, "#!/bin/sh\ncat <&3 | tee key\n", key="OURS"))
    assert (trace.folder / "key").read_text() == f"{key}\n"
    assert "made " not in (trace.folder / "turn.jsonl").read_text()


async def test_what_is_passed_on_is_seen_by_nobody_else(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "a made-up value")
    ended = await take(trace, driver(trace, '#!/bin/sh\necho "$OURS" >&2\nexit 1\n', passes=("OURS",)))
    assert "[redacted]" in ended.detail
    assert "a made-up value" not in (trace.folder / "turn.jsonl").read_text()


async def test_an_address_of_the_profile_gets_no_key_of_the_person(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    logins = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY")
    for name in (*logins, "CLAUDE_CODE_USE_BEDROCK"):
        monkeypatch.setenv(name, "key of the person")
    agent = driver(trace, base_url="http://here.test")
    await take(trace, agent)
    seen = environment(trace)
    assert "key of the person" not in seen.values()
    assert ("ANTHROPIC_AUTH_TOKEN", "none") in seen.items(), "else a login of the person would be sent there"
    assert not (trace.folder / "key").exists()
    info = await agent.probe()
    assert (info.notes, info.is_ready) == ((), True)


async def test_of_several_logins_the_one_that_claude_prefers_is_given(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "made-up-login")
    await take(trace, driver(trace))
    assert (trace.folder / "key").read_text() == "made-up-login\n"
    assert ("CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "3") in environment(trace).items()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up-key")
    await take(trace, driver(trace))
    assert (trace.folder / "key").read_text() == "made-up-key\n"
    assert (await driver(trace).probe()).notes == ()
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "made-up-token")
    await take(trace, driver(trace))
    assert ("ANTHROPIC_AUTH_TOKEN", "made-up-token") in environment(trace).items()
    assert (await driver(trace).probe()).notes == ("the commands that it runs see ANTHROPIC_AUTH_TOKEN",)


@pytest.mark.parametrize(
    ("model", "before", "is_given"),
    [
        (None, None, True),
        ("claude-sonnet-4-5", Usage(1, 1, 0.1), True),
        ("us.anthropic.claude-sonnet-4-5-v1:0", None, True),
        ("sonnet", None, True),
        ("our-own-model", None, False),
        ("haiku", None, False),
        ("claude-not-known-yet", Usage(1, 1), False),
    ],
)
async def test_a_budget_is_given_only_where_claude_knows_the_price(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, model: str | None, before: Usage | None, *, is_given: bool
) -> None:
    monkeypatch.setenv("ANTHROPIC_DEFAULT_HAIKU_MODEL", "our-own-model")
    await take(trace, driver(trace, model=model), before=before, allowance=Allowance(cost=1.0))
    assert ("--max-budget-usd=1.000000" in arguments(trace)) == is_given


async def test_a_key_that_is_not_there_is_said_before_anything_starts(trace: Trace) -> None:
    agent = driver(trace, key="OUR_KEY")
    for attempt in (agent.probe(), take(trace, agent)):
        with pytest.raises(ConfigError, match="OUR_KEY is not set") as caught:
            await attempt
        assert "OUR_KEY" in (caught.value.hint or "")
    assert not (trace.folder / "arguments").exists()


async def test_claude_sees_its_own_variables_and_no_others(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "AWS_SECRET_ACCESS_KEY",
        "CLAUDECODE",
        "OTHER_KEY",
    ):
        monkeypatch.setenv(name, str(trace.folder))
    await take(trace, driver(trace))
    seen = environment(trace)
    assert {"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CONFIG_DIR"} <= set(seen)
    assert not {"AWS_SECRET_ACCESS_KEY", "CLAUDECODE", "OTHER_KEY"} & set(seen)
    for name in ("NONESSENTIAL_TRAFFIC", "BACKGROUND_TASKS", "AUTO_MEMORY", "FILE_MENTIONS"):
        assert seen[f"CLAUDE_CODE_DISABLE_{name}"] == "1"
    assert seen["CLAUDE_CODE_MAX_RETRIES"] == "2"
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "9")
    await take(trace, driver(trace, passes=("CLAUDE_CODE_MAX_RETRIES", "NOT_SET")))
    seen = environment(trace)
    assert {"AWS_SECRET_ACCESS_KEY", "CLAUDE_CODE_USE_BEDROCK"} <= set(seen)
    assert seen["CLAUDE_CODE_MAX_RETRIES"] == "9"


async def test_the_program_is_looked_for_where_the_profile_says_only(trace: Trace) -> None:
    agent = driver(trace, command=(str(trace.folder / "nowhere"), "--x"))
    with pytest.raises(ConfigError, match="/nowhere is not installed") as caught:
        await agent.probe()
    assert "claude-agent-sdk" in (caught.value.hint or "")


async def test_a_relative_program_is_not_looked_for_in_the_tree(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = driver(trace, command=("bin/claude", "--first"))
    monkeypatch.chdir(trace.folder)
    assert (await agent.probe()).program == str(trace.folder / "bin" / "claude")
    (trace.folder / "tree").mkdir()
    await take(trace, agent, cwd=str(trace.folder / "tree"))
    assert (trace.folder / "tree" / "arguments").read_text().startswith("--first\n--print\n")


async def test_without_a_command_it_is_found_on_the_path_or_in_the_installed_sdk(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = driver(trace, command=())
    monkeypatch.setenv("PATH", f"{trace.folder / 'bin'}:/usr/bin:/bin")
    assert (found.name, (await found.probe()).program) == ("claude", str(trace.folder / "bin" / "claude"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(ConfigError, match="claude is not installed"):
        await found.probe()
    package = trace.folder / "site" / "claude_agent_sdk"
    program = executable(package / "_bundled" / "claude", TELL)
    (package / "__init__.py").write_text("raise RuntimeError('it is not to be imported')")
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    info = await found.probe()
    assert (info.program, info.version) == (str(program), "2.1.325")
    with pytest.raises(ConfigError, match="nowhere is not installed"):
        await driver(trace, command=("nowhere",)).probe()


@pytest.mark.parametrize("script", [FAILS, BABBLES, "#!/bin/sh\nexit 0\n"])
async def test_a_program_that_has_no_version_is_not_claude(trace: Trace, script: str) -> None:
    with pytest.raises(ConfigError, match="says no version"):
        await driver(trace, script).probe()


async def test_a_login_is_a_key_or_a_cloud_or_a_file(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = driver(trace)

    async def is_ready() -> bool:
        info = await agent.probe()
        assert info.is_ready == (info.notes == ())
        return info.is_ready

    [note] = (await agent.probe()).notes
    assert "no key and no login" in note
    assert not await is_ready()
    login = trace.folder / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.write_text(json.dumps({}))
    assert await is_ready()
    own = trace.folder / "elsewhere"
    own.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own))
    assert not await is_ready()
    (own / ".claude.json").write_text("{}")
    assert not await is_ready()
    (own / ".claude.json").write_text(json.dumps({"oauthAccount": {}}))
    assert await is_ready(), "the key of the account may be in a keychain"
    (own / ".claude.json").unlink()
    monkeypatch.setenv("CLAUDE_CODE_USE_VERTEX", "1")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(own))
    (own / "application_default_credentials.json").touch()
    assert await is_ready()


async def test_a_cloud_that_its_own_settings_choose_sees_its_keys(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = trace.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}))
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "other")
    await take(trace, driver(trace))
    assert environment(trace)["AWS_PROFILE"] == "work"
    assert "GOOGLE_CLOUD_PROJECT" not in environment(trace)


async def test_a_program_that_says_nothing_of_worth_is_told_by_its_last_words(trace: Trace) -> None:
    failed = await take(trace, driver(trace, FAILS))
    assert (failed.ending, failed.exit_code) == (Ending.UNUSABLE, 1)
    assert "unknown option" in failed.detail
    failed = await take(trace, driver(trace, FAILS.replace("unknown option", "no disk")))
    assert (failed.ending, failed.exit_code) == (Ending.CRASHED, 1)
    assert "no disk" in failed.detail
    assert (await take(trace, driver(trace, BABBLES))).ending is Ending.GARBAGE
