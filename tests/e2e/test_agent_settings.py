"""What settings and options say of agents reaches the run, and is said at once where it cannot."""

import re
import shlex
from pathlib import Path

import click
import pytest

from amelia.config import load_settings
from amelia.model.agents import AgentSettings, Role
from amelia.model.events import RunStarted
from amelia.record.runs import RunDirectory, started
from amelia.show.cli import group
from programs import few_programs, users_settings, with_claude
from stories import APPROVED, SETTINGS, Stage, make_stage, tasks, writes

GUIDE = (Path(__file__).parents[2] / "docs/guides/agents.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^amelia (.*?)(?: +#.*)?$", GUIDE, re.MULTILINE)
ONE = tasks("One")
WELL = (writes("1", "a"), APPROVED)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def facts(stage: Stage) -> RunStarted:
    found = started(RunDirectory(stage.directory))
    assert found is not None
    return found[1]


def test_there_are_examples_and_commands_in_the_guide() -> None:
    assert len(EXAMPLES) >= 6
    assert len(COMMANDS) >= 7


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_guide_can_be_used(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in users_settings(tmp_path, example).items():
        monkeypatch.setenv(name, value)
    load_settings(tmp_path)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_guide_is_understood(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plan.md").write_text(ONE)
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(line)
    command = group.get_command(click.Context(group), name)
    assert command is not None
    with command.make_context(name, arguments):
        pass


@pytest.mark.slow
def test_every_role_is_played_by_its_own_agent(stage: Stage) -> None:
    stage.put(ONE)
    stage.play(WELL[0], file="developer.toml")
    stage.play(APPROVED, file="reviewer.toml")
    (stage.repo.path / "amelia.toml").write_text(
        f'{SETTINGS}\n[agents]\nscript = "{stage.room / "developer.toml"}"\n'
        f'[agents.reviewer]\nscript = "{stage.room / "reviewer.toml"}"\n'
    )
    done = stage.amelia("run", stage.room / "plan.md", "--json")
    assert done.code == 0, done
    agents = facts(stage).agents
    assert agents[Role.REVIEWER] == AgentSettings(driver="script", script=str(stage.room / "reviewer.toml"))
    assert agents[Role.EVALUATOR].script == str(stage.room / "developer.toml")


@pytest.mark.slow
def test_options_outrank_the_settings_for_all_roles(stage: Stage) -> None:
    (stage.repo.path / "amelia.toml").write_text(
        f'{SETTINGS}\n[agents]\ndriver = "claude"\nmodel = "opus"\n[agents.reviewer]\ndriver = "codex"\n'
        "[budget]\nrun_cost = 3\nunit_cost = 2\n"
    )
    options = ["--model", "m", "--max-cost", "7.5", "--max-tokens", "5000"]
    assert stage.run(ONE, *WELL, options=options).code == 0
    told = facts(stage)
    played = AgentSettings(driver="script", model="m", script=str(stage.room / "script.toml"))
    assert set(told.agents.values()) == {played}
    assert (told.budget.run.cost, told.budget.run.tokens) == (7.5, 5000)
    assert told.budget.unit.cost == 2.0


@pytest.mark.slow
def test_the_agent_that_was_chosen_is_named_and_stays(stage: Stage) -> None:
    stage.put(ONE)
    done = stage.amelia("run", stage.room / "plan.md", "--json", env=with_claude(stage.room / "few"))
    assert done.err.count("claude does the work, the first agent that is ready; --driver names another") == 1
    assert {agent.driver for agent in facts(stage).agents.values()} == {"claude"}


@pytest.mark.slow
def test_an_agent_that_was_chosen_although_nobody_is_logged_in_says_so(stage: Stage) -> None:
    stage.put(ONE)
    path = {"PATH": with_claude(stage.room / "few")["PATH"]}
    done = stage.amelia("run", stage.room / "plan.md", "--json", env=path)
    assert "claude does the work, though it is not ready: no key and no login" in done.err
    assert {agent.driver for agent in facts(stage).agents.values()} == {"claude"}


@pytest.mark.slow
def test_without_an_agent_no_run_begins(stage: Stage) -> None:
    stage.put(ONE)
    done = stage.amelia("run", stage.room / "plan.md", env=few_programs(stage.room / "few", "git"))
    assert done.code == 3
    assert "no agent is there to do the work (" in done.err
    assert "npm install -g" in done.err
    assert stage.names == []


@pytest.mark.slow
def test_a_script_for_another_driver_is_wrong_usage(stage: Stage) -> None:
    done = stage.run(ONE, *WELL, options=["--driver", "claude"])
    assert done.code == 2
    assert "--script is for the script driver, not for claude" in done.err


@pytest.mark.slow
def test_the_users_own_settings_hold_where_the_project_says_nothing(stage: Stage) -> None:
    stage.put(ONE, *WELL)
    own = f'[agents]\nscript = "{stage.room / "script.toml"}"\npasses = ["GOPATH"]\n[budget]\nrun_cost = 3\n'
    (stage.repo.path / "amelia.toml").write_text(f"{SETTINGS}[budget]\nrun_cost = 5\nunit_cost = 1\n")
    done = stage.amelia("run", stage.room / "plan.md", "--json", env=users_settings(stage.room, own))
    assert done.code == 0, done
    told = facts(stage)
    assert {agent.passes for agent in told.agents.values()} == {("GOPATH",)}
    assert (told.budget.run.cost, told.budget.unit.cost) == (3.0, 1.0)


@pytest.mark.slow
def test_a_repository_that_trusts_itself_stops_the_run(stage: Stage) -> None:
    (stage.repo.path / "amelia.toml").write_text("[agents]\ntrusts_repository = true\n")
    done = stage.run(ONE, *WELL)
    assert done.code == 3
    assert "amelia.toml: agents.trusts_repository is not for a repository to decide" in done.err
    assert str(stage.room / ".config/amelia/config.toml") in done.err
    assert stage.names == []


@pytest.mark.slow
def test_a_key_in_the_settings_stops_the_run_and_is_not_shown(stage: Stage) -> None:
    own = '[agents]\nkey = "sk-ant-made-up-0123456789"\n'
    done = stage.run(ONE, *WELL, env=users_settings(stage.room, own))
    assert done.code == 3
    assert "agents.key must be the name of an environment variable" in done.err
    assert "sk-ant" not in done.out + done.err
