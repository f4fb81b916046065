"""Runs pytest on the tree in the current directory, with its own arguments, and reports each test.

A test has the worst status of its phases. What is expected to fail counts as skipped; what passes although it
was strictly expected to fail counts as failed. A module that cannot be collected is an error of its file.
"""

# ruff: noqa: D102, PLC0415 - hooks have pytest's names; pytest is imported when the path is safe

from __future__ import annotations

import sys

import amelia_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORST_LAST = ("passed", "skipped", "failed", "error")


class Reporter:
    """A plugin that reports a test once all its phases are over."""

    def __init__(self, report: amelia_report.Report) -> None:
        self._report = report
        self._open: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 - pytest of any version
        status = _status(report)
        known, message = self._open.get(report.nodeid, ("passed", ""))
        if status is not None and _WORST_LAST.index(status) > _WORST_LAST.index(known):
            known, message = status, _message(report)
        self._open[report.nodeid] = known, message
        if report.when == "teardown":
            self._end(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:  # noqa: ANN401
        if report.failed:
            file, *names = report.nodeid.split("::")
            self._report.tell(file, names, "error", _message(report))
        elif report.skipped and report.nodeid:
            file, *names = report.nodeid.split("::")
            self._report.tell(file, names or ["<module>"], "skipped", _message(report))

    def pytest_sessionfinish(self) -> None:
        for test in list(self._open):
            self._end(test)

    def _end(self, test: str) -> None:
        status, message = self._open.pop(test)
        file, *names = test.split("::")
        self._report.tell(file, names, status, message if status != "passed" else "")


def _status(report: Any) -> str | None:  # noqa: ANN401
    """Returns the status that a phase of a test gives it; None if it gives none."""
    if report.outcome == "failed":
        return "failed" if report.when == "call" else "error"
    if report.outcome == "skipped":
        return "skipped"
    return None if report.outcome == "rerun" else "passed"


def _message(report: Any) -> str:  # noqa: ANN401
    reason = getattr(report, "wasxfail", None)
    if reason is not None:
        return f"expected to fail: {reason}"
    return str(report.longrepr) if report.longrepr is not None else ""


def main() -> int:
    """Runs the tests and returns pytest's exit code."""
    import pytest

    amelia_report.refuse_own("pytest")
    amelia_report.enter_tree()
    report = amelia_report.Report()
    code = pytest.main(sys.argv[1:], plugins=[Reporter(report)])
    report.close()
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
