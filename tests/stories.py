"""Runs of the program as a person starts it: a repository, a plan, a script of agents, and what is left of them.

Whatever a story is about, no command of it may end in a traceback or change anything in the user's checkout:
`Stage.amelia` proves both every time.
"""

import json
import os
import pty
import signal
import subprocess  # noqa: TID251 - a story is a person who starts the program
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from repositories import Repo, fingerprint, make_repository

Act = dict[str, Any]
Turn = dict[str, Any]
Env = Mapping[str, str]

NOTHING: Env = MappingProxyType({})
NOT_ROOT = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
"""What to start a program with so that permissions of files hold for it; nobody but root needs it."""

PATIENCE = 600
SETTINGS = '[verify]\ncommand = ["sh", "check.sh"]\n'
FILES = {
    "README.md": "# Sample\n",
    "check.sh": "test ! -e broken\n",
    "amelia.toml": SETTINGS,
    ".gitignore": "build/\n",
}
OK = {"status": "completed", "summary": "It is done."}
APPROVED: Turn = {"role": "reviewer", "report": {"approved": True}}
TRACKED = {key: value for key, value in os.environ.items() if key.startswith("COVERAGE")}


def tasks(*titles: str, goal: str = "Sample") -> str:
    """Writes a plan of tasks one after the other."""
    each = (f"### Task {number}: {title}\nDo it.\n\n" for number, title in enumerate(titles, 1))
    return f"# {goal}\n\n" + "".join(each)


def independent(*titles: str, **fields: str) -> str:
    """Writes a plan of tasks that do not need each other, each with a file of its own."""
    more = "".join(f"- {name}: {value}\n" for name, value in fields.items())
    each = (
        f"### Task {number}: {title}\n- Files: create file-{number}.txt\n{more}\n"
        for number, title in enumerate(titles, 1)
    )
    return "# Sample\n\n" + "".join(each)


def develops(unit: str, *acts: Act, attempt: int | str = "*", **more: Any) -> Turn:
    """Describes a developer's turn that ends as if all had gone well, unless told otherwise."""
    return {"role": "developer", "unit": unit, "attempt": attempt, "do": list(acts), "report": OK, **more}


def writes(unit: str, *files: str, attempt: int | str = "*") -> Turn:
    """Describes a developer's turn that writes files named after what they are about."""
    return develops(unit, *({"write": file, "text": f"{file}\n"} for file in files), attempt=attempt)


def rejects(*comments: str, **where: Any) -> Turn:
    """Describes a reviewer who asks for changes."""
    found = [{"text": text, "file": "README.md", "line": 1} for text in comments]
    return {"role": "reviewer", "report": {"approved": False, "comments": found}, **where}


def toml(value: object) -> str:
    """Writes a value as TOML on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, cast("list[object]", value))) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(turn: Turn) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in turn.items())


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of_type(self, *names: str) -> list[dict[str, Any]]:
        """Returns the events of some types."""
        return [event for event in self.events if event["type"] in names]

    @property
    def outcome(self) -> str:
        return self.of_type("run_finished")[-1]["outcome"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A repository, a state home, a room of the author's beside them, and whether runs commit their record."""

    room: Path
    repo: Repo
    home: Path
    is_recorded: bool = False

    def environ(self, more: Env = NOTHING) -> dict[str, str]:
        return {
            **TRACKED,
            "PATH": os.environ["PATH"],
            "HOME": str(self.room),
            "AMELIA_HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "AMELIA_COMMIT_RECORD": toml(self.is_recorded),
            "PYTHONIOENCODING": "utf-8",
            # Scripted agents tell each other things there; `tests/wall` has stories without it.
            "AMELIA_WALL__WRITES": toml([str(self.room)]),
            **more,
        }

    def start(
        self, *arguments: str | Path, cwd: Path | None = None, env: Env = NOTHING, by: Sequence[str] = ()
    ) -> "Started":
        """Starts the program, if need be by another one, without waiting for it, in a session of its own."""
        out, err = (self.room / f"{time.monotonic_ns()}.{name}" for name in ("out", "err"))
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [*by, sys.executable, "-m", "amelia", *map(str, arguments)],
                cwd=cwd or self.repo.path,
                env=self.environ(env),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        return Started(process, out, err)

    def amelia(self, *arguments: str | Path, cwd: Path | None = None, env: Env = NOTHING) -> Done:
        """Runs the program to its end, and proves that the user's checkout stays as it is."""
        with self.untouched():
            return self.start(*arguments, cwd=cwd, env=env).wait()

    def at_terminal(
        self, *arguments: str | Path, answers: str = "", cwd: Path | None = None, env: Env = NOTHING
    ) -> Done:
        """Runs the program on a terminal of its own, where a person types answers ahead."""
        person, terminal = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "amelia", *map(str, arguments)],
            cwd=cwd or self.repo.path,
            env=self.environ(env),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        os.write(person, answers.encode())
        said = b""
        with suppress(OSError):  # nobody is at the other end any more
            while True:
                said += os.read(person, 65536)
        os.close(person)
        return Done(process.wait(PATIENCE), said.decode(), "")

    @contextmanager
    def untouched(self) -> Generator[None]:
        """Proves that nothing of the user's repository is changed meanwhile."""
        before = fingerprint(self.repo)
        yield
        assert fingerprint(self.repo) == before

    def put(self, plan: str, *turns: Turn) -> tuple[str, ...]:
        """Writes a plan and a script; returns the arguments that run them."""
        (self.room / "plan.md").write_text(plan)
        self.play(*turns)
        return ("run", str(self.room / "plan.md"), "--script", str(self.room / "script.toml"), "--json")

    def play(self, *turns: Turn, file: str = "script.toml") -> Path:
        """Writes the script of the agents anew."""
        path = self.room / file
        path.write_text("".join(f"[[turn]]\n{_lines(turn)}\n" for turn in turns))
        return path

    def then(self, *turns: Turn) -> Act:
        """Returns an act after which the agents play another script."""
        other = self.play(*turns, file=f"script-{time.monotonic_ns()}.toml")
        return {"run": f"cp '{other}' '{self.room / 'script.toml'}'"}

    def run(self, plan: str, *turns: Turn, options: Sequence[str] = (), env: Env = NOTHING) -> Done:
        """Carries a plan out with scripted agents."""
        return self.amelia(*self.put(plan, *turns), *options, env=env)

    @property
    def name(self) -> str:
        """The only run there is."""
        (name,) = self.names
        return name

    @property
    def names(self) -> list[str]:
        """The runs there are."""
        runs = self.home / "runs"
        names = (path.name for path in runs.iterdir()) if runs.is_dir() else ()
        return sorted(name for name in names if not name.startswith("."))  # those are still being made

    @property
    def directory(self) -> Path:
        return self.home / "runs" / self.name

    @property
    def branch(self) -> str:
        return f"amelia/{self.name}"

    @property
    def has_branch(self) -> bool:
        return bool(self.repo.git("branch", "--list", self.branch))

    def status(self) -> Any:
        return self.amelia("status", self.name, "--json").json

    def subjects(self, base: str = "HEAD") -> list[str]:
        """Returns the first lines of what landed, oldest first."""
        return self.log("%s", base=base)

    def log(self, pattern: str, *, base: str = "HEAD") -> list[str]:
        if not self.has_branch:
            return []
        out = self.repo.git("log", "--reverse", f"--format={pattern}", f"{base}..{self.branch}")
        return out.splitlines()

    def files(self, commit: str | None = None) -> list[str]:
        """Returns the files of a landed commit, by default all of the branch."""
        if commit is None:
            return self.repo.git("ls-tree", "-r", "--name-only", self.branch).splitlines()
        return self.repo.git("diff-tree", "-r", "--no-commit-id", "--name-only", commit).splitlines()

    def show(self, path: str) -> str:
        """Returns a file of the branch."""
        return self.repo.git("show", f"{self.branch}:{path}")

    def turns(self, unit: str, attempt: int, role: str = "developer") -> list[dict[str, Any]]:
        """Returns what was told to an agent: prompts, with the session they were told in."""
        file = self.directory / "transcripts" / unit / f"{attempt}-{role}.jsonl"
        records = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [{**record["turn"], "prompt": record["prompt"]} for record in records if "turn" in record]

    def prompt(self, unit: str, attempt: int, role: str = "developer") -> str:
        (turn,) = self.turns(unit, attempt, role)
        return turn["prompt"]


@dataclass(frozen=True, slots=True)
class Started:
    """A command under way."""

    process: "subprocess.Popen[bytes]"
    out: Path
    err: Path

    def wait(self) -> Done:
        """Waits for its end."""
        try:
            self.process.wait(PATIENCE)
        finally:
            self.kill()
        done = self.done()
        for sign in ("Traceback (most recent call last)", "internal error"):
            said = done.out + done.err
            assert sign not in said, said[said.index(sign) - 200 :][:2000]
        return done

    def done(self) -> Done:
        """Returns what was said so far."""
        code = self.process.returncode
        return Done(-1 if code is None else code, self.out.read_text(), self.err.read_text())

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """Ends it as a crash would, if it still lives."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)

    def until(self, is_there: Callable[[], object], what: str) -> None:
        """Waits until something has happened."""
        wait_until(lambda: is_there() or self.process.poll() is not None, what)
        assert is_there(), f"{what}: {self.done()}"


def wait_until(is_there: Callable[[], object], what: str) -> None:
    """Waits until something has happened, looking often and not for ever."""
    deadline = time.monotonic() + PATIENCE
    while not is_there():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def make_stage(
    room: Path, files: Mapping[str, str | bytes] | None = None, *, name: str = "repository"
) -> Stage:
    """Makes a stage with a repository of the given files."""
    repo = make_repository(room / name, FILES if files is None else files)
    return Stage(room, repo, room / "home")


def sleepers(token: str) -> list[int]:
    """Returns the processes that carry a token in their command line and still live."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_it = token.encode() in (place / "cmdline").read_bytes()
            is_dead = "\nState:\tZ" in (place / "status").read_text()
        except OSError:
            continue
        if is_it and not is_dead:
            found.append(int(place.name))
    return found
