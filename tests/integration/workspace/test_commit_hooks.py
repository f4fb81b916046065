from datetime import timedelta
from pathlib import Path

import pytest

from amelia.system.process import process_start_time
from amelia.workspace.diff import file_at, paths_in
from amelia.workspace.hooks import before_commit
from repositories import Repo, Run, executable, start_run, watch_git
from tracing import wait_until


def test_what_a_hook_changes_is_part_of_the_snapshot(run: Run) -> None:
    run.repo.hook("pre-commit", "tr a-z A-Z < src/app.py > x && mv x src/app.py && echo made > made.txt")
    run.prepare().write({"src/app.py": "two\n"})
    taken = run.snapshot()
    assert taken.refused is None
    assert file_at(run.store, taken.tree, "src/app.py") == b"TWO\n"
    assert file_at(run.store, taken.tree, "made.txt") == b"made\n"


def test_a_hook_sees_the_base_as_head_and_the_work_in_the_index(run: Run, tmp_path: Path) -> None:
    run.repo.hook(
        "pre-commit", f"git diff --cached --name-status HEAD > '{tmp_path}/seen'; git rev-parse HEAD"
    )
    run.prepare().commit({"new.py": "x", "src/app.py": "two\n"})
    run.snapshot()
    assert (tmp_path / "seen").read_text() == "A\tnew.py\nM\tsrc/app.py\n"


def test_what_a_hook_refuses_is_kept_and_told(run: Run) -> None:
    run.repo.hook("pre-commit", "echo no tabs please; echo really >&2; exit 1")
    run.prepare().write({"new.py": "x"})
    taken = run.snapshot()
    assert taken.refused is not None
    assert taken.refused.hook == "pre-commit"
    assert "no tabs please" in taken.refused.output
    assert "really" in taken.refused.output
    assert "new.py" in paths_in(run.store, taken.tree)
    assert Repo(run.store.git_dir).git("rev-parse", "refs/amelia/r1/1/1") == taken.commit


def test_a_hook_that_says_nothing_still_gives_a_reason(run: Run) -> None:
    run.repo.hook("pre-commit", "exit 7")
    run.prepare()
    refused = run.snapshot().refused
    assert refused is not None
    assert "exit code 7" in refused.output


def test_a_formatter_that_refuses_the_first_time_is_content_the_second_time(run: Run) -> None:
    run.repo.hook("pre-commit", "grep -q done src/app.py || { echo done >> src/app.py; exit 1; }")
    run.prepare().write({"src/app.py": "two\n"})
    taken = run.snapshot()
    assert taken.refused is None
    assert file_at(run.store, taken.tree, "src/app.py") == b"two\ndone\n"


def test_the_message_is_what_the_hook_made_of_it(run: Run) -> None:
    run.repo.hook("commit-msg", 'echo "Change-Id: I1" >> "$1"')
    run.prepare()
    taken = run.snapshot(message="Task 1\n\nAmelia-Run: r1\n")
    assert taken.message == "Task 1\n\nAmelia-Run: r1\nChange-Id: I1\n"
    assert (
        Repo(run.store.git_dir).git("log", "-1", "--format=%B", taken.commit).strip() == taken.message.strip()
    )


def test_a_message_that_a_hook_refuses_or_empties_is_kept(run: Run) -> None:
    run.repo.hook("commit-msg", ': > "$1"; echo bad message; exit 1')
    run.prepare()
    taken = run.snapshot()
    assert taken.message == "Work\n"
    assert taken.refused is not None
    assert (taken.refused.hook, taken.refused.output) == ("commit-msg", "bad message")


@pytest.mark.slow
def test_a_hook_that_never_ends_is_ended(run: Run) -> None:
    run.repo.hook("pre-commit", "echo begun; sleep 60 & sleep 60")
    run.prepare()
    refused = before_commit(run.work, patience=timedelta(seconds=1))
    assert refused is not None
    assert "begun" in refused.output
    assert "did not end" in refused.output


def test_what_a_hook_leaves_running_ends_with_it(run: Run, tmp_path: Path) -> None:
    run.repo.hook("pre-commit", f"sh lint.sh & echo $! > '{tmp_path}/child'")
    run.prepare().write({"lint.sh": "sleep 60; echo later > README.md\n"})
    assert run.snapshot().refused is None
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: process_start_time(child) is None)


def test_a_hook_that_breaks_the_worktree_leaves_no_snapshot(run: Run) -> None:
    run.repo.hook("pre-commit", "rm README.md && mkfifo README.md")
    run.prepare()
    assert "README.md" in getattr(run.try_snapshot(), "detail", "")


def test_no_other_hook_ever_runs(run: Run, tmp_path: Path) -> None:
    names = "post-checkout post-commit post-index-change prepare-commit-msg reference-transaction post-merge"
    for name in names.split():
        run.repo.hook(name, f"touch '{tmp_path}/{name}-ran'")
    run.prepare().write({"new.py": "x"})
    run.snapshot()
    assert not list(tmp_path.glob("*-ran"))


@pytest.mark.parametrize("configured", [".husky", "absolute"])
def test_hooks_are_found_where_the_user_configured_them(repo: Repo, tmp_path: Path, configured: str) -> None:
    path = str(tmp_path / "hooks") if configured == "absolute" else configured
    repo.git("config", "core.hooksPath", path)
    executable(repo.path / path / "pre-commit", "echo refused; exit 1")
    run = start_run(repo, tmp_path / "run")
    run.prepare()
    assert run.snapshot().refused is not None


def test_without_hooks_and_with_one_that_is_not_executable_nothing_more_is_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.repo.hook("pre-commit", "exit 1").chmod(0o644)
    run.prepare()
    commands = watch_git(tmp_path, monkeypatch)
    assert run.snapshot().refused is None
    assert "hook" not in commands()


def test_settings_of_the_users_repository_hold_for_hooks(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "hooks.limit", "5")
    repo.hook("pre-commit", "git config hooks.limit; exit 1")
    run = start_run(repo, tmp_path / "run")
    run.prepare()
    refused = run.snapshot().refused
    assert refused is not None
    assert refused.output == "5"


ARMS = """
mkdir -p .evil && printf '[filter "x"]\\nclean = touch {mark}\\n' > .evil/config
echo "$PWD/.evil" > "$GIT_DIR/commondir"; echo '* filter=x' > .gitattributes
"""


@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg"])
def test_what_a_hook_does_to_its_git_directory_speaks_to_nobody_else(
    run: Run, tmp_path: Path, hook: str
) -> None:
    mark = tmp_path / "ran"
    run.repo.hook(
        hook, ARMS.format(mark=mark) + "rm -f $GIT_DIR/index && ln -s /etc/passwd $GIT_DIR/HEAD.lock"
    )
    run.prepare().write({"src/app.py": "two\n"})
    taken = run.snapshot()
    assert file_at(run.store, taken.tree, "src/app.py") == b"two\n"
    run.snapshot()
    assert not mark.exists()


def test_a_link_in_the_place_of_the_message_is_followed_by_nobody(run: Run, tmp_path: Path) -> None:
    secret, mine = tmp_path / "secret", tmp_path / "mine"
    secret.write_text("the key\n")
    mine.write_text("mine\n")
    run.repo.hook("pre-commit", f"ln -sf '{mine}' $GIT_DIR/COMMIT_EDITMSG")
    run.repo.hook("commit-msg", f"ln -sf '{secret}' $1")
    run.prepare().write({"src/app.py": "two\n"})
    assert "the key" not in run.snapshot().message
    assert mine.read_text() == "mine\n"
