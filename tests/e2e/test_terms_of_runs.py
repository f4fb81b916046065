"""Before a run starts, it says on which terms: what is checked, from where, by whom, within which bounds."""

from pathlib import Path

import pytest

from programs import users_settings, with_claude
from repositories import executable
from stories import APPROVED, Stage, independent, make_stage, tasks, writes

pytestmark = pytest.mark.slow

SETTINGS = """
parallel_workers = 2
[verify]
command = ["sh", "check.sh"]
setup = ["sh", "-c", "true"]
[budget]
run_cost = 7.5
unit_cost = "none"
[agents.reviewer]
model = "sonnet"
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


@pytest.fixture
def settled(stage: Stage) -> Stage:
    """The stage with settings that say something of everything."""
    stage.repo.commit({"amelia.toml": SETTINGS})
    return stage


def head(stage: Stage) -> str:
    return stage.repo.git("rev-parse", "HEAD").strip()[:12]


def expected(stage: Stage) -> list[str]:
    return [
        f"base: main at {head(stage)}",
        "mode: tasks",
        (
            "parallelism: 2 units in 2 steps, at most 1 side by side; parallel_workers = 2 has no effect: "
            "the mode tasks carries out one task after the other"
        ),
        "tests: sh check.sh",
        "setup: sh -c true",
        (
            "agents: developer and evaluator: claude with its default model (probably claude-opus-5-5); "
            "reviewer: claude with sonnet"
        ),
        (
            "limits: 5 attempts for a unit; 20,000,000 tokens of unknown cost for a unit; "
            "$7.5 or 200,000,000 tokens of unknown cost for the run"
        ),
    ]


def test_a_person_confirms_everything_that_decides_about_a_run(settled: Stage) -> None:
    settled.put(tasks("One", "Two"))
    said = settled.at_terminal(
        "run", settled.room / "plan.md", answers="n\n", env=with_claude(settled.room / "few")
    )
    lines = said.out.splitlines()
    first = lines.index(expected(settled)[0])
    assert lines[first : first + 7] == expected(settled)
    assert lines[first + 7].startswith("forecast: 2 units, about ")
    assert said.out.index("this plan can run") < said.out.index("base: ") < said.out.index("Run this plan?")
    assert settled.names == []


def test_without_a_terminal_they_are_the_first_lines(settled: Stage) -> None:
    settled.put(tasks("One", "Two"))
    for options in ((), ("--json", "--again")):
        done = settled.amelia(
            "run", settled.room / "plan.md", *options, env=with_claude(settled.room / "few")
        )
        assert done.err.splitlines()[:7] == expected(settled)


def test_who_confirmed_them_is_not_told_again(settled: Stage) -> None:
    settled.put(tasks("One", "Two"))
    said = settled.at_terminal(
        "run", settled.room / "plan.md", answers="y\n", env=with_claude(settled.room / "few")
    )
    assert said.out.count("limits: ") == said.out.count("agents: ") == 1


def test_a_run_from_elsewhere_says_from_where(stage: Stage) -> None:
    old = head(stage)
    stage.repo.git("tag", "old")
    stage.repo.commit({"new.txt": "new\n"})
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED, options=("--base", "old"))
    assert done.err.startswith(f"base: old at {old}\n")


def test_a_repository_in_which_little_is_found_says_so(tmp_path: Path) -> None:
    bare = make_stage(tmp_path, {"README.md": "# Bare\n"})
    done = bare.run("# Sample\n\n### Task 1: Words\n- Type: docs\n", writes("phase-1", "a"), APPROVED)
    lines = done.err.splitlines()
    assert "tests: none found; only files and scope are checked" in lines
    assert "setup: none" in lines
    assert "agents: script script.toml" in lines


def test_uncommitted_files_are_named_before_the_question(stage: Stage) -> None:
    stage.put(tasks("One"))
    (stage.repo.path / "new.txt").touch()
    said = stage.at_terminal(
        "run", stage.room / "plan.md", answers="n\n", env=with_claude(stage.room / "few")
    )
    assert f"base: main at {head(stage)}; 1 uncommitted file is not part of it" in said.out.splitlines()


def test_without_any_agent_nobody_is_asked(stage: Stage) -> None:
    stage.put(tasks("One"))
    env = {"PATH": with_claude(stage.room / "few")["PATH"]}
    (stage.room / "few" / "claude").unlink()
    said = stage.at_terminal("run", stage.room / "plan.md", answers="y\n", env=env)
    assert said.code == 3
    assert "no agent is there" in said.out
    assert "Run this plan?" not in said.out


def test_an_agent_that_reviews_is_named_beside_the_one_that_works(stage: Stage) -> None:
    env = with_claude(stage.room / "few")
    executable(Path(env["PATH"], "codex"), "echo codex-cli 0.166.0")
    own = users_settings(stage.room, '[agents]\ndriver = "claude"\n[agents.reviewer]\ndriver = "codex"\n')
    (stage.room / ".codex").mkdir()
    (stage.room / ".codex" / "config.toml").write_text('model = "gpt-5.4"\n')
    stage.put(tasks("One"))
    done = stage.amelia("run", stage.room / "plan.md", env={**env, **own})
    assert "; reviewer: codex with gpt-5.4, by its own settings\n" in done.err


@pytest.mark.parametrize(
    ("plan", "mode", "why"),
    [
        (tasks("One", "Two"), "auto", "the mode tasks carries out one task after the other"),
        (independent("One", "Two"), "tasks", "the mode tasks carries out one task after the other"),
        (independent("One", "Two"), "single", "there is one unit of work"),
        (tasks("One", "Two"), "lifecycle", "units run side by side only if they declare their files, and share none"),
        (independent("One", "Two").replace("### Task 2: Two\n", "### Task 2: Two\n- Depends on: 1\n"), "lifecycle", "every unit waits for another"),
    ],
)  # fmt: skip
def test_workers_that_have_no_effect_are_told(stage: Stage, plan: str, mode: str, why: str) -> None:
    options = ("--mode", mode, "--parallel", "4")
    done = stage.run(plan, writes("*", "file-1.txt", "file-2.txt"), APPROVED, options=options)
    assert f"at most 1 side by side; --parallel 4 has no effect: {why}\n" in done.err


def test_workers_that_have_an_effect_are_not(stage: Stage) -> None:
    turns = (writes("1", "file-1.txt"), writes("2", "file-2.txt"), APPROVED)
    plan = independent("One", "Two")
    done = stage.run(plan, *turns, options=("--mode", "lifecycle", "--parallel", "4"))
    assert (
        "parallelism: 2 units in 1 step, at most 2 side by side; 4 workers, of whom 2 have work" in done.err
    )
    done = stage.run(plan, *turns, options=("--mode", "lifecycle", "--again"))
    assert "at most 2 side by side; 1 worker, --parallel 2 is faster\n" in done.err
