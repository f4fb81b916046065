"""Values that stand somewhere: what they are, where they stand, and how to say that they are wrong there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import cast

from amelia.model.errors import ConfigError

_SHOWN = 80


class Kind(StrEnum):
    """What a setting can be said in, from the weakest to the strongest."""

    DEFAULT = "default"
    FILE = "file"
    VARIABLE = "variable"
    OPTION = "option"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a setting comes from: a file and a line of it, a variable, an option, or nowhere."""

    kind: Kind = Kind.DEFAULT
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.line}" if self.line else self.name or self.kind


@dataclass(frozen=True, slots=True)
class Source:
    """Something that holds settings; `place` is the directory that paths in it are relative to."""

    kind: Kind
    name: str
    place: Path
    lines: Mapping[str, int] = field(default_factory=dict[str, int])

    def origin(self, key: str) -> Origin:
        """Returns where a key stands in it; the line is that of the table if the key has none of its own."""
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return Origin(self.kind, self.name, self.lines.get(key))


@dataclass(frozen=True, slots=True)
class Entry:
    """The value of a setting, and where it comes from."""

    value: object
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Found:
    """A value as it was written, what it was found in, and its key there."""

    value: object
    source: Source
    key: str = ""

    def wrong(self, allowed: str, *, hint: str | None = None) -> ConfigError:
        """Returns the error that says what would be allowed instead."""
        try:
            shown = json.dumps(self.value, default=str)
        except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list …
            shown = "that"
        message = f"{self.source.name}: {self.key} must be {allowed}, not {shown[:_SHOWN]}"
        return ConfigError(message, hint=hint)

    def secret(self, allowed: str, *, hint: str) -> ConfigError:
        """Returns the same error without the value, which may be a key."""
        return ConfigError(f"{self.source.name}: {self.key} must be {allowed}", hint=hint)


def mapping(found: Found) -> Mapping[str, object]:
    """Reads a table, whatever it holds."""
    if not isinstance(found.value, dict):
        raise found.wrong("a table")
    return cast("Mapping[str, object]", found.value)
