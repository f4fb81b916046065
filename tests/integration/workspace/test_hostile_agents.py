"""Whatever an agent does with git, the user's repository stays as it was and the snapshot is right."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from amelia.system.git_places import Lane, Purpose
from amelia.workspace.diff import paths_in
from amelia.workspace.lanes import prepare
from repositories import FILES, Repo, Run, files_in, fingerprint


def _reset(agent: Repo) -> None:
    agent.git("add", "--all")
    agent.git("stash")
    agent.git("stash", "pop")
    agent.git("reset", "--hard")
    agent.write({"made.py": "made"})


def _configure(agent: Repo) -> None:
    for key in ("core.worktree", "core.hooksPath", "core.fsmonitor", "include.path", "core.excludesFile"):
        agent.git("config", key, "/nowhere")
    agent.git("config", "--global", "--list", check=False)


def _rewrite(agent: Repo) -> None:
    agent.git("checkout", "--quiet", "--orphan", "other")
    agent.commit({"rewritten": "x"}, "No parent")
    agent.git("branch", "--force", "main")
    agent.git("update-ref", "-d", "refs/heads/other", check=False)
    (agent.path / "rewritten").unlink()


def _collect(agent: Repo) -> None:
    agent.commit({"junk": "x"})
    (agent.path / "junk").unlink()
    agent.git("reflog", "expire", "--expire=now", "--all")
    agent.git("gc", "--quiet", "--prune=now")
    agent.git("repack", "-a", "-d", "-f", "-q")
    agent.git("prune", "--expire=now")


def _worktrees(agent: Repo) -> None:
    agent.git("worktree", "add", "--quiet", "--force", str(agent.path.parent / "other"), "HEAD")
    agent.git("worktree", "remove", "--force", str(agent.path), check=False)
    agent.git("worktree", "prune")
    agent.git("worktree", "remove", "--force", str(agent.path.parent / "other"))


def _push(agent: Repo) -> None:
    agent.git("push", check=False)
    agent.git("push", "origin", "HEAD:main", check=False)
    agent.git("push", "--force", "--all", check=False)


def _delete_git(agent: Repo) -> None:
    shutil.rmtree(agent.path / ".git")


def _break_git(agent: Repo) -> None:
    agent.write({".git/HEAD": "nonsense", ".git/index": b"\0", ".git/index.lock": "", ".git/config": "["})


def _clean(agent: Repo) -> None:
    (agent.path / "made.py").rename(agent.path.parent / "kept")
    agent.git("clean", "-ffdx")
    (agent.path.parent / "kept").rename(agent.path / "made.py")


def _hide(agent: Repo) -> None:
    agent.git("update-index", "--assume-unchanged", "src/app.py")
    agent.git("update-index", "--skip-worktree", "README.md")
    agent.write({".git/info/exclude": "*\n"})


def _sparse(agent: Repo) -> None:
    agent.git("sparse-checkout", "set", "--no-cone", "/*", check=False)


ACTS = [
    *(_reset, _configure, _rewrite, _collect, _worktrees, _push, _delete_git, _break_git, _clean, _hide),
    _sparse,
]


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__.strip("_"))
def test_the_user_notices_nothing_and_the_work_is_all_there(
    repo: Repo, run: Run, act: Callable[[Repo], None]
) -> None:
    repo.write({"src/app.py": "uncommitted\n", "untracked": "x", "staged": "x"})
    repo.git("add", "staged")
    repo.git("stash", "push", "--quiet", "--include-untracked")
    repo.git("stash", "apply", "--quiet", "--index")
    repo.hook("post-commit", f"touch '{repo.path}/hook-ran'")
    before = fingerprint(repo)
    other = Lane(run.store, 2, Purpose.WORK)
    prepare(other, tree=run.base, base=run.base)
    agent = run.prepare()
    agent.write({"made.py": "made", "src/app.py": "changed\n"})
    act(agent)
    agent.write({"src/app.py": "changed\n"})
    taken = run.snapshot()

    assert fingerprint(repo) == before
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert set(paths_in(run.store, taken.tree)) == {*FILES, "made.py"}
    assert Repo(run.store.git_dir).git("cat-file", "blob", f"{taken.tree}:src/app.py") == "changed"
    assert Repo(run.store.git_dir).git("fsck", "--strict", "--no-dangling") == ""
    assert files_in(other.directory)["src/app.py"] == FILES["src/app.py"].encode()
    assert other.git_dir.is_dir()
    run.prepare()
    assert agent.git("rev-parse", "HEAD") == run.base
    assert agent.git("status", "--porcelain") == ""


def test_an_agent_without_a_repository_finds_no_other_one(run: Run, tmp_path: Path) -> None:
    agent = run.prepare()
    shutil.rmtree(agent.path / ".git")
    assert tmp_path.is_dir()
    assert agent.git("rev-parse", "--git-dir", check=False) == ""


def test_an_ignore_file_of_the_agent_cannot_hide_tracked_files(run: Run) -> None:
    agent = run.prepare()
    agent.write({".gitignore": "*\n", "src/app.py": "changed\n", "hidden.py": "x"})
    taken = run.snapshot()
    assert set(paths_in(run.store, taken.tree)) == set(FILES)
    assert Repo(run.store.git_dir).git("cat-file", "blob", f"{taken.tree}:src/app.py") == "changed"
    run.prepare()
    assert set(files_in(agent.path)) == set(FILES)
