"""The files that hold settings, as mappings; what cannot be read is a `ConfigError` that names the file."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from amelia.config.places import is_place_named, users_place
from amelia.config.values import Found, mapping
from amelia.model.errors import ConfigError

_LARGEST = 1_000_000


def users_file() -> Found | None:
    """Returns what the user's own settings hold, for all projects."""
    path = users_place()
    return Found(_toml(path), path) if is_place_named() or path.is_file() else None


def shared_file(place: Path) -> Found | None:
    """Returns what the `.project-config.json` of a directory holds, for Amelia and for others."""
    path = place / ".project-config.json"
    return Found(_json(path), path) if path.is_file() else None


def own_file(place: Path) -> Found | None:
    """Returns what the `amelia.toml` or the `[tool.amelia]` of a directory holds."""
    own, project = place / "amelia.toml", place / "pyproject.toml"
    in_project = _tool_table(project) if project.is_file() else None
    if not own.is_file():
        return in_project
    if in_project is not None:
        raise ConfigError(
            f"{place}: both amelia.toml and [tool.amelia] hold settings", hint="keep one of them"
        )
    return Found(_toml(own), own)


def _tool_table(project: Path) -> Found | None:
    tool = mapping(Found(_toml(project).get("tool", {}), project, "tool"))
    if "amelia" not in tool:
        return None
    return Found(mapping(Found(tool["amelia"], project, "tool.amelia")), project)


def _toml(path: Path) -> Mapping[str, object]:
    text = _read(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid TOML: {problem}") from problem


def _json(path: Path) -> Mapping[str, object]:
    text = _read(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid JSON: {problem}") from problem
    return mapping(Found(data, path, "the file"))


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path}: settings of more than {_LARGEST} bytes are not read")
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: not valid UTF-8: {problem}") from problem
