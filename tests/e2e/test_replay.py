"""A recorded run can be played again: it comes to the same, or the command says what differs."""

import json
import os
import re
import shutil
import subprocess  # noqa: TID251 - the guide shows commands; they are run
import sys
from pathlib import Path
from typing import Any

import pytest

from amelia.app.replay import saved
from amelia.app.replay.scripts import UnplayableError
from amelia.record.runs import RunDirectory
from programs import users_settings
from repositories import Repo, git, make_repository
from stories import (
    APPROVED,
    FILES,
    SETTINGS,
    Act,
    Done,
    Stage,
    develops,
    make_stage,
    rejects,
    tasks,
    toml,
    writes,
)

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
SAVED = sorted(path.parent for path in (REPOSITORY / "tests" / "replays").glob("*/expected.json"))
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TWICE = f"{SETTINGS}\n[modes.tasks]\nattempts = 2\n\n[modes.lifecycle]\nattempts = 1\n"
FAILS: Act = {"append": "broken", "text": "again\n"}
LONG_AGO: Act = {"limit": "2020-01-01T00:00:00Z"}
IMPLEMENT = {"items": [{"finding": 1, "disposition": "IMPLEMENT", "reason": "It is true."}]}
EVERY_KIND: tuple[Act, ...] = (
    {"write": "a.txt", "text": 'with "quotes", \\ and \x7f\n'},
    {"write": "bin/tool", "text": "#!/bin/sh\n", "mode": "755"},
    {"write": "link", "link": "a.txt"},
    {"write": "bytes", "text": "AAH/", "base64": True},
    {"write": "ünïcode 名前.txt", "text": "no line end"},
    {"delete": "README.md"},
)
OTHER_KINDS: tuple[Act, ...] = (
    {"delete": "link"},
    {"write": "link/now/a", "text": "directory\n"},
    {"delete": "bin"},
    {"write": "bin", "link": "bytes"},
    {"write": "bytes", "text": "text now\n"},
    {"write": "a.txt", "text": "runs\n", "mode": "755"},
)
SIDES = """\
# Sides

### Task 1: First
- Files: create first.txt
- Acceptance criteria: there is a file
### Task 2: Second
- Files: create second.txt
- Acceptance criteria: there is a file
"""
PHASE = """\
# Phases

## Phase 1: All

### Task 1: First
- Type: docs
### Task 2: Second
- Type: docs
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": TWICE})


def replay(stage: Stage, run: str) -> tuple[int, list[str]]:
    """Plays a run again, and returns the exit code and what differs."""
    done = stage.amelia("replay", run, "--json")
    assert done.out, done.err
    last = done.events[-1]
    assert last["type"] == "replay_compared", done.out
    return done.code, last["differences"]


def events(stage: Stage, run: str, *kinds: str) -> list[dict[str, Any]]:
    return stage.amelia("log", run, "--json").of_type(*kinds)


def landed_trees(stage: Stage, run: str) -> list[str]:
    own = stage.home / "runs" / run / "repository"
    repo = Repo(own) if own.exists() else stage.repo
    return repo.git("log", "--format=%T", f"HEAD..amelia/{run}").splitlines()


def goes_on(stage: Stage, run: str) -> Done:
    return stage.amelia("resume", run, "--json")


@pytest.mark.rows("R1")
def test_every_kind_of_change_rejections_and_a_crash_come_out_the_same(stage: Stage) -> None:
    done = stage.run(
        tasks("One", "Two"),
        develops("1", *EVERY_KIND, attempt=1),
        rejects("Say more.", unit="1", attempt=1),
        {"role": "evaluator", "report": IMPLEMENT},
        develops("1", *OTHER_KINDS, attempt=2, usage={"input": 100, "output": 20, "cost": 0.5}),
        develops("2", {"write": "half", "text": ""}, {"exit": 3}, attempt=1),
        develops("2", {"write": "b", "text": "b\n"}, attempt=2),
        APPROVED,
    )
    assert done.outcome == "completed"
    run = stage.name
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    assert landed_trees(stage, again) == landed_trees(stage, run)
    assert len(landed_trees(stage, run)) == 2
    used = [
        event for event in stage.amelia("log", again, "--json").events if event["type"] == "usage_reported"
    ]
    assert [event["usage"] for event in used if "usage" in event] == [
        {"input_tokens": 100, "output_tokens": 20, "cost": 0.5}
    ]


def test_a_limit_is_played_again_with_the_work_that_was_left_before_it(stage: Stage) -> None:
    late = {"write": "late", "text": ""}
    after = stage.then(develops("1", late), APPROVED)
    done = stage.run(tasks("One"), develops("1", {"write": "early", "text": ""}, after, LONG_AGO))
    assert done.outcome == "completed"
    run = stage.name
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    endings = [event["ending"] for event in events(stage, again, "attempt_ended")]
    assert endings == ["limited", "ok"]


def test_a_parked_unit_a_retry_and_a_second_failure_are_played_again(stage: Stage) -> None:
    stage.run(tasks("One", "Two"), develops("1", FAILS), APPROVED)
    run = stage.name
    stage.play(develops("1", FAILS, attempt=3), writes("1", "good", attempt=4), writes("2", "b"), APPROVED)
    assert stage.amelia("retry", run, "1", "--note", "Mind the checks.").code == 0
    assert goes_on(stage, run).outcome == "halted(verify_limit)"
    assert stage.amelia("skip", run, "1", "--satisfied").code == 0
    assert goes_on(stage, run).outcome == "completed"
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    assert [event["note"] for event in events(stage, again, "task_reset")] == ["Mind the checks."]


def test_a_refused_login_is_played_again_and_so_is_that_the_run_went_on(stage: Stage) -> None:
    refused = {"raw": json.dumps({"type": "end", "ending": "auth"})}
    done = stage.run(tasks("One"), {"role": "developer", "do": [refused]}, APPROVED)
    assert done.outcome == "halted(auth)"
    run = stage.name
    assert replay(stage, run) == (0, [])
    stage.play(writes("1", "a"), APPROVED)
    assert goes_on(stage, run).outcome == "completed"
    assert replay(stage, run) == (0, [])


def test_a_reviewer_without_an_answer_is_asked_as_often_as_it_was(stage: Stage) -> None:
    silent = {"role": "reviewer", "do": [stage.then(APPROVED)]}
    done = stage.run(tasks("One"), writes("1", "a"), silent)
    assert done.outcome == "completed"
    run = stage.name
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    assert len(events(stage, again, "review_failed")) == 1


def test_a_run_that_was_killed_and_resumed_comes_to_the_same(stage: Stage) -> None:
    there = stage.room / "there"
    slow = develops("1", {"run": f"touch '{there}'"}, {"sleep": 30})
    started = stage.start(*stage.put(tasks("One", "Two"), slow))
    started.until(there.exists, "the turn")
    started.kill()
    run = stage.name
    assert stage.amelia("replay", run).code == 2
    stage.play(writes("1", "a"), writes("2", "b"), APPROVED)
    assert goes_on(stage, run).outcome == "completed"
    assert replay(stage, run) == (0, [])


def test_a_run_that_was_cancelled_at_work_is_cancelled_at_the_same_point(stage: Stage) -> None:
    there = stage.room / "there"
    slow = develops("2", {"run": f"touch '{there}'"}, {"sleep": 30})
    started = stage.start(*stage.put(tasks("One", "Two", "Three"), writes("1", "a"), slow, APPROVED))
    started.until(there.exists, "the turn")
    run = stage.name
    assert stage.amelia("cancel", run).code == 0
    assert started.wait().outcome == "cancelled"
    assert replay(stage, run) == (0, [])


def test_a_used_up_budget_halts_the_replay_too_until_it_is_raised(stage: Stage) -> None:
    dear = {"usage": {"input": 10, "output": 10, "cost": 0.75}}
    (stage.repo.path / "amelia.toml").write_text(f"{TWICE}\n[budget]\nunit_cost = 1.0\n")
    stage.repo.commit({}, "A budget")
    done = stage.run(
        tasks("One"),
        develops("1", {"append": "broken", "text": "x"}, attempt=1, **dear),
        develops("1", {"delete": "broken"}, {"write": "a", "text": "a"}, attempt=2, **dear),
        APPROVED,
    )
    assert (done.code, done.outcome) == (6, "halted(budget)")
    run = stage.name
    assert replay(stage, run) == (0, [])
    assert stage.amelia("resume", run, "--max-unit-cost", "9", "--json").outcome == "completed"
    assert replay(stage, run) == (0, [])


def test_units_that_ran_side_by_side_land_in_the_same_order_also_after_a_conflict(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    first, second = ({"write": f"{name}.txt", "text": ""} for name in ("first", "second"))
    mine, theirs = ({"write": "shared.txt", "text": f"of {name}\n"} for name in ("one", "two"))
    done = stage.run(
        SIDES,
        develops("1", {"sleep": 1.5}, first, mine, attempt=1),
        develops("1", first, {"append": "shared.txt", "text": "of one\n"}, attempt=2),
        develops("2", second, theirs),
        APPROVED,
        options=["--parallel", "2", "--mode", "lifecycle"],
    )
    assert done.outcome == "completed"
    assert len(done.of_type("landing_refused")) == 1
    assert replay(stage, stage.name) == (0, [])


def test_phases_report_the_same_subtasks(stage: Stage) -> None:
    report = {"status": "partial", "summary": "Half.", "subtasks_completed": ["1"], "subtasks_failed": ["2"]}
    done = stage.run(
        PHASE,
        develops("phase-1", {"write": "a", "text": "a"}, attempt=1, report=report),
        develops("phase-1", {"write": "b", "text": "b"}, attempt=2),
        APPROVED,
    )
    assert done.outcome == "completed"
    run = stage.name
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    kinds = ("subtask_completed", "subtask_failed")
    told = [[(e["type"], e["task"]) for e in events(stage, name, *kinds)] for name in (run, again)]
    assert told[0] == told[1]
    assert ("subtask_failed", "2") in told[0]


def test_a_repair_by_hand_ends_the_replay_and_is_said(stage: Stage) -> None:
    stage.run(tasks("One", "Two"), writes("1", "a"), develops("2", FAILS), APPROVED)
    run = stage.name
    place = Path(stage.amelia("fix", run, "2").out.strip())
    (place / "broken").rename(place / "mended")
    assert stage.amelia("fix", run, "2", "--done").code == 0
    assert goes_on(stage, run).outcome == "completed"
    done = stage.amelia("replay", run)
    assert done.code == 0, done.out
    assert "2 was fixed by hand" in done.err
    assert "the same: halted(verify_limit), 2 units" in done.out


def test_what_differs_is_listed(stage: Stage) -> None:
    strict = stage.room / "strict"
    stage.repo.commit({"check.sh": f"test ! -e '{strict}' || test ! -e b\n"}, "Look around")
    assert stage.run(tasks("One", "Two"), writes("1", "a"), writes("2", "b"), APPROVED).code == 0
    run = stage.name
    strict.touch()
    code, differences = replay(stage, run)
    assert code == 1
    assert differences[:3] == [
        "the outcome is halted(verify_limit) instead of completed",
        "2: parked (verify_limit) instead of landed",
        "2: 2 turns instead of 1",
    ]
    assert "differs: 2: 2 turns" in stage.amelia("replay", run).out


def test_a_turn_without_a_report_is_played_again_without_one(stage: Stage) -> None:
    silent = {"role": "developer", "do": [{"write": "a", "text": "a"}, {"say": "All is done."}]}
    assert stage.run(tasks("One"), silent, APPROVED).code == 0
    assert replay(stage, stage.name) == (0, [])


def test_a_run_can_be_played_again_after_its_store_was_cleared_away(stage: Stage) -> None:
    assert stage.run(tasks("One"), writes("1", "a"), APPROVED).code == 0
    assert "1 run cleared" in stage.amelia("gc").out
    assert replay(stage, stage.name) == (0, [])


def test_a_replay_says_that_its_branch_is_in_a_repository_of_its_own(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", *EVERY_KIND), APPROVED)
    assert "branch amelia/" in stage.amelia("status", stage.name).out
    done = stage.amelia("replay", stage.name)
    assert done.code == 0, done.out + done.err
    assert "branch amelia/" not in done.out
    assert "a replay in a repository of its own" in done.out
    (named,) = re.findall(r"in a repository of its own: (.+)", done.err)
    branches = git(Path(named), "branch", "--list", "amelia/*").split()
    assert len(branches) == 1
    assert branches[0] not in stage.repo.git("branch", "--list")


def test_a_saved_run_is_played_anywhere(stage: Stage, tmp_path: Path) -> None:
    stage.run(
        tasks("One", "Two"),
        develops("1", *EVERY_KIND, attempt=1),
        develops("2", FAILS),
        APPROVED,
    )
    run = stage.name
    assert stage.amelia("skip", run, "2").code == 0
    assert goes_on(stage, run).outcome == "completed"
    place = tmp_path / "kept" / "example"
    assert stage.amelia("replay", run, "--save", place).code == 0
    assert stage.amelia("replay", run, "--save", place).code == 3
    assert stage.amelia("replay", place, "--save", place).code == 2
    shutil.rmtree(stage.home)
    done = stage.amelia("replay", place, env={"TMPDIR": str(tmp_path)})
    assert done.code == 0, done.out + done.err
    assert not list(tmp_path.glob("amelia-replay-*"))
    assert "branch amelia/" not in done.out
    assert "in a repository of its own, which is removed now" in done.err
    expected = json.loads((place / "expected.json").read_text())
    expected["result"]["units"]["1"]["tree"] = "0" * 40
    (place / "expected.json").write_text(json.dumps(expected))
    done = stage.amelia("replay", place, env={"TMPDIR": str(tmp_path)})
    assert done.code == 1
    assert "differs: 1 landed: the tree is" in done.out
    assert list(tmp_path.glob("amelia-replay-*"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("expected.json", "{}", "expected.json: "),
        ("course.jsonl", "{", "course.jsonl: "),
        (
            "course.jsonl",
            '{"wish": "unit_landed", "body": {"unit": "1", "attempt": 1, "commit": ""}}',
            "course.jsonl: ",
        ),
        ("base.toml", "files = 1", "base.toml: "),
        ("base.toml", "\\", "base.toml: "),
        ("base.toml", "files = []", "these files make the tree"),
        ("script.toml", "turn = 1", "script.toml: "),
        ("amelia.toml", "colour = 1", "unknown key colour"),
    ],
)
def test_a_damaged_file_is_named(
    saved_run: tuple[Stage, Path], name: str, text: str, said: str, tmp_path: Path
) -> None:
    stage, example = saved_run
    place = shutil.copytree(example, tmp_path / "copy")
    (place / name).write_text(text)
    done = stage.amelia("replay", place, env={"TMPDIR": str(tmp_path)})
    assert done.code in {2, 3}
    assert said in done.err
    assert "hint" in done.err
    assert not list(tmp_path.glob("amelia-replay-*"))


@pytest.mark.parametrize(
    "files",
    [
        pytest.param([{"write": "{outside}/evil", "text": "x"}], id="absolute"),
        pytest.param([{"write": "../../outside/evil", "text": "x"}], id="climbs"),
        pytest.param([{"write": "a/../../../outside/evil", "text": "x"}], id="climbs later"),
        pytest.param([{"write": ".git/hooks/post-checkout", "text": "x", "mode": "755"}], id="git"),
        pytest.param([{"write": "a/.GIT/config", "text": "x"}], id="git in other letters"),
        pytest.param([{"write": ".", "text": "x"}], id="the directory itself"),
        pytest.param([{"write": "l", "link": "{outside}"}], id="absolute link"),
        pytest.param([{"write": "a/l", "link": "../../../outside"}], id="link that climbs"),
        pytest.param([{"write": "l", "link": ".git"}], id="link into git"),
        pytest.param(
            [
                {"write": "a/m", "link": ".."},
                {"write": "a/m/l", "link": "../../outside"},
                {"write": "l/evil", "text": "x"},
            ],
            id="link behind a link",
        ),
        pytest.param([{"write": "l", "link": "a"}, {"write": "l", "text": "x"}], id="twice"),
        pytest.param([{"write": "tool", "text": "x", "mode": "4755"}], id="mode"),
        pytest.param([{"write": "bytes", "text": "?", "base64": True}], id="no base64"),
        pytest.param([{"write": "a\u0000", "text": "x"}], id="no name"),
    ],
)
def test_a_base_cannot_write_outside_of_its_repository(
    saved_run: tuple[Stage, Path], files: list[dict[str, Any]], tmp_path: Path
) -> None:
    stage, example = saved_run
    place = shutil.copytree(example, tmp_path / "copy")
    outside = tmp_path / "outside"
    outside.mkdir()
    base = f"files = {toml(files)}".replace("{outside}", str(outside))
    (place / "base.toml").write_text(base)
    done = stage.amelia("replay", place, env={"TMPDIR": str(tmp_path)})
    assert (done.code, done.out) == (3, "")
    assert f"{place / 'base.toml'}: " in done.err
    assert "make the tree" not in done.err, "it was written"
    assert list(outside.iterdir()) == []
    assert not list(tmp_path.glob("amelia-replay-*"))


@pytest.mark.parametrize(
    "act",
    [
        {"write": "{outside}/evil", "text": "x"},
        {"append": "../../evil", "text": "x"},
        {"delete": "{outside}"},
        {"write": "l", "link": "/etc"},
        {"write": ".git/config", "text": "x"},
    ],
    ids=str,
)
def test_a_script_of_a_saved_replay_cannot_write_outside(
    saved_run: tuple[Stage, Path], act: Act, tmp_path: Path
) -> None:
    stage, example = saved_run
    place = shutil.copytree(example, tmp_path / "copy")
    outside = tmp_path / "outside"
    outside.mkdir()
    text = toml(act).replace("{outside}", str(outside))
    (place / "script.toml").write_text(f"[[turn]]\ndo = [{text}]\n")
    done = stage.amelia("replay", place, env={"TMPDIR": str(tmp_path)})
    assert done.code == 3
    assert f"{place / 'script.toml'}: " in done.err
    assert list(outside.iterdir()) == []
    assert not list(tmp_path.glob("amelia-replay-*"))


def test_a_run_with_a_link_that_leads_out_is_played_where_it_is_and_not_saved(stage: Stage) -> None:
    done = stage.run(tasks("One"), develops("1", {"write": "l", "link": "/nowhere"}), APPROVED)
    assert done.outcome == "completed"
    run = stage.name
    done = stage.amelia("replay", run, "--save", stage.room / "there")
    assert done.code == 2
    assert "'l': a link to '/nowhere' leads out of the repository, so the run cannot be saved" in done.err
    assert not (stage.room / "there").exists()
    assert replay(stage, run) == (0, [])


def test_a_saved_run_is_not_played_with_the_settings_of_whoever_plays_it(
    saved_run: tuple[Stage, Path],
) -> None:
    stage, place = saved_run
    own = users_settings(stage.room, '[verify]\nsetup = "false"\n')
    done = stage.amelia("replay", place, env=own)
    assert done.code == 0, done.out + done.err


@pytest.fixture(scope="module")
def saved_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Path]:
    stage = make_stage(tmp_path_factory.mktemp("saved"))
    (stage.repo.path / "link").symlink_to("README.md")
    (stage.repo.path / "check.sh").chmod(0o755)
    stage.repo.commit({"bytes": b"\xff\x00"}, "More kinds of files")
    stage.run(tasks("One"), writes("1", "a"), APPROVED)
    stage.amelia("replay", stage.name, "--save", stage.room / "example")
    return stage, stage.room / "example"


def test_all_kinds_of_files_of_a_base_are_saved(saved_run: tuple[Stage, Path]) -> None:
    stage, place = saved_run
    done = stage.amelia("replay", place)
    assert done.code == 0, done.out + done.err


def test_a_repository_that_is_too_large_is_not_saved(
    saved_run: tuple[Stage, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage, _ = saved_run
    monkeypatch.setattr(saved, "_LARGEST_BASE", 10)
    with pytest.raises(UnplayableError, match="too large") as caught:
        saved.save_replay(RunDirectory(stage.directory), tmp_path / "there")
    assert caught.value.hint
    assert not (tmp_path / "there").exists()


def test_a_plan_that_would_be_cut_differently_now_is_not_saved(tmp_path: Path) -> None:
    cut = f"{SETTINGS}\n[task_size_limits]\ncomplexity_threshold = 0.5\n"
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": cut})
    names = [f"file-{number}.txt" for number in range(8)]
    plan = f"# Many\n\n### Task 1: Many files\n- Files: create {', '.join(names)}\n- Acceptance criteria: all are there\n"
    done = stage.run(plan, APPROVED, options=["--mode", "lifecycle"])
    assert done.outcome == "needs_human(no_changes)"
    (stage.repo.path / "amelia.toml").write_text(SETTINGS)
    done = stage.amelia("replay", stage.name, "--save", tmp_path / "there")
    assert done.code == 2
    assert "cut into other units" in done.err
    assert replay(stage, stage.name) == (0, [])


def test_a_repository_of_another_format_is_played_and_not_saved(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repository", FILES, "--object-format=sha256")
    stage = Stage(tmp_path, repo, tmp_path / "home")
    stage.run(tasks("One"), writes("1", "a"), APPROVED)
    run = stage.name
    assert replay(stage, run) == (0, [])
    assert stage.amelia("replay", run, "--save", tmp_path / "there").code == 2


def test_a_run_that_started_from_nothing_can_be_played_again(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repository", {})
    stage = Stage(tmp_path, repo, tmp_path / "home")
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED)
    assert done.outcome == "completed"
    run = stage.name
    assert replay(stage, run) == (0, [])
    assert stage.amelia("replay", run, "--save", tmp_path / "there").code == 0
    assert stage.amelia("replay", tmp_path / "there").code == 0


def test_what_a_hook_refused_is_refused_again(stage: Stage) -> None:
    stage.repo.hook("pre-commit", "test ! -e bad || { echo 'bad is bad'; exit 1; }")
    done = stage.run(
        tasks("One"),
        writes("1", "bad", attempt=1),
        develops("1", {"delete": "bad"}, {"write": "a", "text": ""}),
        APPROVED,
    )
    assert done.outcome == "completed"
    run = stage.name
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    assert replay(stage, again) == (0, [])


@pytest.mark.parametrize("place", SAVED, ids=lambda path: path.name)
def test_what_came_out_well_once_still_does(place: Path, tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    done = stage.amelia("replay", place, "--json", env={"TMPDIR": str(tmp_path)})
    assert done.events[-1]["differences"] == []
    assert done.code == 0


def test_the_guide_can_be_followed(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "guides" / "replay.md").read_text(encoding="utf-8")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "AMELIA_HOME": str(tmp_path / "state"),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(SHELL.findall(page))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the same: completed, 1 unit\n") == 2
    files = {path.name for path in (tmp_path / "kept").iterdir()}
    assert all(f"`{name}`" in page for name in files)


def test_there_are_saved_runs() -> None:
    assert SAVED


def asks(**more: Any) -> dict[str, Any]:
    """Describes a report that ends with a question."""
    question = {"question": "Which colour?", "options": ["red", "blue"], **more}
    return {"status": "partial", "summary": "I need to know.", "needs_clarification": question}


def test_answers_of_a_person_and_by_default_are_given_again(stage: Stage) -> None:
    stage.run(
        tasks("One", "Two"),
        develops("1", {"write": "half", "text": "x"}, attempt=1, report=asks()),
        develops("1", {"write": "a", "text": "x"}, attempt=2),
        develops("2", attempt=1, report=asks(default="red", deadline_minutes=0)),
        writes("2", "b", attempt=2),
        APPROVED,
    )
    run = stage.name
    assert stage.amelia("answer", f"{run}/1", "2").code == 0
    assert goes_on(stage, run).outcome == "completed"
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    told = [
        [(e["unit"], e["answer"], e["by_default"]) for e in events(stage, name, "question_answered")]
        for name in (run, again)
    ]
    assert told == [[("1", "blue", False), ("2", "red", True)]] * 2


def test_a_unit_that_was_split_is_split_again_into_the_same_pieces(stage: Stage) -> None:
    stage.run(
        tasks("One", "Two"),
        develops("1", FAILS),
        writes("1-a", "a"),
        writes("1-b", "b"),
        writes("2", "c"),
        APPROVED,
    )
    run = stage.name
    pieces = stage.room / "pieces.md"
    pieces.write_text("### Task 7: This\nDo this.\n\n### Task 8: That\n- Depends on: 7\nDo that.\n")
    assert stage.amelia("split", run, "1", "--edit", env={"VISUAL": f"cp {pieces}"}).code == 0
    assert goes_on(stage, run).outcome == "completed"
    assert replay(stage, run) == (0, [])
    (again,) = set(stage.names) - {run}
    assert landed_trees(stage, again) == landed_trees(stage, run)
    assert len(landed_trees(stage, run)) == 3
    place = stage.room / "kept"
    assert stage.amelia("replay", run, "--save", place).code == 0
    assert stage.amelia("replay", place).code == 0
