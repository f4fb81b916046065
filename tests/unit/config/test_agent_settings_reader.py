"""Which agent takes a role, and what it may use, as the user's own settings say it."""

from pathlib import Path

import pytest

from amelia.config import load, load_settings
from amelia.model.agents import AgentSettings, Allowance, Role
from amelia.model.errors import ConfigError
from amelia.model.policy import BUDGET, Budget
from amelia.model.settings import RunSettings

KEY_LIKE = "sk-ant-made-up-aBcDeFgHiJkLmNoPqRs"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    file.write_text("")
    monkeypatch.setenv("AMELIA_CONFIG", str(file))
    return file


def read(place: Path, text: str) -> RunSettings:
    (place / "config.toml").write_text(text, encoding="utf-8")
    return load_settings(place).run


def refused(place: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read(place, text)
    return caught.value


def test_every_key_of_an_agent_can_be_set_for_all_roles(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        """
        [agents]
        driver = "claude"
        model = "opus"
        command = "claude --verbose"
        base_url = "http://127.0.0.1:8080/v1"
        key = "TEAM_KEY"
        passes = ["CARGO_HOME", "GOPATH"]
        script = "moves.toml"
        trusts_repository = true
        max_turns = 7
        """,
    )
    agent = AgentSettings(
        driver="claude",
        model="opus",
        command=("claude", "--verbose"),
        base_url="http://127.0.0.1:8080/v1",
        key="TEAM_KEY",
        passes=("CARGO_HOME", "GOPATH"),
        script=str(tmp_path / "moves.toml"),
        trusts_repository=True,
        max_turns=7,
    )
    assert run.agents == dict.fromkeys(Role, agent)


def test_a_role_changes_what_it_says_and_keeps_the_rest(tmp_path: Path) -> None:
    agents = read(
        tmp_path,
        '[agents]\ndriver = "claude"\nmodel = "opus"\nkey = "K"\n[agents.reviewer]\nmodel = "sonnet"\n',
    ).agents
    assert agents[Role.REVIEWER] == AgentSettings(driver="claude", model="sonnet", key="K")
    others = [agents[role] for role in Role if role is not Role.REVIEWER]
    assert others == [AgentSettings(driver="claude", model="opus", key="K")] * 3


def test_a_role_with_another_driver_does_not_get_what_was_meant_for_the_first(tmp_path: Path) -> None:
    agents = read(
        tmp_path,
        """
        [agents]
        driver = "claude"
        model = "opus"
        command = "claude"
        base_url = "https://example.com"
        key = "ANTHROPIC"
        passes = ["GOPATH"]
        trusts_repository = true
        max_turns = 9
        [agents.reviewer]
        driver = "codex"
        """,
    ).agents
    assert agents[Role.REVIEWER] == AgentSettings(driver="codex", passes=("GOPATH",), trusts_repository=True)


def test_a_role_that_repeats_the_driver_keeps_what_was_meant_for_it(tmp_path: Path) -> None:
    text = '[agents]\ndriver = "claude"\nmodel = "opus"\n[agents.reviewer]\ndriver = "claude"\n'
    assert read(tmp_path, text).agents[Role.REVIEWER].model == "opus"


def test_a_script_without_a_driver_is_played(tmp_path: Path) -> None:
    assert {agent.driver for agent in read(tmp_path, 'script = "a.toml"').agents.values()} == {"script"}
    agents = read(tmp_path, '[agents]\ndriver = "claude"\n[agents.evaluator]\nscript = "e.toml"\n').agents
    assert agents[Role.EVALUATOR] == AgentSettings(driver="script", script=str(tmp_path / "e.toml"))
    assert agents[Role.DEVELOPER] == AgentSettings(driver="claude")


def test_the_table_of_agents_outranks_the_short_forms(tmp_path: Path) -> None:
    text = 'driver = "codex"\nscript = "a.toml"\n[agents]\ndriver = "claude"\n'
    agent = read(tmp_path, text).agents[Role.DEVELOPER]
    assert agent.driver == "claude"
    assert agent.script == str(tmp_path / "a.toml")


@pytest.mark.parametrize("key", ["key", "passes"])
@pytest.mark.parametrize(
    "value", [KEY_LIKE, "sk_live_51aBc", "AIzaSyD", "", "A-B", "1A", "my_key", "A" * 101]
)
def test_a_key_that_stands_in_the_settings_is_refused_and_not_repeated(
    tmp_path: Path, key: str, value: str
) -> None:
    written = f'"{value}"' if key == "key" else f'["PATH_TO_IT", "{value}"]'
    error = refused(tmp_path, f"[agents.developer]\n{key} = {written}\n")
    where = "agents.developer.key" if key == "key" else "agents.developer.passes[1]"
    assert str(error) == (
        f"{tmp_path / 'config.toml'}: {where} must be the name of an environment variable, in capital letters"
    )
    assert error.hint is not None
    assert "environment variable" in error.hint
    assert not value or value not in error.hint


def test_a_key_instead_of_a_list_of_names_is_not_repeated(tmp_path: Path) -> None:
    error = refused(tmp_path, f'[agents]\npasses = "{KEY_LIKE}"\n')
    assert "agents.passes must be a list of names of environment variables" in str(error)
    assert KEY_LIKE not in f"{error}{error.hint}"


@pytest.mark.parametrize(
    "address",
    [
        f"https://user:{KEY_LIKE}@example.com",
        f"https://example.com/v1?key={KEY_LIKE}",
        f"https://example.com/v1#{KEY_LIKE}",
        "example.com",
        "ftp://example.com",
        "https://",
        "http://[::1",
        "http://example.com:port",
        "http://exa mple.com\\u0007",
        "",
    ],
)
def test_an_address_that_is_none_or_may_hold_a_key_is_refused(tmp_path: Path, address: str) -> None:
    error = refused(tmp_path, f'[agents]\nbase_url = "{address}"\n')
    assert "agents.base_url must be an http or https address without a password or a query" in str(error)
    assert KEY_LIKE not in f"{error}{error.hint}"
    assert "agents.base_url must be" in str(refused(tmp_path, "[agents]\nbase_url = 3\n"))


@pytest.mark.parametrize("address", ["http://localhost:11434/v1", "https://example.com", "http://[::1]:80/"])
def test_an_address_is_taken_as_it_is(tmp_path: Path, address: str) -> None:
    run = read(tmp_path, f'[agents]\nbase_url = "{address}"\n')
    assert run.agents[Role.DEVELOPER].base_url == address


def test_an_unknown_role_or_key_of_an_agent_is_told_the_right_one(tmp_path: Path) -> None:
    assert refused(tmp_path, "[agents.reviewr]\n").hint == "did you mean agents.reviewer?"
    error = refused(tmp_path, '[agents.reviewer]\nmodell = "x"\n')
    assert "unknown key agents.reviewer.modell" in str(error)
    assert error.hint == "did you mean agents.reviewer.model?"


def test_one_bound_of_the_budget_is_set_and_the_others_stay(tmp_path: Path) -> None:
    budget = read(tmp_path, "[budget]\nrun_cost = 5\nunit_tokens = 1000\n").budget
    assert budget == Budget(
        unit=Allowance(cost=BUDGET.unit.cost, tokens=1000),
        run=Allowance(cost=5.0, tokens=BUDGET.run.tokens),
    )


def test_a_bound_can_be_taken_away(tmp_path: Path) -> None:
    keys = ("unit_cost", "unit_tokens", "run_cost", "run_tokens")
    text = "[budget]\n" + "".join(f'{key} = "none"\n' for key in keys)
    assert read(tmp_path, text).budget == Budget(unit=Allowance(), run=Allowance())


@pytest.mark.parametrize("key", ["unit_cost", "unit_tokens", "run_cost", "run_tokens"])
@pytest.mark.parametrize("value", ["0", "-1", '"no"', "true", "[]", "nan"])
def test_a_bound_that_is_none_is_refused_and_told_how_to_have_none(
    tmp_path: Path, key: str, value: str
) -> None:
    error = refused(tmp_path, f"[budget]\n{key} = {value}\n")
    assert f"budget.{key} must be a " in str(error)
    assert error.hint == '"none" takes the bound away'


def test_the_files_that_hold_settings_are_named(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".project-config.json").write_text("{}")
    (tmp_path / "pyproject.toml").write_text("[tool.amelia]\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    projects = [tmp_path / ".project-config.json", tmp_path / "pyproject.toml"]
    assert load(inner).files == [own, *projects]
    monkeypatch.delenv("AMELIA_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert load(inner).files == projects
