"""Settings that stand in environment variables: `AMELIA_`, then the key in capitals, `__` for every dot.

A value is written as in a file, without quotes around a text. An empty variable says nothing. A table has no
variable, its keys have: one that is named after a table is an error.
"""

import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from amelia.config.found import Entry, Found, Kind, Source
from amelia.config.keys import PROFILE
from amelia.config.tables import Entries
from amelia.config.values import Reader, Schema
from amelia.model.errors import ConfigError

_PREFIX = "AMELIA_"
_LONGEST = 10_000
PLACES = ("AMELIA_HOME", "AMELIA_CONFIG", "AMELIA_PROFILE")
"""Variables that are no settings, and say where those and the runs are."""
OURS = (
    "AMELIA_RUN",
    "AMELIA_UNIT",
    "AMELIA_ATTEMPT",
    "AMELIA_ROLE",
    "AMELIA_AGENT_KEY",
    "AMELIA_SUPERVISED",
    "AMELIA_REPORT",
)
"""Variables that Amelia sets itself, for the programs it starts."""


def variable_of(key: str) -> str:
    """Returns the variable that a key can be set with."""
    return _PREFIX + key.upper().replace(".", "__")


_VARIABLES = {variable_of(key): (key, reader) for key, reader in PROFILE.leaves()}
_TABLES = {variable_of(key): key for key in PROFILE.tables()}
_STARTS_OF_LISTS = ('["', "['")


def said_by(environment: Mapping[str, str], *, place: Path) -> Entries:
    """Reads what an environment says, by dotted key; paths are relative to a place."""
    _refuse_tables(environment, place)
    entries: Entries = {}
    for name, (key, reader) in _VARIABLES.items():
        if value := environment.get(name):
            source = Source(Kind.VARIABLE, name, place)
            if (found := _literal(value, reader)) == value and value.startswith(_STARTS_OF_LISTS):
                hint = "write it as in a file, to its end"
                raise _wrong(Found(value, source, key), "a whole list, if it begins as one", hint)
            entries[key] = Entry(reader(Found(found, source, key)), source.origin(key))
    return entries


def _refuse_tables(environment: Mapping[str, str], place: Path) -> None:
    for name, key in _TABLES.items():
        if not (value := environment.get(name)):
            continue
        found = Found(value, Source(Kind.VARIABLE, name, place), key)
        inner = next((each for each in _VARIABLES if each.startswith(f"{name}__")), None)
        hint = f"each of its keys has one, such as {inner}" if inner else "write it into a file of settings"
        raise _wrong(found, "a table, which no variable can hold", hint)


def _wrong(found: Found, allowed: str, hint: str) -> ConfigError:
    """Returns the error; what is said of agents may be a key, and is not repeated."""
    if found.key.startswith("agents"):
        return found.secret(allowed, hint=hint)
    return found.wrong(allowed, hint=hint)


def slips(environment: Mapping[str, str]) -> Iterator[str]:
    """Yields what looks like a setting and is none."""
    known = (*_VARIABLES, *PLACES, *OURS, *_TABLES)
    # All begin in the same way, which would make any two of them alike.
    meant = [name.removeprefix(_PREFIX) for name in (*_VARIABLES, *PLACES)]
    for name in sorted(environment):
        if name.startswith(_PREFIX) and name not in known:
            near = get_close_matches(name.removeprefix(_PREFIX), meant, n=1)
            hint = (
                f"did you mean {_PREFIX}{near[0]}?" if near else "`amelia config show --all` lists the keys"
            )
            yield f"{name} is not a setting, and is not used; {hint}"


def _literal(text: str, reader: Reader) -> object:
    """Returns what a text stands for: a number, a flag or a list if the key takes one, else itself."""
    if len(text) > _LONGEST:
        return text
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
    return value if _takes(reader.schema, value) else text


def _takes(schema: Schema, value: object) -> bool:
    """Says whether a key takes a value of this type at all; its reader says the rest."""
    match value:
        case bool():
            kinds = {"boolean"}
        case int():
            kinds = {"integer", "number"}
        case float():
            kinds = {"number"}
        case list():
            kinds = {"array"}
        case _:
            kinds = {"string"}
    ways = cast("list[Schema]", schema.get("anyOf", [schema]))
    return any(way.get("type", "string") in kinds for way in ways)
