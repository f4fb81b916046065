"""`amelia doctor` finds what a run would stumble over, and changes nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from programs import few_programs, users_settings, with_claude
from repositories import executable
from stories import APPROVED, Done, Stage, make_stage, tasks, writes

pytestmark = pytest.mark.slow

MADE_UP = "made-up-value-of-a-key-0123456789"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


@pytest.fixture
def few(stage: Stage) -> dict[str, str]:
    return few_programs(stage.room / "few", "git")


@pytest.fixture
def claude(stage: Stage) -> dict[str, str]:
    return with_claude(stage.room / "few")


def look(stage: Stage, env: Mapping[str, str], cwd: Path | None = None) -> tuple[Done, dict[str, Any]]:
    done = stage.amelia("doctor", "--json", env=env, cwd=cwd)
    assert done.err == ""
    return done, {check["name"]: check for check in done.json["checks"]}


def test_everything_that_a_run_needs_is_there(stage: Stage, claude: dict[str, str]) -> None:
    done, checks = look(stage, claude)
    assert done.code == 0, done
    assert done.json["is_ready"] is True
    assert checks["git"]["health"] == checks["identity"]["health"] == checks["repository"]["health"] == "ok"
    assert checks["tests"]["text"].startswith("sh check.sh;")
    assert checks["settings"]["text"] == str(stage.repo.path / "amelia.toml")
    assert checks["state"]["text"].startswith(str(stage.home))
    assert checks["runs"]["health"] == "ok"
    assert "2.1.119" in checks["claude"]["text"]
    assert checks["auto"]["text"] == "claude would take: architect, developer, reviewer, evaluator"
    assert not stage.home.exists()


@pytest.mark.parametrize(("options", "reader"), [((), "read -r line"), (("--agents",), "true")])
def test_a_reader_who_goes_away_ends_it_without_a_word(
    stage: Stage, claude: dict[str, str], options: tuple[str, ...], reader: str
) -> None:
    piped = ("sh", "-c", f'{{ "$@"; echo "$?" > ../code; }} | {reader}', "sh")
    done = stage.start("doctor", *options, env=claude, by=piped).wait()
    assert done.err == ""
    assert (stage.room / "code").read_text() == "1\n"


def test_people_read_lines_with_what_to_do(stage: Stage, claude: dict[str, str]) -> None:
    done = stage.amelia("doctor", env=claude)
    lines = done.out.splitlines()
    assert lines[0].startswith("ok      settings")
    assert lines[-1] == "ready to run"
    (stage.repo.path / "new.txt").touch()
    lines = stage.amelia("doctor", env=claude).out.splitlines()
    (found,) = (number for number, line in enumerate(lines) if line.startswith("warning repository"))
    assert lines[found + 1].startswith("        hint: ")


def test_nothing_is_a_doubt_where_nobody_uses_what_is_missing(stage: Stage, claude: dict[str, str]) -> None:
    _, checks = look(stage, claude)
    assert [check for check in checks.values() if check["health"] != "ok"] == []
    assert not {"codex", "api", "acp"} & checks.keys()


def test_an_agent_that_is_there_and_not_chosen_is_no_doubt(stage: Stage, claude: dict[str, str]) -> None:
    executable(
        Path(claude["PATH"], "codex"), 'case "$*" in --version) echo codex-cli 0.166.0;; *) exit 1;; esac'
    )
    _, checks = look(stage, claude)
    assert checks["codex"]["health"] == "ok"
    assert "0.166.0" in checks["codex"]["text"]
    assert "not chosen" in checks["codex"]["text"]
    (stage.repo.path / "amelia.toml").write_text('[agents.reviewer]\ndriver = "codex"\n')
    _, checks = look(stage, claude)
    assert checks["codex (reviewer)"]["health"] == "warning"


@pytest.mark.parametrize("driver", ["claude", "script"])
def test_whoever_names_an_agent_hears_of_no_other(stage: Stage, claude: dict[str, str], driver: str) -> None:
    (stage.room / "moves.toml").write_text("")
    more = f'script = "{stage.room / "moves.toml"}"\n' if driver == "script" else ""
    own = users_settings(stage.room, f'[agents]\ndriver = "{driver}"\n{more}')
    _, checks = look(stage, {**claude, **own})
    known = {"claude", "codex", "api", "acp", "script", "auto"}
    assert {name.partition(" ")[0] for name in checks} & known == {driver}


def test_without_any_agent_a_run_cannot_start(stage: Stage, few: dict[str, str]) -> None:
    done, checks = look(stage, few)
    assert done.code == 1
    assert done.json["is_ready"] is False
    assert [name for name, check in checks.items() if check["health"] == "failed"] == ["auto"]
    assert checks["claude"]["hint"]
    assert "amelia doctor" not in checks["auto"]["hint"]
    assert "1 failed" in stage.amelia("doctor", env=few).out


def test_an_agent_that_a_role_relies_on_must_be_there(stage: Stage, claude: dict[str, str]) -> None:
    text = '[agents]\ndriver = "claude"\n[agents.reviewer]\ndriver = "codex"\n'
    (stage.repo.path / "amelia.toml").write_text(text)
    done, checks = look(stage, claude)
    assert done.code == 1
    assert checks["codex (reviewer)"]["health"] == "failed"
    assert "2.1.119" in checks["claude (architect, developer, evaluator)"]["text"]
    assert "auto" not in checks


def test_settings_that_cannot_be_read_are_a_failure_and_the_rest_is_looked_at(
    stage: Stage, claude: dict[str, str]
) -> None:
    (stage.repo.path / "amelia.toml").write_text("tdd = 3\n")
    done, checks = look(stage, claude)
    assert done.code == 1
    assert checks["settings"]["health"] == "failed"
    assert "tdd must be one of" in checks["settings"]["text"]
    assert checks["git"]["health"] == "ok"
    assert checks["claude"]["health"] == "ok"
    assert not {"tests", "auto"} & checks.keys()


def test_what_a_repository_may_not_decide_is_a_failure(stage: Stage, claude: dict[str, str]) -> None:
    (stage.repo.path / "amelia.toml").write_text("[agents]\ntrusts_repository = true\n")
    done, checks = look(stage, claude)
    assert done.code == 1
    assert "agents.trusts_repository is not for a repository to decide" in checks["settings"]["text"]
    assert checks["settings"]["hint"].endswith("config.toml")


def test_the_users_own_settings_are_named_and_hold(stage: Stage, claude: dict[str, str]) -> None:
    own = users_settings(stage.room, '[agents]\ndriver = "claude"\n')
    done, checks = look(stage, {**claude, **own})
    assert done.code == 0
    assert checks["settings"]["text"] == f"{own['AMELIA_CONFIG']}, {stage.repo.path / 'amelia.toml'}"
    assert "claude (architect, developer, reviewer, evaluator)" in checks


def test_agents_that_nobody_can_choose_between_are_a_failure(stage: Stage, claude: dict[str, str]) -> None:
    done, checks = look(stage, {**claude, **users_settings(stage.room, '[agents]\nkey = "MY_KEY"\n')})
    assert done.code == 1
    assert checks["agents"]["health"] == "failed"


def test_outside_of_a_repository_the_rest_is_looked_at(stage: Stage, claude: dict[str, str]) -> None:
    elsewhere = stage.room / "elsewhere"
    elsewhere.mkdir()
    done, checks = look(stage, claude, cwd=elsewhere)
    assert done.code == 0
    assert checks["repository"]["health"] == "warning"
    assert "not in a git repository" in checks["repository"]["text"]
    assert "tests" not in checks
    assert "claude" in checks
    said = stage.amelia("doctor", env=claude, cwd=elsewhere).out
    assert said.endswith("\nready to run but for: repository\n")


@pytest.mark.parametrize(
    ("settings", "who"), [("", "auto"), ('[agents.reviewer]\ndriver = "claude"\n', "claude (reviewer), auto")]
)
def test_an_agent_that_nobody_is_logged_in_to_is_not_called_ready(
    stage: Stage, claude: dict[str, str], settings: str, who: str
) -> None:
    (stage.repo.path / "amelia.toml").write_text(settings)
    done = stage.amelia("doctor", env={"PATH": claude["PATH"]})
    assert done.code == 0
    assert "although it is not ready" in done.out
    assert done.out.endswith(f"\nready to run but for: {who}\n")


def test_an_agent_is_told_of_once_whatever_its_models(stage: Stage, claude: dict[str, str]) -> None:
    (stage.repo.path / "amelia.toml").write_text('[agents.reviewer]\nmodel = "opus"\n')
    done = stage.amelia("doctor", env=claude)
    assert done.out.count("2.1.119 at") == 1
    few = {"PATH": few_programs(stage.room / "none", "git")["PATH"]}
    assert stage.amelia("doctor", env=few).out.count("warning codex") == 1


def test_a_repository_that_nobody_can_commit_in_is_a_failure(stage: Stage, claude: dict[str, str]) -> None:
    stage.repo.git("config", "--unset", "user.email")
    done, checks = look(stage, claude)
    assert done.code == 1
    assert "git does not know who commits" in checks["repository"]["text"]
    assert "git config user.name" in checks["repository"]["hint"]


def test_a_machine_without_git_is_told_to_install_it(stage: Stage) -> None:
    done, checks = look(stage, few_programs(stage.room / "none"))
    assert done.code == 1
    assert checks["git"]["health"] == "failed"
    assert "install git" in checks["git"]["hint"]


def test_a_home_that_is_no_directory_is_a_failure(stage: Stage, claude: dict[str, str]) -> None:
    blocked = stage.room / "blocked"
    blocked.write_text("")
    done, checks = look(stage, {**claude, "AMELIA_HOME": str(blocked)})
    assert done.code == 1
    assert checks["state"]["health"] == "failed"


def test_finished_runs_are_worth_a_cleaning(stage: Stage, claude: dict[str, str]) -> None:
    assert stage.run(tasks("One"), writes("1", "a"), APPROVED).code == 0
    _, checks = look(stage, claude)
    assert checks["runs"]["hint"] == "make room: amelia gc"
    assert stage.amelia("gc").code == 0
    assert look(stage, claude)[1]["runs"]["health"] == "ok"


def test_a_key_that_an_agent_blurts_out_is_not_shown(stage: Stage, few: dict[str, str]) -> None:
    executable(Path(few["PATH"], "claude"), f"echo {MADE_UP}; echo {MADE_UP} >&2; exit 3")
    text = '[agents]\ndriver = "claude"\nkey = "SOME_API_KEY"\n'
    own = users_settings(stage.room, text)
    done = stage.amelia("doctor", env={**few, **own, "SOME_API_KEY": MADE_UP})
    assert done.code == 1
    assert "failed  claude" in done.out
    assert MADE_UP not in done.out + done.err
