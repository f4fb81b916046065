"""Tables of keys: each reads what a file holds into entries by dotted key, and none but the keys it knows.

A table that a repository writes is the same table, but for the keys that are the user's to say.
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
Keys: TypeAlias = "Reader | Table | NamedTables"


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
            if isinstance(reader, Reader):
                entries[inner.key] = Entry(reader(inner), found.source.origin(inner.key))
            else:
                entries |= reader(inner)
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


@dataclass(frozen=True, slots=True)
class NamedTables:
    """Reads tables of one kind under names that the author chose."""

    each: Table
    note: str = ""

    def __call__(self, found: Found) -> Entries:
        """Returns the entries of all of them, by dotted key."""
        entries: Entries = {}
        for name, value in mapping(found).items():
            if not _NAME.fullmatch(name):
                raise ConfigError(
                    f"{found.source.name}: {found.key} holds a name that is none: {name[:_LISTED]!r}",
                    hint="a name is made of letters, digits, - and _",
                )
            entries |= self.each(Found(value, found.source, f"{found.key}.{name}"))
        return entries


def for_projects(table: Table) -> Table:
    """Returns the table as a repository may write it: what is the user's to say is refused there."""

    def theirs(reader: Keys) -> Keys:
        match reader:
            case Reader():
                return replace(reader, read=_refused) if reader.is_users else reader
            case Table():
                return for_projects(reader)
            case NamedTables():
                return replace(reader, each=for_projects(reader.each))

    return replace(table, readers={key: theirs(reader) for key, reader in table.readers.items()})


def _refused(found: Found) -> object:
    """Refuses a value that only the user's own settings may hold, without showing it."""
    raise ConfigError(
        f"{found.source.name}: {found.key} is not for a repository to decide",
        hint=f"put it into your own settings: {users_place()}",
    )
