"""Settings files become frozen settings; the only reader of either.

`amelia.toml` or `[tool.amelia]` of `pyproject.toml`, the nearest upwards from a directory, over the
`task_size_limits` of a `.project-config.json` beside it, over the defaults. A wrong value is an error that
names the file, the key and what is allowed.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from amelia.model.errors import ConfigError
from amelia.model.settings import PlanSettings, SizeLimits, TddRule

_RANGES: Mapping[str, tuple[float, float]] = {
    "max_files_to_create": (1, 1000),
    "max_files_to_modify": (1, 1000),
    "max_acceptance_criteria": (1, 1000),
    "max_input_tokens": (100, 10_000_000),
    "max_time_minutes": (0.1, 100_000),
    "complexity_threshold": (0, 13),
}
_LARGEST = 1_000_000
_SHOWN = 80
_SPELLINGS = {"max_criteria_per_task": "max_acceptance_criteria"}
_LIMITS = frozenset(field.name for field in fields(SizeLimits))
_KEYS = frozenset({"tdd", "enable_phased_execution", "task_size_limits"})


def load_settings(directory: Path) -> PlanSettings:
    """Reads the settings that hold in a directory."""
    settings = PlanSettings()
    for place in (directory, *directory.parents):
        found = False
        shared = place / ".project-config.json"
        if shared.is_file():
            found = True
            limits = _table(_json(shared).get("task_size_limits", {}), shared, "task_size_limits")
            settings = replace(settings, limits=_limits(settings.limits, limits, shared))
        source, data = _project_file(place)
        if source is not None:
            found = True
            settings = _apply(settings, data, source)
        if found or (place / ".git").exists():
            break
    return settings


def _project_file(place: Path) -> tuple[Path | None, Mapping[str, Any]]:
    own, project = place / "amelia.toml", place / "pyproject.toml"
    tool: Mapping[str, Any] = {}
    if project.is_file():
        tool = _table(_toml(project).get("tool", {}), project, "tool")
    if not own.is_file():
        return (project, _table(tool["amelia"], project, "tool.amelia")) if "amelia" in tool else (None, {})
    if "amelia" in tool:
        raise ConfigError(
            f"{place}: both amelia.toml and [tool.amelia] hold settings", hint="keep one of them"
        )
    return own, _toml(own)


def _apply(settings: PlanSettings, data: Mapping[str, Any], source: Path) -> PlanSettings:
    _refuse_unknown(data, _KEYS, source)
    if "tdd" in data:
        if data["tdd"] not in list(TddRule):
            raise _wrong(source, "tdd", allowed=f"one of {', '.join(TddRule)}", value=data["tdd"])
        settings = replace(settings, tdd=TddRule(data["tdd"]))
    if "enable_phased_execution" in data:
        enabled = _flag(data["enable_phased_execution"], source, "enable_phased_execution")
        settings = replace(settings, enable_phased_execution=enabled)
    limits = _table(data.get("task_size_limits", {}), source, "task_size_limits")
    return replace(settings, limits=_limits(settings.limits, limits, source))


def _limits(limits: SizeLimits, data: Mapping[str, Any], source: Path) -> SizeLimits:
    _refuse_unknown(data, _LIMITS | _SPELLINGS.keys(), source, prefix="task_size_limits.")
    values: dict[str, Any] = {}
    for key, value in data.items():
        where = f"task_size_limits.{key}"
        name = _SPELLINGS.get(key, key)
        values[name] = (
            _flag(value, source, where) if name == "auto_split" else _number(name, value, source, where=where)
        )
    return replace(limits, **values)


def _number(name: str, value: object, source: Path, *, where: str) -> float:
    low, high = _RANGES[name]
    whole = isinstance(getattr(SizeLimits(), name), int)
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or not low <= cast("float", value) <= high:
        kind = "a whole number" if whole else "a number"
        raise _wrong(source, where, allowed=f"{kind} from {low:g} to {high:g}", value=value)
    return cast("int", value) if whole else float(cast("float", value))


def _flag(value: object, source: Path, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(source, where, allowed="true or false", value=value)
    return value


def _wrong(source: Path, key: str, *, allowed: str, value: object) -> ConfigError:
    try:
        shown = json.dumps(value, default=str)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list …
        shown = "that"
    return ConfigError(f"{source}: {key} must be {allowed}, not {shown[:_SHOWN]}")


def _refuse_unknown(
    data: Mapping[str, Any], known: frozenset[str], source: Path, *, prefix: str = ""
) -> None:
    for key in data:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(sorted(known))}"
            raise ConfigError(f"{source}: unknown key {prefix}{key}", hint=hint)


def _table(value: object, source: Path, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(source, key, allowed="a table", value=value)
    return cast("Mapping[str, Any]", value)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path}: settings of more than {_LARGEST} bytes are not read")
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: not valid UTF-8: {problem}") from problem


def _toml(path: Path) -> Mapping[str, Any]:
    text = _read(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid TOML: {problem}") from problem


def _json(path: Path) -> Mapping[str, Any]:
    text = _read(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid JSON: {problem}") from problem
    return _table(data, path, "the file")
