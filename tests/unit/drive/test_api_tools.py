"""The tools that a model gets: bound to the worktree, bounded in what they give back."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ToolFailed

from amelia.drive.api.tools import TEXT_LIMIT, Hands
from tracing import Trace, anyio_backend, trace

__all__ = ["anyio_backend", "trace"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


@pytest.fixture
def denied() -> list[str]:
    return []


@pytest.fixture
def hands(root: Path, denied: list[str], trace: Trace) -> Hands:
    return Hands(root, environment=trace.env, on_denied=denied.append)


def test_only_who_may_write_gets_tools_to_change_something(hands: Hands) -> None:
    reading = ["read_file", "list_files", "search"]
    assert [tool.name for tool in hands.tools(may_write=False)] == reading
    assert [tool.name for tool in hands.tools(may_write=True)] == [
        *reading,
        "write_file",
        "edit_file",
        "shell",
    ]


def test_a_written_file_can_be_read_and_edited(hands: Hands, root: Path) -> None:
    hands.write_file("src/deep/a.py", "one\r\ntwo\n")
    assert hands.read_file("src/deep/a.py") == "one\r\ntwo\n"
    hands.edit_file("src/deep/a.py", "one", "ONE")
    assert (root / "src/deep/a.py").read_bytes() == b"ONE\r\ntwo\n"


def test_a_long_file_comes_in_parts(hands: Hands) -> None:
    hands.write_file("a.txt", "".join(f"{number}\n" for number in range(1, 11)))
    assert hands.read_file("a.txt", lines=2) == "1\n2\n\n[8 more lines from line 3]"
    assert hands.read_file("a.txt", first_line=9) == "9\n10\n"
    assert hands.read_file("a.txt", first_line=-5, lines=-5) == "1\n\n[9 more lines from line 2]"
    assert hands.read_file("a.txt", first_line=99) == ""


def test_what_is_too_long_is_cut_and_says_so(hands: Hands) -> None:
    hands.write_file("a.txt", "x" * 3 * TEXT_LIMIT)
    text = hands.read_file("a.txt")
    assert len(text) < TEXT_LIMIT + 100
    assert text.endswith("[cut here; ask for fewer lines]")


@pytest.mark.parametrize("old", ["", "zwei", "e"])
def test_an_edit_must_fit_exactly_once(hands: Hands, old: str) -> None:
    hands.write_file("a.txt", "eins zwei zwei e")
    with pytest.raises(ToolFailed, match=r"occurs \d times"):
        hands.edit_file("a.txt", old, "x")
    assert hands.read_file("a.txt") == "eins zwei zwei e"


def uses(hands: Hands, path: str) -> list[Callable[[], str]]:
    return [
        lambda: hands.read_file(path),
        lambda: hands.list_files(path),
        lambda: hands.search("x", path),
        lambda: hands.write_file(path, "x"),
        lambda: hands.edit_file(path, "x", "y"),
    ]


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "folder/../../secret", "out/secret"])
def test_nothing_outside_of_the_work_tree_is_touched(
    hands: Hands, root: Path, denied: list[str], path: str
) -> None:
    secret = root.parent / "secret"
    secret.write_text("x")
    (root / "link").symlink_to(secret)
    (root / "out").symlink_to(root.parent)
    for use in uses(hands, path):
        with pytest.raises(ToolFailed, match="outside of the work tree"):
            use()
    assert denied == [path] * 5
    assert secret.read_text() == "x"


@pytest.mark.parametrize("path", ["missing", "missing/deeper", "nul\0", "binary"])
def test_what_the_system_refuses_is_told_to_the_model(hands: Hands, root: Path, path: str) -> None:
    (root / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ToolFailed):
        hands.edit_file(path, "x", "y")
    with pytest.raises(ToolFailed):
        hands.read_file("nul\0")
    with pytest.raises(ToolFailed):
        hands.write_file(".", "x")


def test_files_are_listed_in_order_without_what_nobody_wrote(hands: Hands, root: Path) -> None:
    for name in ("b.py", "a/c.py", ".git/config", "node_modules/x.js", ".github/ci.yml"):
        hands.write_file(name, "x")
    (root / "link").symlink_to(root / "b.py")
    assert hands.list_files() == "b.py\n.github/ci.yml\na/c.py"
    assert hands.list_files("a") == "a/c.py"
    assert hands.list_files("b.py") == "b.py"
    assert hands.list_files("nothing") == "[no files]"


def test_a_large_folder_is_listed_in_part(hands: Hands, root: Path) -> None:
    for number in range(1_001):
        (root / f"{number:04}").touch()
    listed = hands.list_files().splitlines()
    assert len(listed) == 1_001
    assert listed[-1] == "[more than 1000 files; list a smaller folder]"


def test_a_search_finds_lines_by_their_text(hands: Hands, root: Path) -> None:
    hands.write_file("a.py", "one\n  def f(x):\n")
    hands.write_file("b/c.py", "def f(y):\n")
    (root / "binary").write_bytes(b"def f(\0")
    (root / "large").write_bytes(b"def f(\n" * 200_000)
    os.mkfifo(root / "pipe")
    assert hands.search("def f(") == "a.py:2: def f(x):\nb/c.py:1: def f(y):"
    assert hands.search("def f(", "b") == "b/c.py:1: def f(y):"
    assert hands.search("nothing like it") == "[not found]"


def test_a_file_that_vanishes_does_not_end_a_search(hands: Hands, root: Path) -> None:
    (root / "closed").mkdir()
    (root / "closed" / "a").write_text("x")
    (root / "b").write_text("x")
    (root / "b").chmod(0)
    assert hands.search("x") in {"closed/a:1: x", "b:1: x\nclosed/a:1: x"}  # root may read everything


def test_a_search_stops_when_it_has_found_enough(hands: Hands) -> None:
    hands.write_file("a.txt", "x\n" * 500)
    found = hands.search("x").splitlines()
    assert len(found) == 201
    assert found[-1] == "[stopped after 200 lines]"


@pytest.mark.anyio
@pytest.mark.slow
async def test_a_command_runs_in_the_work_tree(hands: Hands, root: Path) -> None:
    assert await hands.shell("pwd; echo two >&2") == f"{root}\ntwo\n"
    assert await hands.shell("true") == "[no output]"


@pytest.mark.anyio
@pytest.mark.slow
async def test_a_command_that_fails_says_how(hands: Hands) -> None:
    with pytest.raises(ToolFailed, match=r"(?s)words.*\[exit code 3\]"):
        await hands.shell("echo words; exit 3")


@pytest.mark.anyio
@pytest.mark.slow
async def test_a_command_ends_with_its_time_and_all_it_started(hands: Hands, trace: Trace) -> None:
    with pytest.raises(ToolFailed, match=r"\[no end after 1 s\]"):
        await hands.shell("setsid sleep 600 & sleep 600", seconds=-1)
    assert not trace.living()


@pytest.mark.anyio
@pytest.mark.slow
async def test_a_command_leaves_nothing_in_the_background(hands: Hands, trace: Trace) -> None:
    assert await hands.shell("setsid sleep 600 >/dev/null 2>&1 & echo started") == "started\n"
    assert not trace.living()


@pytest.mark.anyio
@pytest.mark.slow
async def test_of_much_output_beginning_and_end_are_kept(hands: Hands) -> None:
    text = await hands.shell("echo first; yes | head -c 1000000; echo last")
    assert len(text) < TEXT_LIMIT + 100
    assert text.startswith("first\n")
    assert text.endswith("last\n")
    assert "bytes left out]" in text
