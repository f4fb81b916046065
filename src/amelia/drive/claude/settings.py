"""The settings of Claude Code itself, as far as they decide who asks its provider, and for which model.

- Stronger files outrank weaker ones, key by key: the person's, a trusted repository's, the administrator's.
- Variables that they set outrank those of the process.
- A file that cannot be read says nothing here; Claude complains of it itself.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from amelia.system.regular import read_regular

CONFIG_DIR = "CLAUDE_CONFIG_DIR"
HELPER, MODEL = "apiKeyHelper", "model"
_READ = (HELPER, MODEL, "awsAuthRefresh", "awsCredentialExport")
_MANAGED = Path("/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code")
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a key, and the file it stands in."""

    value: str
    file: Path


@dataclass(frozen=True, slots=True)
class ClaudeSettings:
    """What all files together say: some keys, and the variables that Claude sets for itself."""

    keys: Mapping[str, Setting]
    variables: Mapping[str, Setting]

    def value(self, name: str) -> str | None:
        """Returns a variable as Claude sees it, if the caller has it or the settings set it."""
        setting = self.variables.get(name)
        return os.environ.get(name) if setting is None else setting.value


def config_folder() -> Path:
    """Returns the directory that Claude keeps the settings and the login of a person in."""
    own = os.environ.get(CONFIG_DIR)
    return Path(own) if own else Path.home() / ".claude"


def read_claude_settings(repository: Path | None = None) -> ClaudeSettings:
    """Reads the settings of Claude Code that hold, with those of a repository if it is trusted."""
    keys: dict[str, Setting] = {}
    variables: dict[str, Setting] = {}
    for file in _files(repository):
        said = _read(file)
        table = said.get("env")
        keys |= {key: Setting(_text(said[key]), file) for key in _READ if key in said}
        named = cast("dict[str, object]", table).items() if isinstance(table, dict) else ()
        variables |= {name: Setting(_text(value), file) for name, value in named}
    return ClaudeSettings(
        {key: setting for key, setting in keys.items() if setting.value},
        {name: setting for name, setting in variables.items() if setting.value},
    )


def _files(repository: Path | None) -> Iterator[Path]:
    """Yields the files that may hold settings, the weakest first."""
    yield config_folder() / "settings.json"
    if repository is not None:
        yield repository / ".claude" / "settings.json"
    yield _MANAGED / "managed-settings.json"
    yield from sorted((_MANAGED / "managed-settings.d").glob("*.json"))


def _read(file: Path) -> Mapping[str, object]:
    try:
        data: object = json.loads(read_regular(file, _LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", data) if isinstance(data, dict) else {}


def _text(value: object) -> str:
    """Returns a value as Claude would hand it to a program."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case _:
            return ""
