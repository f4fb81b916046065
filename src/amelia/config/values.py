"""What a single value of a settings file may be.

- A reader takes what was found and returns what the rest of Amelia works with, or raises a `ConfigError`
  that names the file, the key and what is allowed.
- Readers are made from what they allow, so that a key is one line of a table.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias, TypeGuard, cast
from urllib.parse import urlsplit

from amelia.model.errors import ConfigError

_SHOWN = 80
_SHELL_WORDS = frozenset({"&&", "||", "|", "&", ";", ">", ">>", "<", "2>", "2>&1"})
_NO_SHELL = 'no shell reads it; write ["sh", "-c", "…"] if one must'
_COMMAND = "a program and its arguments, as a list of texts or as one text"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_KEYS_ELSEWHERE = (
    "put the key into an environment variable and write the variable's name here, like MY_API_KEY"
)
_SCHEMES = frozenset({"http", "https"})
_ADDRESS = "write it like http://127.0.0.1:8080/v1; `key` names the variable that holds a key"
_UNBOUNDED = "none"


@dataclass(frozen=True, slots=True)
class Found:
    """A value, the file it was found in, and its key there."""

    value: object
    source: Path
    key: str = ""

    def wrong(self, allowed: str, *, hint: str | None = None) -> ConfigError:
        """Returns the error that says what would be allowed instead."""
        try:
            shown = json.dumps(self.value, default=str)
        except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list …
            shown = "that"
        return ConfigError(f"{self.source}: {self.key} must be {allowed}, not {shown[:_SHOWN]}", hint=hint)

    def secret(self, allowed: str, *, hint: str) -> ConfigError:
        """Returns the same error without the value, which may be a key."""
        return ConfigError(f"{self.source}: {self.key} must be {allowed}", hint=hint)


Reader: TypeAlias = Callable[[Found], object]


@dataclass(frozen=True, slots=True)
class Table:
    """Reads a table that holds none but the given keys."""

    readers: Mapping[str, Reader]

    def __call__(self, found: Found) -> Mapping[str, Any]:
        """Returns what its readers make of the values that are there."""
        prefix = f"{found.key}." if found.key else ""
        values: dict[str, Any] = {}
        for key, value in mapping(found).items():
            if key not in self.readers:
                raise self._unknown(key, found.source, prefix=prefix)
            values[key] = self.readers[key](Found(value, found.source, prefix + key))
        return values

    def _unknown(self, key: str, source: Path, *, prefix: str) -> ConfigError:
        near = get_close_matches(key, self.readers, n=1)
        hint = (
            f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(sorted(self.readers))}"
        )
        return ConfigError(f"{source}: unknown key {prefix}{key}", hint=hint)


def mapping(found: Found) -> Mapping[str, object]:
    """Reads a table, whatever it holds."""
    if not isinstance(found.value, dict):
        raise found.wrong("a table")
    return cast("Mapping[str, object]", found.value)


def flag(found: Found) -> bool:
    """Reads a yes or no."""
    if not isinstance(found.value, bool):
        raise found.wrong("true or false")
    return found.value


def one_of(words: Iterable[str]) -> Reader:
    """Makes a reader of one word out of several."""
    known = {str(word): word for word in words}

    def read(found: Found) -> str:
        if not isinstance(found.value, str) or found.value not in known:
            raise found.wrong(f"one of {', '.join(known)}")
        return known[found.value]

    return read


def whole(low: int, high: int) -> Reader:
    """Makes a reader of whole numbers within bounds, both included."""

    def read(found: Found) -> int:
        value = found.value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise found.wrong(f"a whole number from {low} to {high}")
        return value

    return read


def number(low: float, high: float) -> Callable[[Found], float]:
    """Makes a reader of numbers within bounds, both included."""

    def read(found: Found) -> float:
        value = found.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise found.wrong(f"a number from {low:g} to {high:g}")
        return float(value)

    return read


def minutes(low: float, high: float) -> Reader:
    """Makes a reader of durations that are written as a number of minutes."""
    read_number = number(low, high)
    return lambda found: timedelta(minutes=read_number(found))


def bound(read_number: Reader) -> Reader:
    """Makes a reader of a bound that can be taken away."""

    def read(found: Found) -> object:
        if found.value == _UNBOUNDED:
            return None
        try:
            return read_number(found)
        except ConfigError as problem:
            raise ConfigError(str(problem), hint=f'"{_UNBOUNDED}" takes the bound away') from problem

    return read


def text(found: Found) -> str:
    """Reads a text that says something."""
    if not _is_text(found.value) or not found.value.strip():
        raise found.wrong("a text that is not empty")
    return found.value


def variable(found: Found) -> str:
    """Reads the name of an environment variable; a key that stands there itself is refused, and not shown."""
    if not _is_text(found.value) or not _VARIABLE.fullmatch(found.value):
        raise found.secret("the name of an environment variable, in capital letters", hint=_KEYS_ELSEWHERE)
    return found.value


def variables(found: Found) -> tuple[str, ...]:
    """Reads a list of names of environment variables."""
    if not isinstance(found.value, list):
        raise found.secret("a list of names of environment variables", hint=_KEYS_ELSEWHERE)
    return _each(found, variable)


def web_address(found: Found) -> str:
    """Reads the address of a server, without a name, a password or a query, which may hold a key."""
    if not _is_text(found.value) or not _is_address(found.value):
        raise found.secret("an http or https address without a password or a query", hint=_ADDRESS)
    return found.value


def file_beside(found: Found) -> str:
    """Reads a path relative to the file it stands in; returns it absolute."""
    return str((found.source.parent / text(found)).absolute())


def path_inside(found: Found) -> str:
    """Reads a path, or a pattern of paths, inside the repository."""
    if not _is_text(found.value) or not _is_inside(PurePosixPath(found.value)):
        raise found.wrong("a path inside the repository")
    return found.value


def paths_inside(found: Found) -> tuple[str, ...]:
    """Reads a list of paths, or of patterns of paths, inside the repository."""
    if not isinstance(found.value, list):
        raise found.wrong("a list of paths")
    return _each(found, path_inside)


def command(found: Found) -> tuple[str, ...]:
    """Reads a program and its arguments: a list, or one text that is split as a shell splits it."""
    value = _split(found, found.value) if isinstance(found.value, str) else found.value
    words = cast("list[object]", value) if isinstance(value, list) else []
    argv = tuple(word for word in words if _is_text(word))
    if len(argv) < len(words) or not argv or not argv[0].strip():
        raise found.wrong(_COMMAND)
    return argv


def _each(found: Found, read: Callable[[Found], str]) -> tuple[str, ...]:
    return tuple(
        read(Found(item, found.source, f"{found.key}[{position}]"))
        for position, item in enumerate(cast("list[object]", found.value))
    )


def _split(found: Found, line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise found.wrong(_COMMAND, hint="close every quote, or write a list") from problem
    if not _SHELL_WORDS.isdisjoint(words):
        raise found.wrong("one program and its arguments", hint=_NO_SHELL)
    return words


def _is_text(value: object) -> TypeGuard[str]:
    """Says whether a value is a text that an operating system would take as a name or an argument."""
    return isinstance(value, str) and "\0" not in value


def _is_inside(path: PurePosixPath) -> bool:
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:  # a port that is no number, a bracket that stays open
        return False
    has_more = "@" in parts.netloc or bool(parts.query or parts.fragment)
    return parts.scheme in _SCHEMES and bool(parts.hostname) and not has_more and value.isprintable()
