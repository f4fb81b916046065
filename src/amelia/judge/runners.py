"""How each runner is started so that its results can be read, and where it leaves them.

pytest is started with

- `--junitxml` in the family that names files, `--rootdir=.` so that names do not depend on the place;
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

from amelia.judge import unittest_report
from amelia.model.evidence import RunnerKind, TestCommand

PYTHON = frozenset({"python", "python3"})
"""The first words of a command that stand for whichever interpreter fits."""

_NODE_REPORTER = Path(__file__).with_name("node_report.mjs")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it is really started; `report` is the file that holds the results, if there is one."""

    argv: tuple[str, ...]
    report: Path | None = None
    env: dict[str, str] = field(default_factory=dict[str, str])


def needed_module(command: TestCommand) -> str | None:
    """Returns the Python module that the command needs, if it is run by Python."""
    if command.argv[0] not in PYTHON:
        return None
    return "pytest" if command.kind is RunnerKind.PYTEST else "unittest"


def selects(command: TestCommand | None) -> bool:
    """Says whether a command can be told to run some test files only."""
    return command is not None and command.kind is RunnerKind.PYTEST


def invocation(
    command: TestCommand, *, program: str, worktree: Path, private: Path, only: Sequence[str] = ()
) -> Invocation:
    """Returns how to start a command, with `program` for its first word and results in `private`.

    `only` are the test files to run, if the command can be told.
    """
    report = private / "report"
    rest = command.argv[1:]
    match command.kind:
        case RunnerKind.PYTEST:
            return Invocation(
                (program, *rest, *_pytest_options(private), f"--junitxml={report}", *only),
                report,
                _PYTHON_ENV,
            )
        case RunnerKind.UNITTEST:
            return Invocation((program, unittest_report.__file__, str(report)), report, _PYTHON_ENV)
        case RunnerKind.NODE if command.argv[0] == "node":
            reporter = (f"--test-reporter={_NODE_REPORTER}", f"--test-reporter-destination={report}")
            return Invocation((program, "--test", *reporter, *rest[1:]), report)
        case RunnerKind.GO:
            return Invocation((program, "test", "-json", *rest[1:]))
        case RunnerKind.CARGO:
            env = {"CARGO_TERM_COLOR": "never"}
            return Invocation((program, "test", "--no-fail-fast", *rest[1:]), env=env)
        case RunnerKind.NODE | RunnerKind.MAKE | RunnerKind.CUSTOM:
            own = worktree / command.junit if command.junit else None
            return Invocation((program, *rest), own, _PYTHON_ENV)


def _pytest_options(private: Path) -> tuple[str, ...]:
    return (
        "-q",
        "--rootdir=.",
        "--maxfail=0",
        "--continue-on-collection-errors",
        "-o",
        "junit_family=xunit1",
        "-o",
        f"cache_dir={private / 'cache'}",
    )


_PYTHON_ENV = {"PYTHONDONTWRITEBYTECODE": "1"}
