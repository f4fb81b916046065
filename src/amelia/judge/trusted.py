"""Whose files are: which of them decide what is tested and how, and are the judge's, not the unit's.

Pure; a path is only text here. One table for each family of runners. What is not in a table and not below a
folder of tests is source: the unit's own.

- Tests hold what is asked for; support is all that tests read: helpers, data, snapshots, fixtures.
- Settings are files that the runner, or the command that starts it, reads. A file that would take the place
  of the runner itself, or be loaded into it, is one of them.
- Of some files only parts are the judge's (`splice` knows which), also of sources that hold tests inside.
  Some build and test at once: those stay the unit's, and the reviewer rules on them by name.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from itertools import pairwise

from amelia.judge.commands import Recipe, read_recipe, recipe_files, recipe_texts
from amelia.judge.splice import PARTLY
from amelia.judge.splice.makefile import is_makefile
from amelia.judge.splice.tables import is_tool
from amelia.model.evidence import RunnerKind, TestCommand
from amelia.plan.paths import is_test, words

__all__ = ["Custody", "custody", "is_source", "is_test_code", "recipe_files", "recipe_texts"]


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
_SCRIPT = frozenset("js jsx ts tsx mjs cjs mts cts".split())
_DOCS = frozenset("md markdown rst adoc asciidoc org tex pdf html".split())
_SUPPORT_FOLDERS = frozenset(
    {"__snapshots__", "__image_snapshots__", "__mocks__", "__fixtures__", "testdata"}
)
_SUPPORT_AT_TOP = frozenset({"fixtures", "golden", "goldens", "snapshots", "cassettes"})
_SUPPORT_NAMES = ("conftest.py", "*.snap", "*.ambr", "*.golden", "*.approved.*")
_TEST_NAMES = frozenset({"test", "tests", "spec", "specs"})

_TEST_FOLDERS = frozenset({"test", "tests", "__tests__"})
_WHOLE_FOLDERS = frozenset({"e2e", "cypress"})
_SPEC_FOLDERS = frozenset({"spec", "specs"})
_SPEC_KINDS = frozenset({RunnerKind.NODE, RunnerKind.MAKE, RunnerKind.CUSTOM})
_SOURCE_FOLDERS = frozenset({"src", "lib", "app", "pkg", "internal", "cmd", "source", "sources"})
_TEST_FOLDER = re.compile(
    r".+\.(?:unit|integration|functional|acceptance)?-?tests?"
    r"|(?:unit|integration|functional|acceptance|e2e|smoke|regression|system|contract|browser)[-_]?tests?"
    r"|test[-_]?(?:utils?|helpers?|support|fixtures?|setup|lib|common|resources|kit|data)"
    r"|(?:android|integration|functional|e2e|acceptance|jvm|common|ios|native|js)test(?:fixtures)?",
    re.IGNORECASE,
)
_STEPS = frozenset({"steps", "step_definitions", "support"})
_NO_TESTS = frozenset({".github", ".gitlab", ".circleci", ".azure-pipelines"})
_SPEC_NAME = re.compile(r"[._-]specs?\.\w+$")
_TEST_NAME = re.compile(r"[._-](?:test|spec)s?\.\w+$")
_HELPERS = frozenset(
    """
    test tests setup teardown helper helpers util utils support common global globals main all data env
    fixtures mocks server factory render
    """.split()
)
_APART = re.compile(r"(?:^|[._-])tests?(?:[._-]|$)")
_GO_TEST = re.compile(r"_test\.go$")
_PYTEST_NAME = re.compile(r"(?:test_.*|.*_test|tests?|test\d.*)\.py")

_PYTHON = """
    pytest.ini .pytest.ini pytest.toml .pytest.toml nose.cfg unittest.cfg .coveragerc noxfile.py
    sitecustomize.py usercustomize.py *.pth *.egg-link
"""
_NODE = """
    jest.config.* jest.setup.* jest.preset.* jest-setup* jest-preset* jest-environment*
    jest-resolver* .jestrc* vitest.config.* vitest.setup.* vitest.workspace.*
    .mocharc* mocha.opts ava.config.* karma.conf.* playwright.config.* cypress.config.* cypress.json
    wdio.conf.* .nycrc* .c8rc* .taprc .npmrc .yarnrc* .pnpmfile.cjs .pnp.* bunfig.toml jasmine.json
    web-test-runner.config.*
"""
_OTHERS = """
    .rspec phpunit.xml* phpunit.dist.xml codeception.yml behat.yml phpspec.yml junit-platform.properties
    nextest.toml .env.test .env.testing rust-toolchain rust-toolchain.toml *.runsettings xunit.runner.json
    .gitattributes testsettings.json CTestCustom.cmake CTestConfig.cmake behave.ini .behaverc karate-config.js
"""
_SETTINGS = tuple(f"{_PYTHON} {_NODE} {_OTHERS}".split())
_SETTINGS_FOLDERS = frozenset({"node_modules", ".cargo", ".mvn", ".yarn", ".bundle"})
_RUNNERS = frozenset({"_pytest", "pytest", "unittest", "pluggy", "iniconfig", "doctest", "nose", "nose2"})
"""Modules that take the place of the runner, where Python looks for modules."""
_ROOTS = frozenset({"src", "lib", "python", "tests", "test"})
_INSTALLED = ("*.dist-info", "*.egg-info")
_MIXED: Mapping[RunnerKind, tuple[str, ...]] = {
    RunnerKind.PYTEST: ("setup.py", ".python-version"),
    RunnerKind.UNITTEST: ("setup.py", ".python-version"),
    RunnerKind.NODE: tuple(
        """
        tsconfig*.json jsconfig.json vite.config.* babel.config.* .babelrc* .swcrc webpack.config.* turbo.json
        nx.json project.json angular.json lerna.json pnpm-workspace.yaml gulpfile.* Gruntfile.* .nvmrc
        deno.jsonc
        """.split()
    ),
    RunnerKind.GO: ("go.work", "magefile.go"),
    RunnerKind.CARGO: ("build.rs",),
}
_ANY_MIXED = (
    *(name for names in _MIXED.values() for name in names),
    *"""
    CMakeLists.txt CMakePresets.json meson.build BUILD BUILD.bazel WORKSPACE .bazelrc pom.xml build.gradle
    build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradlew mvnw build.sbt build.xml
    mix.exs Rakefile Gemfile *.gemspec *.csproj *.fsproj *.vbproj *.sln Directory.Build.props
    Directory.Build.targets global.json Package.swift justfile Justfile .justfile Taskfile.y*ml
    Earthfile configure configure.ac Makefile.am Makefile.in dune-project dune *.cabal stack.yaml
    rebar.config Dockerfile docker-compose*.y*ml compose.y*ml .tool-versions mise.toml
    """.split(),
)


@dataclass(frozen=True, slots=True)
class _Path:
    """A path in its parts, and by which runner it may be tested."""

    whole: str
    folders: Sequence[str]
    name: str
    kind: RunnerKind

    @property
    def stem(self) -> str:
        """The name without what it ends with."""
        return self.name.rpartition(".")[0]

    @property
    def suffix(self) -> str:
        """What the name ends with."""
        return self.name.rpartition(".")[2].lower() if "." in self.name else ""


def custody(
    path: str, command: TestCommand | None, recipes: Iterable[str] = (), *, is_new: bool = False
) -> Custody:
    """Returns whose a file is; `recipes` are texts that say what the command runs, and so may name it.

    A module that `is_new` and takes the place of one of Python's own would be loaded into the tests instead.
    """
    *folders, name = path.split("/")
    at = _Path(path, folders, name, command.kind if command is not None else RunnerKind.CUSTOM)
    recipe = read_recipe(command, tuple(recipes))
    if _is_settings(at) or (is_new and _is_of_python(at)):
        return Custody.SETTINGS
    if is_makefile(path) and recipe.runs_make:
        return Custody.PART
    if (found := _of_tests(at, recipe)) is not None:
        return found
    if _is_one_of(name, PARTLY) or (folders[-1:] == ["requirements"] and at.suffix in {"txt", "in"}):
        return Custody.PART
    if _is_one_of(name, _MIXED.get(at.kind, _ANY_MIXED)) or path in recipe.programs:
        return Custody.MIXED
    return _of_sources(at, recipe)


def _of_sources(at: _Path, recipe: Recipe) -> Custody:
    """Returns whose a file is that is a source, unless the command or a recipe says otherwise."""
    if at.kind is not RunnerKind.PYTEST and at.whole in recipe.files:
        return Custody.SETTINGS
    if _holds_tests_inside(at, recipe):
        return Custody.PART
    if recipe.is_told(at.whole):
        return Custody.TEST
    return Custody.SETTINGS if recipe.is_named(at.whole) else Custody.SOURCE


def is_source(path: str) -> bool:
    """Says whether a path is a program, and no settings."""
    return path.rpartition(".")[2].lower() in _CODE


def is_test_code(path: str) -> bool:
    """Says whether a path is a program that tests, or decides which tests run."""
    name = path.rpartition("/")[2]
    return name == "conftest.py" or (is_test(path) and name.rpartition(".")[2].lower() in _CODE)


def _is_settings(at: _Path) -> bool:
    if not _SETTINGS_FOLDERS.isdisjoint(at.folders) or _is_one_of(at.name, _SETTINGS):
        return True
    if any(_is_one_of(part, _INSTALLED) for part in at.folders) or _is_vendored_tool(at.folders):
        return True
    return _first_module(at) in _RUNNERS


def _is_of_python(at: _Path) -> bool:
    """Says whether a module at the top has the name of one of Python's own."""
    return at.suffix == "py" and next(iter(at.folders), at.stem) in sys.stdlib_module_names


def _first_module(at: _Path) -> str:
    """Returns the module that a file belongs to, if Python may find it by that name alone; else nothing."""
    parts = [*at.folders, at.stem] if at.suffix == "py" else [*at.folders]
    is_below = parts[:1] and parts[0] in _ROOTS and len(parts) > 1
    return parts[1 if is_below else 0] if parts else ""


def _is_vendored_tool(folders: Sequence[str]) -> bool:
    """Says whether a file is of a package that tests, kept in the repository."""
    if "vendor" not in folders:
        return False
    below = folders[folders.index("vendor") + 1 :]
    return below[:1] == ["bin"] or any(is_tool("/".join(below[:end])) for end in range(1, len(below) + 1))


def _of_tests(at: _Path, recipe: Recipe) -> Custody | None:
    """Returns whose a file of tests is; None for any other."""
    if _is_one_of(at.name, _SUPPORT_NAMES) or not _SUPPORT_FOLDERS.isdisjoint(at.folders):
        return Custody.SUPPORT
    if at.suffix == "feature":
        return Custody.TEST if at.kind is not RunnerKind.PYTEST else Custody.SUPPORT
    if _is_below_tests(at) or recipe.is_below(at.whole):
        return Custody.TEST if _holds_tests(at, recipe) else Custody.SUPPORT
    if not _is_named_like_tests(at):
        return None
    return Custody.TEST if _holds_tests(at, recipe) else Custody.SUPPORT


def _is_below_tests(at: _Path) -> bool:
    folders = [folder.lower() for folder in at.folders]
    if folders[:1] and folders[0] in _SUPPORT_AT_TOP:
        return True
    if _is_main(folders):
        return False
    for number, folder in enumerate(folders):
        if folder in _TEST_FOLDERS or _TEST_FOLDER.fullmatch(folder):
            return True
        is_spec = folder in _SPEC_FOLDERS and at.kind in _SPEC_KINDS and at.suffix not in _DOCS
        if (is_spec or folder in _WHOLE_FOLDERS) and _SOURCE_FOLDERS.isdisjoint(folders[:number]):
            return True
        if folder == "features" and not _STEPS.isdisjoint(folders[number + 1 : number + 2]):
            return True
    return False


def _is_main(folders: Sequence[str]) -> bool:
    """Says whether a folder is one of sources by the rules of Maven."""
    return ("src", "main") in pairwise(folders)


def _is_named_like_tests(at: _Path) -> bool:
    """Says whether a name is that of tests or of what they use: the word is its first or its last."""
    if at.suffix in _DOCS or not _NO_TESTS.isdisjoint(at.folders) or _is_main(at.folders):
        return False
    if at.suffix == "go":
        return _GO_TEST.search(at.name) is not None
    if _SPEC_NAME.search(at.name.lower()):
        return True
    found = words(at.stem or at.name)
    if not found or {"test", "tests"}.isdisjoint((found[0], found[-1])):
        return False
    # No runner of scripts takes `TestRun.ts` or `speedTest.ts` for a test.
    return at.suffix not in _SCRIPT or _APART.search(at.stem) is not None or _HELPERS.issuperset(found)


def _holds_tests(at: _Path, recipe: Recipe) -> bool:
    """Says whether a file below tests, or named like one, holds tests itself and is no helper of theirs."""
    if recipe.is_told(at.whole):
        return True
    if at.kind is RunnerKind.PYTEST:
        return _PYTEST_NAME.fullmatch(at.name) is not None
    if at.suffix not in _CODE or not at.stem:
        return False
    about = set(words(at.stem))
    is_helper = (
        at.suffix != "py" and not _TEST_NAME.search(at.name) and _HELPERS.issuperset(about - _TEST_NAMES)
    )
    is_named = not _TEST_NAMES.isdisjoint(about) and (not is_helper or about <= _TEST_NAMES)
    return is_named or "__tests__" in at.folders or (at.suffix == "rs" and at.folders[-1:] == ["tests"])


def _holds_tests_inside(at: _Path, recipe: Recipe) -> bool:
    """Says whether a source may hold tests that the command runs."""
    match at.suffix:
        case "rs":
            return recipe.runs_cargo
        case "py":
            return recipe.has_doctests
        case _:
            return at.suffix in _SCRIPT and recipe.runs_vitest


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
