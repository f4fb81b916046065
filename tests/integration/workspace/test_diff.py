import os
from pathlib import Path

import pytest

from amelia.model.evidence import Change, ChangeStatus
from amelia.workspace.diff import changes, file_at, patch, paths_in
from repositories import FILES, Repo, Run, make_repository, start_run, watch_git


def test_every_kind_of_change_is_told(run: Run) -> None:
    agent = run.prepare()
    agent.write({"new name é\n.txt": "1\n2\n", "bin": b"\0\1", "src/app.py": "print('two')\nmore\n"})
    (agent.path / "README.md").unlink()
    (agent.path / ".gitignore").unlink()
    (agent.path / ".gitignore").symlink_to("elsewhere")
    taken = run.snapshot()

    def was(path: str) -> str:
        """Returns a file as it was, in git's words."""
        mode, _, name, _ = run.repo.git("ls-tree", run.base, path).split()
        return f"{mode} {name}"

    assert changes(run.store, run.base, taken.tree) == (
        Change(path=".gitignore", status=ChangeStatus.TYPE, was=was(".gitignore"), added=1, deleted=1),
        Change(path="README.md", status=ChangeStatus.DELETED, was=was("README.md"), deleted=1),
        Change(path="bin", status=ChangeStatus.ADDED, is_binary=True),
        Change(path="new name é\n.txt", status=ChangeStatus.ADDED, added=2),
        Change(path="src/app.py", status=ChangeStatus.MODIFIED, was=was("src/app.py"), added=2, deleted=1),
    )


def test_a_change_of_mode_is_a_change(run: Run) -> None:
    (run.prepare().path / "src/app.py").chmod(0o755)
    taken = run.snapshot()
    (change,) = changes(run.store, run.base, taken.tree)
    assert (change.path, change.status, change.added) == ("src/app.py", ChangeStatus.MODIFIED, 0)


def test_a_rename_is_a_deletion_and_an_addition(run: Run) -> None:
    agent = run.prepare()
    (agent.path / "src/app.py").rename(agent.path / "src/main.py")
    found = changes(run.store, run.base, run.snapshot().tree)
    assert [(change.path, change.status) for change in found] == [
        ("src/app.py", ChangeStatus.DELETED),
        ("src/main.py", ChangeStatus.ADDED),
    ]


def test_names_that_are_no_text_are_told(run: Run) -> None:
    odd = os.fsdecode(b"odd\xff\t")
    (run.prepare().path / odd).write_text("x\n")
    taken = run.snapshot()
    assert [change.path for change in changes(run.store, run.base, taken.tree)] == [odd]
    assert file_at(run.store, taken.tree, odd) == b"x\n"
    assert odd in paths_in(run.store, taken.tree)


def test_a_difference_costs_one_process(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.prepare().write({"a": "x", "b": "y"})
    taken = run.snapshot()
    commands = watch_git(tmp_path, monkeypatch)
    assert len(changes(run.store, run.base, taken.tree)) == 2
    assert patch(run.store, run.base, taken.tree, limit=9999)
    assert commands() == ["diff-tree", "diff-tree"]


PATCH = """\
diff --git a/bin b/bin
new file mode 100644
index 0000000000000000000000000000000000000000..d8a26382b5b74b3a8daa6b19a9dbbb8c7ebd1a53
Binary files /dev/null and b/bin differ
diff --git a/src/app.py b/src/app.py
index 5bad5d74a81e8a1f4fdb2dbd5b2d4ebd9f85ec0b..x 100644
--- a/src/app.py
+++ b/src/app.py
@@ -1 +1 @@
-print('one')
+print('two')
"""


def test_the_patch_is_the_same_whatever_the_user_configured(repo: Repo, tmp_path: Path) -> None:
    plain = start_run(repo, tmp_path / "plain")
    plain.prepare().write({"src/app.py": "print('two')\n", "bin": b"\0\1"})
    expected = patch(plain.store, plain.base, plain.snapshot().tree, limit=9999)
    for key, value in {
        "diff.external": "false",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.context": "0",
        "diff.renames": "copies",
        "diff.orderFile": "/nowhere",
        "diff.ignoreSubmodules": "all",
        "diff.shout.textconv": "tr a-z A-Z <",
        "diff.shout.command": "false",
        "color.ui": "always",
        "core.quotePath": "true",
        "core.pager": "false",
    }.items():
        repo.git("config", key, value)
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/attributes").write_text("*.py diff=shout\n")
    run = start_run(repo, tmp_path / "run", run="r2")
    run.prepare().write({"src/app.py": "print('two')\n", "bin": b"\0\1"})
    found = patch(run.store, run.base, run.snapshot().tree, limit=9999)
    assert found == expected
    assert [line[:30] for line in found.text.splitlines()][4:5] == [PATCH.splitlines()[4][:30]]
    assert found.text.splitlines()[-5:] == PATCH.splitlines()[-5:]
    assert "Binary files /dev/null and b/bin differ" in found.text
    assert not found.is_truncated


def test_a_long_patch_is_cut_and_says_so(run: Run) -> None:
    run.prepare().write({"long.txt": "é\n" * 10_000})
    taken = run.snapshot()
    whole = patch(run.store, run.base, taken.tree, limit=10_000_000)
    cut = patch(run.store, run.base, taken.tree, limit=1000)
    assert cut.is_truncated
    assert not whole.is_truncated
    assert whole.text.startswith(cut.text[:990])
    assert len(cut.text.encode()) <= 1002  # a character that was cut in two is replaced by a longer one


def test_text_that_is_no_utf_8_is_shown_as_far_as_possible(run: Run) -> None:
    run.prepare().write({"latin.txt": b"caf\xe9\n"})
    assert "+caf\ufffd\n" in patch(run.store, run.base, run.snapshot().tree, limit=9999).text


def test_content_is_found_by_path(run: Run) -> None:
    assert file_at(run.store, run.base, "README.md") == FILES["README.md"].encode()
    assert [file_at(run.store, run.base, path) for path in ("missing", "src", "", "../x", "/etc/passwd")] == [
        None
    ] * 5


def test_attributes_of_the_agent_do_not_hide_a_change(run: Run) -> None:
    run.prepare().write({".gitattributes": "*.py -diff binary\n", "src/app.py": "evil\n"})
    taken = run.snapshot()
    assert "+evil" in patch(run.store, run.base, taken.tree, limit=9999).text


def test_objects_of_sha256_repositories_work_the_same(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "new", None, "--object-format=sha256")
    run = start_run(repo, tmp_path / "run")
    agent = run.prepare()
    agent.write({"src/app.py": "two\n"})
    assert agent.git("status", "--porcelain") == " M src/app.py"
    assert len(changes(run.store, run.base, run.snapshot().tree)) == 1
    assert len(run.base) == 64
