"""The judge's parts of files that are not all its own: how tests are run, kept apart from what is built.

Pure. `splice` returns a file of the unit in which the judge's parts are as they were. Settings whose parts
cannot be told apart are all the judge's: then the file is as it was, as a whole. Sources are not: with all of
one as it was, the old code would be tested. They stay the unit's, and `is_inseparable` says so.
"""

import configparser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from amelia.judge.splice import docstrings, lines, makefile, rust, tables, vitest
from amelia.model.evidence import TestCommand

_WRONG = (
    *(ValueError, LookupError, RecursionError, AttributeError, TypeError, SyntaxError, MemoryError),
    configparser.Error,
)


_LONGEST = 400_000


@dataclass(frozen=True, slots=True)
class _Format:
    """How settings are read: the judge's parts as values that can be compared, and the file put together."""

    parts: Callable[[str], object]
    joined: Callable[[str, str], str]


def splice(
    path: str, before: str | None, after: str | None, *, command: TestCommand | None = None
) -> str | None:
    """Returns the file as the unit left it, with the judge's parts as they were; None for no file at all."""
    if before == after:
        return after
    if _source(path) is not None:
        return _spliced_source(path, before, after)[0]
    if after is None:
        return before  # what was taken away may be what the runner reads
    if makefile.is_makefile(path):
        return _spliced_makefile(path, (before, after), command)
    return _spliced_settings(_format(path), before, after)


def is_inseparable(path: str, before: str | None, after: str | None) -> bool:
    """Says whether tests inside a source cannot be told from it, or have no place in it any more."""
    return before != after and _source(path) is not None and not _spliced_source(path, before, after)[1]


def _spliced_settings(known: _Format, before: str | None, after: str) -> str | None:
    try:
        was, now = known.parts(before or ""), known.parts(after)
        if was == now:
            return after
        spliced = known.joined(before or "", after)
        return spliced if known.parts(spliced) == was else before
    except _WRONG:
        return before


def _spliced_source(path: str, before: str | None, after: str | None) -> tuple[str | None, bool]:
    """Returns a source with the tests inside as they were, and whether each of them found its place."""
    join = _source(path)
    if join is None:
        return after, True
    if max(len(before or ""), len(after or "")) > _LONGEST:
        return after, False
    try:
        text, is_whole = join(before or "", after or "")
    except _WRONG:
        return after, False
    return (None if after is None else text), is_whole


def _source(path: str) -> Callable[[str, str], tuple[str, bool]] | None:
    return _SOURCES.get(path.rpartition(".")[2].lower())


def _spliced_makefile(path: str, texts: tuple[str | None, str], command: TestCommand | None) -> str | None:
    before, after = texts
    if before is None:
        return after if makefile.is_apart(path) else None
    try:
        return makefile.joined(
            before, after, goals=makefile.goals(command.argv if command is not None else ())
        )
    except _WRONG:
        return before


def _format(path: str) -> _Format:
    folder, _, name = path.rpartition("/")
    if folder.rpartition("/")[2] == "requirements":
        return _REQUIREMENTS
    return next(known for pattern, known in _FORMATS.items() if fnmatchcase(name, pattern))


def _of_table(known: tables.Format) -> _Format:
    return _Format(known.parts, known.joined)


_REQUIREMENTS = _Format(lines.requirement_parts, lines.join_requirements)
_FORMATS: Mapping[str, _Format] = {
    "package.json": _of_table(tables.PACKAGE_JSON),
    "deno.json": _of_table(tables.DENO_JSON),
    "composer.json": _of_table(tables.COMPOSER_JSON),
    "pyproject.toml": _of_table(tables.PYPROJECT),
    "Pipfile": _of_table(tables.PIPFILE),
    "Cargo.toml": _of_table(tables.CARGO_TOML),
    "setup.cfg": _of_table(tables.INI),
    "tox.ini": _of_table(tables.INI),
    "requirements*.txt": _REQUIREMENTS,
    "requirements*.in": _REQUIREMENTS,
    "constraints*.txt": _REQUIREMENTS,
    "go.mod": _Format(lines.go_parts, lines.join_go),
}
PARTLY = tuple(_FORMATS)
"""Names of files that are settings in part, as patterns."""

_SCRIPT = ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts")
_SOURCES: Mapping[str, Callable[[str, str], tuple[str, bool]]] = {
    "rs": rust.joined,
    "py": docstrings.joined,
    **dict.fromkeys(_SCRIPT, vitest.joined),
}
