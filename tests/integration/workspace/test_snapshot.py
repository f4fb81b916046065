import os
import stat
import warnings
from pathlib import Path

import pytest

from amelia.model.git import NotTaken, attempt_ref
from amelia.workspace.diff import changes, paths_in
from amelia.workspace.lanes import prepare
from amelia.workspace.snapshot import keep
from repositories import FILES, Repo, Run, files_in, make_repository, start_run, watch_git


def test_a_snapshot_is_a_commit_on_the_base_with_the_given_text_and_time(run: Run) -> None:
    run.prepare().write({"src/app.py": "two\n"})
    taken = run.snapshot(message="Task 1: more\n")
    text = Repo(run.store.git_dir).git("cat-file", "commit", taken.commit)
    assert text.splitlines() == [
        f"tree {taken.tree}",
        f"parent {run.base}",
        "author Ada Example <ada@example.com> 1794744000 +0000",
        "committer Ada Example <ada@example.com> 1794744000 +0000",
        "",
        "Task 1: more",
    ]


def test_the_same_work_gives_the_same_commit(run: Run) -> None:
    run.prepare().write({"src/app.py": "two\n"})
    first = run.snapshot()
    run.prepare().write({"src/app.py": "two\n"})
    assert run.snapshot(attempt=2).commit == first.commit


def test_a_snapshot_is_kept_before_it_is_returned(run: Run) -> None:
    run.prepare().write({"new.py": "x"})
    taken = run.snapshot(attempt=3)
    assert Repo(run.store.git_dir).git("rev-parse", "refs/amelia/r1/1/3") == taken.commit


def test_another_attempt_may_be_kept_under_the_same_name_again(run: Run) -> None:
    run.prepare()
    taken = run.snapshot()
    keep(run.store, attempt_ref("r1", "1", 1), run.base)
    assert taken.commit != run.base
    assert Repo(run.store.git_dir).git("rev-parse", "refs/amelia/r1/1/1") == run.base


def test_a_snapshot_costs_four_processes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.prepare().write({"new.py": "x"})
    commands = watch_git(tmp_path, monkeypatch)
    run.snapshot()
    assert commands() == ["add", "write-tree", "commit-tree", "update-ref"]


def test_everything_in_the_worktree_is_part_of_the_snapshot(run: Run) -> None:
    agent = run.prepare()
    agent.write({"new.txt": "n", "bin.dat": b"\0\1\xff", "deep/er/x": "x", "build/ignored": "no"})
    (agent.path / "README.md").unlink()
    (agent.path / "src/app.py").chmod(0o755)
    (agent.path / "link").symlink_to("/etc/passwd")
    agent.write({"staged": "s"})
    agent.git("add", "staged")
    taken = run.snapshot()
    listing = Repo(run.store.git_dir).git("ls-tree", "-r", "--format=%(objectmode) %(path)", taken.tree)
    assert listing.splitlines() == [
        "100644 .gitignore",
        "100644 bin.dat",
        "100644 deep/er/x",
        "120000 link",
        "100644 new.txt",
        "100755 src/app.py",
        "100644 staged",
    ]


def test_a_worktree_that_nobody_touched_gives_the_tree_of_the_base(run: Run) -> None:
    run.prepare()
    assert changes(run.store, run.base, run.snapshot().tree) == ()


def test_commits_of_the_agent_are_part_of_the_snapshot_and_of_no_history(run: Run) -> None:
    agent = run.prepare()
    agent.commit({"one.py": "1"})
    agent.commit({"two.py": "2"})
    taken = run.snapshot()
    assert {"one.py", "two.py"} <= set(paths_in(run.store, taken.tree))
    assert Repo(run.store.git_dir).git("rev-list", "--count", f"{run.base}..{taken.commit}") == "1"


def test_repositories_inside_the_worktree_become_plain_files(run: Run) -> None:
    agent = run.prepare()
    clone = make_repository(agent.path / "vendor" / "clone", {"c.py": "c"})
    make_repository(clone.path / "deeper", {"d.py": "d"})
    make_repository(agent.path / "empty", {}).write({"e.py": "e"})
    make_repository(agent.path / "src", {}).write({"f.py": "f"})
    taken = run.snapshot()
    assert sorted(taken.absorbed) == ["empty", "vendor/clone", "vendor/clone/deeper"]
    assert set(paths_in(run.store, taken.tree)) == {
        *FILES,
        *("vendor/clone/c.py", "vendor/clone/deeper/d.py", "empty/e.py", "src/f.py"),
    }
    aside = sorted((run.store.directory / "aside").iterdir())
    assert len(aside) == 3
    assert all((git_dir / "HEAD").is_file() for git_dir in aside)


def test_a_repository_without_any_file_is_no_obstacle(run: Run) -> None:
    make_repository(run.prepare().path / "nothing", {})
    assert run.snapshot().absorbed == ("nothing",)


def test_repositories_in_repositories_are_absorbed_however_many(run: Run) -> None:
    place = run.prepare().path
    for depth in range(25):
        place /= f"r{depth}"
        make_repository(place, {"x": "x"})
    taken = run.snapshot()
    assert len(taken.absorbed) == 25


def test_a_lock_that_a_killed_process_left_is_no_obstacle_to_a_snapshot(run: Run) -> None:
    run.prepare()
    run.work.index.with_name("index.lock").touch()
    run.snapshot()


def test_an_ignored_repository_is_left_alone(run: Run) -> None:
    inner = make_repository(run.prepare().path / "build" / "dependency")
    assert run.snapshot().absorbed == ()
    assert (inner.path / ".git").is_dir()


def test_a_submodule_that_an_agent_adds_becomes_plain_files(run: Run, tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library", {"lib.py": "x"})
    agent = run.prepare()
    agent.git("submodule", "--quiet", "add", str(library.path), "lib")
    taken = run.snapshot()
    assert taken.absorbed == ("lib",)
    assert "lib/lib.py" in paths_in(run.store, taken.tree)


def test_files_that_git_cannot_take_are_told(run: Run) -> None:
    agent = run.prepare()
    (agent.path / "README.md").unlink()
    os.mkfifo(agent.path / "README.md")
    taken = run.try_snapshot()
    assert isinstance(taken, NotTaken)
    assert "README.md" in taken.detail


def test_files_that_nobody_may_read_are_read(run: Run) -> None:
    agent = run.prepare()
    agent.write({"closed/file": "x"})
    (agent.path / "closed/file").chmod(0)
    (agent.path / "closed").chmod(0)
    assert "closed/file" in paths_in(run.store, run.snapshot().tree)


@pytest.mark.slow
def test_closed_files_and_directories_are_opened_for_users_who_are_not_root(run: Run) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # no other thread of ours lives by now
        child = os.fork()
    if child == 0:
        os._exit(_as_somebody_else(run))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _as_somebody_else(run: Run) -> int:
    root = run.store.directory.parent
    for path in (root, *root.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    for parent in root.parents:
        if parent.stat().st_mode & 0o001 == 0:
            parent.chmod(stat.S_IMODE(parent.stat().st_mode) | 0o011)
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    try:
        agent = run.prepare()
        agent.write({"closed/file": "x", "src/new.py": "x"})
        (agent.path / "closed/file").chmod(0)
        (agent.path / "closed").chmod(0)
        taken = run.snapshot()
        assert "closed/file" in paths_in(run.store, taken.tree)
        for name in ("closed", "src", ".git"):
            (agent.path / name).chmod(0o500)
        run.prepare()
        assert set(files_in(agent.path)) == set(FILES)
    except BaseException as problem:  # noqa: BLE001 - the parent process must hear of any
        os.write(2, repr(problem).encode())
        return 1
    return 0


def test_files_larger_than_usual_are_no_special_case(run: Run) -> None:
    run.prepare().write({"large.bin": os.urandom(3_000_000)})
    assert "large.bin" in paths_in(run.store, run.snapshot().tree)


def test_a_lane_that_was_never_prepared_is_taken_all_the_same(run: Run) -> None:
    run.agent.write({"alone.py": "x"})
    assert paths_in(run.store, run.snapshot().tree) == ("alone.py",)


def test_the_check_worktree_gets_what_the_agent_made(run: Run) -> None:
    run.prepare().write({"src/app.py": "two\n", "new.py": "x"})
    taken = run.snapshot()
    prepare(run.check, tree=taken.tree, base=run.base)
    assert files_in(run.check.directory) == {
        **{name: text.encode() for name, text in FILES.items()},
        "src/app.py": b"two\n",
        "new.py": b"x",
    }


def test_filters_of_the_user_hold_in_the_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "filter.shout.clean", "tr A-Z a-z")
    repo.git("config", "filter.shout.smudge", "tr a-z A-Z")
    repo.commit({".gitattributes": "*.loud filter=shout\n", "x.loud": "hello\n"})
    run = start_run(repo, tmp_path / "run")
    agent = run.prepare()
    assert (agent.path / "x.loud").read_text() == "HELLO\n"
    assert agent.git("status", "--porcelain") == ""
    assert changes(run.store, run.base, run.snapshot().tree) == ()
