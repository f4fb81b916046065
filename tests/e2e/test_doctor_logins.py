"""`amelia doctor` knows every way in which Claude Code may be logged in."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from programs import users_settings, with_claude
from stories import Stage, make_stage

pytestmark = pytest.mark.slow

MADE_UP = "made-up-value-of-a-key-0123456789"
NO_LOGIN = "no key and no login is visible"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def write(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))


def look(stage: Stage, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Returns what is said of Claude where nothing but these variables tells of a key."""
    path = {"PATH": with_claude(stage.room / "few")["PATH"]}
    done = stage.amelia("doctor", "--json", env={**path, **(env or {})})
    assert MADE_UP not in done.out + done.err
    checks = {check["name"]: check for check in done.json["checks"]}
    (name,) = (name for name in checks if name.startswith("claude"))
    return checks[name]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"apiKeyHelper": "/opt/key.sh"}, "apiKeyHelper"),
        ({"env": {"ANTHROPIC_API_KEY": MADE_UP}}, "ANTHROPIC_API_KEY"),
        ({"env": {"ANTHROPIC_AUTH_TOKEN": MADE_UP}}, "ANTHROPIC_AUTH_TOKEN"),
        ({"env": {"CLAUDE_CODE_OAUTH_TOKEN": MADE_UP}}, "CLAUDE_CODE_OAUTH_TOKEN"),
        ({"env": {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_BEARER_TOKEN_BEDROCK": MADE_UP}}, "Amazon Bedrock"),
        ({"env": {"CLAUDE_CODE_USE_BEDROCK": True, "AWS_PROFILE": "work"}}, "Amazon Bedrock"),
        ({"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}, "awsAuthRefresh": "aws sso login"}, "Amazon Bedrock"),
        ({"env": {"CLAUDE_CODE_USE_VERTEX": "1", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1"}}, "Google Vertex AI"),
    ],
)
def test_the_settings_of_claude_may_hold_a_login(stage: Stage, settings: object, said: str) -> None:
    file = stage.room / ".claude" / "settings.json"
    write(file, settings)
    check = look(stage)
    assert (check["health"], said in check["text"], str(file) in check["text"]) == ("ok", True, True), check


@pytest.mark.parametrize(
    ("env", "files", "said"),
    [
        (
            {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": MADE_UP},
            (),
            "",
        ),
        ({"CLAUDE_CODE_USE_BEDROCK": "true"}, (".aws/credentials",), ""),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, (".aws/config",), ""),
        ({"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"}, (), ""),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, (".config/gcloud/application_default_credentials.json",), ""),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, (), "no AWS credentials are visible"),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, (), "no Google credentials are visible"),
        (
            {"CLAUDE_CODE_USE_VERTEX": "1", "GOOGLE_APPLICATION_CREDENTIALS": "/gone"},
            (),
            "file that is not there",
        ),
    ],
)
def test_a_cloud_needs_credentials_of_its_own(
    stage: Stage, env: dict[str, str], files: tuple[str, ...], said: str
) -> None:
    for name in files:
        write(stage.room / name, "x")
    check = look(stage, env)
    assert NO_LOGIN not in check["text"]
    assert said in check["text"]
    if said:  # a role of the machine would not be visible, so it may work all the same
        assert check["health"] == "warning"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"apiKeyHelper": ""},
        {"apiKeyHelper": None, "env": {"ANTHROPIC_API_KEY": ""}},
        {"env": {"CLAUDE_CODE_USE_BEDROCK": "0", "CLAUDE_CODE_USE_VERTEX": "false"}},
        {"env": ["ANTHROPIC_API_KEY"]},
        "not JSON",
        "[]",
    ],
)
def test_settings_that_hold_no_login_are_none(stage: Stage, settings: object) -> None:
    write(stage.room / ".claude" / "settings.json", settings)
    assert NO_LOGIN in look(stage, {"CLAUDE_CODE_USE_FOUNDRY": "0"})["text"]


def test_the_settings_are_where_claude_looks_for_them(stage: Stage) -> None:
    write(stage.room / "elsewhere" / "settings.json", {"apiKeyHelper": "/opt/key.sh"})
    assert NO_LOGIN in look(stage)["text"]
    assert look(stage, {"CLAUDE_CONFIG_DIR": str(stage.room / "elsewhere")})["health"] == "ok"


def test_the_settings_of_a_repository_count_only_if_it_is_trusted(stage: Stage) -> None:
    write(stage.repo.path / ".claude" / "settings.json", {"apiKeyHelper": "./key.sh"})
    assert NO_LOGIN in look(stage)["text"]
    own = users_settings(stage.room, '[agents]\ndriver = "claude"\ntrusts_repository = true\n')
    assert "apiKeyHelper" in look(stage, own)["text"]
