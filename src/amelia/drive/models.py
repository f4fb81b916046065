"""The model that an agent takes, also where the settings of Amelia name none.

The agent's own settings are asked, then what was measured of its defaults; nobody knows those of a server of
somebody's own. What an agent really took is told by itself, in its session.
"""

import os
import tomllib
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from amelia.drive.claude.settings import MODEL, read_claude_settings
from amelia.model.agents import AgentSettings
from amelia.system.regular import read_regular

_CLAUDE, _CODEX = "claude", "codex"
_DEFAULT = "default"
_SHORT = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}
"""What the short names of Claude Code 2.1.325 stand for."""
_SYNONYMS = {_DEFAULT: "opus", "best": "opus", "opusplan": "sonnet"}
_CODEX_DEFAULT = "gpt-6.1-sol"
"""What Codex 0.163 takes where nobody says anything."""


class NamedBy(Enum):
    """Who names a model."""

    SETTINGS = auto()
    AGENT = auto()  # in its own settings
    NOBODY = auto()  # a default of the agent, which another version may change


@dataclass(frozen=True, slots=True)
class Model:
    """A model by its name, short or full, and who names it."""

    name: str
    named: NamedBy


def usual_model(agent: AgentSettings) -> Model | None:
    """Returns the model that an agent will take; None if nobody knows."""
    if agent.model is not None:
        return Model(agent.model, NamedBy.SETTINGS)
    if agent.base_url is not None or agent.driver not in {_CLAUDE, _CODEX}:
        return None
    own = _of_claude() if agent.driver == _CLAUDE else _of_codex()
    if own:
        return Model(own, NamedBy.AGENT)
    return Model(_SHORT["opus"] if agent.driver == _CLAUDE else _CODEX_DEFAULT, NamedBy.NOBODY)


def full_name(driver: str, name: str) -> str:
    """Returns the name by which a provider knows a model."""
    if driver != _CLAUDE:
        return name
    short = name.partition("[")[0].casefold()
    short = _SYNONYMS.get(short, short)
    if short not in _SHORT:
        return name
    return read_claude_settings().value(f"ANTHROPIC_DEFAULT_{short.upper()}_MODEL") or _SHORT[short]


def _of_claude() -> str | None:
    own = read_claude_settings()
    return own.value("ANTHROPIC_MODEL") or (own.keys[MODEL].value if MODEL in own.keys else None)


def _of_codex() -> str | None:
    home = os.environ.get("CODEX_HOME")
    file = (Path(home) if home else Path.home() / ".codex") / "config.toml"
    try:
        model: object = tomllib.loads(read_regular(file).decode()).get("model")
    except (OSError, ValueError):
        return None
    return model if isinstance(model, str) else None
