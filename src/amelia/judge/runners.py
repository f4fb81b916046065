"""How each runner is started so that its results can be read, and where it leaves them.

Python's runners are imported and run by programs of our own, which report through a pipe (`programs`), and
so does `node --test` through a reporter of ours. pytest is started with

- `--rootdir=.` so that names do not depend on the place;
- `--continue-on-collection-errors`: a module that cannot be imported must not hide the others;
- `--maxfail=0`, because a repository's own `-x` would hide every test behind the first failure;
- a cache directory of its own: `--lf` or `--sw` in a repository's options would make the result depend on
  earlier runs. Turning the cache off instead would make those options an error.

No bytecode is written: two trees checked out within a second can have files of the same size and time, and
Python would take the old bytecode for the new source.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amelia.model.evidence import RunnerKind, TestCommand

PYTHON = frozenset({"python", "python3"})
"""The first words of a command that stand for whichever interpreter fits."""

_NODE_REPORTER = Path(__file__).with_name("node_report.mjs")
_PROGRAMS = Path(__file__).with_name("programs")
PYTHON_ENV = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(_PROGRAMS / "startup")}
"""The variables that programs of ours are started with; they take the last one out of their environment."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it is really started; `report` is the file that it writes results to, if there is one."""

    argv: tuple[str, ...]
    report: Path | None = None
    env: dict[str, str] = field(default_factory=dict[str, str])


def program(name: str) -> Path:
    """Returns a program of ours that Python runs."""
    return _PROGRAMS / f"{name}.py"


def reports(command: TestCommand) -> bool:
    """Says whether the results of a command come through a pipe, from a reporter of ours."""
    is_node = command.kind is RunnerKind.NODE and command.argv[0] == "node"
    return is_node or command.kind in {RunnerKind.PYTEST, RunnerKind.UNITTEST}


def needed_module(command: TestCommand) -> str | None:
    """Returns the Python module that the command needs, if it is run by Python."""
    if command.argv[0] not in PYTHON:
        return None
    return "pytest" if command.kind is RunnerKind.PYTEST else "unittest"


def selects(command: TestCommand | None) -> bool:
    """Says whether a command can be told to run some test files only."""
    return command is not None and command.kind is RunnerKind.PYTEST


def invocation(
    command: TestCommand, *, found: str, worktree: Path, private: Path, only: Sequence[str] = ()
) -> Invocation:
    """Returns how to start a command, with `found` for its first word and its caches in `private`.

    `only` are the test files to run, if the command can be told.
    """
    rest = command.argv[1:]
    match command.kind:
        case RunnerKind.PYTEST:
            return Invocation(
                (found, str(program("run_pytest")), *only, "--", *rest[2:], *_pytest_options(private)),
                env=PYTHON_ENV,
            )
        case RunnerKind.UNITTEST:
            return Invocation((found, str(program("run_unittest"))), env=PYTHON_ENV)
        case RunnerKind.NODE if command.argv[0] == "node":
            reporter = (f"--test-reporter={_NODE_REPORTER}", "--test-reporter-destination=stdout")
            return Invocation((found, "--test", *reporter, *rest[1:]))
        case RunnerKind.GO:
            return Invocation((found, "test", "-json", *rest[1:]))
        case RunnerKind.CARGO:
            env = {"CARGO_TERM_COLOR": "never"}
            return Invocation((found, "test", "--no-fail-fast", *rest[1:]), env=env)
        case RunnerKind.NODE | RunnerKind.MAKE | RunnerKind.CUSTOM:
            own = worktree / command.junit if command.junit else None
            return Invocation((found, *rest), own, {"PYTHONDONTWRITEBYTECODE": "1"})


def _pytest_options(private: Path) -> tuple[str, ...]:
    return (
        "-q",
        "--rootdir=.",
        "--maxfail=0",
        "--continue-on-collection-errors",
        "-o",
        f"cache_dir={private / 'cache'}",
    )
