"""Manifests and settings that are tables of tables: which of their entries are the judge's.

Pure. One function merges two of them, so that what is compared and what is put together cannot differ: the
judge's entries of a file are what is left when it is merged over nothing.
"""

import configparser
import datetime as dt
import io
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast

import msgspec

Table = dict[str, Any]
Keys = tuple[str, ...]

_NODE_TOOLS = """
    jest jest-* @jest/* *-jest vitest @vitest/* vitest-* mocha mocha-* @types/mocha @types/jest chai chai-*
    ava tap tape jasmine* karma* @playwright/* playwright* cypress* nyc c8 ts-node tsx ts-jest
    @testing-library/* sinon* uvu @web/test-runner* @std/assert* @std/testing* @std/expect* supertest nock msw
"""
_PYTHON_TOOLS = """
    pytest pytest-* pytest_* *-pytest pluggy nose nose2 unittest2 tox nox coverage hypothesis mock
    testfixtures behave robotframework* ward
"""
_RUST_TOOLS = (
    "rstest* proptest* quickcheck* mockall* insta* test-case* serial_test trybuild assert_* wiremock"
)
_PHP_TOOLS = "phpunit/* pestphp/* mockery/* codeception/* behat/* phpspec/* brianium/paratest"
_GO_TOOLS = (
    "github.com/stretchr/testify github.com/onsi/* gotest.tools* go.uber.org/mock *gomock* *quicktest*"
)
TOOLS = tuple(f"{_NODE_TOOLS} {_PYTHON_TOOLS} {_RUST_TOOLS} {_PHP_TOOLS} {_GO_TOOLS}".split())
"""Names of packages that run tests or are loaded into what does."""

_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*")
_OVERRIDDEN = re.compile(r"(?:.*[>/])?(?P<name>(?:@[^/@>]+/)?[^/@>]+)(?:@.*)?")
_NOTHING = object()
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class Entries:
    """The judge's entries of a kind of file: by their keys, as patterns.

    `whole` are values, `named` are tables with an entry for each package, `listed` are lists of requirements.
    """

    whole: tuple[Keys, ...]
    named: tuple[Keys, ...] = ()
    listed: tuple[Keys, ...] = ()


def is_tool(name: str) -> bool:
    """Says whether a package runs tests, or is loaded into what does."""
    plain = name[:_LONGEST_NAME].lower()
    scoped = _OVERRIDDEN.fullmatch(plain)
    names = {plain, plain.replace("_", "-"), scoped["name"] if scoped else plain}
    return any(fnmatchcase(one, pattern) for one in names for pattern in TOOLS)


def names_tool(requirement: object) -> bool:
    """Says whether a requirement, as Python writes it, is one of a tool."""
    found = _REQUIREMENT.match(requirement.strip()) if isinstance(requirement, str) else None
    return found is not None and is_tool(found[0])


def merged(was: object, now: Table, entries: Entries) -> Table:
    """Returns a file as it is now, with the judge's entries as they were."""
    found = _merged(was, now, (entries, ()))
    return cast("Table", found) if isinstance(found, dict) else {}


def _merged(was: object, now: object, at: tuple[Entries, Keys]) -> object:
    entries, keys = at
    if _fits(keys, entries.whole) or (_fits(keys[:-1], entries.named) and is_tool(keys[-1])):
        return was
    if any(isinstance(one, dict) for one in (was, now)):
        return _of_tables(was, now, at)
    if _fits(keys, entries.listed):
        tools = [one for one in _list(was) if names_tool(one)]
        joint = [one for one in _list(now) if not names_tool(one)] + tools
        return joint if joint or isinstance(now, list) else _NOTHING
    if any(isinstance(one, dict) for one in _list(now)):
        olds = _by_name(was)
        return [
            _merged(olds.get(name, _NOTHING), one, (entries, (*keys, "*")))
            for name, one in _by_name(now).items()
        ]
    return now


def _of_tables(was: object, now: object, at: tuple[Entries, Keys]) -> object:
    entries, keys = at
    olds, news = _dict(was), _dict(now)
    if now is not _NOTHING and not isinstance(now, dict) and not olds:
        return now
    joint = {
        key: _merged(olds.get(key, _NOTHING), news.get(key, _NOTHING), (entries, (*keys, key)))
        for key in (*news, *(key for key in olds if key not in news))
    }
    found = {key: value for key, value in joint.items() if value is not _NOTHING}
    if found or now == {}:
        return found
    return _NOTHING if isinstance(now, dict) else now


def _fits(keys: Keys, patterns: Iterable[Keys]) -> bool:
    return any(
        len(keys) == len(pattern) and all(map(fnmatchcase, keys, pattern)) for pattern in patterns if keys
    )


def _dict(value: object) -> Table:
    return cast("Table", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _by_name(value: object) -> dict[str, object]:
    return {str(_dict(one).get("name", number)): one for number, one in enumerate(_list(value))}


@dataclass(frozen=True, slots=True)
class Format:
    """How a kind of file is read and written, and which of its entries are the judge's."""

    read: Callable[[str], Table]
    write: Callable[[Table], str]
    entries: Entries

    def parts(self, text: str) -> Table:
        """Returns the judge's entries of a file."""
        return merged(self.read(text), {}, self.entries)

    def joined(self, before: str, after: str) -> str:
        """Returns a file as it is now, with the judge's entries as they were."""
        return self.write(merged(self.read(before), self.read(after), self.entries))


def _read_json(text: str) -> Table:
    return msgspec.json.decode(text, type=dict[str, Any]) if text.strip() else {}


def _write_json(whole: Table) -> str:
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"


def _write_toml(whole: Table) -> str:
    """Writes TOML: tables under headers, everything else in one line."""
    lines: list[str] = []
    waiting: list[tuple[Keys, Table]] = [((), whole)]
    while waiting:
        keys, table = waiting.pop(0)
        plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
        if keys and (plain or not table):
            lines.append(f"\n[{'.'.join(map(_toml, keys))}]")
        lines += [f"{_toml(key)} = {_toml(value)}" for key, value in plain.items()]
        waiting += [((*keys, key), value) for key, value in table.items() if isinstance(value, dict)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _toml(value: object) -> str:
    match value:
        case dict():
            pairs = cast("Mapping[str, object]", value).items()
            return "{" + ", ".join(f"{_toml(key)} = {_toml(one)}" for key, one in pairs) + "}"
        case list():
            return "[" + ", ".join(map(_toml, cast("Sequence[object]", value))) + "]"
        case bool():
            return str(value).lower()
        case str():
            return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case _:
            return str(value)


def _parser() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False, default_section="", delimiters=("=", ":"))
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - as its documentation says
    return parser


def _read_ini(text: str) -> Table:
    parser = _parser()
    parser.read_string(text)
    found: Table = {name: dict(parser[name]) for name in parser.sections()}
    for name, section in found.items():
        if name == "options.entry_points":
            found[name] = {key: value.splitlines() for key, value in section.items()}
        elif name in {"options", "options.extras_require"}:
            lists = {
                key: value.splitlines()
                for key, value in section.items()
                if key.endswith("_require") or key == "install_requires" or name != "options"
            }
            found[name] = {**section, **lists}
    return found


def _write_ini(whole: Table) -> str:
    parser = _parser()
    for name, section in whole.items():
        parser[name] = {
            key: value if isinstance(value, str) else "\n".join(map(str, _list(value)))
            for key, value in section.items()
        }
    out = io.StringIO()
    parser.write(out)
    return out.getvalue()


def _keys(*paths: str) -> tuple[Keys, ...]:
    return tuple(tuple(path.split(" ")) for path in paths)


_PACKAGES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
PACKAGE_JSON = Format(
    _read_json,
    _write_json,
    Entries(
        whole=_keys(
            *("scripts", "config", "packageManager", "directories test", "jest", "mocha", "ava", "vitest"),
            *("nyc", "c8", "tap", "wallaby", "jasmine", "karma", "playwright", "cypress"),
        ),
        named=_keys(
            *_PACKAGES, "overrides", "resolutions", "pnpm overrides", "pnpm patchedDependencies", "bin"
        ),
    ),
)
DENO_JSON = Format(
    _read_json,
    _write_json,
    Entries(whole=_keys("tasks", "test", "bench"), named=_keys("imports", "scopes *")),
)
COMPOSER_JSON = Format(
    _read_json,
    _write_json,
    Entries(whole=_keys("scripts", "autoload-dev"), named=_keys("require", "require-dev", "replace")),
)
PYPROJECT = Format(
    tomllib.loads,
    _write_toml,
    Entries(
        whole=_keys(
            *("tool pytest", "tool coverage", "tool tox", "tool nox", "tool hatch envs", "tool poe"),
            *("tool pdm scripts", "tool taskipy", "tool hypothesis"),
            *("project entry-points pytest11", "tool poetry plugins pytest11"),
        ),
        named=_keys(
            *("tool uv sources", "tool poetry dependencies", "tool poetry dev-dependencies"),
            "tool poetry group * dependencies",
        ),
        listed=_keys(
            *("project dependencies", "project optional-dependencies *", "dependency-groups *"),
            *("tool uv dev-dependencies", "tool uv override-dependencies", "tool uv constraint-dependencies"),
            *("tool pdm dev-dependencies *", "build-system requires"),
        ),
    ),
)
PIPFILE = Format(
    tomllib.loads,
    _write_toml,
    Entries(whole=_keys("scripts"), named=_keys("packages", "dev-packages")),
)
_TARGETS = ("lib", "bin *", "example *")
CARGO_TOML = Format(
    tomllib.loads,
    _write_toml,
    Entries(
        whole=_keys(
            *("test", "bench", "profile *", "package autotests", "package autobenches"),
            *(f"{target} {key}" for target in _TARGETS for key in ("test", "doctest", "harness", "bench")),
            "workspace default-members",
        ),
        named=_keys(
            *("dependencies", "dev-dependencies", "workspace dependencies", "patch *", "replace"),
            "target * dev-dependencies",
        ),
    ),
)
INI = Format(
    _read_ini,
    _write_ini,
    Entries(
        whole=_keys(
            *("tool:pytest", "pytest", "coverage:*", "testenv*", "tox", "tox:*", "nosetests", "aliases"),
            *("unittest", "test", "options.entry_points pytest11"),
        ),
        listed=_keys("options *_requires", "options *_require", "options.extras_require *"),
    ),
)
