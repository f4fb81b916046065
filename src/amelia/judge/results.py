"""What our own reporters and the output of runners say about single tests.

Everything is written by foreign code, so lines that make no sense are passed over where other programs may
write into the same stream, and are a reason to believe nothing where only the reporter does.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import msgspec

from amelia.judge.excerpt import LONGEST_MESSAGE, excerpt
from amelia.model.evidence import TestResult, TestStatus

_GO_STATUS = {"pass": TestStatus.PASSED, "fail": TestStatus.FAILED, "skip": TestStatus.SKIPPED}
_CARGO_TARGET = re.compile(
    r"^\s*(?:Running (?:unittests )?(\S+) \((?:.*/)?(\S+?)-[0-9a-f]+\S*\)|Doc-tests (\S+))$"
)
_CARGO_TEST = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:,.*)?$")
_CARGO_EXAMPLE = re.compile(r"(?P<item>.+ -(?: .+)?) \(line (?P<line>\d{1,9})\)(?P<rest>.*)")
_CARGO_OUTPUT = re.compile(r"^---- (.+) stdout ----$")
_CARGO_STATUS = {"ok": TestStatus.PASSED, "FAILED": TestStatus.FAILED, "ignored": TestStatus.SKIPPED}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Results that cannot be read, and why."""

    reason: str


class _Line(msgspec.Struct):
    """One line of our own reporters: the key that all have, a test, or the end with the number of tests."""

    key: str = ""
    file: str | None = None
    names: list[str] = []
    status: TestStatus = TestStatus.ERROR
    message: str = ""
    end: int | None = None


class _GoEvent(msgspec.Struct, rename="pascal"):
    """One line of `go test -json`."""

    action: str = ""
    package: str = ""
    import_path: str = ""
    test: str | None = None
    output: str = ""
    failed_build: str = ""


def relative(path: str, root: str) -> str:
    """Returns a path as the tree spells it, if it lies in the tree."""
    pure = PurePosixPath(path.replace("\\", "/"))
    return str(pure.relative_to(root)) if pure.is_relative_to(root) else str(pure)


def parse_lines(data: bytes, *, root: str) -> tuple[TestResult, ...] | Unreadable:
    """Returns what one of our own reporters wrote: its key, a line for each test, and their number."""
    if not data.strip():
        return Unreadable("it left no report")
    try:
        first, *lines = msgspec.json.Decoder(_Line).decode_lines(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Unreadable(f"the report is damaged: {error}")
    if not first.key or any(line.key != first.key for line in lines):
        return Unreadable("something else than the runner wrote into its report")
    ends = [number for number, line in enumerate(lines) if line.end is not None]
    if not ends or lines[ends[0]].end != ends[0]:
        return Unreadable("the report breaks off before its end")
    if len(lines) > ends[0] + 1:
        return Unreadable("the report goes on after its end")
    return tuple(_result(line, root) for line in lines[:-1])


def _result(line: _Line, root: str) -> TestResult:
    file = relative(line.file, root) if line.file else None
    name = "::".join((*([file] if file else []), *line.names)) or "<unnamed>"
    return TestResult(name, line.status, file, excerpt(line.message.strip(), LONGEST_MESSAGE))


def parse_go(text: str) -> tuple[TestResult, ...]:
    """Returns the tests in the output of `go test -json`; a package that cannot be built is one error."""
    outputs: dict[str, list[str]] = {}
    results: list[TestResult] = []
    failing: set[str] = set()
    for event in _go_events(text):
        name = f"{event.package}::{event.test}" if event.test else event.package
        if event.action in {"output", "build-output"}:
            outputs.setdefault(name or event.import_path.partition(" ")[0], []).append(event.output)
        elif event.test and event.action in _GO_STATUS:
            results.append(TestResult(name, _GO_STATUS[event.action], None, _joined(outputs.pop(name, ()))))
            failing.update([event.package] if event.action == "fail" else [])
        elif event.action == "fail" and event.package not in failing:
            built = outputs.get(event.failed_build.partition(" ")[0], ())
            results.append(
                TestResult(name, TestStatus.ERROR, None, _joined((*built, *outputs.pop(name, ()))))
            )
    return tuple(
        result if result.status.is_failing else TestResult(result.id, result.status) for result in results
    )


def _go_events(text: str) -> Iterator[_GoEvent]:
    decoder = msgspec.json.Decoder(_GoEvent)
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError:
                continue  # a program under test wrote it


def _joined(lines: Iterable[str]) -> str:
    return excerpt("".join(lines).strip(), LONGEST_MESSAGE)


def parse_cargo(text: str) -> tuple[TestResult, ...]:
    """Returns the tests in the output of `cargo test`; names say the crate and the target they are in."""
    found: dict[str, TestResult] = {}
    messages: dict[str, list[str]] = {}
    owner, file, message = "", None, None
    for line in text.splitlines():
        if target := _CARGO_TARGET.match(line):
            path, crate, documented = target.groups()
            owner, file, message = (
                (f"{crate}:{path}", path, None) if path else (f"{documented}:doc", None, None)
            )
        elif output := _CARGO_OUTPUT.match(line):
            message = messages.setdefault(f"{owner}::{output[1]}", [])
        elif line in {"failures:", "successes:"} or line.startswith("test result:"):
            message = None
        elif message is not None:
            message.append(line + "\n")
        elif test := _CARGO_TEST.match(line):
            name = f"{owner}::{test[1]}"
            found[name] = TestResult(name, _CARGO_STATUS[test[2]], file)
    names = _without_lines(found)
    return tuple(
        TestResult(names[one.id], one.status, one.file, _joined(messages.get(one.id, ())))
        for one in found.values()
    )


def _without_lines(names: Iterable[str]) -> dict[str, str]:
    """Returns names of examples that do not depend on the line: several of one item are numbered in order."""
    placed = [(found, name) for name in names if (found := _CARGO_EXAMPLE.fullmatch(name))]
    plain = {name: name for name in names}
    count: dict[str, int] = {}
    for found, name in sorted(placed, key=lambda pair: int(pair[0]["line"])):
        item = found["item"]
        count[item] = count.get(item, 0) + 1
        number = f" ({count[item]})" if count[item] > 1 else ""
        plain[name] = f"{item}{number}{found['rest']}"
    return plain
