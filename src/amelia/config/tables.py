"""Tables of keys: each reads what a file holds into entries by dotted key, and none but the keys it knows.

A table that a repository writes is the same table, but for the keys that are the user's to say, and for those
that may hold less there.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeAlias

from amelia.config.found import Entry, Found, mapping
from amelia.config.places import users_place
from amelia.config.values import Reader
from amelia.model.errors import ConfigError

_NAME = re.compile(r"[\w-]{1,64}")
_LISTED = 8

Entries: TypeAlias = dict[str, Entry]
Keys: TypeAlias = "Reader | Table | Named"


@dataclass(frozen=True, slots=True)
class Table:
    """Reads a table that holds none but the given keys."""

    readers: Mapping[str, Keys]
    note: str = ""

    def __call__(self, found: Found) -> Entries:
        """Returns what its readers make of the values that are there, by dotted key."""
        entries: Entries = {}
        for key, value in mapping(found).items():
            inner = Found(value, found.source, f"{found.key}.{key}" if found.key else key)
            reader = self.readers.get(key)
            if reader is None:
                raise self._unknown(key, inner)
            entries |= _entries(reader, inner)
        return entries

    def _unknown(self, key: str, inner: Found) -> ConfigError:
        near = get_close_matches(key, self.readers, n=1)
        prefix = inner.key.removesuffix(key)
        hint = (
            f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(sorted(self.readers))}"
        )
        return ConfigError(f"{inner.source.name}: unknown key {inner.key}", hint=hint)

    def leaves(self, prefix: str = "") -> Iterator[tuple[str, Reader]]:
        """Yields every key that holds a value, dotted, with its reader."""
        for key, reader in self.readers.items():
            if isinstance(reader, Reader):
                yield prefix + key, reader
            elif isinstance(reader, Table):
                yield from reader.leaves(f"{prefix}{key}.")

    def tables(self, prefix: str = "") -> Iterator[str]:
        """Yields every key that holds a table, dotted."""
        for key, reader in self.readers.items():
            if not isinstance(reader, Reader):
                yield prefix + key
            if isinstance(reader, Table):
                yield from reader.tables(f"{prefix}{key}.")


@dataclass(frozen=True, slots=True)
class Named:
    """Reads a table whose keys are names that the author chose, and whose values are all of one kind.

    Without an `example` it is not shown to whoever has not used it.
    """

    each: Reader | Table
    note: str = ""
    example: str = ""

    def __call__(self, found: Found) -> Entries:
        """Returns what it makes of all of them, by dotted key."""
        entries: Entries = {}
        for name, value in mapping(found).items():
            if not is_name(name):
                raise ConfigError(
                    f"{found.source.name}: {found.key} holds a name that is none: {name[:_LISTED]!r}",
                    hint="a name is made of letters, digits, - and _",
                )
            entries |= _entries(self.each, Found(value, found.source, f"{found.key}.{name}"))
        return entries


def is_name(text: str) -> bool:
    """Says whether a text can be the name of an entry."""
    return _NAME.fullmatch(text) is not None


def _entries(reader: Keys, found: Found) -> Entries:
    if isinstance(reader, Reader):
        return {found.key: Entry(reader(found), found.source.origin(found.key))}
    return reader(found)


def for_projects(table: Table) -> Table:
    """Returns the table as a repository may write it: what is the user's to say is refused there."""
    return replace(table, readers={key: _theirs(reader) for key, reader in table.readers.items()})


def _theirs(reader: Keys) -> Keys:
    if isinstance(reader, Named):
        return replace(reader, each=_of_one_kind(reader.each))
    return _of_one_kind(reader)


def _of_one_kind(reader: Reader | Table) -> Reader | Table:
    if isinstance(reader, Table):
        return for_projects(reader)
    return replace(reader, read=_refused if reader.is_users else reader.of_project or reader.read)


def _refused(found: Found) -> object:
    """Refuses a value that only the user's own settings may hold, without showing it."""
    raise ConfigError(
        f"{found.source.name}: {found.key} is not for a repository to decide",
        hint=f"put it into your own settings: {users_place()}",
    )
