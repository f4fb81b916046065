import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from amelia.land.commit import commit_unit
from amelia.land.message import trailers, unit_message
from amelia.land.publish import landed_commit, publish, publish_attempts
from amelia.model.commands import Place
from amelia.model.errors import GitError
from amelia.model.git import CheckedOut, CommitId, Moved, Published, attempt_ref, branch_ref
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId
from repositories import (
    Repo,
    Run,
    executable,
    files_in,
    fingerprint,
    git,
    make_repository,
    start_run,
    watch_git,
)

UNIT = Unit(UnitId("1"), "Say two", (TaskId("1"),), (), 1, (Task(id=TaskId("1"), title="Say two"),))


def place(attempt: int, unit: Unit = UNIT) -> Place:
    return Place(unit, lane=1, attempt=attempt, base=CommitId("b" * 40))


def land(run: Run, files: dict[str, str | bytes], *, parent: CommitId, attempt: int = 1) -> CommitId:
    run.prepare().write(files)
    marks = trailers(run="r1", at=place(attempt))
    message = unit_message(UNIT, mode=Mode.TASKS, goal="", marks=marks)
    taken = run.snapshot(attempt=attempt, message=message)
    return commit_unit(run.store, taken.tree, parent=parent, message=message, stamp=run.stamp)


def test_landed_work_is_a_branch_of_the_users_repository(repo: Repo, run: Run) -> None:
    repo.write({"untracked": "x", "src/app.py": "uncommitted\n"})
    repo.hook("reference-transaction", "exit 1")
    repo.hook("post-merge", "exit 1")
    before = fingerprint(repo)
    commit = land(run, {"src/app.py": "two\n"}, parent=run.base)
    attempt = attempt_ref("r1", "1", 1)
    kept = CommitId(git(run.store.git_dir, "rev-parse", attempt))
    assert publish(run.store, commit=commit, expected=None, keep={attempt: kept}) == Published()
    assert fingerprint(repo) == before
    assert repo.git("rev-parse", "refs/heads/amelia/r1") == commit
    assert repo.git("rev-parse", attempt) == kept
    assert repo.git("show", "amelia/r1:src/app.py") == "two"
    assert repo.git("log", "--format=%s", "amelia/r1") == "Task 1: Say two\nStart"
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def test_the_users_repository_does_not_need_the_store(repo: Repo, run: Run) -> None:
    commit = land(run, {"src/app.py": "two\n"}, parent=run.base)
    publish(run.store, commit=commit, expected=None, keep={})
    run.store.git_dir.rename(run.store.directory / "gone")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert repo.git("show", "amelia/r1:src/app.py") == "two"


def test_one_unit_after_the_other_moves_the_branch(repo: Repo, run: Run) -> None:
    first = land(run, {"one": "1"}, parent=run.base)
    assert publish(run.store, commit=first, expected=None, keep={}) == Published()
    second = land(run, {"two": "2"}, parent=first, attempt=2)
    assert publish(run.store, commit=second, expected=first, keep={}) == Published()
    assert repo.git("rev-parse", "amelia/r1~1") == first


def test_publishing_again_changes_nothing_and_is_cheap(
    repo: Repo, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = land(run, {"one": "1"}, parent=run.base)
    commands = watch_git(tmp_path, monkeypatch)
    assert publish(run.store, commit=commit, expected=None, keep={}) == Published()
    first = ["for-each-ref", "for-each-ref", "pack-objects", "unpack-objects", "update-ref"]
    assert commands() == first
    refs = repo.git("for-each-ref")
    commands()
    assert publish(run.store, commit=commit, expected=None, keep={}) == Published()
    assert commands() == ["for-each-ref"]
    assert repo.git("for-each-ref") == refs


def test_a_branch_that_somebody_moved_is_left_where_it_is(repo: Repo, run: Run) -> None:
    first = land(run, {"one": "1"}, parent=run.base)
    publish(run.store, commit=first, expected=None, keep={})
    repo.git("branch", "--force", "amelia/r1", "main")
    second = land(run, {"two": "2"}, parent=first, attempt=2)
    assert publish(run.store, commit=second, expected=first, keep={}) == Moved(run.base)
    assert repo.git("rev-parse", "amelia/r1") == run.base
    repo.git("branch", "--quiet", "-D", "amelia/r1")
    assert publish(run.store, commit=second, expected=first, keep={}) == Moved(None)
    assert repo.git("branch", "--list", "amelia/*") == ""


def test_a_branch_that_already_exists_is_not_taken_over(repo: Repo, run: Run) -> None:
    repo.git("branch", "amelia/r1")
    commit = land(run, {"one": "1"}, parent=run.base)
    assert publish(run.store, commit=commit, expected=None, keep={}) == Moved(run.base)


@pytest.mark.parametrize("linked", [True, False], ids=["in a linked worktree", "in the main worktree"])
def test_a_branch_that_is_checked_out_is_not_moved_under_the_users_feet(
    repo: Repo, run: Run, tmp_path: Path, *, linked: bool
) -> None:
    first = land(run, {"one": "1"}, parent=run.base)
    publish(run.store, commit=first, expected=None, keep={})
    place = tmp_path / "looking at it" if linked else repo.path
    if linked:
        repo.git("worktree", "add", "--quiet", str(place), "amelia/r1")
    else:
        repo.git("switch", "--quiet", "amelia/r1")
    second = land(run, {"two": "2"}, parent=first, attempt=2)
    assert publish(run.store, commit=second, expected=first, keep={}) == CheckedOut(str(place))
    assert git(place, "status", "--porcelain") == ""
    git(place, "switch", "--quiet", "--detach")
    assert publish(run.store, commit=second, expected=first, keep={}) == Published()


def test_what_is_published_is_whole_however_much_it_is(repo: Repo, run: Run) -> None:
    files: dict[str, str | bytes] = {f"one/{n}": f"{n}" for n in range(300)}
    first = land(run, files, parent=run.base)
    assert publish(run.store, commit=first, expected=None, keep={}) == Published()
    second = land(run, {**files, "one/1": "one", "two": "2"}, parent=first)
    assert publish(run.store, commit=second, expected=first, keep={}) == Published()
    repo.git("fsck", "--strict", "--no-dangling", "amelia/r1")
    assert len(list((repo.path / ".git" / "objects" / "pack").glob("*.pack"))) == 1
    assert repo.git("diff", "--name-only", "amelia/r1~", "amelia/r1").split() == ["one/1", "two"]


def test_a_branch_that_is_moved_at_the_last_moment_is_left_where_it_is(
    repo: Repo, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = land(run, {"one": "1"}, parent=run.base)
    real = shutil.which("git")
    move = f'"{real}" update-ref refs/heads/amelia/r1 {run.base}'
    executable(
        tmp_path / "bin" / "git", f'case " $* " in *" unpack-objects "*) {move};; esac; exec "{real}" "$@"'
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert publish(run.store, commit=commit, expected=None, keep={}) == Moved(run.base)
    assert repo.git("rev-parse", "amelia/r1") == run.base


def test_a_ref_that_cannot_be_moved_is_an_error_with_a_hint(repo: Repo, run: Run) -> None:
    commit = land(run, {"one": "1"}, parent=run.base)
    lock = repo.path / ".git" / f"{branch_ref('r1')}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(GitError, match="cannot be moved") as caught:
        publish(run.store, commit=commit, expected=None, keep={})
    assert ".lock" in (caught.value.hint or "")
    lock.unlink()
    assert publish(run.store, commit=commit, expected=None, keep={}) == Published()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fetch.prune", "true"),
        ("fetch.recurseSubmodules", "true"),
        ("fetch.writeCommitGraph", "true"),
        ("protocol.file.allow", "never"),
        ("protocol.version", "0"),
        ("transfer.fsckObjects", "true"),
        ("gc.auto", "1"),
        ("remote.origin.fetch", "+refs/*:refs/*"),
    ],
)
def test_settings_for_remotes_of_the_user_do_not_matter(
    repo: Repo, tmp_path: Path, key: str, value: str
) -> None:
    repo.git("config", key, value)
    run = start_run(repo, tmp_path / "run")
    attempt = attempt_ref("r1", "other", 1)
    repo.git("update-ref", attempt, "HEAD")
    repo.git("tag", "kept")
    before = fingerprint(repo)
    commit = land(run, {"one": "1"}, parent=run.base)
    assert publish(run.store, commit=commit, expected=None, keep={}) == Published()
    assert fingerprint(repo) == before
    assert repo.git("rev-parse", attempt) == run.base


def test_attempts_that_did_not_land_are_kept_in_the_users_repository(repo: Repo, run: Run) -> None:
    run.prepare().write({"half": "done"})
    taken = run.snapshot()
    publish_attempts(run.store, {})
    publish_attempts(run.store, {attempt_ref("r1", "1", 1): taken.commit})
    assert repo.git("show", f"{attempt_ref('r1', '1', 1)}:half") == "done"
    assert repo.git("branch", "--list", "amelia/*") == ""


def test_a_run_on_a_repository_without_commits_lands_on_a_branch_of_its_own(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "new", {})
    run = start_run(repo, tmp_path / "run")
    commit = land(run, {"first": "1\n"}, parent=run.base)
    assert publish(run.store, commit=commit, expected=None, keep={}) == Published()
    assert repo.git("show", "amelia/r1:first") == "1"
    assert files_in(repo.path) == {}


def test_a_run_on_a_shallow_repository_lands_there(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"two": "2"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo.path}", "shallow")
    shallow = Repo(tmp_path / "shallow")
    for part, value in (("name", "Ada"), ("email", "ada@example.com")):
        shallow.git("config", f"user.{part}", value)
    run = start_run(shallow, tmp_path / "run")
    before = fingerprint(shallow)
    commit = land(run, {"three": "3"}, parent=run.base)
    assert publish(run.store, commit=commit, expected=None, keep={}) == Published()
    assert fingerprint(shallow) == before
    assert shallow.git("rev-list", "--count", "amelia/r1") == "2"
    assert shallow.git("fsck", "--strict", "--no-dangling") == ""


def test_a_landing_that_was_cut_off_is_found_by_its_trailers(repo: Repo, run: Run) -> None:
    commit = land(run, {"one": "1"}, parent=run.base)
    where = run.source.repository
    assert landed_commit(where, run.base, run="r1", at=place(1)) is None
    publish(run.store, commit=commit, expected=None, keep={})
    assert landed_commit(where, run.base, run="r1", at=place(1)) == commit
    assert landed_commit(where, run.base, run="r1", at=place(2)) is None
    assert landed_commit(where, run.base, run="r1", at=place(1, replace(UNIT, id=UnitId("2")))) is None
    assert landed_commit(where, commit, run="r1", at=place(1)) is None
    repo.git("branch", "amelia/r10", "main")
    assert landed_commit(where, run.base, run="r10", at=place(1)) is None
