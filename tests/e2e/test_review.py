"""A checkout is reviewed as it is, by the agents of a run, and stays as it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from amelia.app.reviews import ReviewUnavailableError, judge_review, open_review
from amelia.model.agents import Role
from amelia.model.policy import POLICIES
from amelia.model.settings import RunSettings
from repositories import make_repository
from stories import APPROVED, FILES, Done, Stage, Turn, develops, make_stage, rejects

pytestmark = pytest.mark.slow

RULED: Turn = {
    "role": "evaluator",
    "report": {
        "items": [
            {"finding": 1, "disposition": "IMPLEMENT", "reason": "True."},
            {"finding": 2, "disposition": "REJECT", "reason": "Not so."},
        ]
    },
}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "old.txt": "old\n", "mode.sh": "echo\n"})


def review(stage: Stage, *turns: Turn, options: tuple[str, ...] = ()) -> Done:
    script = stage.play(*turns)
    return stage.amelia("review", "--script", str(script), *options, env={"AMELIA_COMMIT_RECORD": "true"})


def prompt(stage: Stage, role: str = "reviewer") -> str:
    (file,) = (stage.home / "reviews").glob(f"*/transcripts/review/1-{role}.jsonl")
    return file.read_text()


def change(stage: Stage) -> None:
    """Leaves changes of every kind: staged, unstaged, both, untracked, deleted, ignored."""
    stage.repo.write({"README.md": "# Staged\n", "staged.txt": "staged\n"})
    stage.repo.git("add", "--all")
    stage.repo.write({"README.md": "# Unstaged\n", "untracked.txt": "new\n", "build/x": "ignored\n"})
    (stage.repo.path / "old.txt").unlink()
    (stage.repo.path / "mode.sh").chmod(0o755)
    stage.repo.git("stash", "list")


def test_everything_that_is_not_committed_is_reviewed_and_stays_as_it_is(stage: Stage) -> None:
    change(stage)
    refs = stage.repo.git("for-each-ref")
    done = review(stage, APPROVED)
    assert (done.code, done.out) == (0, "approved\n")
    assert "checks: sh check.sh: exit code 0" in done.err
    told = prompt(stage)
    for seen in ("# Unstaged", "staged.txt", "untracked.txt", "deleted file mode", "new mode 100755"):
        assert seen in told
    assert "# Staged" not in told
    assert "ignored" not in told
    assert "exit code 0" in told
    assert stage.repo.git("for-each-ref") == refs
    assert stage.names == []


def test_nothing_to_review_is_said(stage: Stage) -> None:
    done = review(stage, APPROVED)
    assert (done.code, done.out) == (0, "there is nothing to review\n")
    assert not list((stage.home / "reviews").iterdir())
    assert review(stage, APPROVED, options=("--json",)).json == {}


def test_findings_are_shown_with_place_weight_and_ruling(stage: Stage) -> None:
    change(stage)
    done = review(stage, rejects("Name it.", "Wrong."), RULED)
    assert done.code == 1
    assert "README.md:1: blocking\n    Name it.\n    to be mended: True.\n" in done.out
    assert "README.md:1: blocking\n    Wrong.\n    rejected: Not so.\n" in done.out
    assert "not approved: 1 finding left of 2\n" in done.out
    assert "amelia review --fix" in done.out


def test_findings_that_are_all_ruled_out_are_an_approval(stage: Stage) -> None:
    change(stage)
    ruled: Turn = {
        "role": "evaluator",
        "report": {"items": [{"finding": 1, "disposition": "DEFER", "reason": "Later."}]},
    }
    done = review(stage, rejects("Name it."), ruled, options=("--json",))
    assert (done.code, done.json["approved"]) == (0, True)
    (finding,) = done.json["findings"]
    assert (finding["file"], finding["line"], finding["weight"]) == ("README.md", 1, "blocking")
    assert (finding["ruling"], finding["reason"]) == ("DEFER", "Later.")
    assert Path(done.json["kept"], "journal.db").exists()
    assert not Path(done.json["kept"], "store.git").exists()


def test_since_a_revision_commits_are_reviewed_too(stage: Stage) -> None:
    start = stage.repo.git("rev-parse", "HEAD")
    stage.repo.git("switch", "--quiet", "--create", "feature")
    stage.repo.commit({"committed.txt": "mine\n"})
    stage.repo.git("switch", "--quiet", "main")
    stage.repo.commit({"elsewhere.txt": "theirs\n"})
    stage.repo.git("switch", "--quiet", "feature")
    stage.repo.write({"README.md": "# Uncommitted\n"})
    done = review(stage, APPROVED, options=("--base", "main", "--json"))
    assert (done.code, done.json["base"]) == (0, start)
    told = prompt(stage)
    assert "committed.txt" in told
    assert "# Uncommitted" in told
    assert "elsewhere.txt" not in told
    assert review(stage, APPROVED, options=("--base", "nowhere")).code == 3


def test_a_review_that_is_none_is_no_approval(stage: Stage) -> None:
    change(stage)
    done = review(
        stage,
        {"role": "reviewer", "do": [{"write": "README.md", "text": "meddled"}], "report": {"approved": True}},
    )
    assert done.code == 1
    assert "is not to change files" in done.err
    assert stage.amelia("review").code in {1, 3}


def test_failing_tests_are_told_to_the_reviewer(stage: Stage) -> None:
    stage.repo.write({"broken": "x"})
    done = review(stage, APPROVED)
    assert done.code == 0
    assert "checks: sh check.sh: exit code 1" in done.err
    assert "exit code 1" in prompt(stage)


def test_a_repository_inside_the_checkout_and_one_without_commits_are_fine(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {})
    stage.repo.write({"first.txt": "first\n", "inner/file.txt": "theirs\n"})
    inner = Stage(stage.room, type(stage.repo)(stage.repo.path / "inner"), stage.home)
    inner.repo.git("init", "--quiet")
    inner.repo.git("config", "user.name", "Ada")
    inner.repo.git("config", "user.email", "ada@example.com")
    inner.repo.commit({})
    assert review(stage, APPROVED).code == 0
    assert "first.txt" in prompt(stage)
    assert "theirs" not in prompt(stage)


def test_what_was_found_is_run_as_a_plan_from_what_was_reviewed(stage: Stage) -> None:
    change(stage)
    mends = develops("1", {"write": "README.md", "text": "# Mended\n"})
    once = {**APPROVED, "unit": "1"}
    done = review(stage, mends, once, rejects("Name it.", "Wrong."), RULED, options=("--fix", "--yes"))
    assert done.code == 0
    assert "Task 1" in done.out or "Name it" in done.out
    start = stage.repo.git("rev-parse", f"{stage.branch}~1")
    assert stage.repo.git("show", f"{start}:untracked.txt") == "new"
    take = f"git diff --binary {start} {stage.branch} | git apply"
    assert f"to take the fixes: {take}" in done.out
    stage.repo.git("apply", str(_patch(stage, start)))
    assert (stage.repo.path / "README.md").read_text() == "# Mended\n"
    assert (stage.repo.path / "untracked.txt").read_text() == "new\n"


def _patch(stage: Stage, start: str) -> Path:
    file = stage.room / "patch"
    file.write_text(stage.repo.git("diff", "--binary", start, stage.branch) + "\n")
    return file


def test_fixes_of_what_is_committed_can_be_fast_forwarded(stage: Stage) -> None:
    stage.repo.commit({"README.md": "# Committed\n"})
    mends = develops("1", {"write": "README.md", "text": "# Mended\n"})
    turns = (mends, {**APPROVED, "unit": "1"}, rejects("Name it."))
    done = review(stage, *turns, options=("--base", "HEAD~1", "--fix", "--json"))
    assert done.code == 0
    assert f"git merge --ff-only {stage.branch}" in done.err
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    assert (stage.repo.path / "README.md").read_text() == "# Mended\n"


def test_reviews_are_cleared_away(stage: Stage) -> None:
    change(stage)
    review(stage, APPROVED)
    assert len(list((stage.home / "reviews").iterdir())) == 1
    done = stage.amelia("gc")
    assert "1 review removed" in done.out
    assert not list((stage.home / "reviews").iterdir())


def test_the_evaluator_may_use_what_the_reviewer_left(stage: Stage) -> None:
    change(stage)
    line = '{"type": "usage", "input": 1, "output": 1, "cost": 1.0}'
    greedy: Turn = {"role": "evaluator", "do": [{"raw": line}, {"hang": True}]}
    done = review(stage, {**rejects("No."), "usage": {"cost": 3.0}}, greedy, options=("--max-cost", "2"))
    assert done.code == 1
    assert "not approved: 1 finding left of 1" in done.out


def test_fixes_that_did_not_land_are_not_offered(stage: Stage) -> None:
    change(stage)
    breaks = develops("1", {"write": "broken", "text": ""})
    done = review(stage, breaks, rejects("Name it."), options=("--fix", "--yes"))
    assert done.code == 1
    assert not stage.has_branch
    assert "no fix has landed, so there is nothing to take yet" in done.out
    assert "to take the fixes" not in done.out
    start = stage.repo.git("rev-parse", f"refs/amelia/{stage.name}/base")
    assert f"git diff --binary {start} {stage.branch} | git apply" in done.out
    assert f"amelia status {stage.name}" in done.out


def test_of_fixes_that_halted_those_that_landed_can_be_taken(stage: Stage) -> None:
    change(stage)
    turns = (
        develops("1", {"write": "README.md", "text": "# Mended\n"}),
        develops("2", {"write": "broken", "text": ""}),
        {**APPROVED, "unit": "1"},
        rejects("Name it.", "Say why."),
    )
    done = review(stage, *turns, options=("--fix", "--yes"))
    assert done.code == 1
    start = stage.repo.git("rev-parse", f"{stage.branch}~1")
    take = f"git diff --binary {start} {stage.branch} | git apply"
    assert f"not all fixes have landed; to take those that have: {take}\n" in done.out


def _with_submodule(stage: Stage) -> Path:
    other = make_repository(stage.room / "other")
    stage.repo.git("submodule", "add", "--quiet", str(other.path), "lib")
    stage.repo.git("commit", "--quiet", "-m", "Add lib")
    return stage.repo.path / "lib"


def test_changes_inside_a_submodule_are_said_to_be_left_out(stage: Stage) -> None:
    lib = _with_submodule(stage)
    assert review(stage, APPROVED).out == "there is nothing to review\n"
    (lib / "README.md").write_text("# Changed\n")
    done = review(stage, APPROVED)
    assert (done.code, done.out) == (0, "there is nothing to review\n")
    assert "left out: changes inside the submodule lib" in done.err
    assert "to have them reviewed: cd lib && amelia review" in done.err
    found = review(stage, APPROVED, options=("--json",))
    assert found.json == {"left_out": ["lib"]}
    stage.repo.write({"README.md": "# Mine\n"})
    (lib / "new.txt").write_text("new\n")
    done = review(stage, APPROVED, options=("--json",))
    assert (done.code, done.json["left_out"]) == (0, ["lib"])
    assert "left out: changes inside the submodule lib" in done.err


def test_conflicts_that_are_not_resolved_are_refused(stage: Stage) -> None:
    stage.repo.git("switch", "--quiet", "--create", "side")
    stage.repo.commit({"README.md": "# Theirs\n"})
    stage.repo.git("switch", "--quiet", "main")
    stage.repo.commit({"README.md": "# Ours\n"})
    stage.repo.git("merge", "side", check=False)
    done = review(stage, APPROVED)
    assert done.code == 3
    assert "conflicts that are not resolved: README.md" in done.err
    assert "git add" in done.err
    assert "git merge --abort" in done.err
    assert not (stage.home / "reviews").exists()
    stage.repo.write({"README.md": "# Both\n"})
    stage.repo.git("add", "README.md")
    assert review(stage, APPROVED).code == 0


@pytest.mark.parametrize("role", ["reviewer", "evaluator"])
def test_a_usage_limit_is_waited_out_and_said(stage: Stage, role: str) -> None:
    change(stage)
    again = stage.then(rejects("Name it."), RULED)
    limited: Turn = {"role": role, "do": [again, {"limit": "2020-01-01T00:00:00Z"}]}
    done = review(stage, limited, rejects("Name it."))
    assert done.code == 1
    assert "to be mended: True." in done.out
    assert f"the {role} reached its usage limit; asked again at 2020-01-01T00:00:00+00:00" in done.err


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.EVALUATOR])
def test_a_limit_that_does_not_end_is_not_waited_out_for_ever(stage: Stage, role: Role) -> None:
    change(stage)
    limited: Turn = {"role": role, "do": [{"limit": "2999-01-01T00:00:00Z"}]}
    script = stage.play(limited, rejects("Name it."))
    once = {mode: replace(policy, rests=0) for mode, policy in POLICIES.items()}
    settings = replace(RunSettings().with_agents(driver="script", script=str(script)), policies=once)
    with open_review(stage.repo.path, base=None, home=stage.home) as found:
        if role is Role.REVIEWER:
            with pytest.raises(ReviewUnavailableError, match="reached its usage limit again and again"):
                judge_review(found, settings, lambda _: None)
        else:
            assert [finding.text for finding in judge_review(found, settings, lambda _: None).left] == [
                "Name it."
            ]
