"""Runs a program of ours on a tree, and reads its report as the judge does."""

import os
import subprocess  # noqa: TID251 - a program is run as itself
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from amelia.judge.results import Unreadable, parse_lines
from amelia.judge.runners import PYTHON_ENV, program
from amelia.model.evidence import TestResult, TestStatus


@dataclass(frozen=True)
class Ran:
    """How a program ended, what it printed and what it reported."""

    code: int
    text: str
    read: tuple[TestResult, ...] | Unreadable

    @property
    def results(self) -> tuple[TestResult, ...]:
        """The results, which are there."""
        assert not isinstance(self.read, Unreadable), (self.read, self.text)
        return self.read

    @property
    def statuses(self) -> dict[str, TestStatus]:
        """The status of each test."""
        return {result.id: result.status for result in self.results}


def run_program(name: str, tree: Path, *arguments: str, python: str = sys.executable) -> Ran:
    """Runs a program on a tree to its end."""
    reader, writer = os.pipe()
    env = {"PATH": os.environ["PATH"], **PYTHON_ENV, "AMELIA_REPORT": str(writer)}
    argv = (python, str(program(name)), *arguments)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv, cwd=tree, env=env, pass_fds=(writer,), stdout=output, stderr=subprocess.STDOUT
        )
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            report = pipe.read()
        code = process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Ran(code, text, parse_lines(report, root=str(tree.resolve())))
