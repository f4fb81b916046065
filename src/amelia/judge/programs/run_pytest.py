"""Runs pytest on the tree in the current directory, and reports each test.

`run_pytest.py [FILE …] -- [ARGUMENT …]` hands its arguments to pytest. With files, only those are
collected, whatever the arguments and the settings of pytest name.

A test has the worst status of its phases. What is expected to fail counts as skipped; what passes although it
was strictly expected to fail counts as failed. A module that cannot be collected is an error of its file.
"""

# ruff: noqa: ANN401, D102 - hooks have pytest's names, and take what pytest of any version gives

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import sys

import amelia_report

PATH = amelia_report.ModulePath()
import pytest  # noqa: E402 - nothing of the tree is on the path now
from amelia_startup import is_in_tree  # noqa: E402
from pluggy import PluginManager  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

WORKER = (
    "env",
    f"PYTHONPATH={amelia_report.STARTUP}",
    sys.executable,
    "-u",
    amelia_report.program("run_worker"),
)
_WORST_LAST = ("passed", "skipped", "failed", "error")


class Reporter:
    """A plugin that reports a test once all its phases are over."""

    def __init__(self, report: amelia_report.Report, only: list[str]) -> None:
        self._report = report
        self._only = only
        self._open: dict[str, tuple[str, str]] = {}

    def pytest_configure(self, config: Any) -> None:
        if self._only:
            config.pluginmanager.register(Only(self._only))

    def pytest_runtest_logreport(self, report: Any) -> None:
        status = _status(report)
        known, message = self._open.get(report.nodeid, ("passed", ""))
        if status is not None and _WORST_LAST.index(status) > _WORST_LAST.index(known):
            known, message = status, _message(report)
        self._open[report.nodeid] = known, message
        if report.when == "teardown":
            self._end(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            file, *names = report.nodeid.split("::")
            self._report.tell(file, names, status="error", message=_message(report))
        elif report.skipped and report.nodeid:
            file, *names = report.nodeid.split("::")
            self._report.tell(file, names, status="skipped", message=_message(report))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: list[Any]) -> None:
        """Lets workers import pytest as safely as we do; they report to us."""
        for spec in specs:
            if spec.popen and not spec.python:
                spec.python = " ".join(map(shlex.quote, WORKER))

    def pytest_sessionfinish(self) -> None:
        for test in list(self._open):
            self._end(test)

    def _end(self, test: str) -> None:
        status, message = self._open.pop(test)
        file, *names = test.split("::")
        self._report.tell(file, names, status=status, message=message if status != "passed" else "")


class Only:
    """A plugin that leaves out all files but some, before they are loaded."""

    def __init__(self, files: list[str]) -> None:
        self._files = {os.path.realpath(file) for file in files}

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Any) -> bool | None:
        place = os.path.realpath(collection_path)
        return None if os.path.isdir(place) or place in self._files else True  # noqa: PTH112

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if os.path.realpath(item.fspath) in self._files]


def _status(report: Any) -> str | None:
    """Returns the status that a phase of a test gives it; None if it gives none."""
    if report.outcome == "failed":
        return "failed" if report.when == "call" else "error"
    if report.outcome == "skipped":
        return "skipped"
    return None if report.outcome == "rerun" else "passed"


def _message(report: Any) -> str:
    reason = getattr(report, "wasxfail", None)
    if reason is not None:
        return f"expected to fail: {reason}"
    return str(report.longrepr) if report.longrepr is not None else ""


def guard_plugins() -> None:
    """Lets only those plugins load by themselves that are installed, and those as they are installed."""
    load = PluginManager.load_setuptools_entrypoints
    distributions = importlib.metadata.distributions

    def installed(**options: Any) -> Iterator[importlib.metadata.Distribution]:
        return (one for one in distributions(**options) if _is_installed(one))

    def load_installed(*args: Any, **options: Any) -> int:
        usual = list(sys.path)
        PATH.installed_first()
        importlib.metadata.distributions = installed
        try:
            return load(*args, **options)
        finally:
            importlib.metadata.distributions = distributions
            sys.path[:] = [*usual, *(place for place in sys.path if place not in usual)]

    PluginManager.load_setuptools_entrypoints = load_installed


def _is_installed(one: importlib.metadata.Distribution) -> bool:
    """Says whether a distribution is not described by the tree, but for one that a link of old leads to."""
    if not is_in_tree(str(one.locate_file(""))):
        return True
    name = re.sub(r"[-_.]+", "[-_.]+", str(one.metadata["Name"]))
    links = re.compile(f"{name}.egg-link", re.IGNORECASE)
    return any(links.fullmatch(file) for place in PATH.outside for file in _names_in(place))


def _names_in(place: str) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208 - a string is what is on the path
    except OSError:
        return []  # an archive, or nothing at all


def main() -> int:
    """Runs the tests and returns pytest's exit code."""
    report = amelia_report.Report()
    amelia_report.stand_for("pytest")
    guard_plugins()
    PATH.enter_tree()
    end = sys.argv.index("--")
    code = pytest.main(sys.argv[end + 1 :], plugins=[Reporter(report, sys.argv[1:end])])
    report.close()
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
