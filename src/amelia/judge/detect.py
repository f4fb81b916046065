"""How a repository is tested, as far as its files tell.

A configured command wins. Otherwise the most specific sign does: a runner whose results can be read test by
test before one that has only an exit code. The interpreter is not chosen here, since it depends on the
place where the tests run and not on the tree.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from amelia.judge.surroundings import files_below, opening
from amelia.model.evidence import RunnerKind, TestCommand, VerifySettings

_TEST_MODULE = re.compile(r"test\w*\.py|\w+_test\.py")
_IMPORTS_UNITTEST = re.compile(r"^\s*(?:import|from)\s[^\n]*\bunittest\b", re.MULTILINE)
_PYTEST_STYLE = re.compile(r"^\s*(?:import|from)\s+pytest\b|^(?:async\s+)?def\s+test", re.MULTILINE)
_NAMES_PYTEST = re.compile(r"\bpytest\b")
_PYTHON_SETTINGS = ("pyproject.toml", "setup.cfg", "tox.ini")
_SHELL = re.compile(r"[^\w\s./:=,@%+-]")
_NO_TEST_SCRIPT = "no test specified"
_MAKE_TARGET = re.compile(r"^test[ \t]*:(?!=)", re.MULTILINE)
_NODE_TEST = re.compile(r"[.-]test\.[cm]?js$")
_PYTEST = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
_UNITTEST = TestCommand(RunnerKind.UNITTEST, ("python", "-m", "unittest"))
_LONGEST_MANIFEST = 1_048_576

# A configured command of a known runner is read test by test, like a detected one.
_KNOWN = (
    (("pytest",), RunnerKind.PYTEST, ("python", "-m", "pytest")),
    (("python", "-m", "pytest"), RunnerKind.PYTEST, ("python", "-m", "pytest")),
    (("python3", "-m", "pytest"), RunnerKind.PYTEST, ("python", "-m", "pytest")),
    (("node", "--test"), RunnerKind.NODE, ("node", "--test")),
    (("go", "test"), RunnerKind.GO, ("go", "test")),
    (("cargo", "test"), RunnerKind.CARGO, ("cargo", "test")),
)


class _Manifest(msgspec.Struct):
    scripts: dict[str, str] = {}


def find_command(root: Path, settings: VerifySettings) -> TestCommand | None:
    """Returns the configured command, or the best one that the files under `root` suggest, or none."""
    if settings.command:
        return _configured(settings.command, settings.junit)
    found = list(_suggested(root))
    if not found:
        return None
    best, *others = found
    return TestCommand(best.kind, best.argv, others=tuple(str(other.kind) for other in others))


def planned_commands(declared: Iterable[str]) -> tuple[TestCommand, ...]:
    """Returns how tests that are yet to be written may be run, by the names that a plan gives them."""
    names = [path.rpartition("/")[2] for path in declared]
    if any(_TEST_MODULE.fullmatch(name) for name in names):
        return _PYTEST, _UNITTEST
    if any(_NODE_TEST.search(name) for name in names):
        return (TestCommand(RunnerKind.NODE, ("node", "--test")),)
    if any(name.endswith("_test.go") for name in names):
        return (TestCommand(RunnerKind.GO, ("go", "test", "./...")),)
    return ()


def _configured(argv: tuple[str, ...], junit: str | None) -> TestCommand:
    if junit is None:
        for start, kind, instead in _KNOWN:
            if argv[: len(start)] == start:
                return TestCommand(kind, (*instead, *argv[len(start) :]))
    return TestCommand(RunnerKind.CUSTOM, argv, junit)


def _suggested(root: Path) -> Iterator[TestCommand]:
    """Yields what the repository can be tested with, best first."""
    yield from _python(root)
    yield from _node(root)
    if (root / "go.mod").is_file():
        yield TestCommand(RunnerKind.GO, ("go", "test", "./..."))
    if (root / "Cargo.toml").is_file():
        yield TestCommand(RunnerKind.CARGO, ("cargo", "test"))
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if _MAKE_TARGET.search(opening(root / name)):
            yield TestCommand(RunnerKind.MAKE, ("make", "test"))
            return


def _python(root: Path) -> Iterator[TestCommand]:
    if (root / "pytest.ini").is_file() or any(_names_pytest(root / name) for name in _PYTHON_SETTINGS):
        yield _PYTEST
        return
    has_unittest = False
    for path in files_below(root):
        if path.name == "conftest.py" or (
            path.parent == root and _is_requirements(path) and _names_pytest(path)
        ):
            yield _PYTEST
            return
        if _TEST_MODULE.fullmatch(path.name):
            text = opening(path)
            if _PYTEST_STYLE.search(text):
                yield _PYTEST
                return
            has_unittest = has_unittest or _IMPORTS_UNITTEST.search(text) is not None
    if has_unittest:
        yield _UNITTEST


def _is_requirements(path: Path) -> bool:
    return path.name.startswith("requirements") and path.suffix == ".txt"


def _names_pytest(path: Path) -> bool:
    return _NAMES_PYTEST.search(opening(path)) is not None


def _node(root: Path) -> Iterator[TestCommand]:
    text = opening(root / "package.json", _LONGEST_MANIFEST)
    try:
        script = msgspec.json.decode(text, type=_Manifest).scripts.get("test", "").strip()
    except (msgspec.DecodeError, RecursionError):
        return
    if not script or _NO_TEST_SCRIPT in script:
        return
    # Only words that mean the same with and without a shell are taken over.
    argv = tuple(script.split()) if _SHELL.search(script) is None else ()
    yield TestCommand(RunnerKind.NODE, argv if argv[:2] == ("node", "--test") else ("npm", "test"))
