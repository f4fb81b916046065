"""Which model an agent takes where the settings name none, and what that costs."""

import json
import subprocess  # noqa: TID251 - a Python without the table
import sys
from pathlib import Path

import pytest

from amelia.drive.models import Model, NamedBy, usual_model
from amelia.drive.prices import USUAL, likely_price, price_of
from amelia.model.agents import AgentSettings

ASKING = """
import sys
sys.modules["genai_prices"] = None
from amelia.drive.prices import likely_price
from amelia.model.agents import AgentSettings
for driver, model in (("claude", None), ("codex", None), ("claude", "claude-opus-4-5")):
    print(likely_price(AgentSettings(driver=driver, model=model)) is not None)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person of whom nothing is known yet."""
    for name in ("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def model(driver: str, name: str | None = None) -> Model | None:
    return usual_model(AgentSettings(driver=driver, model=name))


@pytest.mark.parametrize("driver", ["claude", "codex", "api", "acp"])
def test_a_model_that_the_settings_name_is_the_one(driver: str) -> None:
    assert model(driver, "x:y") == Model("x:y", NamedBy.SETTINGS)


@pytest.mark.parametrize("driver", ["claude", "codex"])
def test_a_coding_agent_has_a_default(driver: str) -> None:
    found = model(driver)
    assert found is not None
    assert found.named is NamedBy.NOBODY
    assert likely_price(AgentSettings(driver=driver)) is not None


@pytest.mark.parametrize("driver", ["acp", "script", "auto"])
def test_of_others_nobody_knows_it(driver: str) -> None:
    assert model(driver) is None
    assert likely_price(AgentSettings(driver=driver)) is None


def test_a_server_of_somebodys_own_has_models_and_prices_of_its_own() -> None:
    agent = AgentSettings(driver="claude", base_url="http://127.0.0.1:1")
    assert usual_model(agent) is None
    assert likely_price(agent) is None
    assert likely_price(AgentSettings(driver="claude", model="opus", base_url="http://127.0.0.1:1")) is None


def test_claude_takes_what_its_own_settings_say(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = home / ".claude" / "settings.json"
    write(settings, json.dumps({"model": "haiku"}))
    assert model("claude") == Model("haiku", NamedBy.AGENT)
    monkeypatch.setenv("ANTHROPIC_MODEL", "sonnet")
    assert model("claude") == Model("sonnet", NamedBy.AGENT)
    write(settings, json.dumps({"env": {"ANTHROPIC_MODEL": "opus"}}))
    assert model("claude") == Model("opus", NamedBy.AGENT)
    assert model("claude", "haiku") == Model("haiku", NamedBy.SETTINGS)


def test_codex_takes_what_its_own_settings_say(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".codex" / "config.toml", 'model = "gpt-5.4"\n')
    assert model("codex") == Model("gpt-5.4", NamedBy.AGENT)
    monkeypatch.setenv("CODEX_HOME", str(home / "other"))
    assert model("codex") != Model("gpt-5.4", NamedBy.AGENT)
    for text in ("model = 3\n", "no TOML", "[model]\n"):
        write(home / "other" / "config.toml", text)
        found = model("codex")
        assert found is not None
        assert found.named is NamedBy.NOBODY


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("opus", "claude-opus-5-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("sonnet[1m]", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("default", "claude-opus-5-5"),
        ("best", "claude-opus-5-5"),
        ("opusplan", "claude-sonnet-5-5"),
    ],
)
def test_a_short_name_costs_what_the_model_costs_that_it_stands_for(name: str, same: str) -> None:
    found = likely_price(AgentSettings(driver="claude", model=name))
    assert found is not None
    assert found == price_of("claude", AgentSettings(model=same))


def test_a_short_name_may_stand_for_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-haiku-5-5")
    agent = AgentSettings(driver="claude", model="opus")
    assert likely_price(agent) == price_of("claude", AgentSettings(model="claude-haiku-5-5"))
    monkeypatch.setenv("ANTHROPIC_DEFAULT_OPUS_MODEL", "no-such-model")
    assert likely_price(agent) is None


@pytest.mark.parametrize(("driver", "name"), USUAL)
def test_prices_that_are_known_without_the_table_are_those_of_the_table(driver: str, name: str) -> None:
    found = price_of(driver, AgentSettings(model=name))
    assert found is not None
    for kind in ("fresh", "cached", "written", "output"):
        assert getattr(USUAL[driver, name], kind) == pytest.approx(getattr(found, kind))


@pytest.mark.slow
def test_the_usual_models_have_a_price_without_the_table() -> None:
    done = subprocess.run([sys.executable, "-c", ASKING], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "False"]
