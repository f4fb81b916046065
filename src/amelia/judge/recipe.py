"""Which changes alter how the tests are run.

Pure. `make test` runs what a Makefile says, `npm test` what package.json says, pytest reads settings, and any
command may name scripts. Who changes those changes what "passed" means. A file that the plan gives to the
unit is the plan's responsibility; everything else that says how tests run is not an agent's to change.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from amelia.judge.globs import covered
from amelia.judge.weaken import Weakening, is_counted
from amelia.model.evidence import ChangeStatus, Delta, RunnerKind, TestCommand


class _Manifest(msgspec.Struct):
    scripts: dict[str, str] = {}


def _scripts(text: str) -> object:
    try:
        return msgspec.json.decode(text, type=_Manifest).scripts
    except (msgspec.DecodeError, RecursionError):
        return text


def _pytest_table(text: str) -> object:
    try:
        tool: Mapping[str, Any] = tomllib.loads(text).get("tool", {})
        return tool.get("pytest")
    except (tomllib.TOMLDecodeError, AttributeError, RecursionError):
        return text


def _whole(text: str) -> object:
    return text


# The files at the top that say how each kind of runner runs, and what of their text does.
_FILES: Mapping[RunnerKind, Mapping[str, Callable[[str], object]]] = {
    RunnerKind.MAKE: {"GNUmakefile": _whole, "makefile": _whole, "Makefile": _whole},
    RunnerKind.NODE: {"package.json": _scripts},
    RunnerKind.PYTEST: {
        "pytest.ini": _whole,
        ".pytest.ini": _whole,
        "tox.ini": _whole,
        "setup.cfg": _whole,
        "pyproject.toml": _pytest_table,
    },
}


def recipe_files(command: TestCommand | None, changed: Collection[str]) -> tuple[str, ...]:
    """Returns the files whose texts are needed to say whether a change alters how a command tests."""
    if command is None or not changed:
        return ()
    known = _FILES.get(command.kind, {})
    # A script that make or npm starts is found by its name in their recipe.
    is_indirect = command.kind in {RunnerKind.MAKE, RunnerKind.NODE}
    return tuple(path for path in known if is_indirect or path in changed)


def changed_recipes(
    command: TestCommand | None, delta: Delta, declared: Collection[str]
) -> Iterator[Weakening]:
    """Finds what a unit changed of how tests are run; `declared` are the files that the plan gives to it."""
    if command is None:
        return
    readers = _FILES.get(command.kind, {})
    named = _named(command, (delta.before[path] for path in readers if path in delta.before))
    for change in delta.changes:
        path = change.path
        if covered(path, declared):
            continue
        is_new = change.status is ChangeStatus.ADDED
        if path in readers and (not is_new or command.kind is RunnerKind.PYTEST):
            # Without settings pytest has its defaults, so new ones are a change, too.
            is_altered = _part(readers[path], delta.before, path) != _part(readers[path], delta.after, path)
        else:
            is_altered = not is_new and not is_counted(path) and named(path)
        if is_altered:
            text = f"{path} says how the tests run, and this unit changed it."
            advice = "Put it back as it was; a task that declares the file, or of type `test`, may change it."
            yield Weakening(text, path, advice)


def _part(read: Callable[[str], object], texts: Mapping[str, str], path: str) -> object:
    return read(texts[path]) if path in texts else None


def _named(command: TestCommand, recipes: Iterable[str]) -> Callable[[str], bool]:
    """Returns what says whether a command, or what it runs, names a file."""
    texts = (*command.argv, *recipes)

    def is_named(path: str) -> bool:
        as_word = re.compile(rf"(?<![\w-]){re.escape(path)}(?![\w-])")
        return any(as_word.search(text) for text in texts)

    return is_named
