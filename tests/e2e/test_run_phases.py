"""Phases: in the order of their dependencies, side by side where they share nothing, proved by their tests."""

import sys
from pathlib import Path
from typing import Any

import pytest

from stories import (
    APPROVED,
    FILES,
    SETTINGS,
    Act,
    Done,
    Stage,
    develops,
    independent,
    make_stage,
    rejects,
    writes,
)

pytestmark = pytest.mark.slow

SUITE = "for test in tests/test_*.sh; do test ! -e $test || sh $test || exit 1; done\n"
TYPED = {"README.md": "# Blog\n", "amelia.toml": SETTINGS, "check.sh": SUITE}
BLOG = """\
# Blog

### Task 1a: Write User model tests
- Type: test
- Files: create tests/test_user.sh
### Task 1b: Write Post model tests
- Type: test
- Files: create tests/test_post.sh
### Task 2a: Implement User model
- Type: impl
- Depends on: 1a
- Files: create src/user.txt
### Task 2b: Implement Post model
- Type: impl
- Depends on: 1b
- Files: create src/post.txt
### Task 3a: Write API endpoint tests
- Type: test
- Depends on: 2a, 2b
- Files: create tests/test_api.sh
### Task 3b: Write CLI command tests
- Type: test
- Depends on: 2a, 2b
- Files: create tests/test_cli.sh
### Task 4a: Implement API endpoints
- Type: impl
- Depends on: 3a
- Files: create src/api.txt
### Task 4b: Implement CLI commands
- Type: impl
- Depends on: 3b
- Files: create src/cli.txt
### Task 5: Write integration tests
- Type: test
- Depends on: 4a, 4b
- Files: create tests/test_all.sh
"""
SIDES = """\
# Sides

## Phase 1: Left
### Task 1: Left [P]
- Files: create left.txt
## Phase 2: Right
### Task 2: Right [P]
- Files: create right.txt
"""
THREE = f"{SIDES}## Phase 3: Middle\n### Task 3: Middle [P]\n- Files: create middle.txt\n"


def checks_for(*names: str) -> list[Act]:
    return [{"write": f"tests/test_{name}.sh", "text": f"test -e src/{name}.txt\n"} for name in names]


def sources(*names: str) -> list[Act]:
    return [{"write": f"src/{name}.txt", "text": f"{name}\n"} for name in names]


def patiently(condition: str) -> Act:
    """Returns the act of waiting until a shell command succeeds, for a minute at most."""
    return {"run": f"i=0; until {condition}; do i=$((i+1)); test $i -lt 600 || exit 1; sleep 0.1; done"}


def has_landed(stage: Stage, title: str) -> str:
    """Returns a shell command that succeeds once a commit of that title is on a branch of a run."""
    return f"git -C '{stage.repo.path}' log --glob=refs/heads/amelia --format=%s | grep -q '{title}'"


BLOG_TURNS = (
    develops("phase-1", *checks_for("user", "post")),
    develops("phase-2", *sources("user", "post")),
    develops("phase-3", *checks_for("api", "cli")),
    develops("phase-4", *sources("api", "cli")),
    develops("phase-5", {"write": "tests/test_all.sh", "text": "test -d src\n"}),
)


@pytest.fixture(scope="module")
def blog(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Done]:
    stage = make_stage(tmp_path_factory.mktemp("blog"), TYPED)
    return stage, stage.run(BLOG, *BLOG_TURNS, APPROVED)


@pytest.mark.rows("D3", "D17", "R5")
def test_nine_subtasks_become_five_phases_and_five_commits(blog: tuple[Stage, Done]) -> None:
    stage, done = blog
    assert (done.code, done.outcome) == (0, "completed")
    assert stage.subjects() == [
        "Phase 1: Write User model tests, Write Post model tests",
        "Phase 2: Implement User model, Implement Post model",
        "Phase 3: Write API endpoint tests, Write CLI command tests",
        "Phase 4: Implement API endpoints, Implement CLI commands",
        "Phase 5: Write integration tests",
    ]


@pytest.mark.rows("D15", "D18", "R2")
def test_a_phase_has_one_session_and_its_subtasks_in_the_listed_order(blog: tuple[Stage, Done]) -> None:
    stage, done = blog
    started = [event["task"] for event in done.of_type("subtask_started")]
    assert started == ["1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b", "5"]
    turns = [stage.turns(f"phase-{number}", 1) for number in range(1, 6)]
    assert [len(turn) for turn in turns] == [1] * 5
    assert len({turn[0]["session"] for turn in turns}) == 5
    prompt = turns[1][0]["prompt"]
    assert 0 < prompt.index("Implement User model") < prompt.index("Implement Post model")


@pytest.mark.rows("D4", "R3", "R20")
def test_no_phase_starts_before_what_it_needs_has_landed(blog: tuple[Stage, Done]) -> None:
    _, done = blog
    landed: dict[str, str] = {}
    for event in done.of_type("phase_started", "phase_completed"):
        if event["type"] == "phase_completed":
            landed[event["unit"]] = event["commit"]
        else:
            needs = [f"phase-{number}" for number in range(1, int(event["unit"][-1]))]
            assert list(landed) == needs
            assert event["base"] == (landed[needs[-1]] if needs else done.events[0]["base"])


@pytest.mark.rows("D8", "D17")
def test_every_phase_is_verified_and_reviewed_before_it_lands(blog: tuple[Stage, Done]) -> None:
    _, done = blog
    kinds = ("phase_started", "attempt_verified", "attempt_reviewed", "phase_completed")
    told = [(event["unit"], event["type"]) for event in done.of_type(*kinds)]
    assert told == [(f"phase-{number}", kind) for number in range(1, 6) for kind in kinds]


@pytest.mark.rows("D13", "D14", "R24")
def test_the_state_has_every_phase_with_its_subtasks_and_commits(blog: tuple[Stage, Done]) -> None:
    stage, done = blog
    state = stage.status()
    assert state["phases"] == [["1a", "1b"], ["2a", "2b"], ["3a", "3b"], ["4a", "4b"], ["5"]]
    commits = [done.events[0]["base"], *stage.log("%H")]
    for number, phase in enumerate(state["phase_states"]):
        assert (phase["phase_index"], phase["status"]) == (number + 1, "completed")
        assert (phase["pre_phase_commit"], phase["post_phase_commit"]) == tuple(commits[number : number + 2])
        assert phase["review_result"]["approved"] is True
        for task, subtask in zip(state["phases"][number], phase["subtasks"], strict=True):
            assert (subtask["subtask_id"], subtask["status"], subtask["attempt"]) == (task, "completed", 1)
            assert subtask["started_at"] <= subtask["completed_at"]
            assert subtask["error"] is None


@pytest.mark.rows("D9", "D11", "D12", "R4", "R22")
def test_a_phase_that_is_rejected_is_tried_once_more_and_then_halts_the_run(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, TYPED)
    done = stage.run(
        BLOG, BLOG_TURNS[0], develops("phase-2", *sources("user", "post")), rejects("Too short.")
    )
    assert (done.code, done.outcome) == (1, "halted(review_limit)")
    assert [event["attempt"] for event in done.of_type("attempt_reviewed")] == [1, 2]
    (retried,) = done.of_type("phase_retry")
    assert (retried["unit"], retried["cause"]) == ("phase-1", "rejected")
    first, second = (stage.turns("phase-1", attempt)[0] for attempt in (1, 2))
    assert second["session"] != first["session"]
    assert "README.md:1: Too short." in second["prompt"]
    assert [event["unit"] for event in done.of_type("phase_started")] == ["phase-1"]
    assert stage.subjects() == []
    state = stage.status()
    assert [phase["status"] for phase in state["phase_states"]] == ["failed", *["blocked"] * 4]
    assert state["current_phase_index"] == 1


@pytest.mark.rows("D7")
def test_a_subtask_that_fails_stops_its_phase_and_all_that_comes_after(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, TYPED)
    failed = {
        "status": "failed",
        "summary": "No models here.",
        "subtasks_completed": ["2a"],
        "subtasks_failed": ["2b"],
    }
    stuck = develops("phase-2", *sources("user", "post"), report=failed)
    done = stage.run(BLOG, *BLOG_TURNS[:1], stuck, *BLOG_TURNS[2:], APPROVED)
    assert (done.code, done.outcome) == (1, "halted(agent_limit)")
    assert {event["task"] for event in done.of_type("subtask_failed")} == {"2b"}
    assert [event["unit"] for event in done.of_type("phase_started")] == ["phase-1", "phase-2"]
    assert [event["unit"] for event in done.of_type("attempt_reviewed")] == ["phase-1"]
    assert stage.subjects() == ["Phase 1: Write User model tests, Write Post model tests"]


def test_tests_are_red_until_they_are_implemented(blog: tuple[Stage, Done]) -> None:
    _, done = blog
    red = {event["unit"]: "red" in event for event in done.of_type("attempt_verified")}
    assert red == {"phase-1": True, "phase-2": False, "phase-3": True, "phase-4": False, "phase-5": False}


@pytest.mark.rows("D10", "R4", "R9", "R21")
def test_an_implementation_that_leaves_its_tests_red_is_not_accepted(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, TYPED)
    done = stage.run(
        BLOG,
        BLOG_TURNS[0],
        develops("phase-2", *sources("user"), {"write": "src/post.txt.bak", "text": ""}, attempt=1),
        develops("phase-2", *sources("user"), {"write": "src/post.md", "text": ""}, attempt=2),
        APPROVED,
    )
    assert (done.code, done.outcome) == (1, "halted(verify_limit)")
    assert stage.subjects() == ["Phase 1: Write User model tests, Write Post model tests"]
    bases = [stage.repo.git("rev-parse", f"refs/amelia/{stage.name}/phase-2/{n}^") for n in (1, 2)]
    assert bases == [stage.repo.git("rev-parse", stage.branch)] * 2
    assert "post.txt.bak" not in stage.repo.git(
        "ls-tree", "-r", "--name-only", f"refs/amelia/{stage.name}/phase-2/2"
    )


@pytest.mark.rows("P14", "R9")
def test_tests_that_pass_before_there_is_anything_to_test_are_not_accepted(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, TYPED)
    tame = [{"write": f"tests/test_{name}.sh", "text": "true\n"} for name in ("user", "post")]
    done = stage.run(BLOG, develops("phase-1", *tame), APPROVED)
    assert done.code == 1
    codes = {problem["code"] for event in done.of_type("attempt_verified") for problem in event["problems"]}
    assert codes == {"not_red"}
    assert stage.subjects() == []


@pytest.mark.rows("P14", "R6", "R7")
def test_an_implementation_without_a_test_before_it_stops_the_plan(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, TYPED)
    plan = "# S\n\n### Task 1: Guide\n- Type: docs\n### Task 7: Engine\n- Type: impl\n### Task 3: Tidy\n- Type: chore\n"
    done = stage.run(plan, APPROVED)
    assert done.code == 5
    assert "'7'" in done.err + done.out
    assert "'1'" not in done.err + done.out
    assert stage.names == []


@pytest.mark.rows("D19", "D20", "R26")
@pytest.mark.parametrize(
    ("setting", "units", "subjects"),
    [
        ("", ("phase-1", "phase-2"), ["Phase 1: Left", "Phase 2: Right"]),
        ("enable_phased_execution = false\n", ("1", "2"), ["Task 1: Left", "Task 2: Right"]),
    ],
    ids=["as declared", "turned off"],
)
def test_a_plan_with_phases_runs_in_phases_unless_a_setting_turns_them_off(
    tmp_path: Path, setting: str, units: tuple[str, str], subjects: list[str]
) -> None:
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": setting + SETTINGS})
    done = stage.run(SIDES, writes(units[0], "left.txt"), writes(units[1], "right.txt"), APPROVED)
    assert (done.code, done.outcome) == (0, "completed")
    assert stage.subjects() == subjects


@pytest.mark.rows("L19")
def test_single_tests_of_pytest_are_red_and_then_green(tmp_path: Path) -> None:
    settings = '[verify]\ncommand = ["python", "-m", "pytest", "-q", "-p", "no:anyio", "-p", "no:hypothesispytest"]\n'
    stage = make_stage(tmp_path, {"amelia.toml": settings, "tests/test_old.py": "def test_old(): pass\n"})
    plan = """\
# Sum

### Task 1: Test add
- Type: test
- Files: create tests/test_add.py
### Task 2: Implement add
- Type: impl
- Depends on: 1
- Files: create add.py
"""
    suite = "import sys\nsys.path.insert(0, '.')\nfrom add import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    done = stage.run(
        plan,
        develops("phase-1", {"write": "tests/test_add.py", "text": suite}),
        develops("phase-2", {"write": "add.py", "text": "def add(a, b):\n    return a + b\n"}),
        APPROVED,
        env={"VIRTUAL_ENV": sys.prefix},
    )
    assert (done.code, done.outcome) == (0, "completed")
    red, green = done.of_type("attempt_verified")
    assert any("test_add" in test for test in red["red"])
    assert "red" not in green


def _meeting(stage: Stage) -> list[Any]:
    """Returns turns of two phases that end only if each sees the other at work."""
    mine, theirs = stage.room / "left is there", stage.room / "right is there"
    return [
        develops(
            unit,
            {"run": f"pwd > '{here}'"},
            patiently(f"test -e '{there}'"),
            {"run": f"test -e '{there}' && echo {name} > {name}.txt"},
        )
        for unit, name, here, there in (("phase-1", "left", mine, theirs), ("phase-2", "right", theirs, mine))
    ]


@pytest.mark.rows("T22", "D4", "R3", "L23")
def test_phases_that_share_nothing_run_side_by_side_in_worktrees_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "checked"
    stage = make_stage(tmp_path, {**FILES, "check.sh": f"ls | tr '\\n' ' ' >> '{log}'; echo >> '{log}'\n"})
    done = stage.run(SIDES, *_meeting(stage), APPROVED, options=["--parallel", "2"])
    assert (done.code, done.outcome) == (0, "completed")
    places = {(stage.room / f"{side} is there").read_text() for side in ("left", "right")}
    assert len(places) == 2
    order = [event["type"] for event in done.of_type("phase_started", "attempt_ended")]
    assert order == ["phase_started", "phase_started", "attempt_ended", "attempt_ended"]
    assert sorted(event["lane"] for event in done.of_type("phase_started")) == [1, 2]
    assert sorted(stage.subjects()) == ["Phase 1: Left", "Phase 2: Right"]
    together = [line for line in log.read_text().splitlines() if "left.txt" in line and "right.txt" in line]
    assert together, "the merged tree was never tested"


@pytest.mark.rows("R19")
def test_what_agents_say_side_by_side_is_kept_as_they_say_it_each_under_its_phase(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    end = stage.room / "end"
    turns = [
        develops(
            unit, {"say": f"{name} wall"}, patiently(f"test -e '{end}'"), {"write": f"{name}.txt", "text": ""}
        )
        for unit, name in (("phase-1", "left"), ("phase-2", "right"))
    ]
    started = stage.start(*stage.put(SIDES, *turns, APPROVED), "--parallel", "2")

    def said(number: int) -> str:
        kept = stage.home.glob(f"runs/*/transcripts/phase-{number}/1-developer.jsonl")
        return "".join(path.read_text() for path in kept)

    started.until(lambda: "left wall" in said(1) and "right wall" in said(2), "the words of both")
    assert "right wall" not in said(1)
    assert "left wall" not in said(2)
    assert started.done().of_type("attempt_ended") == [], "both are still at work"
    end.touch()
    assert started.wait().outcome == "completed"


@pytest.mark.rows("L21", "L24")
def test_side_by_side_and_one_after_the_other_give_the_same_tree(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    plan = independent("One", "Two", "Three", "Four")
    turns = [develops(n, {"write": f"file-{n}.txt", "text": n}, {"sleep": 0.2}) for n in "1234"]
    trees: list[str] = []
    for workers in ("1", "4"):
        options = ["--mode", "lifecycle", "--parallel", workers, "--again"]
        done = stage.run(plan, *turns, APPROVED, options=options)
        assert done.code == 0
        trees.append(stage.repo.git("rev-parse", f"amelia/{done.events[0]['run']}^{{tree}}"))
        kinds = [event["type"] for event in done.of_type("task_started", "task_completed")]
        assert (kinds[:4] == ["task_started"] * 4) is (workers == "4")
    assert len(set(trees)) == 1


@pytest.mark.rows("D21", "L15", "L22")
def test_tasks_that_declare_the_same_file_do_not_run_side_by_side(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    files = {"1": "modify README.md", "2": "create file-2.txt", "3": "modify README.md"}
    plan = "# Sample\n\n" + "".join(
        f"### Task {n}: Write {n}\n- Files: {said}\n" for n, said in files.items()
    )
    turns = [develops(n, {"append": said.split()[1], "text": n}, {"sleep": 0.2}) for n, said in files.items()]
    done = stage.run(plan, *turns, APPROVED, options=["--mode", "lifecycle", "--parallel", "3"])
    assert done.code == 0
    told = [(event["unit"], event["type"]) for event in done.of_type("task_started", "task_completed")]
    assert told[:2] == [("1", "task_started"), ("2", "task_started")]
    assert told.index(("1", "task_completed")) < told.index(("3", "task_started"))
    assert done.of_type("landing_refused") == []
    assert stage.show("README.md") == "# Sample\n13"


def _shared(text: str) -> Act:
    return {"write": "shared.txt", "text": text}


@pytest.mark.rows("D21")
def test_a_conflict_sends_the_later_phase_back_to_a_new_base(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    left, right = ({"write": f"{side}.txt", "text": side} for side in ("left", "right"))
    done = stage.run(
        SIDES,
        develops("phase-1", left, _shared("of the left\n")),
        develops(
            "phase-2", right, _shared("of the right\n"), patiently(has_landed(stage, "Phase 1")), attempt=1
        ),
        develops("phase-2", right, {"append": "shared.txt", "text": "of the right\n"}, attempt=2),
        APPROVED,
        options=["--parallel", "2"],
    )
    assert (done.code, done.outcome) == (0, "completed")
    (refused,) = done.of_type("landing_refused")
    assert (refused["unit"], refused["cause"]) == ("phase-2", "conflict")
    assert "shared.txt" in stage.prompt("phase-2", 2)
    assert stage.show("shared.txt") == "of the left\nof the right"
    assert stage.subjects() == ["Phase 1: Left", "Phase 2: Right"]
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/phase-2/1:shared.txt") == "of the right"


@pytest.mark.rows("L24")
def test_tests_that_fail_on_the_merged_tree_send_the_later_phase_back(tmp_path: Path) -> None:
    check = "test ! -e left.txt || test ! -e right.txt || test -e both.txt\n"
    stage = make_stage(tmp_path, {**FILES, "check.sh": check})
    right = {"write": "right.txt", "text": "right"}
    done = stage.run(
        SIDES,
        writes("phase-1", "left.txt"),
        develops("phase-2", right, patiently(has_landed(stage, "Phase 1")), attempt=1),
        develops("phase-2", right, {"write": "both.txt", "text": "both"}, attempt=2),
        APPROVED,
        options=["--parallel", "2"],
    )
    assert (done.code, done.outcome) == (0, "completed")
    (refused,) = done.of_type("landing_refused")
    assert refused["cause"] == "merge_red"
    assert stage.subjects() == ["Phase 1: Left", "Phase 2: Right"]


def test_a_second_conflict_halts_the_run_with_both_attempts_kept(tmp_path: Path) -> None:
    """The third phase lands in between: it conflicts with what the second does the second time."""
    stage = make_stage(tmp_path)
    second = stage.room / "second attempt"
    right = {"write": "right.txt", "text": "right"}
    done = stage.run(
        THREE,
        develops("phase-1", {"write": "left.txt", "text": "left"}, _shared("of the left\n")),
        develops("phase-2", right, _shared("first\n"), patiently(has_landed(stage, "Phase 1")), attempt=1),
        develops(
            "phase-2",
            right,
            {"write": "other.txt", "text": "second\n"},
            {"run": f"touch '{second}'"},
            patiently(has_landed(stage, "Phase 3")),
            attempt=2,
        ),
        develops(
            "phase-3",
            {"write": "middle.txt", "text": "middle"},
            {"write": "other.txt", "text": "of the middle\n"},
            patiently(f"test -e '{second}'"),
        ),
        APPROVED,
        options=["--parallel", "3"],
    )
    assert (done.code, done.outcome) == (1, "halted(conflict)")
    assert sorted(stage.subjects()) == ["Phase 1: Left", "Phase 3: Middle"]
    kept = f"refs/amelia/{stage.name}/phase-2"
    assert stage.repo.git("show", f"{kept}/1:shared.txt") == "first"
    assert stage.repo.git("show", f"{kept}/2:other.txt") == "second"


ROOTS = {
    "tasks": """\
# Sides
## Phase 1: Left
### Task 1: Left
- Depends on: none
- Files: create left.txt
## Phase 2: Right
### Task 2: Right
- Depends on: none
- Files: create right.txt
""",
    "phases": """\
# Sides
## Phase 1: Left
### Task 1: Left
- Files: create left.txt
## Phase 2: Right
**Depends on:** None (can start at once)

### Task 2: Right
- Files: create right.txt
""",
    "headings": """\
# Sides
## Phase 1: Left
### Task 1: Left
- Files: create left.txt
## Phase 2: Right (no dependencies)
### Task 2: Right
- Files: create right.txt
""",
    "sentences": """\
# Sides
## Phase 1: Left
### Task 1: Left
- Files: create left.txt
## Phase 2: Right
*No dependencies.*

### Task 2: Right
- Files: create right.txt
""",
}


@pytest.mark.rows("R3")
@pytest.mark.parametrize("who", sorted(ROOTS))
def test_phases_that_depend_on_nothing_by_their_own_word_run_side_by_side(tmp_path: Path, who: str) -> None:
    stage = make_stage(tmp_path)
    done = stage.run(ROOTS[who], *_meeting(stage), APPROVED, options=["--parallel", "2"])
    assert (done.code, done.outcome) == (0, "completed")
    order = [event["type"] for event in done.of_type("phase_started", "attempt_ended")]
    assert order == ["phase_started", "phase_started", "attempt_ended", "attempt_ended"]
