"""Which changes make tests demand less.

Reads the text of test files before and after, by line and by language: fewer tests, fewer assertions, more
marks that skip. A hint, not a proof: what a test demands is a question for the reviewer.
Lines that are only a comment count for nothing, so a commented-out assertion is a removed one.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from re import Pattern

from amelia.model.evidence import Change, ChangeStatus, Delta
from amelia.plan.paths import is_test


@dataclass(frozen=True, slots=True)
class _Language:
    comment: str
    test: Pattern[str]
    assertion: Pattern[str]
    skip: Pattern[str]


_PYTHON = _Language(
    comment="#",
    test=re.compile(r"\bdef\s+test"),
    assertion=re.compile(r"\bassert\b|\.assert\w*\(|\braises\(|\bwarns\("),
    skip=re.compile(
        r"\bskip(?:if|unless|test)?\b|\bxfail\b|\bimportorskip\b|\bexpectedFailure\b|\bcollect_ignore|"
        r"\b__test__\b|\bdef\s+pytest_\w+|\bpytest_plugins\b|\bautouse\b",
        re.IGNORECASE,
    ),
)
_SCRIPT = _Language(
    comment="//",
    test=re.compile(r"\b(?:it|test)(?:\.\w+)?\s*\("),
    assertion=re.compile(r"\bexpect\s*\(|\bassert\b|\bt\.(?:is|deepEqual|throws|true|false)\("),
    skip=re.compile(
        r"\.(?:skip|only|todo|failing|fixme)\b|\b(?:xit|xtest|xdescribe|fit|fdescribe)\s*\(|\b(?:skip|todo|only)\s*:"
    ),
)
_GO = _Language(
    comment="//",
    test=re.compile(r"\bfunc\s+(?:Test|Fuzz|Example)"),
    assertion=re.compile(r"\b\w\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require)\.\w+\("),
    skip=re.compile(r"\b\w\.Skip(?:f|Now)?\(|^//go:build|^// \+build"),
)
_RUST = _Language(
    comment="//",
    test=re.compile(r"#\[(?:\w+::)*test\b"),
    assertion=re.compile(r"\bassert\w*!|\bpanic!|\bunreachable!"),
    skip=re.compile(r"#!?\[\s*(?:ignore|should_panic|cfg)\b"),
)
_LANGUAGES = {
    "py": _PYTHON,
    **dict.fromkeys(("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"), _SCRIPT),
    "go": _GO,
    "rs": _RUST,
}
_OTHER_CODE = frozenset(
    "java kt kts scala rb php cs fs swift ex exs erl c cc cpp cxx h hpp lua pl sh bats".split()
)
_LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Weakening:
    """One way in which tests demand less than before, and what whoever may not do that can do instead."""

    message: str
    file: str
    advice: str = ""


def is_test_code(path: str) -> bool:
    """Says whether a path is a program that tests, or decides which tests run."""
    name = path.rpartition("/")[2]
    suffix = name.rpartition(".")[2].lower()
    return name == "conftest.py" or (is_test(path) and (suffix in _LANGUAGES or suffix in _OTHER_CODE))


def is_counted(path: str) -> bool:
    """Says whether a path is test code whose tests and assertions can be counted."""
    return is_test_code(path) and path.rpartition(".")[2].lower() in _LANGUAGES


def weakenings(delta: Delta, guarded: Collection[str]) -> Iterator[Weakening]:
    """Finds what a unit took away from tests; `guarded` are the files of the tests it is judged by."""
    for change in delta.changes:
        path = change.path
        if path in guarded and (
            change.deleted or change.is_binary or change.status is not ChangeStatus.MODIFIED
        ):
            message = (
                f"{path} holds the tests this unit is judged by; its lines may not be changed or removed."
            )
            yield Weakening(message, path)
        elif is_test_code(path):
            yield from _lost(change, delta)


def _lost(change: Change, delta: Delta) -> Iterator[Weakening]:
    path = change.path
    if change.status is ChangeStatus.DELETED:
        yield Weakening(f"The test file {path} was deleted.", path)
        return
    language = _LANGUAGES.get(path.rpartition(".")[2].lower())
    if language is None or path not in delta.after:
        return
    # A new test file takes nothing away; a new conftest.py may.
    if change.status is ChangeStatus.ADDED and not path.endswith("conftest.py"):
        return
    before = _lines(delta.before.get(path, ""), language)
    after = _lines(delta.after[path], language)
    for what, pattern in (("test functions", language.test), ("assertions", language.assertion)):
        old, new = _count(pattern, before), _count(pattern, after)
        if new < old:
            yield Weakening(f"{path} has {new} {what} and had {old}.", path)
    old, new = _count(language.skip, before), _count(language.skip, after)
    if new > old:
        yield Weakening(f"{path} has {new} marks that skip or narrow tests and had {old}.", path)


def _lines(text: str, language: _Language) -> list[str]:
    lines = (line.strip()[:_LONGEST_LINE] for line in text.splitlines())
    build = ("//go:build", "// +build")
    return [line for line in lines if not line.startswith(language.comment) or line.startswith(build)]


def _count(pattern: Pattern[str], lines: list[str]) -> int:
    return sum(len(pattern.findall(line)) for line in lines)
