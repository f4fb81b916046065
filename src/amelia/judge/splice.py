"""The judge's parts of files that are not all its own: how tests are run, kept apart from what is built.

Pure. `splice` returns a file of the unit in which the judge's parts are as they were. A file whose parts
cannot be told apart is all the judge's: then it is as it was, as a whole.
"""

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast

import msgspec

Json = dict[str, Any]

_SCRIPTS = ("scripts", "jest", "mocha", "ava", "vitest", "nyc", "c8", "tap", "wallaby")
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "overrides")
_RUNNERS = (
    *("jest", "jest-*", "@jest/*", "*-jest", "vitest", "@vitest/*", "mocha", "mocha-*", "chai", "chai-*"),
    *("ava", "tap", "tape", "jasmine*", "karma*", "@playwright/*", "playwright*", "cypress*", "nyc", "c8"),
    *("ts-node", "tsx", "ts-jest", "@testing-library/*", "sinon*", "uvu", "@web/test-runner*"),
)
_TOML_TABLES = (
    *(("tool", "pytest"), ("tool", "coverage"), ("tool", "tox"), ("tool", "nox"), ("tool", "hatch", "envs")),
    *(("project", "entry-points", "pytest11"), ("tool", "poetry", "plugins", "pytest11")),
    *(("test",), ("bench",), ("profile", "test"), ("lib", "harness")),
)
_INI_SECTIONS = ("tool:pytest", "pytest", "coverage:*", "testenv*", "tox", "tox:*", "nosetests", "aliases")
_HEADER = re.compile(r"^\s*\[(?P<name>[^\n]*?)\]\s*(?:[#;].*)?$")


@dataclass(frozen=True, slots=True)
class _Format:
    """How a file is read: its judge's parts, as values that can be compared, and the file put together."""

    parts: Callable[[str], object]
    joined: Callable[[str, str], str]


def splice(path: str, before: str | None, after: str | None) -> str | None:
    """Returns the file as the unit left it, with the judge's parts as they were; None for no file at all."""
    known = _FORMATS[path.rpartition("/")[2]]
    if after is None:
        return before  # what was taken away may be what the runner reads
    try:
        was, now = known.parts(before or ""), known.parts(after)
        if was == now:
            return after
        spliced = known.joined(before or "", after)
        return spliced if known.parts(spliced) == was else before
    except (ValueError, RecursionError, AttributeError, TypeError, configparser.Error):
        return before


def _json(text: str) -> Json:
    return msgspec.json.decode(text, type=dict[str, Any]) if text.strip() else {}


def _json_parts(text: str) -> object:
    whole = _json(text)
    named = {key: whole[key] for key in _SCRIPTS if key in whole}
    return named, {key: _runners(_table(whole, key)) for key in _DEPENDENCIES}


def _runners(table: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in table.items() if any(fnmatchcase(name, one) for one in _RUNNERS)}


def _table(whole: Json, key: str) -> dict[str, object]:
    found = whole.get(key)
    return dict(cast("Mapping[str, object]", found)) if isinstance(found, dict) else {}


def _join_json(before: str, after: str) -> str:
    was, now = _json(before), _json(after)
    for key in _SCRIPTS:
        now.pop(key, None)
    now |= {key: was[key] for key in _SCRIPTS if key in was}
    for key in _DEPENDENCIES:
        mine = _table(now, key)
        joint = {name: mine[name] for name in mine.keys() - _runners(mine).keys()} | _runners(
            _table(was, key)
        )
        if joint:
            now[key] = joint
        else:
            now.pop(key, None)
    return msgspec.json.format(msgspec.json.encode(now), indent=2).decode() + "\n"


def _toml_parts(text: str) -> object:
    whole = tomllib.loads(text)
    return [_at(whole, keys) for keys in _TOML_TABLES]


def _at(table: object, keys: Iterable[str]) -> object:
    for key in keys:
        table = cast("Mapping[str, object]", table).get(key) if isinstance(table, dict) else None
    return table


def _join_toml(before: str, after: str) -> str:
    def is_judges(name: str) -> bool:
        keys = tuple(part.strip().strip("\"'") for part in name.strip("[]").split("."))
        return any(keys[: len(table)] == table for table in _TOML_TABLES)

    return _with_sections(before, after, is_judges)


def _ini_parts(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False, default_section="")
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections() if _is_ini_section(name)}


def _is_ini_section(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _INI_SECTIONS)


def _join_ini(before: str, after: str) -> str:
    return _with_sections(before, after, _is_ini_section)


def _with_sections(before: str, after: str, is_judges: Callable[[str], bool]) -> str:
    """Returns a file without some sections, and with those of another one behind."""
    kept = [text for name, text in _sections(after) if not is_judges(name)]
    added = [text for name, text in _sections(before) if is_judges(name)]
    return "\n".join(text.rstrip("\n") for text in (*kept, *added)) + "\n"


def _sections(text: str) -> list[tuple[str, str]]:
    """Returns the sections of a file with their names; what stands before the first has none."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if header := _HEADER.match(line):
            found.append((header["name"], []))
        found[-1][1].append(line)
    return [(name, "\n".join(lines)) for name, lines in found]


_PACKAGE = _Format(_json_parts, _join_json)
_TOML = _Format(_toml_parts, _join_toml)
_INI = _Format(_ini_parts, _join_ini)
_FORMATS: Mapping[str, _Format] = {
    "package.json": _PACKAGE,
    "pyproject.toml": _TOML,
    "Cargo.toml": _TOML,
    "setup.cfg": _INI,
    "tox.ini": _INI,
}
