"""Which field of the settings a key becomes, and what holds where nobody says anything.

The defaults stand in the model; here they are only looked up.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any, TypeAlias, cast

from amelia.config.keys import IDLE, PROFILE
from amelia.config.merge import UNSETTLED, Held
from amelia.model.agents import Role
from amelia.model.plan import Mode
from amelia.model.settings import PlanSettings, Settings

_Path: TypeAlias = tuple[str, ...]

_RENAMED = {
    "max_criteria_per_task": "max_acceptance_criteria",
    "timeout_minutes": "timeout",
    "first_event_minutes": "first_event",
    "silence_minutes": "silence",
    "wall_minutes": "wall",
    "max_iterations": "iterations",
    "max_questions": "questions",
}
"""Keys that are called differently from the field they set."""
_OF_PLANS = frozenset(field.name for field in fields(PlanSettings))

SETTLED = tuple(key for key, _ in PROFILE.leaves() if key not in UNSETTLED)
"""Every key that holds something, once all layers are merged."""


def settings_of(held: Held) -> Settings:
    """Returns the settings in which these values hold, and the defaults for the rest."""
    values = {_path(key): entry.value for key, entry in held.items() if not is_idle(key)}
    settings: Settings = _changed(Settings(), values)
    return replace(settings, run=settings.run.with_workers(settings.run.parallel_workers))


def is_idle(key: str) -> bool:
    """Says whether a key has no effect."""
    return PROFILE.readers.get(key.partition(".")[0]) is IDLE


def default_of(key: str) -> object:
    """Returns what holds for a settled key if nobody says anything; none if there is no default."""
    found: object = Settings()
    for step in _path(key):
        parts = _parts(found)
        found = getattr(found, step) if parts is None else parts.get(step)
    return found


def written(key: str, value: object) -> object:
    """Returns a value as it would be written in a file; none if nothing is to be written."""
    match value:
        case timedelta():
            count = value / timedelta(minutes=1)
            return int(count) if count.is_integer() else count
        case () if key.endswith("command"):
            return None
        case tuple():
            return list(cast("tuple[object, ...]", value))
        case None if key.startswith("budget."):
            return "none"
        case _:
            return value


def _path(key: str) -> _Path:
    table, _, name = key.rpartition(".")
    field = _RENAMED.get(name, name)
    match table.split("."):
        case ["agents", role]:
            return "run", "agents", Role(role), field
        case ["modes", mode]:
            return "run", "policies", Mode(mode), field
        case ["budget"]:
            whose, _, what = field.partition("_")
            return "run", "budget", whose, what
        case ["task_size_limits"]:
            return "plan", "limits", field
        case [""]:
            return ("plan" if field in _OF_PLANS else "run"), field
        case inner:
            return "run", *inner, field


def _changed(target: Any, changes: Mapping[_Path, object]) -> Any:  # noqa: ANN401 - any part of the settings
    """Returns a part of the settings with other values at some places in it."""
    if () in changes:
        return changes[()]
    inner: dict[str, dict[_Path, object]] = {}
    for path, value in changes.items():
        inner.setdefault(path[0], {})[path[1:]] = value
    parts = _parts(target)
    if parts is not None:
        return {**parts, **{key: _changed(parts.get(key), those) for key, those in inner.items()}}
    return replace(target, **{name: _changed(getattr(target, name), those) for name, those in inner.items()})


def _parts(target: object) -> Mapping[str, Any] | None:
    """Returns the parts of what is kept by role, by mode or by name."""
    return cast("Mapping[str, Any]", target) if isinstance(target, Mapping) else None
