import os
import time
from pathlib import Path

import pytest

from amelia.model.errors import GitError
from amelia.model.git import CommitId
from amelia.system.git_places import Lane, Purpose
from amelia.workspace.lanes import prepare
from repositories import FILES, Repo, Run, files_in, make_repository, start_run, watch_git

EXPECTED = {name: text.encode() for name, text in FILES.items()}


def test_a_worktree_holds_exactly_the_tree(run: Run) -> None:
    agent = run.prepare()
    assert files_in(agent.path) == EXPECTED


def test_an_agent_sees_a_clean_repository_at_the_base(run: Run) -> None:
    agent = run.prepare()
    assert agent.git("status", "--porcelain") == ""
    assert agent.git("rev-parse", "HEAD") == run.base
    assert agent.git("log", "--format=%s") == "Start"
    assert agent.git("remote") == ""
    assert agent.git("config", "user.email") == "ada@example.com"
    assert agent.git("fsck", "--strict") == ""


def test_a_warm_worktree_is_prepared_by_two_processes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.prepare().write({"src/app.py": "changed\n"})
    commands = watch_git(tmp_path, monkeypatch)
    prepare(run.work, tree=run.base, base=run.base)
    assert commands() == ["read-tree", "clean"]
    assert files_in(run.work.directory) == EXPECTED


@pytest.mark.rows("R21")
def test_untracked_files_go_and_ignored_files_stay(run: Run) -> None:
    agent = run.prepare()
    agent.write({"build/cache": "warm", "junk.txt": "x", "deep/er/junk.txt": "x"})
    run.prepare()
    assert files_in(agent.path) == {**EXPECTED, "build/cache": b"warm"}


def test_changed_and_deleted_files_come_back(run: Run) -> None:
    agent = run.prepare()
    (agent.path / "README.md").unlink()
    agent.write({"src/app.py": "print('two')\n"})
    run.prepare()
    assert files_in(agent.path) == EXPECTED


@pytest.mark.slow
def test_a_change_that_keeps_size_and_time_is_seen(run: Run, home: Path) -> None:
    (home / ".gitconfig").write_text("[core]\n\ttrustctime = false\n\tcheckStat = minimal\n")
    agent = run.prepare()
    later = time.time() + 100
    os.utime(run.work.index, (later, later))  # an index that is younger than the files is believed
    begun = int(time.time())
    while int(time.time()) == begun:  # git may compare whole seconds only
        time.sleep(0.02)
    file = agent.path / "src/app.py"
    times = file.stat()
    file.write_text("print('two')\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    run.prepare()
    assert files_in(agent.path) == EXPECTED


def test_the_next_tree_replaces_what_a_snapshot_took_in(run: Run) -> None:
    agent = run.prepare()
    agent.write({"new/file.py": "x", "src/app.py": "changed"})
    taken = run.snapshot()
    prepare(run.check, tree=taken.tree, base=run.base)
    assert files_in(run.check.directory)["new/file.py"] == b"x"
    run.prepare()
    assert files_in(agent.path) == EXPECTED


def test_a_tree_may_differ_from_the_base_that_the_agent_sees(run: Run) -> None:
    agent = run.prepare()
    agent.write({"src/app.py": "kept\n"})
    taken = run.snapshot()
    run.prepare()
    prepare(run.work, tree=taken.commit, base=run.base)
    assert agent.git("rev-parse", "HEAD") == run.base
    assert agent.git("diff", "--cached", "--name-only") == "src/app.py"


def _replace_root_by_a_link(agent: Repo, outside: Path) -> None:
    agent.path.rename(outside / "moved")
    agent.path.symlink_to(outside / "moved")


def _remove_root(agent: Repo, outside: Path) -> None:
    agent.path.rename(outside / "moved")


def _replace_root_by_a_file(agent: Repo, outside: Path) -> None:
    agent.path.rename(outside / "moved")
    agent.path.write_text("no directory")


def _directory_for_a_file(agent: Repo, _: Path) -> None:
    (agent.path / "README.md").unlink()
    agent.write({"README.md/inside": "x"})


def _file_for_a_directory(agent: Repo, outside: Path) -> None:
    (agent.path / "src").rename(outside / "src")
    (agent.path / "src").write_text("x")


def _link_for_a_directory(agent: Repo, outside: Path) -> None:
    (agent.path / "src").rename(outside / "src")
    (agent.path / "src").symlink_to(outside / "src")


def _link_for_git(agent: Repo, outside: Path) -> None:
    (agent.path / ".git").rename(outside / "git")
    (agent.path / ".git").symlink_to(outside / "git")


def _nested_repositories(agent: Repo, _: Path) -> None:
    make_repository(agent.path / "inner" / "with commits")
    make_repository(agent.path / "empty", {})


def _no_permissions(agent: Repo, _: Path) -> None:
    agent.write({"closed/file": "x", "src/new.py": "x"})
    (agent.path / "closed").chmod(0)
    (agent.path / "src").chmod(0o500)


def _no_git(agent: Repo, outside: Path) -> None:
    (agent.path / ".git").rename(outside / "git")


@pytest.mark.parametrize(
    "damage",
    [
        _replace_root_by_a_link,
        _remove_root,
        _replace_root_by_a_file,
        _directory_for_a_file,
        _file_for_a_directory,
        _link_for_a_directory,
        _link_for_git,
        _nested_repositories,
        _no_permissions,
        _no_git,
    ],
)
@pytest.mark.parametrize("kept", [True, False], ids=["after a snapshot", "without a snapshot"])
def test_any_state_can_be_prepared_and_nothing_outside_is_touched(
    run: Run, tmp_path: Path, *, damage: object, kept: bool
) -> None:
    assert callable(damage)
    agent = run.prepare()
    outside = tmp_path / "outside"
    outside.mkdir()
    damage(agent, outside)
    before = files_in(outside)
    if kept and agent.path.is_dir():
        run.snapshot()
    run.prepare()
    assert not agent.path.is_symlink()
    assert not (agent.path / "src").is_symlink()
    assert files_in(agent.path) == EXPECTED
    assert agent.git("status", "--porcelain", "--ignored") == ""
    assert files_in(outside) == before


@pytest.mark.parametrize("content", [b"", b"garbage", b"DIRC\0\0\0\2\0\0\0\1"])
def test_a_damaged_index_is_made_anew(run: Run, content: bytes) -> None:
    run.prepare()
    run.work.index.write_bytes(content)
    run.agent.write({"README.md": "changed", "junk": "x"})
    run.prepare()
    assert files_in(run.work.directory) == EXPECTED


def test_a_lock_that_a_killed_process_left_is_no_obstacle(run: Run) -> None:
    run.prepare()
    run.work.index.with_name("index.lock").touch()
    run.prepare()
    assert files_in(run.work.directory) == EXPECTED


def test_lanes_do_not_know_each_other(run: Run) -> None:
    run.prepare().write({"src/app.py": "mine\n"})
    other = Lane(run.store, 2, Purpose.WORK)
    prepare(other, tree=run.base, base=run.base)
    assert files_in(other.directory) == EXPECTED
    assert files_in(run.work.directory)["src/app.py"] == b"mine\n"


def test_line_endings_are_as_in_the_users_repository(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "core.autocrlf", "true")
    run = start_run(repo, tmp_path / "run")
    agent = run.prepare()
    assert (agent.path / "README.md").read_bytes() == b"# Sample\r\n"
    assert agent.git("status", "--porcelain") == ""
    assert run.snapshot().tree == repo.git("rev-parse", "HEAD^{tree}")


def test_line_endings_are_no_reason_to_refuse_a_snapshot(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "core.safecrlf", "true")
    run = start_run(repo, tmp_path / "run")
    run.prepare().write({"README.md": "one\ntwo\r\n"})
    run.snapshot()


def test_names_that_are_no_text_survive(run: Run) -> None:
    agent = run.prepare()
    odd = os.fsdecode(b"na\xffme \xc3\xa9\n")
    (agent.path / odd).write_bytes(b"x")
    taken = run.snapshot()
    prepare(run.check, tree=taken.tree, base=run.base)
    assert (run.check.directory / odd).read_bytes() == b"x"


def test_a_tree_that_does_not_exist_is_an_error_that_names_the_place(run: Run) -> None:
    with pytest.raises(GitError, match="work"):
        prepare(run.work, tree=CommitId("1" * 40), base=run.base)
