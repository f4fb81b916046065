"""JUnit XML, as test runners write it, becomes results.

The file is written by a process that runs foreign code. So: no document type, hence no entities; no tree in
memory and no recursion; a bounded size; and what cannot be read is a value that says why. Characters that
XML does not allow are dropped, because tests print them and some runners do not escape them.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from amelia.judge.excerpt import LONGEST_MESSAGE, excerpt
from amelia.judge.results import Unreadable, relative
from amelia.model.evidence import TestResult, TestStatus

_KEPT_WHILE_READING = 65_536
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_STATUS = {"failure": TestStatus.FAILED, "error": TestStatus.ERROR, "skipped": TestStatus.SKIPPED}


class _RefusedError(Exception):
    """The document holds something that no report needs."""


@dataclass(slots=True)
class _Case:
    """A test case while it is being read."""

    attributes: dict[str, str]
    suite: dict[str, str]
    statuses: list[TestStatus] = field(default_factory=list[TestStatus])
    is_todo: bool = False
    text: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, text: str) -> None:
        if self.size < _KEPT_WHILE_READING:
            self.text.append(text[:_KEPT_WHILE_READING])
            self.size += len(text)

    @property
    def status(self) -> TestStatus:
        # A test marked as still to do may fail without failing the run.
        if self.is_todo or not self.statuses:
            return TestStatus.SKIPPED if self.is_todo else TestStatus.PASSED
        return next((one for one in self.statuses if one.is_failing), TestStatus.SKIPPED)


class _Reader:
    """Collects test cases from the events of a parser."""

    def __init__(self, root: str) -> None:
        self.results: list[TestResult] = []
        self._root = root
        self._suites: list[dict[str, str]] = []
        self._case: _Case | None = None
        self._is_in_message = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testsuite":
            self._suites.append(attributes)
        elif tag == "testcase":
            self._case = _Case(attributes, self._suites[-1] if self._suites else {})
        elif self._case is not None and tag in _STATUS:
            self._case.statuses.append(_STATUS[tag])
            self._case.is_todo |= tag == "skipped" and attributes.get("type") == "todo"
            self._case.add(attributes.get("message", "") + "\n")
            self._is_in_message = True

    def text(self, text: str) -> None:
        if self._case is not None and self._is_in_message:
            self._case.add(text)

    def end(self, tag: str) -> None:
        if tag == "testsuite" and self._suites:
            self._suites.pop()
        elif tag == "testcase" and self._case is not None:
            self.results.append(_result(self._case, self._root))
            self._case = None
        elif tag in _STATUS:
            self._is_in_message = False


def parse_junit(data: bytes, *, root: str) -> tuple[TestResult, ...] | Unreadable:
    """Returns the tests of a report, in its order; paths below `root` become relative to it."""
    reader = _Reader(root)
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = reader.start
    parser.CharacterDataHandler = reader.text
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(_ILLEGAL.sub("", data.decode(errors="replace")), True)  # noqa: FBT003
    except expat.ExpatError as error:
        return Unreadable(f"the report is not XML: {error}")
    except _RefusedError as error:
        return Unreadable(str(error))
    return tuple(reader.results)


def _refuse(*_: object) -> None:
    raise _RefusedError("the report declares a document type, which no report needs")


def _result(case: _Case, root: str) -> TestResult:
    attributes = case.attributes
    status = case.status
    message = "" if status is TestStatus.PASSED else excerpt("".join(case.text).strip(), LONGEST_MESSAGE)
    path = attributes.get("file") or case.suite.get("file")
    file = relative(path, root) if path else None
    return TestResult(_identity(attributes, file, case.suite.get("name", "")), status, file, message)


def _identity(attributes: dict[str, str], file: str | None, suite: str) -> str:
    """Returns a name that stays the same from tree to tree; for pytest the one that pytest itself uses."""
    name, owner = attributes.get("name", ""), attributes.get("classname", "")
    if file is None:
        return "::".join(dict.fromkeys(part for part in (suite, owner, name) if part))
    module = file.removesuffix(".py").replace("/", ".")
    if not owner and name == module.removesuffix(".__init__"):
        return file  # pytest could not collect the module
    classes = owner.removeprefix(module).strip(".") if owner.startswith(module) else owner
    return "::".join((file, *(part for part in classes.split(".") if part), name))
