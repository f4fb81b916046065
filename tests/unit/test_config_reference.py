"""The page about settings is complete and true."""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from amelia.config import load_settings
from amelia.config.environment import OURS, PLACES, said_by, variable_of
from amelia.config.keys import AGENT, KEYS, SHARED
from amelia.config.values import Reader
from amelia.model.agents import AgentSettings, Role
from amelia.model.errors import ConfigError
from amelia.model.plan import Mode
from amelia.model.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs/reference/settings.md").read_text(encoding="utf-8")
DEFAULTS, WITHOUT_DEFAULT, OF_AGENTS = re.findall(
    r"^<!-- settings -->\n```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
)
JSON = PAGE.partition("```json\n")[2].partition("```")[0]
RANGE = re.compile(
    r"^(?:\[(?P<table>[\w.]+)\].*|(?P<key>\w+) = \S+ +# (?P<low>[\d.]+) to (?P<high>[\d.]+)\b.*)$",
    re.MULTILINE,
)
SECOND_SPELLING = "task_size_limits.max_acceptance_criteria"
USERS_TABLE = re.compile(r"^\| `(\w+)` \| .* \| (yes|no) \|$", re.MULTILINE)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, which may hold everything."""
    file = tmp_path / "config.toml"
    monkeypatch.setenv("AMELIA_CONFIG", str(file))
    return file


def flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from flat(cast("dict[str, Any]", value), f"{prefix}{key}.")
        else:
            yield prefix + key, value


def for_everybody(key: str) -> str:
    """Returns the key of all roles instead of that of one: they are the same."""
    return re.sub(rf"^agents\.(?:{'|'.join(Role)})\.", "agents.", key)


def ranges() -> Iterator[tuple[str, str, str, str]]:
    """Yields table, key and both bounds of every range on the page."""
    table = ""
    for match in RANGE.finditer(DEFAULTS + OF_AGENTS):
        if match["table"]:
            table = match["table"]
        else:
            yield table, match["key"], match["low"], match["high"]


def test_every_key_is_on_the_page_and_every_key_on_the_page_exists() -> None:
    blocks = (DEFAULTS, WITHOUT_DEFAULT, OF_AGENTS)
    shown = {
        for_everybody(key)
        for block in blocks
        for key, _ in flat(tomllib.loads(block))
        if not key.startswith(("profiles.", "prompts."))
    }
    assert shown | {SECOND_SPELLING} == {for_everybody(key) for key, _ in KEYS.leaves()}
    assert all(f"[agents.{role}]" in PAGE for role in Role)
    assert SECOND_SPELLING.rpartition(".")[2] in DEFAULTS


def test_the_defaults_on_the_page_are_the_defaults(tmp_path: Path, own: Path) -> None:
    own.write_text(DEFAULTS, encoding="utf-8")
    assert load_settings(tmp_path) == Settings()


@pytest.mark.parametrize(("table", "key", "low", "high"), list(ranges()))
def test_the_ranges_on_the_page_are_the_ranges(
    tmp_path: Path, table: str, key: str, low: str, high: str
) -> None:
    header = f"[{table}]\n" if table else ""
    file = tmp_path / "amelia.toml"
    for bound in (low, high):
        file.write_text(f"{header}{key} = {bound}\n")
        load_settings(tmp_path)
    for beyond in ("-1", str(float(high) + 1).removesuffix(".0")):
        file.write_text(f"{header}{key} = {beyond}\n")
        with pytest.raises(
            ConfigError, match=rf"{key} must be a .*number from {low} to {high}, not {beyond}$"
        ):
            load_settings(tmp_path)


def test_every_bounded_number_has_its_range_on_the_page() -> None:
    bounded = {
        key
        for key, value in flat(tomllib.loads(DEFAULTS))
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    assert {f"{table}.{key}".lstrip(".") for table, key, _, _ in ranges()} >= {
        key for key in bounded if not key.startswith(("modes.tasks", "modes.phased", "modes.lifecycle"))
    }


def test_what_has_no_default_can_be_set_as_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_text(WITHOUT_DEFAULT, encoding="utf-8")
    run = load_settings(tmp_path).run
    assert run.agents[Role.DEVELOPER].driver == "script"
    assert run.agents[Role.REVIEWER].script == str(tmp_path / "agents.toml")
    assert run.verify.setup == ("uv", "sync", "--frozen")
    assert run.policies[Mode.PHASED].attempts == 5


def test_the_page_says_what_a_project_may_decide() -> None:
    assert {key: word == "no" for key, word in USERS_TABLE.findall(PAGE)} == {
        key: isinstance(reader, Reader) and reader.is_users for key, reader in AGENT.readers.items()
    }


def test_agents_can_be_set_as_the_page_shows(tmp_path: Path, own: Path) -> None:
    own.write_text(OF_AGENTS, encoding="utf-8")
    agents = load_settings(tmp_path).run.agents
    assert agents[Role.EVALUATOR].resume_command[:2] == ("my-agent", "--resume")
    assert agents[Role.DEVELOPER].key == "TEAM_API_KEY"
    assert agents[Role.REVIEWER] == AgentSettings(driver="codex", model="gpt-5.5")
    assert agents[Role.ARCHITECT].script == str(tmp_path / "architect.toml")


def test_the_page_shows_every_key_that_is_shared_with_others(tmp_path: Path) -> None:
    (tmp_path / ".project-config.json").write_text(JSON, encoding="utf-8")
    assert load_settings(tmp_path).run.parallel_workers == 2
    assert all(f'"{key}"' in JSON for key in SHARED.readers)


def test_every_variable_on_the_page_is_one_and_says_what_its_key_says() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| `(AMELIA_\w+)=(.+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 4
    for key, variable, value in rows:
        assert variable == variable_of(key)
        assert list(said_by({variable: shlex.split(value)[0]}, place=Path())) == [key]
    assert all(f"`{name}`" in PAGE for name in (*PLACES, *OURS))
