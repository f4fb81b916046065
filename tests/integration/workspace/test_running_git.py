import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from amelia.model.errors import ConfigError, GitError
from amelia.model.git import Identity, Stamp
from amelia.system.git import Call, Repository, check_git, run_git
from amelia.system.git_commands import commit_tree, empty_tree
from amelia.system.git_places import Lane, Purpose
from amelia.system.process import process_start_time
from amelia.workspace.lanes import prepare
from amelia.workspace.source import open_source, uncommitted
from repositories import FILES, WHEN, Repo, Run, executable, files_in
from tracing import wait_until


def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts another program in the place of git."""
    executable(tmp_path / "bin" / "git", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


def test_the_version_is_known() -> None:
    assert check_git() >= (2, 38)


@pytest.mark.parametrize("script", ["echo git version 2.37.9", "echo something else", "exit 3"])
def test_a_git_that_is_too_old_or_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    pretend(tmp_path, monkeypatch, script)
    with pytest.raises(ConfigError) as caught:
        check_git()
    assert "2.38" in (caught.value.hint or "")


def test_no_git_at_all_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="could not be started"):
        check_git()


def test_a_vendor_may_append_to_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, "echo 'git version 2.50.1 (Apple Git-155)'")
    assert check_git() == (2, 50)


def test_git_sees_only_what_it_should_of_the_environment(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, monkeypatch, "env")
    for name in ("GIT_TRACE", "GIT_CONFIG_COUNT", "OPENAI_API_KEY", "LANG", "PYTHONPATH"):
        monkeypatch.setenv(name, "1")
    seen = dict(line.split("=", 1) for line in run_git(repo.path, "x").text.splitlines())
    assert not seen.keys() & {"GIT_TRACE", "GIT_CONFIG_COUNT", "OPENAI_API_KEY", "LANG", "PYTHONPATH"}
    assert seen["LC_ALL"] == "C"
    assert seen["HOME"] == os.environ["HOME"]
    assert seen["GIT_OPTIONAL_LOCKS"] == "0"
    assert "GIT_DIR" not in seen


def test_a_repository_is_named_to_git(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, 'echo "$GIT_DIR|$GIT_WORK_TREE|$GIT_INDEX_FILE|$PWD"')
    where = Repository(tmp_path / "g", work_tree=repo.path, index=tmp_path / "i")
    assert run_git(where, "x").text == f"{tmp_path / 'g'}|{repo.path}|{tmp_path / 'i'}|{repo.path}"


def test_a_failure_says_what_failed_where(repo: Repo) -> None:
    with pytest.raises(GitError, match=r"git cat-file failed in .*repository.*128.*Not a valid object"):
        run_git(repo.path, "cat-file", "-p", "nothing")


@pytest.mark.slow
def test_a_command_that_does_not_end_is_ended_with_its_children(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, monkeypatch, f"sleep 60 & echo $! > '{tmp_path}/child'; wait")
    with pytest.raises(GitError, match="did not end in time"):
        run_git(repo.path, "x", call=Call(patience=timedelta(seconds=1)))
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: process_start_time(child) is None)


def test_what_a_command_leaves_running_does_not_hold_us_up(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, monkeypatch, "sleep 2 & echo done")
    assert run_git(repo.path, "x").text == "done"


def test_no_command_that_watches_files_is_started(run: Run, home: Path, tmp_path: Path) -> None:
    (home / ".gitconfig").write_text(f"[core]\n\tfsmonitor = touch '{tmp_path}/ran'\n")
    run.repo.git("config", "core.fsmonitor", f"touch '{tmp_path}/ran'")
    assert uncommitted(open_source(run.repo.path)) == 0
    run.prepare()
    run.snapshot()
    assert not (tmp_path / "ran").exists()


def test_nobody_is_asked_anything(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, "cat; test -t 0 || echo no terminal")
    assert run_git(repo.path, "x", call=Call(stdin=b"given\n")).text == "given\nno terminal"


def test_a_time_without_a_zone_is_refused(run: Run) -> None:
    stamp = Stamp(Identity("A", "a@example.com"), WHEN.replace(tzinfo=None))
    tree = empty_tree(run.store.repository)
    with pytest.raises(GitError, match="time zone"):
        commit_tree(run.store.repository, tree, parents=(), message="x", stamp=stamp)


@pytest.mark.slow
def test_many_lanes_are_prepared_at_the_same_time(run: Run) -> None:
    lanes = [Lane(run.store, number, Purpose.WORK) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            list(pool.map(partial(prepare, tree=run.base, base=run.base), lanes))
    assert all(set(files_in(lane.directory)) == set(FILES) for lane in lanes)
