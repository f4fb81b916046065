"""The agents that have a driver of their own name: what is particular to each, as data.

- A recipe names a program that is looked for where Amelia was started. Which program that is, is the user's
  to say; a repository can choose a recipe, and nothing in it.
- Of the environment an agent gets what is called after it or its only provider. The key of a provider that
  many agents can ask, the user passes on (`key`, `passes`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import PurePath

from amelia.model.agents import AgentSettings

_VERSION = re.compile(r"^\W{0,9}(?:[\w-]{1,40} ){0,3}v?(\d{1,9}(?:\.\d{1,9})+)(?![\w/])", re.MULTILINE)


class Speaks(Enum):
    """How Amelia speaks with an agent."""

    ACP = auto()  # the Agent Client Protocol
    LINES = auto()  # a command line, and what it prints


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One agent.

    `least` is the oldest version that is known to work, `version` the arguments that ask for it.
    `arguments` come behind the program, then those of a turn that may write or may only read, and those that
    choose a model. `own` are the variables that it gets of the caller's, where one that ends with `_` stands
    for all that begin so; `variables` are set for every turn, `reading` for one that may only read,
    `distrust` unless the repository is trusted. It heeds trust if then nothing that a repository brings was
    seen to count. `shows` prints a session, with the status of its last error; `about_use` says for people
    what it does not tell of what it uses.
    """

    title: str
    speaks: Speaks
    program: str
    install: str
    login: str
    least: tuple[int, ...]
    version: tuple[str, ...] = ("--version",)
    arguments: tuple[str, ...] = ()
    to_write: tuple[str, ...] = ()
    to_read: tuple[str, ...] = ()
    with_model: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    reading: Mapping[str, str] = field(default_factory=dict[str, str])
    distrust: Mapping[str, str] = field(default_factory=dict[str, str])
    heeds_trust: bool = False
    shows: tuple[str, ...] = ()
    about_use: str = ""

    def is_own(self, variable: str) -> bool:
        """Says whether a variable of the environment is called after the agent."""
        return any(variable == name or (name[-1] == "_" and variable.startswith(name)) for name in self.own)


_UNTOLD = "it does not tell what it uses: a budget cannot hold"
_LAST_ONLY = (
    "it tells the tokens of a turn's last request only: where their cost is unknown, a budget holds late"
)
_ONLY_READS = '{"edit": "deny", "bash": "deny", "webfetch": "deny", "task": "deny"}'

RECIPES: Mapping[str, Recipe] = {
    "opencode": Recipe(
        title="opencode",
        speaks=Speaks.ACP,
        program="opencode",
        install="npm install -g opencode-ai",
        login="opencode auth login",
        least=(1, 0, 0),
        arguments=("acp",),
        own=("OPENCODE_",),
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        # Its mode for planning still lets it run commands, which write.
        reading={"OPENCODE_PERMISSION": _ONLY_READS},
        distrust={"OPENCODE_DISABLE_PROJECT_CONFIG": "1"},  # its plugins in the repository count all the same
        shows=("export", "{session}"),
        about_use=_LAST_ONLY,
    ),
    "kilo": Recipe(
        title="Kilo Code",
        speaks=Speaks.ACP,
        program="kilo",
        install="npm install -g @kilocode/cli",
        login="kilo auth login",
        least=(7, 0, 33),
        arguments=("acp",),
        own=("KILO_",),
        variables={"KILO_DISABLE_AUTOUPDATE": "1"},
        reading={"KILO_PERMISSION": _ONLY_READS},
        distrust={"KILO_DISABLE_PROJECT_CONFIG": "1"},
        heeds_trust=True,
        shows=("export", "{session}"),
        about_use=_LAST_ONLY,
    ),
    "gemini": Recipe(
        title="Gemini CLI",
        speaks=Speaks.ACP,
        program="gemini",
        install="npm install -g @google/gemini-cli",
        login="gemini",
        least=(0, 33, 2),
        arguments=("--acp",),
        own=("GEMINI_", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_", "GOOGLE_GENAI_"),
        heeds_trust=True,
    ),
    "qwen": Recipe(
        title="Qwen Code",
        speaks=Speaks.ACP,
        program="qwen",
        install="npm install -g @qwen-code/qwen-code",
        login="qwen",
        least=(0, 7, 1),
        arguments=("--acp",),
        own=("QWEN_", "DASHSCOPE_API_KEY"),
    ),
    "copilot": Recipe(
        title="GitHub Copilot CLI",
        speaks=Speaks.ACP,
        program="copilot",
        install="npm install -g @github/copilot",
        login="copilot login",
        least=(1, 0, 2),
        arguments=("--acp",),
        own=("COPILOT_",),
        variables={"COPILOT_AUTO_UPDATE": "false"},
    ),
    "goose": Recipe(
        title="Goose",
        speaks=Speaks.ACP,
        program="goose",
        install="install Goose from its own site",
        login="goose configure",
        least=(1, 34, 0),
        arguments=("acp",),
        own=("GOOSE_",),
        heeds_trust=True,
        about_use=_LAST_ONLY,
    ),
    "kimi": Recipe(
        title="Kimi Code",
        speaks=Speaks.ACP,
        program="kimi",
        install="npm install -g @moonshot-ai/kimi-code",
        login="kimi login",
        least=(0, 10, 0),
        arguments=("acp",),
        own=("KIMI_", "MOONSHOT_API_KEY"),
        heeds_trust=True,
        variables={"KIMI_CODE_NO_AUTO_UPDATE": "1"},
        about_use=_UNTOLD,
    ),
    "vibe": Recipe(
        title="Mistral Vibe",
        speaks=Speaks.ACP,
        program="vibe-acp",
        install="pip install mistral-vibe",
        login="vibe --setup",
        least=(3, 0, 0),
        own=("VIBE_", "MISTRAL_API_KEY"),
        heeds_trust=True,
    ),
    "openhands": Recipe(
        title="OpenHands",
        speaks=Speaks.ACP,
        program="openhands",
        install="pip install openhands",
        login="openhands login",
        least=(1, 16, 0),
        arguments=("acp",),
        own=("OPENHANDS_",),
        variables={"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ),
    "aider": Recipe(
        title="Aider",
        speaks=Speaks.LINES,
        program="aider",
        install="pip install aider-chat",
        login="a key: name its variable in `key`",
        least=(0, 86, 0),
        arguments=(
            *("--message-file", "{prompt_file}", "--yes-always", "--no-pretty", "--no-stream"),
            *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-suggest-shell-commands"),
            *("--no-check-update", "--no-analytics", "--no-show-release-notes", "--no-show-model-warnings"),
            *("--no-detect-urls", "--map-tokens", "0"),  # its map would leave a cache in the worktree
            *("--input-history-file", "/dev/null", "--chat-history-file", "/dev/null"),
        ),
        to_write=("--edit-format", "diff"),
        to_read=("--chat-mode", "ask", "--dry-run"),
        with_model=("--model", "{model}"),
        own=("AIDER_",),
        variables={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        about_use=_UNTOLD,
    ),
}
"""Every agent that is known by name."""


def recipe_of(settings: AgentSettings) -> Recipe | None:
    """Returns what is known of the agent that the settings choose, by its name or by that of its program."""
    if settings.driver in RECIPES:
        return RECIPES[settings.driver]
    name = PurePath(settings.command[0]).name if settings.command else ""
    found = (recipe for recipe in RECIPES.values() if recipe.program == name)
    return next(found, None) if settings.driver == "acp" else None


def version_in(text: str) -> str:
    """Returns the version that a line of an answer begins with, behind a name; empty if none does."""
    found = _VERSION.search(text)
    return found[1] if found else ""


def is_too_old(version: str, least: tuple[int, ...]) -> bool:
    """Says whether a version is older than the oldest that is known to work; one that is unknown is not."""
    parts = [int(part) for part in version.split(".")] if version else []
    missing = [0] * (len(least) - len(parts))
    return bool(parts) and (*parts, *missing) < least
