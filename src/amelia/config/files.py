"""The files that hold settings, as mappings; what cannot be read is a `ConfigError` that names the file."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from amelia.config.found import Found, Kind, Source, mapping
from amelia.config.lines import key_lines
from amelia.config.places import is_place_named, is_repository, repository_around, users_place
from amelia.model.errors import ConfigError
from amelia.system.regular import read_regular

_LARGEST = 1_000_000
_TOOL = "tool.amelia"
OWN = "amelia.toml"
"""The file that a project keeps its settings in."""


def users_file() -> Found | None:
    """Returns what the user's own settings hold, for all projects."""
    path = users_place()
    return _toml(path) if is_place_named() or path.exists() else None


def shared_file(place: Path) -> Found | None:
    """Returns what the `.project-config.json` of a directory holds, for Amelia and for others."""
    path = place / ".project-config.json"
    return _json(path) if path.exists() else None


def own_file(place: Path) -> Found | None:
    """Returns what the `amelia.toml` or the `[tool.amelia]` of a directory holds."""
    own, project = place / OWN, place / "pyproject.toml"
    in_project = _tool_table(project) if project.exists() else None
    if not own.exists():
        return in_project
    if in_project is not None:
        raise ConfigError(
            f"{place}: both amelia.toml and [tool.amelia] hold settings", hint="keep one of them"
        )
    return _toml(own)


def _tool_table(project: Path) -> Found | None:
    found = _toml(project)
    tool = mapping(Found(mapping(found).get("tool", {}), found.source, "tool"))
    if "amelia" not in tool:
        return None
    inner = Found(tool["amelia"], found.source, _TOOL)
    start = f"{_TOOL}."
    lines = {
        key.removeprefix(start): line for key, line in found.source.lines.items() if key.startswith(start)
    }
    return Found(mapping(inner), _source(project, lines))


def _toml(path: Path) -> Found:
    text = _read(path)
    try:
        return Found(tomllib.loads(text), _source(path, key_lines(text)))
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid TOML: {problem}") from problem


def _json(path: Path) -> Found:
    text = _read(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid JSON: {problem}") from problem
    source = _source(path, {})
    return Found(mapping(Found(data, source, "the file")), source)


def _source(path: Path, lines: Mapping[str, int]) -> Source:
    return Source(Kind.FILE, str(path), path.parent, lines)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path}: settings of more than {_LARGEST} bytes are not read")
        return read_regular(path).decode("utf-8-sig")
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: not valid UTF-8: {problem}") from problem


def new_place(directory: Path, *, may_replace: bool) -> Path:
    """Returns where the settings of a directory's project belong, if there are none, or they may go."""
    top = repository_around(directory)
    if not is_repository(top):
        raise ConfigError(f"{directory} is not in a git repository", hint="run `git init` there first")
    project = top / "pyproject.toml"
    if project.exists() and _tool_table(project) is not None:
        raise ConfigError(f"{project}: [tool.amelia] holds the settings already", hint="keep them there")
    own = top / OWN
    if os.path.lexists(own) and not may_replace:
        raise _taken(own)
    return own


def write_new(path: Path, text: str, *, may_replace: bool) -> None:
    """Writes a settings file, whole or not at all; one that came in between stays."""
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        whole.write_text(text, encoding="utf-8")
        if may_replace:
            whole.replace(path)
        else:
            path.hardlink_to(whole)
    except FileExistsError as problem:
        raise _taken(path) from problem
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be written: {problem.strerror}") from problem
    finally:
        whole.unlink(missing_ok=True)


def _taken(path: Path) -> ConfigError:
    return ConfigError(f"{path}: is there already", hint="--force writes it anew; what it says now is lost")
