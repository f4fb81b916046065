"""What is known of agents by their names."""

from pathlib import Path

import pytest

from amelia.drive.recipes import RECIPES, Speaks, is_too_old, recipe_of, version_in
from amelia.model.agents import DRIVERS, NAMED, AgentSettings

GUIDE = (Path(__file__).parents[3] / "docs/guides/agents.md").read_text(encoding="utf-8")


def test_every_named_driver_has_a_recipe() -> None:
    assert set(RECIPES) == set(NAMED)
    assert not set(NAMED) & set(DRIVERS)


@pytest.mark.parametrize("name", NAMED)
def test_a_recipe_names_a_program_and_never_a_place(name: str) -> None:
    recipe = RECIPES[name]
    assert "/" not in recipe.program
    assert recipe.install
    assert recipe.login
    assert recipe.least
    assert any("{prompt" in each for each in recipe.arguments) == (recipe.speaks is Speaks.LINES)


@pytest.mark.parametrize("name", NAMED)
def test_no_recipe_takes_the_key_of_a_provider_that_others_ask_too(name: str) -> None:
    recipe = RECIPES[name]
    for key in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PATH",
    ):
        assert not recipe.is_own(key)


def test_variables_that_are_called_after_an_agent_are_its_own() -> None:
    assert RECIPES["opencode"].is_own("OPENCODE_CONFIG")
    assert not RECIPES["opencode"].is_own("OPENCODE")
    assert RECIPES["vibe"].is_own("MISTRAL_API_KEY")
    assert not RECIPES["vibe"].is_own("MISTRAL_API_KEYS")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (AgentSettings(driver="opencode"), "opencode"),
        (AgentSettings(driver="opencode", command=("/opt/x",)), "opencode"),
        (AgentSettings(driver="acp", command=("/opt/bin/opencode", "acp")), "opencode"),
        (AgentSettings(driver="acp", command=("my-agent",)), None),
        (AgentSettings(driver="command", command=("aider",)), None),
        (AgentSettings(driver="claude"), None),
    ],
)
def test_an_agent_is_known_by_its_name_or_by_its_program(settings: AgentSettings, name: str | None) -> None:
    assert recipe_of(settings) is (RECIPES[name] if name else None)


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("1.18.33", "1.18.33"),
        (" 1.52.0\n", "1.52.0"),
        ("aider 0.86.2", "0.86.2"),
        ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.", "1.0.102"),
        ("2.1.325 (Claude Code)", "2.1.325"),
        ("codex-cli 0.166.0", "0.166.0"),
        ("tool v3.0.2-beta", "3.0.2"),
        (
            "/lib/python3.12/x.py:25: old\nIt will be compatible before version 2.0.0.\nOpenHands CLI 1.16.0",
            "1.16.0",
        ),
        ("usage: my-agent [-h]", ""),
        ("", ""),
    ],
)
def test_a_version_is_read_from_whatever_a_program_answers(said: str, version: str) -> None:
    assert version_in(said) == version


@pytest.mark.parametrize(
    ("version", "is_old"),
    [("1.9.9", True), ("1.10", False), ("1.10.0", False), ("1.10.1", False), ("2.0", False), ("", False)],
)
def test_an_older_version_than_the_least_is_too_old(*, version: str, is_old: bool) -> None:
    assert is_too_old(version, (1, 10, 0)) is is_old


@pytest.mark.parametrize("name", NAMED)
def test_the_guide_tells_of_an_agent_what_its_recipe_knows(name: str) -> None:
    recipe = RECIPES[name]
    [row] = [line for line in GUIDE.splitlines() if line.startswith(f"| `{name}` |")]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[1].strip("`") == recipe.install or recipe.install.endswith(cells[1])
    assert cells[2] == ".".join(map(str, recipe.least))
    assert cells[4].strip("`") == recipe.login or recipe.login.startswith("a key")
    assert not is_too_old(cells[3], recipe.least), "what was tried is new enough"
    assert (cells[5] == "none") == ("cannot hold" in recipe.about_use)


def test_the_reference_names_every_driver() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/settings.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith("| `driver` |")]
    assert all(f"`{name}`" in row for name in (*DRIVERS, *NAMED))
