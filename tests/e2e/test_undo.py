"""A run that has landed is taken back, wherever it was merged, and nothing else is."""

from dataclasses import replace
from pathlib import Path

import pytest

from stories import APPROVED, Done, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow


@pytest.fixture(params=[True, False], ids=["recorded", "unrecorded"])
def stage(tmp_path: Path, request: pytest.FixtureRequest) -> Stage:
    stage = replace(make_stage(tmp_path), is_recorded=request.param)
    turns = (writes("1", "a.txt"), develops("2", {"append": "README.md", "text": "More.\n"}))
    assert stage.run(tasks("One", "Two"), *turns, APPROVED).outcome == "completed"
    return stage


def undo(stage: Stage, *options: str) -> Done:
    return stage.start("undo", stage.name, "--yes", *options).wait()


def subject(stage: Stage) -> str:
    return stage.repo.git("log", "-1", "--format=%s")


def files(stage: Stage) -> list[str]:
    assert stage.repo.git("status", "--porcelain") == ""
    return stage.repo.git("ls-files").splitlines()


BEFORE = [".gitignore", "README.md", "amelia.toml", "check.sh"]


def test_a_branch_that_was_merged_nowhere_is_taken_away_and_kept(stage: Stage) -> None:
    tip, branch = stage.repo.git("rev-parse", stage.branch), stage.branch
    done = stage.amelia("undo", stage.name, "--yes", "--json")
    kept = f"refs/amelia/{stage.name}/undone"
    assert (done.code, done.json) == (0, {"is_undone": True, "kept": kept})
    assert not stage.has_branch
    assert stage.repo.git("rev-parse", kept) == tip
    assert stage.status()["delivery"]["undone"] == kept
    again = stage.amelia("undo", stage.name)
    assert (again.code, f"git branch {branch} {kept}" in again.out) == (0, True)
    stage.repo.git("branch", branch, kept)
    assert undo(stage).code == 0
    assert not stage.has_branch


def test_nothing_is_taken_back_without_consent(stage: Stage) -> None:
    done = stage.amelia("undo", stage.name)
    assert (done.code, "--yes does it" in done.err) == (4, True)
    assert "is merged nowhere" in done.err
    assert stage.has_branch


def test_what_was_fast_forwarded_is_reverted_by_one_commit_under_other_work(stage: Stage) -> None:
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    stage.repo.write({"untracked.txt": "x\n"})
    head = stage.repo.git("rev-parse", "HEAD")
    done = undo(stage, "--json")
    assert done.code == 0
    assert done.json["revert"] == stage.repo.git("rev-parse", "HEAD")
    assert stage.repo.git("rev-parse", "HEAD^") == head
    assert subject(stage) == f"Take back run {stage.name}"
    assert stage.repo.git("ls-files").splitlines() == sorted([*BEFORE, "mine.txt"])
    assert (stage.repo.path / "README.md").read_text() == "# Sample\n"
    assert stage.repo.git("status", "--porcelain") == "?? untracked.txt"
    assert "taken back by" in stage.amelia("status", stage.name).out
    assert stage.amelia("undo", stage.name).code == 0


def test_a_merge_commit_is_reverted_too(stage: Stage) -> None:
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    stage.repo.git("merge", "--quiet", "--no-ff", "-m", "Merge", stage.branch)
    assert undo(stage).code == 0
    assert files(stage) == sorted([*BEFORE, "mine.txt"])


@pytest.mark.parametrize("how", ["squash", "rebase"])
def test_what_was_squashed_or_rebased_is_found_by_its_trailers(stage: Stage, how: str) -> None:
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    if how == "squash":
        stage.repo.git("merge", "--quiet", "--squash", stage.branch)
        stage.repo.git("commit", "--quiet", "--no-edit")
    else:
        stage.repo.git("cherry-pick", f"HEAD~1..{stage.branch}")
    stage.repo.git("branch", "-D", stage.branch)
    assert undo(stage).code == 0
    assert files(stage) == sorted([*BEFORE, "mine.txt"])
    assert undo(stage).code == 0
    assert subject(stage) == f"Take back run {stage.name}"


def test_what_was_squashed_in_other_words_is_found_by_its_files(stage: Stage) -> None:
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    stage.repo.git("merge", "--quiet", "--squash", stage.branch)
    stage.repo.commit({}, "Add what was asked for")
    stage.repo.commit({"later.txt": "later\n"}, "Later")
    for _ in range(2):
        assert undo(stage).code == 0
        assert files(stage) == sorted([*BEFORE, "later.txt", "mine.txt"])
        assert subject(stage) == f"Take back run {stage.name}"
        assert stage.has_branch


def test_what_was_brought_back_is_taken_back_again(stage: Stage) -> None:
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    assert undo(stage).code == 0
    stage.repo.git("revert", "--no-edit", "HEAD")
    assert "a.txt" in files(stage)
    for _ in range(2):
        assert undo(stage).code == 0
        assert files(stage) == BEFORE
    assert stage.repo.git("rev-list", "--count", f"{stage.branch}..HEAD") == "3"


def test_a_history_of_its_own_has_nothing_of_a_run(stage: Stage) -> None:
    stage.repo.git("switch", "--quiet", "--orphan", "alone")
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    assert undo(stage).code == 0
    assert not stage.has_branch
    assert files(stage) == ["mine.txt"]


def test_a_revert_that_was_cut_off_before_it_was_told_is_found(stage: Stage) -> None:
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    stage.repo.write({"README.md": "mine\n"})
    left = stage.amelia("undo", stage.name, "--yes")
    assert left.code == 4
    assert "the checkout has uncommitted changes: README.md" in left.out
    stage.repo.git("checkout", "--", "README.md")
    stage.repo.git("merge", "--quiet", "--ff-only", f"{stage.branch}-undo")
    assert files(stage) == BEFORE
    found = stage.amelia("undo", stage.name, "--json")
    assert found.json["revert"] == stage.repo.git("rev-parse", "HEAD")


def test_a_conflict_with_later_work_leaves_everything_as_it_is(stage: Stage) -> None:
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    stage.repo.commit({"README.md": "# Sample\nMore and more.\n"}, "Mine")
    done = stage.amelia("undo", stage.name, "--yes")
    assert (done.code, "changed the same places: README.md" in done.err) == (4, True)
    assert "git revert" in done.err
    assert not stage.repo.git("branch", "--list", f"{stage.branch}-undo")


def test_a_file_in_the_way_of_a_revert_is_not_overwritten(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    stage.run(
        tasks("One"),
        develops("1", {"delete": "README.md"}, {"append": ".gitignore", "text": "README.md\n"}),
        APPROVED,
    )
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    stage.repo.write({"README.md": "precious\n"})
    done = stage.amelia("undo", stage.name, "--yes")
    assert (done.code, "in the way: README.md" in done.out) == (4, True)


def test_a_run_that_is_merged_into_another_branch_is_taken_back_there(stage: Stage) -> None:
    stage.repo.git("branch", "release", stage.branch)
    done = stage.amelia("undo", stage.name, "--yes")
    assert (done.code, "merged into release, which is not checked out" in done.err) == (4, True)
    stage.repo.git("switch", "--quiet", "release")
    assert undo(stage).code == 0
    assert files(stage) == BEFORE


def test_a_branch_that_is_checked_out_or_holds_other_work_stays(stage: Stage) -> None:
    stage.repo.git("worktree", "add", "--quiet", str(stage.room / "there"), stage.branch)
    assert "is checked out in" in stage.amelia("undo", stage.name, "--yes").err
    stage.repo.git("worktree", "remove", "--force", str(stage.room / "there"))
    stage.repo.git("switch", "--quiet", stage.branch)
    assert "itself is checked out" in stage.amelia("undo", stage.name, "--yes").err
    stage.repo.commit({"mine.txt": "mine\n"})
    stage.repo.git("switch", "--quiet", "main")
    assert "commits that are not the run's" in stage.amelia("undo", stage.name, "--yes").err
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    stage.repo.git("checkout", "--quiet", "--detach")
    assert "no branch is checked out" in stage.amelia("undo", stage.name, "--yes").err


def test_only_a_run_that_is_over_is_taken_back(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    stage.run(tasks("One"), develops("1", {"write": "broken", "text": "x"}), APPROVED)
    done = stage.amelia("undo", stage.name, "--yes")
    assert (done.code, f"amelia abort {stage.name}" in done.err) == (2, True)
    assert stage.amelia("abort", stage.name).code == 0
    assert "nothing to take back" in stage.amelia("undo", stage.name).out


def test_a_run_that_was_taken_back_is_not_merged_again_by_mistake(stage: Stage) -> None:
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    assert undo(stage).code == 0
    done = stage.amelia("finish", stage.name, "--merge", "ff")
    assert (done.code, "was taken back" in done.err) == (4, True)
