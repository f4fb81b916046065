"""Profiles and variables reach the commands that work with settings."""

from pathlib import Path

import pytest

from amelia.model.agents import Role
from amelia.model.events import RunStarted
from amelia.record.runs import RunDirectory, started
from programs import few_programs, users_settings
from stories import APPROVED, SETTINGS, Stage, develops, make_stage, rejects, tasks, writes

ONE = tasks("One")
WELL = (writes("1", "a"), APPROVED)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def facts(stage: Stage) -> RunStarted:
    found = started(RunDirectory(stage.directory))
    assert found is not None
    return found[1]


@pytest.mark.slow
def test_a_run_takes_the_profile_that_is_named_and_options_outrank_it(stage: Stage) -> None:
    own = users_settings(
        stage.room,
        "[profiles.night.budget]\nrun_cost = 7\nunit_cost = 2\n[profiles.night.agents.reviewer]\nmodel = 'm'\n",
    )
    done = stage.run(ONE, *WELL, options=["--profile", "night", "--max-cost", "3"], env=own)
    assert done.code == 0, done
    told = facts(stage)
    assert (told.budget.run.cost, told.budget.unit.cost) == (3.0, 2.0)
    assert told.agents[Role.REVIEWER].driver == "script"


@pytest.mark.slow
def test_variables_outrank_the_files_of_a_run(stage: Stage) -> None:
    (stage.repo.path / "amelia.toml").write_text(f"{SETTINGS}[budget]\nrun_cost = 5\n")
    done = stage.run(ONE, *WELL, env={"AMELIA_BUDGET__RUN_COST": "4", "AMELIA_BUDGT__RUN_COST": "9"})
    assert done.code == 0, done
    assert facts(stage).budget.run.cost == 4.0
    note = "note: AMELIA_BUDGT__RUN_COST is not a setting, and is not used; did you mean AMELIA_BUDGET__RUN_COST?"
    assert done.err.count(note) == 1


def test_a_plan_is_checked_with_the_profile_that_is_named(stage: Stage) -> None:
    plan = stage.room / "plan.md"
    plan.write_text("### Task 1: Add it\n- Type: impl\n")
    (stage.repo.path / "amelia.toml").write_text('[profiles.loose]\ntdd = "off"\n')
    assert stage.amelia("check", plan).code == 5
    assert stage.amelia("check", plan, "--profile", "loose").code == 0
    assert stage.amelia("check", plan, env={"AMELIA_PROFILE": "loose"}).code == 0
    wrong = stage.amelia("check", plan, "--profile", "lose")
    assert wrong.code == 3
    assert "--profile: there is no profile 'lose'" in wrong.err
    assert "hint: did you mean loose? there are loose" in wrong.err


def test_the_doctor_looks_at_the_profile_that_is_named(stage: Stage) -> None:
    own = users_settings(stage.room, '[profiles.tested.verify]\ncommand = "make check"\n')
    env = {**few_programs(stage.room / "few", "git"), **own, "AMELIA_DRIVR": "claude"}
    (stage.repo.path / "amelia.toml").unlink()
    done = stage.amelia("doctor", "--json", "--profile", "tested", env=env)
    checks = [(check["name"], check["text"]) for check in done.json["checks"]]
    assert any(name == "tests" and text.startswith("make check") for name, text in checks)
    assert (
        "settings",
        "AMELIA_DRIVR is not a setting, and is not used; did you mean AMELIA_DRIVER?",
    ) in checks
    unknown = stage.amelia("doctor", "--json", "--profile", "other", env=env)
    assert unknown.code == 1
    assert "there is no profile 'other'" in unknown.out


OPTIONS = ("--driver", "script", "--model", "m", "--parallel", "3", "--max-cost", "4", "--max-tokens", "5000")
NIGHT = '[profiles.night.budget]\nunit_cost = 2\n[profiles.night]\ntdd = "off"\n'


def assert_chosen(told: RunStarted) -> None:
    """Holds a run to the options, and to the profile where they say nothing."""
    assert {(agent.driver, agent.model) for agent in told.agents.values()} == {("script", "m")}
    assert told.policy.parallel_workers == 3
    assert (told.budget.run.cost, told.budget.run.tokens, told.budget.unit.cost) == (4.0, 5000, 2.0)


@pytest.mark.slow
def test_a_plan_for_a_goal_is_drafted_and_run_with_the_options_it_was_asked_for(stage: Stage) -> None:
    task = {
        "id": "1",
        "title": "Write it",
        "type": "impl",
        "files_to_create": ["a.txt"],
        "description": "There.",
    }
    architect = {"role": "architect", "report": {"goal": "Have it", "tasks": [task]}}
    own = users_settings(stage.room, NIGHT)
    script = stage.play(architect, writes("1", "a.txt"), APPROVED)
    chosen = ("--script", script, "--profile", "night", *OPTIONS)
    done = stage.amelia("plan", "Have it", "--json", *chosen, "--mode", "tasks", env=own)
    assert done.code == 4, done
    assert stage.amelia("approve", stage.name, env=own).code == 0
    assert stage.amelia("resume", stage.name, env=own).code == 0
    assert_chosen(facts(stage))


@pytest.mark.slow
def test_what_a_review_finds_is_mended_with_the_options_of_the_review(stage: Stage) -> None:
    stage.repo.commit({"README.md": "# Other\n"})
    own = users_settings(stage.room, NIGHT)
    mends = develops("1", {"write": "README.md", "text": "# Mended\n"})
    script = stage.play(mends, {**APPROVED, "unit": "1"}, rejects("Name it."))
    chosen = ("--script", script, "--profile", "night", *OPTIONS)
    done = stage.amelia("review", "--base", "HEAD~1", "--fix", "--json", *chosen, env=own)
    assert done.code == 0, done
    assert_chosen(facts(stage))
