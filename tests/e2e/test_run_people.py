"""What a person can do about a run: look, wait, retry, skip, fix, abort, cancel, and clear up."""

import shutil
from pathlib import Path

import pytest

from repositories import git
from stories import (
    APPROVED,
    FILES,
    OK,
    SETTINGS,
    Done,
    Stage,
    develops,
    make_stage,
    rejects,
    tasks,
    wait_until,
    writes,
)

pytestmark = pytest.mark.slow

TWICE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\n\n[modes.tasks]\nattempts = 2\n"
# Every round leaves another tree, so that only the limit ends the loop.
FAILS = {"append": "broken", "text": "again\n"}
CHAIN = """\
# Chain

### Task 1: First
- Priority: high
- Files: create first.txt
- Acceptance criteria: there is a file
### Task 2: Second
- Priority: medium
- Depends on: 1
- Files: create second.txt
- Acceptance criteria: there is a file
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": TWICE})


def _goes_on(stage: Stage) -> Done:
    """Waits for the run as whoever resumes it: drives it, or follows who does."""
    return stage.amelia("resume", stage.name, "--json")


@pytest.mark.rows("L26", "L27")
def test_a_failed_task_gets_all_its_attempts_again_and_can_then_be_fixed_by_hand(stage: Stage) -> None:
    done = stage.run(tasks("One", "Two"), develops("1", FAILS), writes("2", "b"), APPROVED)
    assert (done.code, done.outcome) == (1, "halted(verify_limit)")
    assert [event["attempt"] for event in done.of_type("attempt_ended")] == [1, 2]

    assert stage.amelia("retry", stage.name, "1").code == 0
    assert _goes_on(stage).outcome == "halted(verify_limit)"
    assert [stage.status()["units"][0][key] for key in ("attempts", "turns")] == [2, 4]

    place = Path(stage.amelia("fix", stage.name, "1").out.strip())
    assert (place / "broken").read_text() == "again\n" * 2
    (place / "broken").rename(place / "mended")
    assert stage.amelia("fix", stage.name, "1", "--done").code == 0
    assert _goes_on(stage).outcome == "completed"
    assert stage.subjects() == ["Task 1: One", "Task 2: Two"]
    assert stage.files(stage.log("%H")[0]) == ["mended"]


@pytest.mark.rows("L27")
def test_a_fix_by_hand_is_verified_before_it_lands(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    place = Path(stage.amelia("fix", stage.name, "1").out.strip())
    (place / "more").write_text("x")
    assert stage.amelia("fix", stage.name, "1", "--done").code == 0
    assert _goes_on(stage).outcome == "halted(fix_refused)"
    assert stage.subjects() == []
    assert Path(stage.amelia("fix", stage.name, "1").out.strip()) == place
    assert (place / "more").read_text() == "x"


@pytest.mark.rows("L2", "L20", "L27")
def test_what_depends_on_a_skipped_task_stays_blocked_without_consent(stage: Stage) -> None:
    done = stage.run(CHAIN, develops("1", FAILS), writes("2", "second.txt"), APPROVED)
    assert (done.code, done.outcome) == (4, "needs_human(verify_limit)")
    assert stage.status()["blocked_task_ids"] == ["2"]
    assert stage.amelia("skip", stage.name, "1").code == 0
    more = _goes_on(stage)
    assert (more.code, more.outcome) == (4, "needs_human(blocked)")
    assert [unit["state"] for unit in stage.status()["units"]] == ["skipped", "waiting"]
    assert stage.amelia("skip", stage.name, "2").code == 0
    assert _goes_on(stage).code == 0


def test_what_depends_on_a_skipped_task_runs_with_consent(stage: Stage) -> None:
    stage.run(CHAIN, develops("1", FAILS), writes("2", "second.txt"), APPROVED)
    assert stage.amelia("skip", stage.name, "1", "--satisfied").code == 0
    more = _goes_on(stage)
    assert (more.code, more.outcome) == (0, "completed")
    assert stage.subjects() == ["Task 2: Second"]
    assert stage.status()["summary"]["skipped"] == 1


@pytest.fixture(scope="module")
def aborted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Done]:
    stage = make_stage(tmp_path_factory.mktemp("aborted"), {**FILES, "amelia.toml": TWICE})
    stage.run(tasks("One", "Two"), writes("1", "a"), develops("2", FAILS), APPROVED)
    return stage, stage.amelia("abort", stage.name)


@pytest.mark.rows("L27")
def test_an_aborted_run_keeps_what_landed(aborted: tuple[Stage, Done]) -> None:
    stage, done = aborted
    assert done.code == 0
    assert stage.status()["outcome"] == "aborted"
    assert stage.subjects() == ["Task 1: One"]
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/2/2:broken") == "again\nagain"


@pytest.mark.parametrize(
    "command", [("retry", "2"), ("skip", "2"), ("fix", "2"), ("cancel",), ("abort",)], ids=lambda c: c[0]
)
def test_nothing_changes_an_aborted_run(aborted: tuple[Stage, Done], command: tuple[str, ...]) -> None:
    stage, _ = aborted
    verb, *unit = command
    done = stage.amelia(verb, stage.name, *unit)
    assert done.code == 2
    assert "aborted" in done.err


def test_resuming_a_run_that_is_over_says_so(aborted: tuple[Stage, Done]) -> None:
    stage, _ = aborted
    done = stage.amelia("resume", stage.name)
    assert done.code == 1
    assert "nothing to resume" in done.err


@pytest.mark.rows("L23")
def test_clearing_up_keeps_journal_and_attempts(aborted: tuple[Stage, Done], tmp_path: Path) -> None:
    before, _ = aborted
    room = shutil.copytree(before.home, tmp_path / "home", symlinks=True)
    stage = Stage(tmp_path, before.repo, room)
    done = stage.amelia("gc")
    assert done.code == 0
    assert stage.name in done.out
    assert not (stage.directory / "store.git").exists()
    assert not (stage.directory / "lanes").exists()
    assert stage.status()["outcome"] == "aborted"
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/2/1:broken") == "again"
    assert "+again" in stage.amelia("diff", stage.name, "2").out
    assert "broken" not in stage.amelia("diff", stage.name).out
    assert stage.amelia("diff", stage.name, "--attempt", "1").code == 2
    assert stage.amelia("gc").out.startswith("0 runs")


def test_a_run_that_can_go_on_is_not_cleared_away(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    assert stage.amelia("gc").out.startswith("0 runs")
    assert (stage.directory / "store.git").exists()
    stage.play(writes("1", "a"), APPROVED)
    stage.amelia("retry", stage.name, "1")
    assert _goes_on(stage).code == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("retry", "RUN", "1"), "does not wait for a person"),
        (("retry", "RUN", "9"), "no unit '9'"),
        (("skip", "RUN", "1"), "cannot be skipped"),
        (("fix", "RUN", "1"), "does not wait for a person"),
        (("log", "RUN", "9"), "no unit '9'"),
        (("diff", "RUN", "1", "--turn", "7"), "no finished turn 7"),
        (("diff", "RUN", "9"), "9"),
        (("status", "nowhere"), "no run 'nowhere'"),
        (("resume", "nowhere"), "no run 'nowhere'"),
    ],
)
def test_a_wish_that_fits_nothing_is_refused_with_a_reason(
    halted: Stage, command: tuple[str, ...], said: str
) -> None:
    done = halted.amelia(*(halted.name if word == "RUN" else word for word in command))
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) <= 2


@pytest.fixture(scope="module")
def halted(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A run whose first task landed in its second attempt and whose second one waits for a person."""
    stage = make_stage(tmp_path_factory.mktemp("halted"), {**FILES, "amelia.toml": TWICE})
    usage = {"input": 100, "output": 20, "cost": 0.25}
    done = stage.run(
        tasks("One", "Two", "Three"),
        develops("1", {"append": "a", "text": "more\n"}, usage=usage),
        develops("2", FAILS),
        rejects("Once more", unit="1", attempt=1),
        APPROVED,
    )
    assert done.code == 1
    return stage


@pytest.mark.rows("T10", "T11", "T12", "L30", "L31", "L32")
def test_status_tells_where_a_run_stands(halted: Stage) -> None:
    state = halted.status()
    assert state["run"] == halted.name
    assert state["outcome"] == "halted(verify_limit)"
    assert state["branch"] == halted.branch
    assert state["tip"] == halted.repo.git("rev-parse", halted.branch)
    assert state["progress"] == "33%"
    assert state["summary"] == {
        "total": 3, "completed": 1, "failed": 1, "in_progress": 0, "pending": 0, "blocked": 1, "skipped": 0
    }  # fmt: skip
    assert (state["total_tasks"], state["current_task_index"]) == (3, 1)
    assert state["completed_task_ids"] == ["1"]
    assert state["failed_task_ids"] == ["2"]
    assert [unit["state"] for unit in state["units"]] == ["landed", "parked", "waiting"]
    assert [unit["attempts"] for unit in state["units"]] == [2, 2, 0]
    ways = [" ".join(way.split()[1:2]) for way in state["units"][1]["waits_for_person"]]
    assert ways == ["retry", "fix", "skip", "skip", "log", "abort"]


def test_status_shows_the_run_as_a_tree_with_what_to_do(halted: Stage) -> None:
    text = halted.amelia("status", halted.name).out
    for part in ("One", "Two", "Three", f"amelia retry {halted.name} 2", f"amelia fix {halted.name} 2"):
        assert part in text


def test_the_log_has_every_event_without_gaps(halted: Stage) -> None:
    events = halted.amelia("log", halted.name, "--json").events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    of_two = halted.amelia("log", halted.name, "2", "--json").events
    assert of_two == [event for event in events if event.get("unit") == "2"]
    assert "landed as" in halted.amelia("log", halted.name).out


def test_what_the_agents_used_is_told_with_every_attempt(halted: Stage) -> None:
    done = halted.amelia("log", halted.name, "1", "--json")
    used = [event["usage"] for event in done.of_type("usage_reported") if event["role"] == "developer"]
    assert used == [{"input_tokens": 100, "output_tokens": 20, "cost": 0.25}] * 2


def test_the_difference_of_a_unit_is_a_patch_that_git_applies(halted: Stage) -> None:
    patch = halted.room / "a.patch"
    for attempt, content in (("1", "more\n"), ("2", "more\nmore\n")):
        patch.write_text(halted.amelia("diff", halted.name, "1", "--attempt", attempt).out)
        place = halted.room / f"applied-{attempt}"
        halted.repo.git("worktree", "add", "-q", "--detach", str(place), "main")
        git(place, "apply", str(patch))
        assert (place / "a").read_text() == content
        halted.repo.git("worktree", "remove", "--force", str(place))


def test_the_runs_of_a_repository_are_listed_newest_first(halted: Stage) -> None:
    other = halted.run(tasks("Other"), writes("1", "a"), APPROVED, options=["--again"])
    new = other.events[0]["run"]
    try:
        listed = halted.amelia("status", "--json").json
        (old,) = [name for name in halted.names if name != new]
        assert [(run["run"], run["outcome"]) for run in listed] == [
            (new, "completed"),
            (old, "halted(verify_limit)"),
        ]
        text = halted.amelia("status").out.splitlines()
        assert [line.split()[0] for line in text] == [new, old]
        elsewhere = halted.amelia("status", "--json", cwd=make_stage(halted.room, name="other").repo.path)
        assert elsewhere.json == []
    finally:
        shutil.rmtree(halted.home / "runs" / new)


def test_a_detached_run_goes_on_in_the_background(stage: Stage) -> None:
    waiting = develops("1", {"write": "a", "text": "a"}, {"run": f"touch {stage.room}/there"}, {"sleep": 0.5})
    done = stage.run(tasks("One"), waiting, APPROVED, options=["--detach"])
    assert done.code == 0
    assert stage.name in done.out + done.err
    wait_until((stage.room / "there").exists, "the agent of a run in the background")
    followed = _goes_on(stage)
    assert (followed.code, followed.outcome) == (0, "completed")
    assert [event["seq"] for event in followed.events] == list(range(1, len(followed.events) + 1))
    assert stage.subjects() == ["Task 1: One"]


@pytest.mark.rows("L2", "L11", "L14", "L26")
def test_urgent_tasks_first_then_milestones_and_nothing_behind_a_failure(stage: Stage) -> None:
    plan = "# Queue\n\n## Milestone 1: Soon\n\n" + "".join(
        f"### Task {number}: {title}\n- Priority: {priority}\n- Files: create {title}.txt\n{more}"
        "- Acceptance criteria: there is a file\n\n"
        for number, title, priority, more in (
            (1, "low", "low", ""),
            (2, "medium", "medium", ""),
            (3, "critical", "critical", ""),
            (4, "behind", "critical", "- Depends on: 3\n"),
            (5, "high", "high", ""),
        )
    )
    titles = ["low", "medium", "critical", "behind", "high"]
    turns = [writes(str(n), f"{title}.txt") for n, title in enumerate(titles, 1) if title != "critical"]
    done = stage.run(plan, develops("3", FAILS), *turns, APPROVED, options=["--mode", "lifecycle"])
    assert (done.code, done.outcome) == (4, "needs_human(verify_limit)")
    assert [event["unit"] for event in done.of_type("task_started")] == ["3", "5", "2", "1"]
    behind = next(unit for unit in stage.status()["units"] if unit["id"] == "4")
    assert behind["blocked_by"] == ["3"]
    assert stage.subjects() == ["Task 5: high", "Task 2: medium", "Task 1: low"]


def test_a_mode_and_a_base_can_be_chosen(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD")
    stage.repo.commit({"later": "x\n"}, "Later")
    options = ["--mode", "single", "--base", "HEAD~1", "--no-input"]
    done = stage.run(tasks("One", "Two", goal="Both"), writes("plan", "a"), APPROVED, options=options)
    assert done.code == 0
    assert done.events[0]["base"] == base
    assert stage.subjects() == ["Both"]
    assert "later" not in stage.files()


def test_a_plan_that_is_being_run_is_started_once_more_only_when_told_to(stage: Stage) -> None:
    plan = tasks("One")
    turn = {"role": "developer", "do": [FAILS], "report": OK}
    assert stage.run(plan, turn, APPROVED).code == 1
    again = stage.run(plan, writes("1", "a"), APPROVED)
    assert again.code == 2
    assert f"amelia status {stage.name}" in again.err
    assert "--again" in again.err
    assert len(stage.names) == 1
    assert stage.run(plan, writes("1", "a"), APPROVED, options=["--again"]).code == 0
    assert len(stage.names) == 2


def test_a_wish_that_nobody_can_take_up_is_not_said_to_be_fulfilled(stage: Stage) -> None:
    done = stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    assert (done.code, done.outcome) == (1, "halted(verify_limit)")
    elsewhere = stage.room / "elsewhere"
    stage.repo.path.rename(elsewhere)
    done = stage.start("retry", stage.name, "1", cwd=stage.room).wait()
    assert (done.code, done.out) == (1, "")
    assert "nobody has taken it up" in done.err
    (log,) = stage.directory.glob("*.log")
    assert str(log) in done.err
    assert "is not a directory" in log.read_text()
    elsewhere.rename(stage.repo.path)
    stage.play(writes("1", "a"), APPROVED)
    assert _goes_on(stage).outcome == "completed"
