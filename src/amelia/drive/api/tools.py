"""The hands of a model: six small tools, bound to one worktree.

- A path that leads out of the worktree, by dots, links or a root of its own, is refused; a shell command can
  go anywhere, so only who may write gets the shell.
- What comes back to the model is bounded, and says when something was left out.
- A command ends with everything it has started, when it ends or when its time is up.
"""

import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from pydantic_ai import Tool
from pydantic_ai.exceptions import ToolFailed

from amelia.system.process import run_supervised

TEXT_LIMIT = 40_000
"""How many characters a tool gives to the model at most."""

ENTRY_LIMIT = 1_000
HIT_LIMIT = 200
HIT_WIDTH = 400
LARGEST_FILE = 10_000_000
LARGEST_SEARCHED = 1_000_000
LONGEST_COMMAND = 600
SKIPPED = frozenset({".git", ".venv", "__pycache__", "node_modules", "venv"})


class Hands:
    """The tools for one worktree; `on_denied` hears what was refused."""

    def __init__(
        self, root: Path, *, environment: Mapping[str, str], on_denied: Callable[[str], None]
    ) -> None:
        self._root = Path(os.path.realpath(root))
        self._environment = environment
        self._on_denied = on_denied

    def tools(self, *, may_write: bool) -> list[Tool[None]]:
        """Returns the tools to read with, and those to change something if that is allowed."""
        reading: list[Callable[..., object]] = [self.read_file, self.list_files, self.search]
        writing: list[Callable[..., object]] = [self.write_file, self.edit_file, self.shell]
        # One after the other: a model that edits twice in one answer means the second after the first.
        return [Tool[None](use, sequential=True) for use in (*reading, *(writing if may_write else ()))]

    def read_file(self, path: str, first_line: int = 1, lines: int = 2_000) -> str:
        """Reads a text file. Long files come in parts: ask for later lines with first_line."""
        with _told(path), self._inside(path).open("rb") as file:
            every = file.read(LARGEST_FILE).decode("utf-8", "replace").splitlines(keepends=True)
        end = max(first_line, 1) - 1 + max(lines, 1)
        part = "".join(every[max(first_line, 1) - 1 : end])
        if len(part) > TEXT_LIMIT:
            return f"{part[:TEXT_LIMIT]}\n[cut here; ask for fewer lines]"
        return f"{part}\n[{len(every) - end} more lines from line {end + 1}]" if len(every) > end else part

    def list_files(self, folder: str = ".") -> str:
        """Lists the files in a folder and below it."""
        with _told(folder):
            top = self._inside(folder)
        found: list[str] = []
        for path in self._files(top):
            if len(found) == ENTRY_LIMIT:
                return "\n".join([*found, f"[more than {ENTRY_LIMIT} files; list a smaller folder]"])
            found.append(str(path.relative_to(self._root)))
        return "\n".join(found) or "[no files]"

    def search(self, text: str, folder: str = ".") -> str:
        """Finds the lines that contain a text, exactly as it is written, in the files of a folder."""
        with _told(folder):
            top = self._inside(folder)
        hits: list[str] = []
        for path in self._files(top):
            for number, line in _lines(path):
                if text in line:
                    hits.append(f"{path.relative_to(self._root)}:{number}: {line.strip()[:HIT_WIDTH]}")
                if len(hits) == HIT_LIMIT:
                    return "\n".join([*hits, f"[stopped after {HIT_LIMIT} lines]"])[:TEXT_LIMIT]
        return "\n".join(hits)[:TEXT_LIMIT] or "[not found]"

    def write_file(self, path: str, text: str) -> str:
        """Writes a whole text file; folders are made as needed."""
        with _told(path):
            file = self._inside(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", errors="replace", newline="")
        return f"wrote {path}"

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replaces one piece of a text file; old must occur exactly once, with its white space."""
        with _told(path):
            file = self._inside(path)
            text = file.read_bytes().decode("utf-8")
            count = text.count(old) if old else 0
            if count != 1:
                raise ToolFailed(f"{path}: old occurs {count} times; give a piece that occurs once")
            file.write_text(text.replace(old, new), encoding="utf-8", errors="replace", newline="")
        return f"edited {path}"

    async def shell(self, command: str, seconds: int = 120) -> str:
        """Runs a shell command in the work tree; what it leaves in the background is ended with it."""
        seconds = min(max(seconds, 1), LONGEST_COMMAND)
        with _told("sh"), tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "output")
            finished = await run_supervised(
                ["sh", "-c", command],
                cwd=self._root,
                env=self._environment,
                timeout=timedelta(seconds=seconds),
                output=output,
            )
            text = _ends(output)
        if finished.exit_code == 0:
            return text or "[no output]"
        how = f"no end after {seconds} s" if finished.timed_out else f"exit code {finished.exit_code}"
        raise ToolFailed(f"{text}\n[{how}]")

    def _inside(self, path: str) -> Path:
        """Returns where a path leads, unless that is outside."""
        real = Path(os.path.realpath(self._root / path))
        if not real.is_relative_to(self._root):
            self._on_denied(path)
            raise ToolFailed(f"{path}: outside of the work tree")
        return real

    def _files(self, top: Path) -> Iterator[Path]:
        """Yields the files below a folder in a stable order; links are left out."""
        if top.is_file():
            yield top
        for folder, inner, names in os.walk(top):
            inner[:] = sorted(name for name in inner if name not in SKIPPED)
            files = (Path(folder, name) for name in sorted(names) if name not in SKIPPED)
            yield from (file for file in files if not file.is_symlink())


@contextmanager
def _told(path: str) -> Generator[None]:
    """Tells the model what the system refuses; it can try something else."""
    try:
        yield
    except OSError as error:
        raise ToolFailed(f"{path}: {error.strerror}") from error
    except ValueError as error:  # a NUL in a path, a file that is no text
        raise ToolFailed(f"{path}: {error}") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the numbered lines of a file, unless it is too large, binary or unreadable."""
    try:
        data = path.read_bytes() if path.is_file() and path.stat().st_size <= LARGEST_SEARCHED else b""
    except OSError:
        return
    if b"\0" not in data:
        yield from enumerate(data.decode("utf-8", "replace").splitlines(), 1)


def _ends(output: Path) -> str:
    """Returns what a command wrote: its beginning and its end, if it is too long."""
    size = output.stat().st_size
    with output.open("rb") as file:
        if size <= TEXT_LIMIT:
            return file.read().decode("utf-8", "replace")
        head = file.read(TEXT_LIMIT // 2).decode("utf-8", "replace")
        file.seek(size - TEXT_LIMIT // 2)
        tail = file.read().decode("utf-8", "replace")
    return f"{head}\n[{size - TEXT_LIMIT} bytes left out]\n{tail}"
