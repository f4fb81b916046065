"""Runs the unit tests below the current directory and reports each.

What unittest prints cannot be read back safely, because tests print as well.
"""

# ruff: noqa: ANN401, D102, N802 - the names and parameters are those of unittest

from __future__ import annotations

import os
import sys

import amelia_report

PATH = amelia_report.ModulePath()
import unittest  # noqa: E402 - nothing of the tree is on the path now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    _Failure = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

_IMPORT_FAILED = "unittest.loader._FailedTest."


class Recorder(unittest.TextTestResult):
    """Reports the status of every test beside what unittest prints."""

    def __init__(self, *args: Any, report: amelia_report.Report, **options: Any) -> None:
        super().__init__(*args, **options)
        self._report = report

    def record(self, test: unittest.TestCase, status: str, message: str = "") -> None:
        """Reports how a test ended."""
        file, names = _place(test)
        self._report.tell(file, names, status=status, message=message)

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
    report = amelia_report.Report()
    amelia_report.stand_for("unittest")
    PATH.enter_tree()

    def recorder(*args: Any, **options: Any) -> Recorder:
        return Recorder(*args, report=report, **options)

    result = unittest.TextTestRunner(resultclass=recorder).run(unittest.TestSuite(_suites()))
    report.close()
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
