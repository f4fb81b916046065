"""Runs the unit tests below the current directory and writes one line of JSON for each.

A program of its own, for whichever Python the tree under test uses: standard library only, nothing newer than
3.8. What unittest prints cannot be read back safely, because tests print as well. The last line counts the
others, so that a run that was cut short cannot be taken for a whole one.
"""

# ruff: noqa: ANN401, D102, N802 - the names and parameters are those of unittest

from __future__ import annotations

import json
import os
import sys
import unittest
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    _Failure = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

_IMPORT_FAILED = "unittest.loader._FailedTest."


class Recorder(unittest.TextTestResult):
    """Keeps the status of every test beside what unittest prints."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.lines: list[dict[str, object]] = []

    def record(self, test: unittest.TestCase, status: str, message: str = "") -> None:
        """Remembers how a test ended."""
        file, names = _place(test)
        self.lines.append({"file": file, "names": names, "status": status, "message": message})

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.record(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: _Failure) -> None:
        super().addFailure(test, err)
        self.record(test, "failed", self.failures[-1][1])

    def addError(self, test: unittest.TestCase, err: _Failure) -> None:
        super().addError(test, err)
        message = self.errors[-1][1]
        if test.id().startswith(_IMPORT_FAILED):
            # Whatever went wrong is announced as an ImportError; what it was comes after that.
            message = message.partition("\n")[2]
        self.record(test, "error", message)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.record(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: _Failure) -> None:
        super().addExpectedFailure(test, err)
        self.record(test, "skipped", "expected to fail")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.record(test, "failed", "passed, and was expected to fail")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: _Failure | None) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.record(test, "failed", str(err[1]))


def main() -> int:
    """Runs all tests; returns the exit code."""
    # The directory of this file is none of the tests' business; the one they are run in is.
    sys.path[0] = os.getcwd()  # noqa: PTH109
    runner = unittest.TextTestRunner(resultclass=Recorder)
    result = cast("Recorder", runner.run(unittest.TestSuite(_suites())))
    with open(sys.argv[1], "w", encoding="utf-8") as report:  # noqa: PTH123
        report.writelines(json.dumps(line) + "\n" for line in result.lines)
        report.write(json.dumps({"end": len(result.lines)}) + "\n")
    return 0 if result.wasSuccessful() else 1


def _suites() -> Iterator[unittest.TestSuite]:
    yield unittest.TestLoader().discover(".")
    # Discovery from the top sees packages only; a plain directory of tests is as common.
    for folder in ("tests", "test"):
        if os.path.isdir(folder) and not os.path.exists(os.path.join(folder, "__init__.py")):  # noqa: PTH110, PTH112, PTH118
            yield unittest.TestLoader().discover(folder, top_level_dir=folder)


def _place(test: unittest.TestCase) -> tuple[str | None, list[str]]:
    """Returns the file of a test and its names inside; a module that cannot be imported has no names."""
    name = test.id()
    if name.startswith(_IMPORT_FAILED):
        path = name[len(_IMPORT_FAILED) :].replace(".", "/")
        ends = (".py", "/__init__.py")
        places = [start + path + end for start in ("", "tests/", "test/") for end in ends]
        return next(filter(os.path.isfile, places), path + ".py"), []
    module = sys.modules.get(type(test).__module__)
    file: str | None = getattr(module, "__file__", None)
    if type(test).__module__.startswith("unittest.") or file is None:
        return None, [name]  # the setup of a class or a module, which has a name and no place
    # A class may be made in one module and tested under the name of another.
    return os.path.relpath(file).replace(os.sep, "/"), [type(test).__qualname__, name.rpartition(".")[2]]


if __name__ == "__main__":
    sys.exit(main())
