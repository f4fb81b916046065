"""Which changes alter how the tests are run.

Pure. A command says little by itself: `make test` runs what a Makefile says, `npm test` what package.json
says, pytest reads settings, and scripts are named everywhere. Who changes those changes what "passed" means.

- Only what the command reaches counts: a rule and the rules and variables it names, a script and the scripts
  it names, the settings of pytest. Anything else in the same file is free to change.
- Where nothing said how the tests run, saying it is no change.
- A file that the command names or a recipe starts counts as a whole, unless the plan gives it to the unit,
  or it holds tests: those are counted one by one.
- What cannot be parsed is compared as text.
- unittest, go and cargo have no such file: a test that they no longer run is missed by its name.
"""

import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

import msgspec

from amelia.judge.globs import covered
from amelia.judge.weaken import Weakening, is_counted
from amelia.model.evidence import ChangeStatus, Delta, RunnerKind, TestCommand
from amelia.plan.paths import is_test

_Parts: TypeAlias = dict[str, object]
# Finds what in the text of a file says how the words of a command test, by the name that a person has for it.
_Reader: TypeAlias = Callable[[str, Collection[str]], _Parts]

# The parts of all files that say how the tests run, by file and name.
_Recipe: TypeAlias = dict[tuple[str, str], object]

_TEXT = "its text"
_WORD = re.compile(r"[\w./%+:-]+")
_QUOTES = "@'\"();&|"
_COMMAND_ENDS = (";", "&", "|", "(")
_INTERPRETERS = frozenset(
    {".", "bash", "dash", "env", "exec", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh"}
)


class _Manifest(msgspec.Struct):
    scripts: dict[str, str] = {}


class _Project(msgspec.Struct):
    tool: dict[str, object] = {}


def recipe_files(command: TestCommand | None, changed: Iterable[str]) -> tuple[str, ...]:
    """Returns the files that may say how a command tests, at the top and in folders with changes."""
    if command is None:
        return ()
    folders = {"", *(folder for path in changed for folder in _leading_to(posixpath.dirname(path)))}
    return tuple(path for path, _ in _sources(command) if posixpath.dirname(path) in folders)


def changed_recipes(
    command: TestCommand | None, delta: Delta, declared: Collection[str]
) -> Iterator[Weakening]:
    """Finds what a unit changed of how tests are run; `declared` are the files that the plan gives to it."""
    if command is None:
        return
    before, after = _recipe(command, delta.before), _recipe(command, delta.after)
    for path, changed in _different(before, after).items() if before else ():
        text = f"{path} says how the tests run, and this unit changed {', '.join(changed)}."
        yield Weakening(text, path, "Put it back as it was; a task of type `test` may change it.")
    named = _named(command, before) - {path for path, _ in _sources(command)}
    skipped = _skipped_by_make(command, before)
    for change in delta.changes:
        path = change.path
        if change.status is ChangeStatus.ADDED:
            if path.partition("/")[0] in skipped:
                text = f"With {path} there, make runs no rule of that name unless it is .PHONY."
                yield Weakening(text, path, "Choose another name.")
        elif path in named and not covered(path, declared):
            text = f"{path} is part of how the tests run, and this unit changed it."
            yield Weakening(text, path, "Put it back as it was; a task that declares the file may change it.")


def _different(before: _Recipe, after: _Recipe) -> dict[str, list[str]]:
    """Returns what differs, by file."""
    found: dict[str, list[str]] = {}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            found.setdefault(key[0], []).append(key[1])
    return found


def _recipe(command: TestCommand, texts: Mapping[str, str]) -> _Recipe:
    words = _words(*command.argv)
    return {
        (path, what): value
        for path, read in _sources(command)
        if path in texts
        for what, value in read(texts[path], words).items()
    }


def _sources(command: TestCommand) -> Iterator[tuple[str, _Reader]]:
    """Yields the paths that may say how a command tests: at the top, and where the command leads to."""
    words = _words(*command.argv)
    programs = {posixpath.basename(word) for word in words}
    folders = {"", *(folder for word in words for folder in _leading_to(word))}
    for program, files in _PROGRAMS.items():
        if program in programs:
            yield from ((posixpath.join(folder, name), files[name]) for folder in folders for name in files)


def _leading_to(word: str) -> Iterator[str]:
    path = posixpath.normpath(word)
    while path not in {"", ".", "/", "//"}:
        yield path
        path = posixpath.dirname(path)


def _named(command: TestCommand, recipe: _Recipe) -> set[str]:
    """Returns the files that a command names, and those that its recipes start."""
    told = {posixpath.normpath(word) for word in _words(*command.argv)}
    started = {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), word))
        for (path, _), value in recipe.items()
        for word in _started(str(value))
    }
    if command.kind is RunnerKind.CUSTOM:
        return told | {path for path in started if not is_counted(path)}
    return {path for path in told | started if not is_counted(path)}


def _started(text: str) -> Iterator[str]:
    """Yields what a shell text runs: the first word of a command, or what an interpreter is given."""
    for line in text.split("\n"):
        is_first = True
        for raw in line.split():
            word = raw.strip(_QUOTES)
            if is_first and not word.startswith("-") and "=" not in word:
                yield word
                is_first = posixpath.basename(word) in _INTERPRETERS
            is_first = is_first or raw.endswith(_COMMAND_ENDS)


def _skipped_by_make(command: TestCommand, recipe: _Recipe) -> set[str]:
    """Returns the rules of a command that make leaves out as soon as there is a file of their name."""
    rules = {
        name: str(recipe[file, _entry(name)]).split("\n")
        for name in _words(*command.argv)
        for file in _MAKEFILES
        if (file, _entry(name)) in recipe
    }
    return {name for name, lines in rules.items() if not lines[0] and ".PHONY" not in lines}


def _words(*texts: str) -> set[str]:
    found = {word for text in texts for word in _WORD.findall(text)}
    return found | {word.partition(":")[0] for word in found}


def _reached(names: Iterable[str], table: Mapping[str, str]) -> Iterator[str]:
    """Yields the entries of a table that are named, or named by entries that are."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in table and name not in seen:
            seen.add(name)
            waiting.extend(_words(table[name]))
            yield name


_DIRECTIVE = re.compile(
    r"\s*(?:\$|(?:[-s]?include|ifn?def|ifn?eq|else|endif|(?:un)?export|vpath|(?:un)?define|endef|load)\b)"
)
_ASSIGNMENT = re.compile(r"\s*(?:(?:export|override|private)\s+)*([\w.-]+)\s*(?:[?+!]|:{0,3})=(.*)")
_COMPILED = re.compile(r"\S+\.(?:c|cc|cpp|cxx|h|hpp|o|s)|-[IlL]\S+", re.IGNORECASE)
_MAKE_ITSELF = frozenset({"MAKEFLAGS", "PATH", "SHELL"})
_MAKES = frozenset({"gmake", "make"})
_FOR_ALL = ""


def _makefile(text: str, words: Collection[str]) -> _Parts:
    table = _entries(text)
    rules = [name for name in table if name and not name.startswith(".")]
    goals = {word for word in words if not word.startswith("-")} - _MAKES or set(rules[:1])
    special = {name for name in table if name.startswith(".")}
    reached = _reached({_FOR_ALL, *_MAKE_ITSELF, *special, *goals}, table)
    return {_entry(name): _without_sources(table[name]) for name in reached}


def _entry(name: str) -> str:
    return f"`{name}`" if name else "what holds for all rules"


def _entries(text: str) -> dict[str, str]:
    """Returns the text of each rule and variable of a Makefile, and of what belongs to none."""
    found: dict[str, list[str]] = {}
    current = [_FOR_ALL]
    for line in text.replace("\r\n", "\n").replace("\\\n", " ").split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        said = line.strip()
        if not line.startswith("\t"):
            current, said = _header(line)
        if current == [".PHONY"]:
            current, said = said.split(), ".PHONY"
        for name in current:
            found.setdefault(name, []).append(said)
    return {name: "\n".join(lines) for name, lines in found.items()}


def _header(line: str) -> tuple[list[str], str]:
    """Returns whose line this is, and what it says of them."""
    if assigned := _ASSIGNMENT.match(line):
        return [assigned[1]], line.strip()
    targets, colon, rest = line.partition(":")
    if not colon or _DIRECTIVE.match(line):
        return [_FOR_ALL], line.strip()
    return targets.split(), rest.lstrip(":").strip()


def _without_sources(text: str) -> str:
    """Leaves out what is compiled and linked, unless it tests: to add a source file is to implement."""
    lines = (line.split() for line in text.split("\n"))
    return "\n".join(
        " ".join(word for word in line if is_test(word) or not _COMPILED.fullmatch(word)) for line in lines
    )


def _package(text: str, words: Collection[str]) -> _Parts:
    try:
        scripts = msgspec.json.decode(text, type=_Manifest).scripts
    except (msgspec.DecodeError, RecursionError):
        return {_TEXT: text}
    names = [hook + word for word in {"test", *words} for hook in ("", "pre", "post")]
    return {f"the script `{name}`": scripts[name] for name in _reached(names, scripts)}


def _pyproject(text: str, _: Collection[str]) -> _Parts:
    try:
        settings = msgspec.convert(tomllib.loads(text), type=_Project).tool.get("pytest")
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError):
        return {_TEXT: text}
    return {"`[tool.pytest]`": settings} if settings is not None else {}


def _ini(text: str, _: Collection[str], *, section: str) -> _Parts:
    lines: list[str] = []
    current = ""
    for line in text.splitlines():
        if line.startswith("["):
            current = line.partition("]")[0][1:].strip()
        if current == section and line.strip() and not line.startswith(("#", ";")):
            lines.append(line.rstrip())
    return {f"`[{section}]`": lines} if lines else {}


def _whole(text: str, _: Collection[str]) -> _Parts:
    return {_TEXT: text}


_MAKEFILES: dict[str, _Reader] = dict.fromkeys(("GNUmakefile", "makefile", "Makefile"), _makefile)
_PACKAGE: dict[str, _Reader] = {"package.json": _package}
_PROGRAMS: dict[str, dict[str, _Reader]] = {
    **dict.fromkeys(("gmake", "make"), _MAKEFILES),
    **dict.fromkeys(("bun", "npm", "pnpm", "yarn"), _PACKAGE),
    "just": dict.fromkeys(("justfile", "Justfile", ".justfile"), _whole),
    "nox": {"noxfile.py": _whole},
    "tox": {"tox.ini": _whole},
    "pytest": {
        **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), _whole),
        "pyproject.toml": _pyproject,
        "tox.ini": partial(_ini, section="pytest"),
        "setup.cfg": partial(_ini, section="tool:pytest"),
    },
}
