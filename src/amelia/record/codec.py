"""Events as JSON, by type and version.

What has its default is not written, so a default is part of the format. Event types and their fields never
change their meaning; one whose shape must change gets a new version here, and an upcast that turns the old
JSON into the new. Every released version has a journal in `tests/replay/`. Any text can be written: what is
no Unicode (names of files hold such) is spelt out.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, cast, get_args

import msgspec

from amelia.model.errors import JournalError
from amelia.model.events import Event

VERSION = 2
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def type_name(kind: type) -> str:
    """Returns the name of an event type as it is written: `unit_landed`."""
    return _CAPITAL.sub("_", kind.__name__).lower()


def _agents_of_drivers(run_started: dict[str, Any]) -> dict[str, Any]:
    """Version 1 named a driver for every role, and one script for all of them."""
    script = run_started.pop("script", None)
    agents = {
        role: {"driver": driver, "script": script} for role, driver in run_started.pop("drivers").items()
    }
    return {**run_started, "agents": agents}


_UPCASTS: Mapping[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {
    ("run_started", 1): _agents_of_drivers,
}
_TYPES: Mapping[str, type] = {type_name(kind): kind for kind in get_args(Event)}


def encode(event: Event) -> tuple[str, bytes]:
    """Returns the type of an event and its JSON."""
    return type_name(type(event)), msgspec.json.encode(plain(event))


def decode(kind: str, version: int, body: bytes) -> Event:
    """Returns the event that was written, whatever version of Amelia wrote it."""
    if kind not in _TYPES or version > VERSION:
        raise JournalError(
            f"the journal holds an event that this version of Amelia does not know: {kind} {version}",
            hint="use the version that wrote it, or a newer one",
        )
    try:
        data = msgspec.json.decode(body)
        while version < VERSION:
            data = _UPCASTS.get((kind, version), lambda same: same)(data)
            version += 1
        return cast("Event", msgspec.convert(data, _TYPES[kind]))
    except (TypeError, ValueError) as problem:
        raise JournalError(
            f"the journal holds a damaged event: {kind}: {problem}", hint="restore the file from a copy"
        ) from problem


def plain(value: object) -> Any:  # noqa: ANN401 - JSON is any of these
    """Returns a value as what JSON knows, without the fields that have their defaults."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: plain(found)
            for field in dataclasses.fields(value)
            if (found := getattr(value, field.name)) != _default(field)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, tuple | list | frozenset):
        return [plain(item) for item in cast("tuple[object, ...]", value)]
    return value


def _default(field: "dataclasses.Field[object]") -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
