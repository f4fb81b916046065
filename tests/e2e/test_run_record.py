"""The record of a run: read by agents, out of their work, true, and the last commit of the branch."""

import json
import re
import subprocess  # noqa: TID251 - a person who copies commands from a summary
from pathlib import Path
from typing import Any

import pytest

from amelia.record.execution import read_execution_state
from stories import APPROVED, FILES, Stage, develops, make_stage, rejects, tasks, writes

pytestmark = pytest.mark.slow

RECORDED = {"AMELIA_COMMIT_RECORD": "true"}
IMPLEMENT: Any = {
    "items": [
        {"finding": 1, "disposition": "IMPLEMENT", "reason": "right"},
        {"finding": 2, "disposition": "REJECT", "reason": "line 7 shows it"},
        {"finding": 3, "disposition": "DEFER", "reason": "another day"},
    ]
}
PHASES = """\
# Add accounts

## Phase 1: Ground
### Task 1: Lay `{{it}}` down
- Files: create one.txt
### Task 2: Level it
- Files: create two.txt
## Phase 2: Walls
### Task 3: Build them
- Files: create three.txt
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def record_of(stage: Stage) -> str:
    """Returns the execution directory on the branch."""
    found = {path.rpartition("/plan.md")[0] for path in stage.files() if path.startswith("docs/amelia/")}
    return max(found)


def commands_in(text: str) -> list[str]:
    return re.findall(r"^git .*$", text, re.MULTILINE)


@pytest.mark.rows("R13", "R14", "R17", "R28")
def test_a_run_ends_with_its_record_and_units_hold_none_of_it(stage: Stage) -> None:
    seen = stage.room / "seen"
    look = {"run": f"cat docs/amelia/*/*.md docs/amelia/*/*/*.md > '{seen}'; git status --short >> '{seen}'"}
    twice = {"run": "git add -A -f; git commit -qm mine"}
    done = stage.run(
        PHASES,
        develops("phase-1", {"write": "one.txt", "text": "1\n"}, {"write": "two.txt", "text": "2\n"}, twice),
        develops("phase-2", look, {"write": "three.txt", "text": "3\n"}),
        APPROVED,
        env=RECORDED,
        options=["--mode", "phased"],
    )
    assert done.outcome == "completed"
    first, second, last = stage.log("%H")
    assert stage.files(first) == ["one.txt", "two.txt"]
    assert stage.files(second) == ["three.txt"]
    record = record_of(stage)
    assert re.fullmatch(r"docs/amelia/\d{4}-\d\d-\d\d-add-accounts", record)
    names = ["execution-state.json", "phase-1/summary.md", "phase-2/summary.md", "plan.md", "report.md"]
    assert stage.files(last) == [f"{record}/{name}" for name in names]
    landed = stage.amelia("diff", stage.name).out
    assert landed.count("+++ b/") == 3
    assert "+++ b/three.txt" in landed
    assert f"Amelia-Record: {record}" in stage.repo.git("log", "-1", "--format=%B", last)
    assert stage.show(f"{record}/plan.md").strip() == PHASES.strip()
    assert "Phase 1: Ground" in seen.read_text()
    assert "docs/" not in seen.read_text().splitlines()[-1]

    state = read_execution_state(stage.directory / "record/execution-state.json")
    assert state is not None
    assert (state.status, state.completed) == ("completed", 2)
    assert [unit.commit for unit in state.units] == [first, second]
    assert json.loads(stage.show(f"{record}/execution-state.json"))["status"] == "completed"


@pytest.mark.rows("T22", "R15", "R31")
def test_every_command_of_a_summary_shows_what_it_says_in_the_lane_and_in_the_repository(
    stage: Stage,
) -> None:
    again = {
        "run": "sed -n 's/^git /git --no-pager /p' docs/amelia/*/task-1/summary.md > cmds; sh -e cmds; rm cmds"
    }
    done = stage.run(
        tasks("One", "Two"),
        writes("1", "a.txt", "test_a.py"),
        develops("2", again, {"write": "b.txt", "text": "b\n"}),
        APPROVED,
    )
    assert done.outcome == "completed"
    first, _ = stage.log("%H")
    summary = (stage.directory / "record/task-1/summary.md").read_text()
    assert "- 1: One" in summary
    assert "added: a.txt" in summary
    assert "## Test files\n```\ntest_a.py\n```" in summary
    assert "sh check.sh: exit code 0" in summary
    assert "It is done." in summary
    found = commands_in(summary)
    assert found[0] == f"git show {first}"
    assert len(found) == 3
    for command in found:
        shown = subprocess.run(
            command.split(), cwd=stage.repo.path, check=True, capture_output=True, text=True
        )
        assert "a.txt" in shown.stdout
    (turn,) = [event for event in done.of_type("attempt_ended") if event["unit"] == "2"]
    assert turn["ending"] == "ok"


@pytest.mark.rows("D10", "R14", "R16", "R21", "R31")
def test_an_attempt_that_follows_another_can_look_at_it(stage: Stage) -> None:
    seen = stage.room / "seen"
    done = stage.run(
        PHASES,
        develops("phase-1", {"write": "broken", "text": "1\n"}, attempt=1),
        develops(
            "phase-1",
            {"run": f"git show refs/amelia/$AMELIA_RUN/phase-1/1 > '{seen}'; ls >> '{seen}'"},
            {"write": "one.txt", "text": "1\n"},
            {"write": "two.txt", "text": "1\n"},
            attempt=2,
        ),
        writes("phase-2", "three.txt"),
        APPROVED,
        options=["--mode", "phased"],
    )
    assert done.outcome == "completed"
    assert "b/broken" in seen.read_text()
    assert "broken" not in seen.read_text().splitlines()[-5:]
    prompt = stage.prompt("phase-1", 2)
    assert "## Retry Attempt 2\n\nThe previous approach failed. A different strategy is needed." in prompt
    assert f"git show refs/amelia/{stage.name}/phase-1/1" in prompt
    feedback = re.search(r"Full feedback at: `(.*)`", prompt)
    assert feedback is not None
    kept = (stage.directory / "record/phase-1/review-feedback.md").read_text()
    assert "## Turn 1, says the executed checks" in kept
    for command in re.findall(r"`(git show [0-9a-f]{40})`", kept):
        assert "broken" in stage.repo.git(*command.split()[1:])
    heading = re.compile("Walls|Build them")
    assert not heading.search(prompt)
    assert not heading.search(stage.prompt("phase-1", 2, "reviewer"))


@pytest.mark.rows("P1", "P13")
def test_what_an_agent_does_to_its_copy_changes_nothing_else(stage: Stage) -> None:
    seen = stage.room / "seen"
    lies = {
        "run": "d=$(echo docs/amelia/*/); echo lies > $d/plan.md; touch -r check.sh $d/plan.md; mkdir $d/x; echo lies > $d/x/y; printf '!docs/\\n!*\\n' > .gitignore"
    }
    done = stage.run(
        tasks("One", "Two"),
        develops("1", lies, {"write": "a.txt", "text": ""}),
        develops(
            "2",
            {"run": f"cat docs/amelia/*/plan.md > '{seen}'; ls docs/amelia/*/ >> '{seen}'"},
            {"write": "b", "text": ""},
        ),
        APPROVED,
        env=RECORDED,
    )
    assert done.outcome == "completed"
    assert stage.files(stage.log("%H")[0]) == [".gitignore", "a.txt"]
    assert "lies" not in seen.read_text()
    assert seen.read_text().splitlines()[-3:] == ["execution-state.json", "plan.md", "task-1"]
    assert "lies" not in stage.show(f"{record_of(stage)}/plan.md")


def test_a_link_in_its_place_keeps_the_record_away_and_nothing_else(stage: Stage) -> None:
    outside = stage.room / "outside"
    outside.mkdir()
    done = stage.run(
        tasks("One", "Two"),
        develops("1", {"run": f"rm -rf docs; ln -s '{outside}' docs"}),
        writes("2", "b.txt"),
        APPROVED,
        env=RECORDED,
    )
    assert done.outcome == "completed"
    assert list(outside.iterdir()) == []
    (recorded,) = done.of_type("record_committed")
    assert recorded["detail"] == "docs is in the way"
    assert len(stage.log("%H")) == 2


def test_a_second_run_of_the_day_has_another_name_and_another_place_is_possible(stage: Stage) -> None:
    env = {**RECORDED, "AMELIA_ARTIFACTS_DIR": "records"}
    first = stage.run(tasks("One"), writes("1", "a.txt"), APPROVED, env=env)
    second = stage.run(tasks("One"), writes("1", "a.txt"), APPROVED, env=env, options=["--again"])
    places = [done.of_type("run_started")[0]["record"]["path"] for done in (first, second)]
    assert re.fullmatch(r"records/\d{4}-\d\d-\d\d-sample", places[0])
    assert places[1] == f"{places[0]}-2"


@pytest.mark.rows("R23")
def test_the_report_tells_what_landed_and_what_did_not(stage: Stage) -> None:
    used = {"input": 100, "output": 20, "cost": 0.5}
    done = stage.run(
        tasks("One", "Two"),
        develops("1", {"write": "a.txt", "text": "a\n"}, attempt=1, usage=used),
        rejects("Say more.", "Wrong `one`.", "Later.", unit="1", attempt=1),
        {"role": "evaluator", "report": IMPLEMENT},
        develops("1", {"write": "a.txt", "text": "b\n"}, attempt=2),
        develops("2", {"write": "broken", "text": ""}),
        APPROVED,
    )
    assert done.code == 1
    report = stage.amelia("report", stage.name, "--json").json
    one, two = report["units"]
    assert (one["status"], one["files"], one["attempts"]) == ("completed", ["a.txt"], 2)
    assert one["receipts"][0].startswith("sh check.sh: exit code 0")
    assert (two["status"], two["commit"]) == ("failed", None)
    assert report["rejected"] == [
        {"unit": "1", "finding": "README.md:1: Wrong `one`.", "because": "line 7 shows it"}
    ]
    assert [ruled["because"] for ruled in report["deferred"]] == ["another day"]
    assert report["cost_by_role"]["developer"]["dollars"] == 0.5
    page = stage.amelia("report", stage.name).out
    assert "## What landed\n- Task 1: One: `" in page
    assert "Wrong 'one'." in page
    assert "| all turns of the reviewer | unknown (" in page
    assert f"amelia undo {stage.name}" in page
    assert page.strip() == (stage.directory / "record/report.md").read_text().strip()


def test_a_persons_words_are_told_and_kept_and_wrong_ones_stop_the_run(stage: Stage, tmp_path: Path) -> None:
    own = tmp_path / "words"
    own.mkdir()
    (own / "rules.md").write_text("Be kind to `{{directory}}`.\n")
    (own / "config.toml").write_text('[prompts]\nrules = "rules.md"\n')
    env = {"AMELIA_CONFIG": str(own / "config.toml")}
    stage.run(tasks("One"), writes("1", "a.txt"), APPROVED, env=env)
    assert "## Instructions\nBe kind to `docs/amelia/" in stage.prompt("1", 1)
    assert (stage.directory / "prompts/rules.md").read_text() == "Be kind to `{{directory}}`.\n"
    (own / "rules.md").write_text("Be {{kind}}.\n")
    done = stage.run(tasks("Two"), writes("1", "a.txt"), APPROVED, env=env)
    assert done.code == 3
    assert "{{directory}} is missing, {{kind}} is not known" in done.err


def test_files_beside_the_record_are_not_in_its_way(tmp_path: Path) -> None:
    beside = {
        "docs/index.md": "# Docs\n",
        "docs/amelia/notes.md": "old\n",
        "docs/amelia/2020-01-01-old/plan.md": "",
    }
    stage = make_stage(tmp_path, {**FILES, **beside})
    done = stage.run(tasks("One"), writes("1", "a.txt"), APPROVED, env=RECORDED)
    (recorded,) = done.of_type("record_committed")
    assert recorded["commit"] is not None, recorded
    landed = stage.files()
    assert set(beside) <= set(landed)
    assert any(name.startswith("docs/amelia/2") and name.endswith("-sample/plan.md") for name in landed)


def test_words_that_lie_outside_of_a_repository_are_not_its_to_tell(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret {{directory}}")
    (stage.repo.path / "rules.md").symlink_to(tmp_path / "key")
    (stage.repo.path / "amelia.toml").write_text('[prompts]\nrules = "rules.md"\n')
    done = stage.run(tasks("One"), writes("1", "a.txt"), APPROVED)
    assert done.code == 3
    assert 'prompts.rules must be a file inside the repository, not "rules.md"' in done.err


@pytest.mark.rows("R13")
@pytest.mark.parametrize(
    ("name", "front", "options", "tracker"),
    [
        ("plan.md", "---\ntracker: LIN-42\n---\n", [], "LIN-42"),
        ("plan.md", "---\nissue: https://github.com/o/r/issues/17\n---\n", [], "17"),
        ("ISSUE-123-add-login.md", "", [], "ISSUE-123"),
        ("2026-01-02-lin-7-add-login.md", "", [], "lin-7"),
        ("ISSUE-123-add-login.md", "---\ntracker: LIN-42\n---\n", [], "LIN-42"),
        ("ISSUE-123-add-login.md", "---\ntracker: LIN-42\n---\n", ["--tracker", "OPS-1"], "OPS-1"),
        ("plan-2.md", "", [], ""),
    ],
)
def test_the_record_of_a_plan_has_its_id_in_a_tracker(
    tmp_path: Path, name: str, front: str, options: list[str], tracker: str
) -> None:
    stage = make_stage(tmp_path)
    plan = stage.room / name
    plan.write_text(front + tasks("One", goal="Add login"))
    script = stage.play(writes("1", "one"), APPROVED)
    done = stage.amelia("run", plan, "--script", script, "--yes", *options, env=RECORDED)
    assert done.code == 0, done
    between = f"-{tracker}" if tracker else ""
    assert re.fullmatch(rf"docs/amelia/\d{{4}}-\d\d-\d\d{between}-add-login", record_of(stage))


def test_a_plan_that_is_handed_over_carries_the_id_of_its_issue(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    issue = stage.room / "LIN-9.md"
    issue.write_text("# Add login\n\nPlease.\n")
    report = {"goal": "Add login", "tasks": [{"id": "1", "title": "One", "type": "chore"}]}
    script = stage.play({"role": "architect", "report": report})
    out = stage.room / "plan.md"
    assert stage.amelia("plan", "--issue", issue, "-o", out, "--script", script).code == 0
    assert stage.amelia("check", out, "--json").json["tracker_id"] == "LIN-9"
