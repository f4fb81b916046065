"""The `claude` driver: the command line of Claude Code.

- Everything is said again on every turn: Claude forgets model, tools, permissions and schema on resuming.
- A role that may not write has no tool that can; a developer's edits are accepted, its commands allowed.
- Without trust in the repository, its settings, hooks, servers, skills and memory files are not read.
- Claude's own retries are few: limits and outages are waited out by Amelia, without a slot.
"""

import importlib.util
import json
import os
import shutil
import tempfile
import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from amelia.drive.claude_lines import ClaudeLines
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, SessionId, TurnSpec
from amelia.model.errors import ConfigError
from amelia.system.process import clean_environment, run_supervised

PROBE_TIME = timedelta(seconds=30)
LEAST_BUDGET = 0.000_001
"""Claude takes no budget of zero."""

# As root the modes that ask for nothing at all are refused. These work for everybody: what they would ask for
# is denied, and that is an event.
_READER = ("--tools=Glob,Grep,Read", "--permission-mode=dontAsk")
_WRITER = (
    "--tools=Bash,Edit,Glob,Grep,NotebookEdit,Read,Write",
    "--permission-mode=acceptEdits",
    "--allowedTools=Bash",
)
_LOGINS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_PLACES = (
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_MODEL",
    "CLAUDE_CONFIG_DIR",
)
# The keys of a cloud are an agent's business only if it asks its model there.
_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": """
        ANTHROPIC_BEDROCK_BASE_URL AWS_ACCESS_KEY_ID AWS_BEARER_TOKEN_BEDROCK AWS_CONFIG_FILE AWS_PROFILE
        AWS_REGION AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SHARED_CREDENTIALS_FILE
        CLAUDE_CODE_SKIP_BEDROCK_AUTH
    """.split(),
    "CLAUDE_CODE_USE_VERTEX": """
        ANTHROPIC_VERTEX_BASE_URL ANTHROPIC_VERTEX_PROJECT_ID CLAUDE_CODE_SKIP_VERTEX_AUTH CLOUD_ML_REGION
        GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT
    """.split(),
    "CLAUDE_CODE_USE_FOUNDRY": """
        ANTHROPIC_FOUNDRY_API_KEY ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_FOUNDRY_RESOURCE
        CLAUDE_CODE_SKIP_FOUNDRY_AUTH
    """.split(),
}
_NO_LOGIN = "no key and no login is visible: set ANTHROPIC_API_KEY, or run `claude` once and log in"
_MANNERS = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "API_TIMEOUT_MS": "300000",
    "CLAUDE_ENABLE_BYTE_WATCHDOG": "1",  # nothing else bounds a stream that hangs
    "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": "300000",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",  # a turn is over when it says so
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",  # its notes would be read by the other roles
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",  # an @path in a plan or a diff would be read, wherever it leads
}


@dataclass(frozen=True, slots=True)
class ClaudeDriver:
    """Drives Claude Code."""

    settings: AgentSettings

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return "claude"

    async def probe(self) -> DriverInfo:
        """Asks the program for its version; no model is asked."""
        command = self._command()
        variables = self._variables()
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "output")
            finished = await run_supervised(
                [*command, "--version"],
                cwd=Path(folder),
                env=clean_environment(variables),
                timeout=PROBE_TIME,
                output=output,
            )
            said = _read(output)
        if finished.exit_code != 0 or not said[:1].isdigit():
            raise ConfigError(
                f"driver claude: {command[0]} --version says no version: {said[-200:] or 'nothing'}",
                hint="install Claude Code anew, or give its path in `command`",
            )
        return DriverInfo(command[0], said.split()[0], () if _has_login(variables) else (_NO_LOGIN,))

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        spec = replace(spec, session=spec.session or SessionId(str(uuid.uuid4())))
        argv = [*self._command(), *self._options(spec)]
        environment = agent_environment(spec, self._variables())
        return ProgramTurn(spec, Program(argv, environment, ClaudeLines(spec.before)))

    def _options(self, spec: TurnSpec) -> list[str]:
        settings, may_write = self.settings, spec.may_write and not spec.is_repair
        may_use_servers = settings.trusts_repository and may_write
        sources = "user,project,local" if settings.trusts_repository else "user"
        budget = spec.allowance.cost
        return [
            "--print",
            "--output-format=stream-json",
            "--verbose",
            f"--resume={spec.session}" if spec.resume else f"--session-id={spec.session}",
            *(_WRITER if may_write else _READER),
            f"--setting-sources={sources}",
            "--disable-slash-commands",
            *(() if may_use_servers else ("--strict-mcp-config",)),
            *((f"--model={settings.model}",) if settings.model else ()),
            *((f"--json-schema={json.dumps(spec.schema)}",) if spec.schema is not None else ()),
            *((f"--max-turns={settings.max_turns}",) if settings.max_turns is not None else ()),
            *((f"--max-budget-usd={max(budget, LEAST_BUDGET):.6f}",) if budget is not None else ()),
        ]

    def _command(self) -> list[str]:
        """Returns the program by its full path, with the arguments of the profile."""
        name, *arguments = self.settings.command or ("claude",)
        found = shutil.which(name) or (None if self.settings.command else _bundled())
        if found is None:
            raise ConfigError(
                f"driver claude: there is no program {name}",
                hint="install Claude Code, or `pip install claude-agent-sdk`, which brings it along, "
                "or give its path in `command`",
            )
        return [str(Path(found).absolute()), *arguments]

    def _variables(self) -> dict[str, str]:
        """Returns what Claude sees of Amelia's own environment, and how it is to behave."""
        settings = self.settings
        clouds = [name for switch in _CLOUDS if switch in os.environ for name in (switch, *_CLOUDS[switch])]
        names = (*_PLACES, *clouds, *(() if settings.key else _LOGINS), *settings.passes)
        variables = {**_MANNERS, **{name: os.environ[name] for name in names if name in os.environ}}
        if settings.base_url:
            variables["ANTHROPIC_BASE_URL"] = settings.base_url
        if settings.key:
            variables[settings.key if settings.key in _LOGINS else _LOGINS[0]] = _key(settings.key)
        return variables


def _read(output: Path) -> str:
    return output.read_text(encoding="utf-8", errors="replace").strip()


def _key(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ConfigError(
            f"driver claude: the environment variable {name} is not set",
            hint=f"set {name} to the provider's key, or name another variable in `key`",
        )
    return value


def _bundled() -> str | None:
    """Returns the program inside an installed `claude-agent-sdk`, without importing that."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    folders = spec.submodule_search_locations if spec else None
    return next(
        (found for folder in folders or () if (found := shutil.which(f"{folder}/_bundled/claude"))), None
    )


def _has_login(variables: dict[str, str]) -> bool:
    """Tells whether a key, a cloud or the file of a login is there; a keychain is nothing we could see."""
    folder = Path(variables.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    return any(name in variables for name in (*_LOGINS, *_CLOUDS)) or (folder / ".credentials.json").exists()
