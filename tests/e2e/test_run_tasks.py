"""Tasks one after the other: written, proved, reviewed and landed, or not."""

import re
import signal
import sqlite3
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from stories import (
    APPROVED,
    OK,
    SETTINGS,
    Done,
    Stage,
    Turn,
    develops,
    independent,
    make_stage,
    rejects,
    tasks,
    writes,
)

pytestmark = pytest.mark.slow

BINARY = {"write": "picture.bin", "text": "AAEC/w==", "base64": True}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


@pytest.fixture(scope="module")
def happy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Done]:
    """A run of three tasks of which all goes well."""
    stage = make_stage(tmp_path_factory.mktemp("happy"))
    plan = tasks("Alpha", "Beta", "Gamma")
    return stage, stage.run(plan, writes("1", "a"), writes("2", "b"), writes("3", "c"), APPROVED)


@pytest.mark.rows("T1", "T2", "T9", "T18", "T19", "T21")
def test_three_tasks_become_three_commits_each_with_its_own_files(happy: tuple[Stage, Done]) -> None:
    stage, done = happy
    assert (done.code, done.outcome) == (0, "completed")
    assert stage.subjects() == ["Task 1: Alpha", "Task 2: Beta", "Task 3: Gamma"]
    assert [stage.files(commit) for commit in stage.log("%H")] == [["a"], ["b"], ["c"]]
    assert stage.repo.git("status", "--porcelain") == ""


@pytest.mark.rows("T3", "T17")
def test_each_task_has_a_developer_session_of_its_own(happy: tuple[Stage, Done]) -> None:
    stage, _ = happy
    assert len({turn["session"] for unit in "123" for turn in stage.turns(unit, 1)}) == 3


def test_each_commit_says_which_run_unit_and_attempt_made_it(happy: tuple[Stage, Done]) -> None:
    stage, _ = happy
    bodies = [stage.repo.git("log", "-1", "--format=%b", commit).split("\n") for commit in stage.log("%H")]
    assert [body[:4] for body in bodies] == [
        [f"Amelia-Run: {stage.name}", f"Amelia-Unit: {unit}", "Amelia-Attempt: 1", "Amelia-Turn: 1"]
        for unit in "123"
    ]
    assert set(stage.log("%an <%ae>")) == {"Ada Example <ada@example.com>"}


@pytest.mark.rows("T17", "P2", "P10", "P13")
def test_developer_and_reviewer_of_a_task_see_its_section_and_no_other(happy: tuple[Stage, Done]) -> None:
    stage, _ = happy
    for role in ("developer", "reviewer"):
        for unit, title in zip("123", ("Alpha", "Beta", "Gamma"), strict=True):
            prompt = stage.prompt(unit, 1, role)
            assert [name for name in ("Alpha", "Beta", "Gamma") if name in prompt] == [title]


@pytest.mark.rows("P11")
def test_the_reviewer_of_a_task_sees_the_change_of_that_task_only(happy: tuple[Stage, Done]) -> None:
    stage, _ = happy
    for unit, file in zip("123", "abc", strict=True):
        prompt = stage.prompt(unit, 1, "reviewer")
        assert re.findall(r"(?m)^diff --git (.*)$", prompt) == [f"a/{file} b/{file}"]


def test_events_tell_one_start_and_one_end_of_every_task_without_gaps(happy: tuple[Stage, Done]) -> None:
    _, done = happy
    assert [event["seq"] for event in done.events] == list(range(1, len(done.events) + 1))
    for kind in ("task_started", "attempt_ended", "attempt_verified", "attempt_reviewed", "task_completed"):
        assert [event["unit"] for event in done.of_type(kind)] == ["1", "2", "3"]
    assert len(done.of_type("run_started")) == len(done.of_type("run_finished")) == 1


@pytest.mark.rows("T9", "T15", "P9", "D19")
def test_a_plan_without_tasks_is_one_unit_and_one_commit(stage: Stage) -> None:
    done = stage.run("# Tidy up\n\nRemove what nobody needs.\n", writes("plan", "a"), APPROVED)
    assert done.code == 0
    assert stage.subjects() == ["Tidy up"]


@pytest.mark.rows("T4", "T18")
def test_a_rejected_task_goes_on_in_its_session_with_only_the_latest_comments(stage: Stage) -> None:
    done = stage.run(
        tasks("Only"),
        develops("1", {"append": "a", "text": "more\n"}),
        rejects("Name it better", attempt=1),
        rejects("Add a comment", attempt=2),
        APPROVED,
    )
    assert done.code == 0
    turns = [stage.turns("1", attempt)[0] for attempt in (1, 2, 3)]
    assert len({turn["session"] for turn in turns}) == 1
    assert [turn["resume"] for turn in turns] == [False, True, True]
    assert "Name it better" in turns[1]["prompt"]
    assert "Add a comment" in turns[2]["prompt"]
    assert "Name it better" not in turns[2]["prompt"]
    assert stage.subjects() == ["Task 1: Only"]
    assert stage.show("a") == "more\nmore\nmore"


@pytest.mark.rows("T5", "T6", "T18")
def test_a_task_that_is_never_approved_halts_the_run_after_five_reviews(stage: Stage) -> None:
    done = stage.run(
        tasks("One", "Two", "Three", "Four"),
        writes("1", "a"),
        develops("2", {"append": "b", "text": "again\n"}),
        {**APPROVED, "unit": "1"},
        rejects("Not good"),
    )
    assert (done.code, done.outcome) == (1, "halted(review_limit)")
    reviews = [event["attempt"] for event in done.of_type("attempt_reviewed") if event["unit"] == "2"]
    assert reviews == [1, 2, 3, 4, 5]
    assert [event["unit"] for event in done.of_type("task_started")] == ["1", "2"]
    assert stage.subjects() == ["Task 1: One"]
    assert "b" not in stage.files()
    kept = stage.repo.git("show", f"refs/amelia/{stage.name}/2/5:b")
    assert kept == "again\nagain\nagain\nagain\nagain"


@pytest.mark.rows("T6")
def test_the_limit_of_reviews_is_a_setting(tmp_path: Path) -> None:
    files = {"check.sh": "true\n", "amelia.toml": f"max_task_review_iterations = 2\n{SETTINGS}"}
    stage = make_stage(tmp_path, files)
    done = stage.run(tasks("Only"), develops("1", {"append": "a", "text": "x"}), rejects("No"))
    assert done.outcome == "halted(review_limit)"
    assert len(done.of_type("attempt_reviewed")) == 2


@pytest.mark.rows("T13", "T14")
def test_a_profile_sets_the_limit_of_reviews_and_the_state_tells_it(tmp_path: Path) -> None:
    files = {
        "check.sh": "true\n",
        "amelia.toml": f"{SETTINGS}[profiles.brief]\nmax_task_review_iterations = 2\n",
    }
    stage = make_stage(tmp_path, files)
    turns = (develops("1", {"append": "a", "text": "x"}), rejects("No"))
    done = stage.run(tasks("Only"), *turns, options=["--profile", "brief"])
    assert done.outcome == "halted(review_limit)"
    assert len(done.of_type("attempt_reviewed")) == 2
    assert stage.status()["max_task_review_iterations"] == 2


def test_a_round_that_changes_nothing_ends_the_loop_before_its_limit(stage: Stage) -> None:
    done = stage.run(tasks("Only"), writes("1", "a"), rejects("Still not good"))
    assert (done.code, done.outcome) == (1, "halted(no_progress)")
    assert len(done.of_type("attempt_reviewed")) == 2
    assert stage.subjects() == []


def test_the_reviewer_sees_every_kind_of_change_and_commits_of_the_agent(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"old": "old\n", "gone": "gone\n", "amelia.toml": SETTINGS, "check.sh": ""})
    done = stage.run(
        tasks("Only"),
        develops(
            "1",
            {"append": "old", "text": "changed\n"},
            {"delete": "gone"},
            {"run": "git add -A && git commit -qm 'half of it'"},
            {"write": "new", "text": "new\n"},
            BINARY,
        ),
        APPROVED,
    )
    assert done.code == 0
    seen = stage.prompt("1", 1, "reviewer")
    for line in ("a/old b/old", "a/gone b/gone", "a/new b/new", "a/picture.bin b/picture.bin", "+changed"):
        assert line in seen
    (commit,) = stage.log("%H")
    assert stage.files(commit) == ["gone", "new", "old", "picture.bin"]


REVIEWERS: dict[str, Turn] = {
    "that says nothing": {},
    "that writes a word for a truth value": {"report": {"approved": "yes"}},
    "that writes other keys": {"report": {"verdict": "fine"}},
    "that writes prose": {"do": [{"raw": "APPROVED!"}]},
    "that crashes": {"do": [{"exit": 3}]},
    "that is killed": {"do": [{"run": "kill -9 $PPID"}]},
}


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Done]:
    """A run in which every task has another reviewer that is good for nothing."""
    stage = make_stage(tmp_path_factory.mktemp("reviewed"))
    reviewers = [{"role": "reviewer", "unit": str(n), **turn} for n, turn in enumerate(REVIEWERS.values(), 1)]
    writers = [writes(str(n), f"file-{n}.txt") for n in range(1, len(REVIEWERS) + 1)]
    return stage, stage.run(independent(*REVIEWERS), *reviewers, *writers, options=["--mode", "lifecycle"])


@pytest.mark.parametrize("reviewer", REVIEWERS)
def test_nothing_is_approved_by_a_reviewer(reviewed: tuple[Stage, Done], reviewer: str) -> None:
    stage, done = reviewed
    unit = str(list(REVIEWERS).index(reviewer) + 1)
    assert [event["unit"] for event in done.of_type("review_failed")].count(unit) == 2
    (parked,) = [event for event in done.of_type("task_failed") if event["unit"] == unit]
    assert parked["reason"] == "review_unavailable"
    assert stage.subjects() == []


def test_a_run_without_a_valid_review_halts(stage: Stage) -> None:
    done = stage.run(tasks("Only"), writes("1", "a"), {"role": "reviewer"})
    assert (done.code, done.outcome) == (1, "halted(review_unavailable)")
    assert stage.subjects() == []


def test_a_rejection_without_a_reason_is_still_a_rejection(stage: Stage) -> None:
    done = stage.run(tasks("Only"), writes("1", "a"), {"role": "reviewer", "report": {"approved": False}})
    assert done.code == 1
    assert stage.subjects() == []


def test_an_error_of_the_developer_counts_is_not_reviewed_and_is_told_to_the_next(stage: Stage) -> None:
    trouble = {"status": "failed", "summary": "The frobnicator is missing."}
    done = stage.run(
        tasks("Only"), develops("1", attempt=1, report=trouble), writes("1", "a", attempt=2), APPROVED
    )
    assert done.code == 0
    assert [event["attempt"] for event in done.of_type("attempt_reviewed")] == [2]
    assert "The frobnicator is missing." in stage.prompt("1", 2)
    assert stage.log("%(trailers:key=Amelia-Attempt,valueonly,separator=)") == ["2"]


def test_a_crash_of_the_developer_is_followed_by_a_fresh_session(stage: Stage) -> None:
    done = stage.run(
        tasks("Only"),
        develops("1", {"write": "half", "text": "x"}, {"exit": 7}, attempt=1),
        writes("1", "a", attempt=2),
        APPROVED,
    )
    assert done.code == 0
    first, second = (stage.turns("1", attempt)[0] for attempt in (1, 2))
    assert first["session"] != second["session"]
    assert "exit code 7" in second["prompt"]


@pytest.mark.rows("R12")
def test_partial_work_is_not_accepted(stage: Stage) -> None:
    report = {"status": "partial", "summary": "Half of it.", "subtasks_failed": ["1"]}
    done = stage.run(tasks("Only"), develops("1", {"append": "a", "text": "x"}, report=report), APPROVED)
    assert (done.code, done.outcome) == (1, "halted(agent_limit)")
    assert done.of_type("attempt_reviewed") == []
    assert stage.subjects() == []


def test_work_that_changes_nothing_is_never_approved(stage: Stage) -> None:
    done = stage.run(tasks("Only"), develops("1"), APPROVED)
    assert (done.code, done.outcome) == (1, "halted(no_changes)")
    assert done.of_type("attempt_reviewed") == []
    assert stage.subjects() == []
    (unit,) = stage.status()["units"]
    assert unit["reason"] == "no_changes"
    assert f"amelia skip {stage.name} 1" in unit["waits_for_person"]


@pytest.mark.rows("L19", "L20")
def test_checks_that_fail_go_back_to_the_developer_and_then_pass(stage: Stage) -> None:
    done = stage.run(
        tasks("Only"),
        writes("1", "a", "broken", attempt=1),
        develops("1", {"delete": "broken"}, attempt=2),
        APPROVED,
    )
    assert done.code == 0
    assert [event["passed"] for event in done.of_type("attempt_verified")] == [False, True]
    assert "sh check.sh" in stage.prompt("1", 2)
    assert stage.files(stage.log("%H")[0]) == ["a"]


@pytest.mark.rows("L19")
def test_a_file_that_a_task_declares_has_to_be_there(stage: Stage) -> None:
    done = stage.run(
        independent("One"),
        writes("1", "file-2.txt", attempt=1),
        writes("1", "file-1.txt", attempt=2),
        APPROVED,
    )
    assert done.code == 0
    missing, there = done.of_type("attempt_verified")
    assert [(problem["code"], problem["file"]) for problem in missing["problems"]] == [
        ("missing_file", "file-1.txt")
    ]
    assert there["passed"]
    assert [event["attempt"] for event in done.of_type("attempt_reviewed")] == [2]
    assert "file-1.txt" in stage.prompt("1", 2)


@pytest.mark.rows("R25")
def test_only_the_valid_comment_of_a_rejection_reaches_the_developer(stage: Stage) -> None:
    rulings = [
        {"finding": 1, "disposition": "IMPLEMENT", "reason": "true"},
        {"finding": 2, "disposition": "REJECT", "reason": "line 4 does it already"},
        {"finding": 3, "disposition": "DEFER", "reason": "another task"},
    ]
    done = stage.run(
        tasks("Only"),
        develops("1", {"append": "a", "text": "more\n"}),
        rejects("Valid comment", "Wrong comment", "Later comment", attempt=1),
        {"role": "evaluator", "report": {"items": rulings}},
        APPROVED,
    )
    assert done.code == 0
    prompt = stage.prompt("1", 2)
    assert "Valid comment" in prompt
    assert "Wrong comment" not in prompt
    assert "Later comment" not in prompt
    state = stage.status()
    (rejected,), (deferred,) = state["rejected_findings"], state["deferred_findings"]
    assert (rejected["text"], rejected["reason"]) == ("Wrong comment", "line 4 does it already")
    assert deferred["text"] == "Later comment"


@pytest.mark.rows("R25")
def test_a_rejection_with_nothing_to_implement_is_accepted_without_a_retry(stage: Stage) -> None:
    rulings = [
        {"finding": 1, "disposition": "REJECT", "reason": "no"},
        {"finding": 2, "disposition": "DEFER", "reason": "later"},
    ]
    done = stage.run(
        tasks("Only"),
        writes("1", "a"),
        rejects("Wrong comment", "Later comment"),
        {"role": "evaluator", "report": {"items": rulings}},
    )
    assert done.code == 0
    assert len(done.of_type("attempt_ended")) == 1
    assert stage.subjects() == ["Task 1: Only"]


@pytest.mark.rows("R25")
def test_a_question_of_the_evaluator_waits_for_a_person(stage: Stage) -> None:
    rulings = [{"finding": 1, "disposition": "CLARIFY", "reason": "which colour?"}]
    done = stage.run(
        tasks("Only"),
        writes("1", "a"),
        rejects("Which colour?"),
        {"role": "evaluator", "report": {"items": rulings}},
    )
    assert (done.code, done.outcome) == (4, "needs_human(question)")
    assert stage.subjects() == []


def test_a_limit_is_waited_out_and_the_work_goes_on_where_it_was(stage: Stage) -> None:
    limit = {"limit": "2020-01-01T00:00:00Z"}
    limited = develops("1", {"write": "half", "text": "x"}, stage.then(writes("1", "a"), APPROVED), limit)
    done = stage.run(tasks("Only"), limited)
    assert done.code == 0
    assert [event["ending"] for event in done.of_type("attempt_ended")] == ["limited", "ok"]
    assert stage.log("%(trailers:key=Amelia-Attempt,valueonly,separator=)") == ["1"]
    assert "half" in stage.files()
    first, second = stage.turns("1", 1)
    assert (second["resume"], second["session"]) == (True, first["session"])
    assert "cut off" in second["prompt"]


def test_a_limit_of_the_evaluator_is_no_ruling(stage: Stage) -> None:
    limit = {"limit": "2020-01-01T00:00:00Z"}
    ruled = {"role": "evaluator", "report": {"items": [{"finding": 1, "disposition": "REJECT"}]}}
    done = stage.run(
        tasks("Only"),
        writes("1", "a"),
        rejects("No."),
        {"role": "evaluator", "do": [stage.then(writes("1", "a"), rejects("No."), ruled), limit]},
    )
    assert done.code == 0
    assert [event["attempt"] for event in done.of_type("attempt_ended")] == [1]
    assert len(stage.turns("1", 1, "evaluator")) == 2


@pytest.mark.parametrize("role", ["developer", "reviewer"])
def test_a_limit_without_a_time_is_waited_out_and_a_run_that_stops_does_not_wait(
    stage: Stage, role: str
) -> None:
    limited = {"role": role, "do": [{"limit": "some day"}]}
    with stage.untouched():
        started = stage.start(*stage.put(tasks("Only"), limited, writes("1", "a")))
        started.until(lambda: '"step": "rest"' in started.out.read_text(), "the rest")
        (unit,) = stage.status()["units"]
        assert datetime.fromisoformat(unit["waiting_until"]) > datetime.now(UTC)
        started.send(signal.SIGTERM)
        assert started.wait().code == 143
    stage.play(writes("1", "a"), APPROVED)
    cancelled = stage.amelia("cancel", stage.name)
    assert cancelled.code == 0


@pytest.mark.rows("T20")
def test_a_hundred_and_fifty_tasks_land_one_after_the_other(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"amelia.toml": '[verify]\ncommand = ["true"]\n'})
    titles = [f"Number {number}" for number in range(1, 151)]
    done = stage.run(
        tasks(*titles),
        {"role": "developer", "do": [{"append": "log", "text": "one more\n"}], "report": OK},
        APPROVED,
    )
    assert (done.code, done.outcome) == (0, "completed")
    assert stage.subjects() == [f"Task {number}: {title}" for number, title in enumerate(titles, 1)]
    sizes = _sizes_of_tasks(stage)
    assert len(sizes) == 150
    assert max(sizes) < 1500
    assert max(sizes[:-1]) - min(sizes) < 50  # the last one has the end of the run with it


def _sizes_of_tasks(stage: Stage) -> list[int]:
    """Returns how many bytes of the journal each task takes, the start of the run left out."""
    base = sqlite3.connect(stage.directory / "journal.db")
    rows = base.execute("SELECT type, length(body) FROM events ORDER BY seq").fetchall()
    base.close()
    starts = [place for place, (kind, _) in enumerate(rows) if kind == "unit_started"]
    starts.append(len(rows))
    return [sum(size for _, size in rows[one:next_one]) for one, next_one in pairwise(starts)]


HALF = "# Half\n\n" + "".join(f"- [{'x' if n < 3 else ' '}] {n}. Write {n}\n" for n in range(1, 6))


@pytest.mark.rows("P3")
def test_tasks_that_were_done_before_the_run_count_as_done(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    done = stage.run(HALF, *(writes(str(n), f"{n}.txt") for n in (3, 4, 5)), APPROVED)
    assert done.code == 0, done
    assert stage.prompt("3", 1).startswith("Tasks 1-2 of 5 completed. Now executing Task 3:\n")
    assert stage.prompt("5", 1).startswith("Tasks 1-4 of 5 completed. Now executing Task 5:\n")
    assert "**Current Task (3/5):**" in stage.prompt("3", 1, "reviewer")


@pytest.mark.rows("P3")
@pytest.mark.parametrize(
    ("ids", "first", "last"),
    [
        (
            ["5", "6", "7"],
            "Executing Task 5, the first of 3:",
            "Tasks 5 to 6 (2 of 3) completed. Now executing Task 7:",
        ),
        (
            ["0", "1"],
            "Executing Task 0, the first of 2:",
            "Task 0 (1 of 2) completed. Now executing Task 1:",
        ),
        (
            ["T-1", "T-2"],
            "Executing Task T-1, the first of 2:",
            "Task T-1 (1 of 2) completed. Now executing Task T-2:",
        ),
    ],
)
def test_a_task_is_called_by_its_own_id(tmp_path: Path, ids: list[str], first: str, last: str) -> None:
    stage = make_stage(tmp_path)
    plan = "# Sample\n\n" + "".join(f"### Task {name}: Write {name}\n\n" for name in ids)
    done = stage.run(plan, *(writes(name, f"{name}.txt") for name in ids), APPROVED)
    assert done.code == 0, done
    assert stage.prompt(ids[0], 1).startswith(f"{first}\n")
    assert stage.prompt(ids[-1], 1).startswith(f"{last}\n")
