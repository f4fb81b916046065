"""What a single value of the settings may be.

- A reader takes what was found and returns what the rest of Amelia works with, or raises a `ConfigError`
  that names where it stands, the key and what is allowed.
- Readers are made from what they allow, so that a key is one line of a table; the schema that editors are
  given is made from the same bounds.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import TypeAlias, TypeGuard, cast
from urllib.parse import urlsplit

from amelia.config.found import Found
from amelia.config.places import repository_around, users_place
from amelia.model.errors import ConfigError
from amelia.plan.paths import is_in_git, is_malformed

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
_OFF = frozenset({"", "0", "false", "no", "off"})
_LONGEST_FOLDER = 200
_FILE_INSIDE = "a file inside the repository"

Schema: TypeAlias = Mapping[str, object]

_TEXT: Schema = {"type": "string", "minLength": 1}
_NAME_OF_VARIABLE: Schema = {"type": "string", "pattern": f"^{_VARIABLE.pattern}$"}


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one kind of value; `schema` says in JSON Schema what it takes, `note` what the key decides.

    `example` is a value worth showing where there is no default; `is_users` says that a repository may not
    write the key, `of_project` reads what one writes if less is allowed there.
    """

    read: Callable[[Found], object]
    schema: Schema
    note: str = ""
    example: object = None
    is_users: bool = False
    of_project: Callable[[Found], object] | None = None

    def __call__(self, found: Found) -> object:
        """Returns what the rest of Amelia works with."""
        return self.read(found)

    def about(self, note: str, *, example: object = None) -> "Reader":
        """Returns the reader of a key of which there is this to say."""
        return replace(self, note=note, example=example)

    def users(self) -> "Reader":
        """Returns the reader of a key that only the user may say."""
        return replace(self, is_users=True)


def one_of(words: Iterable[str]) -> Reader:
    """Makes a reader of one word out of several."""
    known = {str(word): word for word in words}

    def read(found: Found) -> str:
        if not isinstance(found.value, str) or found.value not in known:
            raise found.wrong(f"one of {', '.join(known)}")
        return known[found.value]

    return Reader(read, {"enum": list(known)})


def whole(low: int, high: int) -> Reader:
    """Makes a reader of whole numbers within bounds, both included."""

    def read(found: Found) -> int:
        value = found.value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise found.wrong(f"a whole number from {low} to {high}")
        return value

    return Reader(read, {"type": "integer", "minimum": low, "maximum": high})


def number(low: float, high: float) -> Reader:
    """Makes a reader of numbers within bounds, both included."""

    def read(found: Found) -> float:
        return _number(found, low, high)

    return Reader(read, {"type": "number", "minimum": low, "maximum": high})


def minutes(low: float, high: float) -> Reader:
    """Makes a reader of durations that are written as a number of minutes."""

    def read(found: Found) -> timedelta:
        return timedelta(minutes=_number(found, low, high))

    return replace(number(low, high), read=read)


def bound(reader: Reader) -> Reader:
    """Makes a reader of a bound that can be taken away."""

    def read(found: Found) -> object:
        if found.value == _UNBOUNDED:
            return None
        try:
            return reader(found)
        except ConfigError as problem:
            raise ConfigError(str(problem), hint=f'"{_UNBOUNDED}" takes the bound away') from problem

    return Reader(read, {"anyOf": [reader.schema, {"const": _UNBOUNDED}]})


def _flag(found: Found) -> bool:
    if not isinstance(found.value, bool):
        raise found.wrong("true or false")
    return found.value


def _switch(found: Found) -> bool:
    """Reads whether something is on: a table is, unless it is empty or says otherwise of itself."""
    value: object = found.value
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        value = table.get("enabled", bool(table))
    return value.strip().casefold() not in _OFF if isinstance(value, str) else bool(value)


def _text(found: Found) -> str:
    if not _is_text(found.value) or not found.value.strip():
        raise found.wrong("a text that is not empty")
    return found.value


def _variable(found: Found) -> str:
    """Reads the name of an environment variable; a key that stands there itself is refused, and not shown."""
    if not _is_text(found.value) or not _VARIABLE.fullmatch(found.value):
        raise found.secret("the name of an environment variable, in capital letters", hint=_KEYS_ELSEWHERE)
    return found.value


def _variables(found: Found) -> tuple[str, ...]:
    if not isinstance(found.value, list):
        raise found.secret("a list of names of environment variables", hint=_KEYS_ELSEWHERE)
    return _each(found, _variable)


def _web_address(found: Found) -> str:
    """Reads the address of a server, without a name, a password or a query, which may hold a key."""
    if not _is_text(found.value) or not _is_address(found.value):
        raise found.secret("an http or https address without a password or a query", hint=_ADDRESS)
    return found.value


def _file_beside(found: Found) -> str:
    return str((found.source.place / _text(found)).absolute())


def _places(found: Found) -> tuple[str, ...]:
    """Reads paths of this machine, relative to the file they stand in, or to the user's home after a `~`."""
    if not isinstance(found.value, list):
        raise found.wrong("a list of paths")
    return _each(found, lambda each: str((each.source.place / Path(_text(each)).expanduser()).absolute()))


def _file_of_repository(found: Found) -> str:
    """Reads a path that a repository names; links do not lead out of it, nor to what git keeps for itself."""
    try:
        top = repository_around(found.source.place).resolve()
        path = Path(_file_beside(found)).resolve()
    except (OSError, RuntimeError) as problem:  # links that lead to each other
        raise found.wrong(_FILE_INSIDE) from problem
    if not path.is_relative_to(top) or is_in_git(path.relative_to(top).as_posix()):
        raise found.wrong(_FILE_INSIDE, hint=f"your own settings may name any file: {users_place()}")
    return str(path)


def _path_inside(found: Found) -> str:
    if not _is_text(found.value) or not _is_inside(PurePosixPath(found.value)):
        raise found.wrong("a path inside the repository")
    return found.value


def _folder_inside(found: Found) -> str:
    path = _path_inside(found)
    if is_in_git(path) or is_malformed(path) or len(path) > _LONGEST_FOLDER:
        raise found.wrong("a path where the repository can have files")
    return path


def _paths_inside(found: Found) -> tuple[str, ...]:
    if not isinstance(found.value, list):
        raise found.wrong("a list of paths")
    return _each(found, _path_inside)


def _command(found: Found) -> tuple[str, ...]:
    value = _split(found, found.value) if isinstance(found.value, str) else found.value
    words = cast("list[object]", value) if isinstance(value, list) else []
    argv = tuple(word for word in words if _is_text(word))
    if len(argv) < len(words) or not argv or not argv[0].strip():
        raise found.wrong(_COMMAND)
    return argv


flag = Reader(_flag, {"type": "boolean"})
"""Reads a yes or no."""
switch = Reader(_switch, {})
"""Reads whether something is on that other tools may describe in any way."""
text = Reader(_text, _TEXT)
"""Reads a text that says something."""
variable = Reader(_variable, _NAME_OF_VARIABLE)
"""Reads the name of an environment variable."""
variables = Reader(_variables, {"type": "array", "items": _NAME_OF_VARIABLE})
"""Reads a list of names of environment variables."""
web_address = Reader(_web_address, {"type": "string", "pattern": "^https?://[^@?#]+$"})
"""Reads the address of a server."""
file_beside = Reader(_file_beside, _TEXT)
"""Reads a path relative to the file it stands in; returns it absolute."""
text_file = replace(file_beside, of_project=_file_of_repository)
"""Reads the same; a repository names its own files only, for what they hold is told to agents."""
path_inside = Reader(_path_inside, _TEXT)
"""Reads a path, or a pattern of paths, inside the repository."""
folder_inside = Reader(_folder_inside, _TEXT)
"""Reads where a directory of the repository is to be, which is not git's own."""
paths_inside = Reader(_paths_inside, {"type": "array", "items": _TEXT})
"""Reads a list of paths, or of patterns of paths, inside the repository."""
places = Reader(_places, {"type": "array", "items": _TEXT})
"""Reads a list of paths of this machine; returns them absolute."""
command = Reader(_command, {"anyOf": [_TEXT, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})
"""Reads a program and its arguments: a list, or one text that is split as a shell splits it."""


def _number(found: Found, low: float, high: float) -> float:
    value = found.value
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise found.wrong(f"a number from {low:g} to {high:g}")
    return float(value)


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
