"""What stays in a worktree from check to check, on real files."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from amelia.judge.leftovers import Leftovers

TRACKED = ("code.py", "src/inner/a.py", "sub")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    write(root / "code.py")
    write(root / "src" / "inner" / "a.py")
    write(root / "sub" / "anything")  # a submodule, which git fills itself
    write(root / ".git" / "HEAD")
    return root


@pytest.fixture
def left(root: Path, tmp_path: Path) -> Leftovers:
    return Leftovers(root, tmp_path / "stamps" / "kept", lambda _: TRACKED)


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() or path.is_symlink()}


BEFORE = {"code.py", "src/inner/a.py", "sub/anything", ".git/HEAD"}


def test_without_a_list_nothing_stays_but_what_git_takes_care_of(root: Path, left: Leftovers) -> None:
    write(root / "src" / "gen" / "deep" / "stale.py")
    write(root / "src" / "inner" / "__pycache__" / "a.pyc")
    (root / "link").symlink_to(root.parent)
    assert not left.clear()
    assert names(root) == BEFORE
    assert not (root / "src" / "gen").exists()


def test_what_came_after_the_list_goes_and_what_is_in_it_stays(root: Path, left: Leftovers) -> None:
    write(root / ".venv" / "lib" / "tool.py")
    (root / ".venv" / "empty").mkdir()
    (root / ".venv" / "link").symlink_to("lib")
    left.keep()
    write(root / ".venv" / "lib" / "stray.py")
    write(root / "build" / "stale")
    (root / "build" / "out").symlink_to(root.parent)
    os.mkfifo(root / "pipe")
    assert left.clear()
    assert names(root) == BEFORE | {".venv/lib/tool.py", ".venv/link"}
    assert (root / ".venv" / "empty").is_dir()
    assert left.clear()


def rewritten_in_place(path: Path) -> None:
    before = path.stat()
    with path.open("r+", encoding="utf-8") as file:
        file.write("evil")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path) -> None:
    before = path.stat()
    path.unlink()
    write(path, "evil")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def made_a_program(path: Path) -> None:
    path.chmod(0o755)


def made_a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


def made_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "change",
    [
        rewritten_in_place,
        replaced,
        Path.unlink,
        made_a_program,
        made_a_link,
        made_a_directory,
    ],
)
@pytest.mark.parametrize("is_shared", [False, True])
def test_what_is_not_as_it_was_listed_takes_all_with_it(
    root: Path, left: Leftovers, change: Callable[[Path], None], *, is_shared: bool
) -> None:
    tool = write(root / ".venv" / "tool.py")
    other = write(root / ".venv" / "other.py")
    if is_shared:
        os.link(tool, root.parent / "cache.py")
    left.keep()
    change(tool)
    assert not left.clear()
    assert not other.exists()
    assert names(root) == BEFORE
    assert not left.clear(), "what was made anew has to be listed again"


def test_a_link_to_another_directory_is_not_the_one_that_was_listed(root: Path, left: Leftovers) -> None:
    (root / ".venv").symlink_to("/nowhere")
    left.keep()
    assert left.clear()
    (root / ".venv").unlink()
    (root / ".venv").symlink_to("/elsewhere")
    assert not left.clear()


def test_another_name_for_a_file_of_a_cache_changes_nothing(root: Path, left: Leftovers) -> None:
    tool = write(root / ".venv" / "tool.py")
    os.link(tool, root.parent / "cache.py")
    left.keep()
    os.link(root.parent / "cache.py", root.parent / "another")
    assert left.clear()
    assert tool.exists()


def test_names_that_are_no_text_are_kept_and_removed_like_others(root: Path, left: Leftovers) -> None:
    kept = os.fsencode(root) + b"/kept-\xff"
    with open(kept, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("text")
    left.keep()
    with open(os.fsencode(root) + b"/stray-\xff", "w", encoding="utf-8"):  # noqa: PTH123
        pass
    assert left.clear()
    assert [name for name in os.listdir(os.fsencode(root)) if b"-" in name] == [b"kept-\xff"]  # noqa: PTH208


def test_a_directory_without_permissions_is_removed(root: Path, left: Leftovers) -> None:
    left.keep()
    write(root / "closed" / "inner" / "file")
    (root / "closed" / "inner").chmod(0)
    (root / "closed").chmod(0o500)
    assert left.clear()
    assert names(root) == BEFORE


def test_a_damaged_list_is_none(root: Path, left: Leftovers, tmp_path: Path) -> None:
    write(root / ".venv" / "tool.py")
    left.keep()
    (tmp_path / "stamps" / "kept").write_text("{", encoding="utf-8")
    assert not left.clear()
    assert names(root) == BEFORE
