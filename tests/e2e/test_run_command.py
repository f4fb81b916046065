"""Runs with agents that are any program, by a command line or by their names."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from programs import few_programs, users_settings
from repositories import executable
from stories import FILES, Stage, make_stage, tasks

pytestmark = pytest.mark.slow

OK = json.dumps({"status": "completed", "summary": "It is done."})
APPROVED = json.dumps({"approved": True, "comments": []})
REJECTED = json.dumps(
    {
        "approved": False,
        "comments": [{"file": "roof.py", "line": 1, "severity": "blocking", "text": "Leaks."}],
    }
)
RULED = json.dumps({"items": [{"finding": 1, "disposition": "IMPLEMENT", "reason": "True."}]})
SMALL = Path(__file__).parents[1] / "real" / "acp_agents.py"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, FILES)


def prints(answer: str, *before: str) -> str:
    return "\n".join([*before, f"echo {shlex.quote(answer)}"])


def plan(stage: Stage) -> tuple[str, ...]:
    (stage.room / "plan.md").write_text(tasks("Roof"))
    return ("run", str(stage.room / "plan.md"), "--json")


def test_any_program_develops_and_another_reviews_each_by_its_own_line(stage: Stage) -> None:
    log = shlex.quote(str(stage.room / "log"))
    again = f"[ -e {log}.seen ] && {{ {prints(APPROVED)}; exit; }}; touch {log}.seen"
    body = "\n".join(
        [
            f'echo "$1 $2" >> {log}; [ -z "$3" ] || cat "$3" >> {log}',
            f"case $1 in\ndevelop) echo tiles >> roof.py; {prints(OK, 'echo I lay tiles.')};;",
            f"mend) echo tar >> roof.py; {prints(OK)};;",
            f"review) {again}; {prints(REJECTED, 'echo I look.')};;",
            f"rule) {prints(RULED)};;\nesac",
        ]
    )
    agent = json.dumps(str(executable(stage.room / "agent", body)))
    environment = users_settings(
        stage.room,
        f'[agents]\ndriver = "command"\ncommand = [{agent}, "rule"]\n'
        f'[agents.developer]\ncommand = [{agent}, "develop", "{{session}}", "{{prompt_file}}"]\n'
        f'resume_command = [{agent}, "mend", "{{session}}", "{{prompt_file}}"]\n'
        f'[agents.reviewer]\ncommand = [{agent}, "review", "as-{{role}}", "{{prompt_file}}"]\n',
    )
    done = stage.amelia(*plan(stage), env=environment)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert stage.show("roof.py") == "tiles\ntar"
    said = (stage.room / "log").read_text()
    begun = next(line.split()[1] for line in said.splitlines() if line.startswith("develop "))
    assert f"mend {begun}\n" in said, "the same session goes on"
    assert "Leaks." in said
    assert "review as-reviewer" in said
    shown = stage.amelia("status", stage.name).out
    assert "the budget cannot hold" in shown


def test_a_repository_may_choose_an_agent_by_name_and_the_program_stays_the_users(stage: Stage) -> None:
    def message(text: str) -> dict[str, object]:
        content = {"type": "text", "text": text}
        return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}

    work = json.dumps({"steps": [{"write": "roof.py"}, message(OK)]})
    review = json.dumps({"steps": [message(APPROVED)]})
    small = shlex.join([sys.executable, str(SMALL)])
    folder = stage.room / "bin"
    executable(
        folder / "opencode",
        f"case $1 in\n--version) echo 1.18.33; exit;;\nesac\n"
        f"[ $AMELIA_ROLE = developer ] && exec {small} {shlex.quote(work)}\nexec {small} {shlex.quote(review)}",
    )
    (stage.repo.path / "amelia.toml").write_text(FILES["amelia.toml"] + '[agents]\ndriver = "opencode"\n')
    stage.repo.git("commit", "--all", "--message=Choose opencode")
    environment = few_programs(folder, "git", "python3", "test")
    done = stage.amelia(*plan(stage), env=environment)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert {event["driver"] for event in done.of_type("session_opened")} == {"opencode"}


def test_a_repository_names_no_command_line(stage: Stage) -> None:
    (stage.repo.path / "amelia.toml").write_text('[agents]\ndriver = "command"\nresume_command = ["sh"]\n')
    done = stage.amelia(*plan(stage))
    assert done.code == 3
    assert "resume_command is not for a repository to decide" in done.err


def test_the_command_line_takes_an_agent_by_its_name(stage: Stage) -> None:
    environment = few_programs(stage.room / "bin", "git")
    done = stage.amelia(*plan(stage), "--driver", "goose", env=environment)
    assert done.code == 3
    assert "driver goose: goose is not installed" in done.err
    done = stage.amelia(*plan(stage), "--driver", "gose", env=environment)
    assert done.code != 0
    assert "goose" in done.err


def test_the_line_that_goes_on_belongs_to_the_line_that_began(stage: Stage) -> None:
    settings = (
        '[agents]\ndriver = "command"\ncommand = ["a"]\nresume_command = ["b"]\n'
        '[agents.reviewer]\ncommand = ["c"]\n'
    )
    environment = users_settings(stage.room, settings)
    shown = stage.amelia("config", "show", env=environment).out
    assert 'agents.developer.resume_command = ["b"]' in shown
    assert 'agents.reviewer.resume_command = ["b"]' not in shown


def test_doctor_lists_the_agents_that_are_installed_and_the_versions_that_will_do(stage: Stage) -> None:
    folder = stage.room / "bin"
    environment = few_programs(folder, "git")
    executable(folder / "opencode", "echo 1.18.33")
    executable(folder / "goose", "echo ' 1.2.0'")
    executable(folder / "kimi", "echo 2.1.0")
    done = stage.amelia("doctor", "--agents", env=environment)
    assert done.code == 0
    told = {line.split()[1]: line for line in done.out.splitlines() if not line.startswith(" ")}
    assert f"1.18.33 at {folder}/opencode (1.0.0 or newer works)" in told["opencode"]
    assert told["goose"].startswith("warning")
    assert "1.2.0" in told["goose"]
    assert "(1.34.0 or newer works)" in told["goose"]
    assert "it does not tell what it uses: a budget cannot hold" in told["kimi"]
    assert "log in with: kimi login" in done.out
    assert "not installed: aider, claude, codex, copilot" in told["others"]
    checks = stage.amelia("doctor", "--agents", "--json", env=environment).json["checks"]
    assert {"opencode", "goose", "kimi", "others"} == {check["name"] for check in checks}
