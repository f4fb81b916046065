"""A setting that is said and has no effect is told, wherever settings are read."""

import json
from pathlib import Path

import pytest

from programs import users_settings, with_claude
from stories import APPROVED, Stage, make_stage, tasks, writes

pytestmark = pytest.mark.slow

LINEAR = {"enabled": True, "team_id": "TEAM", "create_project": True, "token": "made-up-secret-0123456789"}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def share(stage: Stage, **integrations: object) -> Path:
    """Writes the file that the repository shares with other tools."""
    file = stage.repo.path / ".project-config.json"
    file.write_text(json.dumps({"integrations": integrations, "parallel_workers": 2}))
    return file


@pytest.mark.rows("L29")
def test_every_command_that_reads_settings_tells_of_a_tracker_that_is_enabled(stage: Stage) -> None:
    file = share(stage, linear=LINEAR)
    note = f"integrations.linear is enabled by {file}, but has no effect"
    arguments = stage.put(tasks("One"), writes("1", "a"), APPROVED)
    plan = stage.room / "plan.md"
    for command in (arguments, ("check", plan), ("config", "show")):
        done = stage.amelia(*command)
        assert (done.code, done.err.count(f"note: {note}")) == (0, 1), done
        assert "made-up-secret" not in done.out + done.err
    checks = stage.amelia("doctor", "--json", env=with_claude(stage.room / "few")).json["checks"]
    (told,) = (check for check in checks if note in check["text"])
    assert (told["name"], told["health"]) == ("settings", "warning")
    assert "enabled = false" in told["hint"]


@pytest.mark.rows("L29")
@pytest.mark.parametrize(
    "text",
    [
        '[integrations.linear]\nenabled = true\nteam_id = "TEAM"\n',
        '[integrations.jira]\nenabled = true\nproject = "ABC"\n[integrations.jira.fields]\nstatus = 3\n',
        '[integrations.github]\nrepository = "ada/shop"\n',
        "[integrations]\ngitlab = true\n",
        "profile = 'all'\n[profiles.all.integrations.trello]\nenabled = true\n",
    ],
)
def test_the_settings_of_amelia_may_hold_one_too(stage: Stage, text: str) -> None:
    (stage.repo.path / "amelia.toml").write_text(text)
    done = stage.amelia("config", "show")
    assert (done.code, done.err.count("has no effect")) == (0, 1), done
    assert f"{stage.repo.path / 'amelia.toml'}:" in done.err


def test_the_stronger_place_says_whether_a_tracker_is_enabled(stage: Stage) -> None:
    share(stage, linear=LINEAR)
    (stage.repo.path / "amelia.toml").write_text("[integrations.linear]\nenabled = false\n")
    assert "no effect" not in stage.amelia("config", "show").err


@pytest.mark.parametrize(
    "integrations",
    [
        {},
        {"linear": {"enabled": False, "team_id": "TEAM"}},
        {"linear": {"enabled": "false"}},
        {"linear": {}, "jira": None, "github": False},
        {"a name that is none!": False},
    ],
)
def test_a_tracker_that_is_not_enabled_is_not_told(stage: Stage, integrations: dict[str, object]) -> None:
    share(stage, **integrations)
    done = stage.amelia("config", "show")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("shared", [["linear"], "linear", 3, None])
def test_what_other_tools_write_there_is_no_error(stage: Stage, shared: object) -> None:
    (stage.repo.path / ".project-config.json").write_text(json.dumps({"integrations": shared}))
    assert stage.amelia("config", "show").code == 0


def test_settings_with_a_tracker_are_shown_as_a_file_that_says_the_same(stage: Stage) -> None:
    own = users_settings(stage.room, "[integrations.linear]\nenabled = true\n")
    shown = stage.amelia("config", "show", env=own)
    assert "integrations.linear = true\n" in shown.out
    again = stage.amelia("config", "show", env=users_settings(stage.room, shown.out))
    assert again.out == shown.out
    assert "integrations.linear is enabled" in again.err
