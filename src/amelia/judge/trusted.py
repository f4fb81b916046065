"""Whose files are: which of them decide what is tested and how, and are the judge's, not the unit's.

Pure; a path is only text here. One table for each family of runners. What is not in a table and not below a
folder of tests is source: the unit's own.

- Tests hold what is asked for; support is all that tests read: helpers, data, snapshots, fixtures.
- Settings are files that the runner, or the command that starts it, reads. A file that would take the place
  of the runner itself, or be loaded into it, is one of them.
- Of some files only parts are the judge's (`splice` knows which). Some build and test at once: those stay the
  unit's, and the reviewer rules on them by name.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from fnmatch import fnmatchcase

from amelia.model.evidence import RunnerKind, TestCommand
from amelia.plan.paths import is_test, words


class Custody(Enum):
    """Whose a file is."""

    SOURCE = "source"
    TEST = "test"
    SUPPORT = "support"
    SETTINGS = "settings"
    PART = "part"
    MIXED = "mixed"


_CODE = frozenset(
    """
    py js jsx ts tsx mjs cjs mts cts go rs java kt kts scala groovy rb php cs fs swift ex exs erl c cc cpp cxx
    lua pl sh bats dart vue svelte
    """.split()
)
_SUPPORT_FOLDERS = frozenset({"__snapshots__", "__mocks__", "__fixtures__", "testdata"})
_SUPPORT_NAMES = ("conftest.py", "*.snap", "*.ambr", "*.golden", "*.approved.*")
_TEST_NAMES = frozenset({"test", "tests", "spec", "specs"})

_PYTHON = """
    pytest.ini .pytest.ini pytest.toml .pytest.toml nose.cfg .coveragerc noxfile.py
    sitecustomize.py usercustomize.py *.pth pytest.py unittest.py
"""
_NODE = """
    jest.config.* jest.setup.* jest.preset.* vitest.config.* vitest.setup.* vitest.workspace.* .mocharc*
    ava.config.* karma.conf.* playwright.config.* cypress.config.* wdio.conf.* .nycrc* .c8rc* .taprc
    .npmrc .yarnrc* .pnpmfile.cjs bunfig.toml
"""
_OTHERS = ".rspec phpunit.xml* junit-platform.properties nextest.toml .env.test"
_SETTINGS = tuple(f"{_PYTHON} {_NODE} {_OTHERS}".split())
_RUNNERS = ("_pytest", "pytest", "unittest", "pluggy", "node_modules")
"""Folders that take the place of the runner."""
_INSTALLED = ("*.dist-info", "*.egg-info")
_PARTS = ("package.json", "pyproject.toml", "setup.cfg", "tox.ini", "Cargo.toml")
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "*.mk")
_MIXED: Mapping[RunnerKind, tuple[str, ...]] = {
    RunnerKind.PYTEST: ("setup.py",),
    RunnerKind.UNITTEST: ("setup.py",),
    RunnerKind.NODE: ("tsconfig*.json", "vite.config.*", "babel.config.*", ".babelrc*", ".swcrc"),
    RunnerKind.GO: (),
    RunnerKind.CARGO: ("build.rs",),
}
_ANY_MIXED = (
    *(name for names in _MIXED.values() for name in names),
    *("CMakeLists.txt", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "mix.exs", "Rakefile"),
)


def custody(path: str, command: TestCommand | None, recipes: Iterable[str] = ()) -> Custody:
    """Returns whose a file is; `recipes` are texts that say what the command runs, and so may name it."""
    *folders, name = path.split("/")
    kind = command.kind if command is not None else RunnerKind.CUSTOM
    if _is_settings(folders, name) or (kind is RunnerKind.MAKE and _is_one_of(name, _MAKEFILES)):
        return Custody.SETTINGS
    if _is_one_of(name, _SUPPORT_NAMES) or not _SUPPORT_FOLDERS.isdisjoint(folders):
        return Custody.SUPPORT
    if is_test(path):
        return Custody.TEST if _holds_tests(folders, name) else Custody.SUPPORT
    if name in _PARTS:
        return Custody.PART
    if command is not None and _names(command, recipes)(path):
        return Custody.SETTINGS
    return Custody.MIXED if _is_one_of(name, _MIXED.get(kind, _ANY_MIXED)) else Custody.SOURCE


def is_test_code(path: str) -> bool:
    """Says whether a path is a program that tests, or decides which tests run."""
    name = path.rpartition("/")[2]
    return name == "conftest.py" or (is_test(path) and name.rpartition(".")[2].lower() in _CODE)


def recipe_files(command: TestCommand | None) -> tuple[str, ...]:
    """Returns the files whose texts say what a command runs, beside the command itself."""
    match command.kind if command is not None else None:
        case RunnerKind.MAKE:
            return ("GNUmakefile", "makefile", "Makefile")
        case RunnerKind.NODE:
            return ("package.json",)
        case _:
            return ()


def _is_settings(folders: Iterable[str], name: str) -> bool:
    is_runner = any(part in _RUNNERS or _is_one_of(part, _INSTALLED) for part in folders)
    return is_runner or _is_one_of(name, _SETTINGS)


def _holds_tests(folders: list[str], name: str) -> bool:
    """Says whether a file below tests, or named like one, holds tests itself and is no helper of theirs."""
    stem, _, suffix = name.rpartition(".")
    if suffix.lower() not in _CODE or not stem:
        return False
    is_named = not _TEST_NAMES.isdisjoint(words(stem))
    return is_named or "__tests__" in folders or (suffix == "rs" and folders[-1:] == ["tests"])


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _names(command: TestCommand, recipes: Iterable[str]) -> Callable[[str], bool]:
    """Returns what says whether a command, or what it runs, names a file."""
    texts = (*command.argv, *recipes)

    def is_named(path: str) -> bool:
        as_word = re.compile(rf"(?<![\w-]){re.escape(path)}(?![\w-])")
        return any(as_word.search(text) for text in texts)

    return is_named
