"""What a test command and the recipes behind it say: which files they run, and which runners.

Pure. Recipes are the texts of files that a command reads, such as a makefile or the scripts of a package.
They name sources as well, which are no recipe: only scripts that run tests are, and what a runner is told
to run.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from amelia.model.evidence import RunnerKind, TestCommand
from amelia.plan.paths import normal_path, words

_PYTEST_FILES = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"),
)
_MAKE_FILES = ("GNUmakefile", "makefile", "Makefile")
_NODE_FILES = (
    *("package.json", "deno.json", ".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml"),
    *(f"{name}.config.{end}" for name in ("jest", "vitest", "vite") for end in ("js", "ts", "mjs", "json")),
)
_PROGRAMS = {"invoke": ("tasks.py",), "inv": ("tasks.py",), "doit": ("dodo.py",), "fab": ("fabfile.py",)}
_MOST_RECIPES = 50
_TEST_WORDS = frozenset(
    """
    test tests testing check checks spec specs ci verify unittest runner suite harness setup teardown
    mock mocks stub stubs fixture fixtures
    """.split()
)
_TEST_FOLDERS = frozenset(
    """
    test tests testing check checks spec specs qa acceptance integration functional unit units features suite
    suites verification verify regression smoke e2e examples
    """.split()
)
_BUILD_WORDS = frozenset(
    """
    build compile install gen generate codegen deploy release publish clean package dist serve start dev
    format fmt lint bootstrap bundle
    """.split()
)
_RUN_WORDS = frozenset({"run", "all", "validate", "qa", "smoke", "quality"})
_TOOLS = frozenset({"ci", ".ci", "script", "scripts", "tool", "tools", "hack", "dev", "etc"})
_SHELL = frozenset("sh bash zsh bat cmd ps1 bats fish".split())
_INTERPRETED = frozenset({"py", "js", "mjs", "cjs", "ts", "rb", "pl", "php"})
_COMPILED = frozenset("c cc cpp cxx h hpp rs go java kt scala swift cs fs zig".split())
_WORD = re.compile(r"[\w@./*?{},\[\]+-]+")
_RUNS = re.compile(
    r"(?<![\w/.-])(?:pytest|py\.test|mocha|jest|vitest|ava|tape?|jasmine|uvu|rspec|phpunit|node[ \t]+--test|"
    r"unittest|nose2|behave|deno[ \t]+test|bun[ \t]+test)(?![\w.-])(?P<rest>[^&|;\n\"#]*)"
)
_LISTED = re.compile(
    r"""["']?(?:python_files|testpaths|testMatch|testRegex|spec)["']?\s*[=:]\s*
    (?P<value>\[[^\]]*\]|"[^"\n]*"|[^\n]*(?:\n[ \t]+[^\n]+)*)""",
    re.VERBOSE,
)
_DOCTEST_GLOB = re.compile(r"--doctest-glob[=\s]+\\?[\"']?(?P<glob>[\w*./-]+)")
_PLUGIN = re.compile(r"(?<![\w-])-p[ \t=]+(?!no:)(?P<module>[A-Za-z_][\w.]*)")
_LOADED = re.compile(
    r"""(?:(?<![\w-])(?:--require|--import|--loader|--experimental-loader|--preload|--setup|--globalSetup|-r)[=\s]+
    |["']?(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|testEnvironment|testRunner|runner|resolver
    |reporters|snapshotSerializers)["']?\s*:\s*|["']?require["']?\s*:\s*(?=\[))
    (?P<value>\[[^\]]*\]|[^\s,}]+)""",
    re.VERBOSE,
)
_DOCTEST = re.compile(r"doctest|xdoctest|sybil")
_VITEST = re.compile(r"(?<![\w-])vitest(?![\w])")
_CARGO = re.compile(r"(?<![\w/.-])cargo[ \t]+(?:\+\S+[ \t]+)?(?:test|nextest|t|llvm-cov)\b")
_MAKE = re.compile(r"(?:^|[\s;&|\"'@(])(?:g?make|\$[({]MAKE[)}])[ \t]+[-\w]")
_SOURCES = frozenset({"src", "lib", "app", "source", "sources", "pkg", "packages", "internal", "."})


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a command and its recipes say.

    `files` are named by the command itself. `words` are all that may name a file in what it runs. `tests` are
    what a runner is told to run, as patterns, and `folders` those of tests among them. `programs` are those
    that the command itself reads by a name that nobody has to say.
    """

    files: frozenset[str]
    words: frozenset[str]
    tests: tuple[str, ...]
    folders: tuple[str, ...]
    programs: tuple[str, ...]
    runs_make: bool
    runs_cargo: bool
    runs_vitest: bool
    has_doctests: bool

    def is_named(self, path: str) -> bool:
        """Says whether the command names a file, or one of its recipes a script that runs tests."""
        if path in self.files:
            return True
        name = path.rpartition("/")[2]
        stem, _, suffix = name.rpartition(".")
        is_shell = suffix.lower() in _SHELL
        if path not in self.words and not (is_shell and name in self.words):
            return False
        found = set(words(stem or path))
        if (is_shell or not stem) and _BUILD_WORDS.isdisjoint(found):
            return not found.isdisjoint(_TEST_WORDS | _RUN_WORDS) or _is_of_tools(path)
        if suffix in _INTERPRETED and _is_of_tools(path) and not _RUN_WORDS.isdisjoint(found):
            return True
        return not found.isdisjoint(_TEST_WORDS if suffix not in _COMPILED else {"test", "tests"})

    def is_told(self, path: str) -> bool:
        """Says whether a runner is told to take a file for a test."""
        name = path.rpartition("/")[2]
        return any(fnmatchcase(path if "/" in one else name, one) for one in self.tests)

    def is_below(self, path: str) -> bool:
        """Says whether a file is in a folder that a runner is told to look for tests in."""
        return path.startswith(self.folders)


def recipe_files(command: TestCommand | None) -> tuple[str, ...]:
    """Returns the files whose texts say what a command runs, beside the command itself."""
    match command.kind if command is not None else None:
        case RunnerKind.PYTEST | RunnerKind.UNITTEST:
            return _PYTEST_FILES
        case RunnerKind.NODE:
            return _NODE_FILES
        case RunnerKind.MAKE:
            return (*_MAKE_FILES, *_PYTEST_FILES, *_NODE_FILES)
        case RunnerKind.CUSTOM:
            return (*_named(command), *_MAKE_FILES, *_PYTEST_FILES, *_NODE_FILES)
        case _:
            return ()


def recipe_texts(command: TestCommand | None, text_of: Callable[[str], str | None]) -> tuple[str, ...]:
    """Returns the texts that say what a command runs: of its recipes, and of scripts that these run."""
    waiting, seen, found = list(recipe_files(command)), set[str](), list[str]()
    asked = 0
    while waiting and asked < _MOST_RECIPES:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        asked += 1
        text = text_of(path)
        if text is not None:
            found.append(text)
            waiting += _scripts(text)
    return tuple(found)


def read_recipe(command: TestCommand | None, texts: tuple[str, ...]) -> Recipe:
    """Returns what a command and its recipes say."""
    kind = command.kind if command is not None else None
    return _read(kind, command.argv if command is not None else (), texts)


@lru_cache(maxsize=16)
def _read(kind: RunnerKind | None, argv: tuple[str, ...], texts: tuple[str, ...]) -> Recipe:
    line = " ".join(argv)
    every = (line, *texts)
    told = [one for text in every for one in _told(text)]
    plugins = (
        found["module"].replace(".", "/") + ".py" for text in every for found in _PLUGIN.finditer(text)
    )
    globs = (found["glob"] for text in every for found in _DOCTEST_GLOB.finditer(text))
    return Recipe(
        files=frozenset((*_paths(argv), *plugins, *(one for text in every for one in _loaded(text)))),
        words=frozenset(one for text in every for one in _normal(text)),
        tests=tuple({*(one for one in told if _is_file(one)), *globs}),
        folders=tuple({f"{one}/" for one in told if _is_test_folder(one)}),
        programs=_PROGRAMS.get(argv[0].rpartition("/")[2], ()) if argv else (),
        runs_make=kind is RunnerKind.MAKE
        or any(_MAKE.search(text) for text in every)
        or argv[:1] == ("make",),
        runs_cargo=kind is RunnerKind.CARGO or any(_CARGO.search(text) for text in every),
        runs_vitest=any(_VITEST.search(text) for text in every),
        has_doctests=any(_DOCTEST.search(text) for text in every),
    )


def _loaded(text: str) -> Iterator[str]:
    """Yields the files that are loaded into a runner before the tests."""
    for found in _LOADED.finditer(text):
        for word in _WORD.findall(found["value"].replace("<rootDir>/", "")):
            bare = normal_path(word.strip("[],"))
            if "." in bare.rpartition("/")[2]:
                yield bare


def _named(command: TestCommand | None) -> tuple[str, ...]:
    found = _paths(command.argv) if command is not None else ()
    return tuple(path for path in found if "." in path or "/" in path)


def _paths(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the words of a command that may be paths; a word with blanks is a script of its own."""
    plain = (word.partition("=")[2] if word.startswith("-") else word for word in argv)
    found = (normal_path(word.partition("::")[0]) for word in plain if word and not re.search(r"\s", word))
    return tuple(path for path in found if path)


def _normal(text: str) -> Iterator[str]:
    return (normal_path(word) for word in _WORD.findall(text))


def _scripts(text: str) -> list[str]:
    """Returns the words of a text that look like scripts which run tests."""
    found: list[str] = []
    for path in dict.fromkeys(_normal(text)):
        stem, _, suffix = path.rpartition("/")[2].rpartition(".")
        is_script = suffix in _SHELL or suffix == "mk"
        if stem and (is_script or ("/" in path and suffix in {"py", "js", "mjs"} and _is_about_tests(stem))):
            found.append(path)
    return found


def _is_of_tools(path: str) -> bool:
    """Says whether a script is in a folder of such that serve the work, and are not the work."""
    return not _TOOLS.isdisjoint(path.split("/")[:-1])


def _is_about_tests(stem: str) -> bool:
    return not _TEST_WORDS.isdisjoint(words(stem))


def _told(text: str) -> Iterator[str]:
    """Yields the files, patterns and folders that a runner is told to run."""
    for found in (*_RUNS.finditer(text), *_LISTED.finditer(text)):
        rest = found["rest"] if "rest" in found.re.groupindex else found["value"]
        for word in rest.replace("<rootDir>/", "").split():
            bare = word.strip("\"'\\,[]()")
            if bare and not bare.startswith("-"):
                yield normal_path(bare.partition("::")[0].removeprefix("**/"))


def _is_file(word: str) -> bool:
    """Says whether a word is a pattern of files, or a file, that cannot mean all sources."""
    name = word.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    if not stem or not suffix.isalnum():
        return False
    is_all = not re.search(r"\w", stem) and (_SOURCES.intersection(word.split("/")) or "/" not in word)
    return not is_all


def _is_test_folder(word: str) -> bool:
    *_, last = word.rstrip("/").split("/")
    return "." not in last and "*" not in word and not _TEST_FOLDERS.isdisjoint(words(last))
