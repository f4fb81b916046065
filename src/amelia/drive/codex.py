"""The `codex` driver: the Codex CLI, one `codex exec --json` for every turn.

- Codex names its threads itself: the id of a session is the one that it reports, whatever was asked for.
- It forgets model, sandbox, schema and settings from turn to turn, so each turn is given all of them.
- Whether it trusts the repository is always said: left alone, it would trust whatever it may write to, run
  the servers that a repository configures, and note that trust in the settings of the person.
- Its sandbox keeps a developer in the worktree, the `.git` of which it can read but not change; everybody
  else can change nothing at all. Commands that it runs do not see the key.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from anyio import to_thread

from amelia.drive.codex_lines import CodexLines
from amelia.drive.prices import price_of
from amelia.drive.stream import DETAIL_LIMIT
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, TurnSpec
from amelia.model.errors import ConfigError
from amelia.system.process import clean_environment, run_supervised

PROBE_TIME = timedelta(seconds=30)
HOME = "CODEX_HOME"
KEY = "CODEX_API_KEY"
"""Where Codex looks for a key to its own provider."""

PROVIDER = "amelia"
REQUEST_RETRIES = 2
STREAM_RETRIES = 0  # it would wait as long as a provider asks it to, and say nothing
STREAM_IDLE = timedelta(minutes=3)

# Nothing is asked of anybody but the provider, and a network that is gone is an end, not a wait.
SETTINGS = (
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "features.apps=false",
    "features.plugins=false",
    "features.unbounded_connection_retries=false",
)
_VERSION = re.compile(r"\bcodex-cli (\S{1,40})")


@dataclass(frozen=True, slots=True)
class CodexDriver:
    """Drives the Codex CLI."""

    settings: AgentSettings

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return "codex"

    async def probe(self) -> DriverInfo:
        """Finds Codex, asks for its version, and looks whether it is logged in."""
        command = self._command()
        said = await self._ask("--version")
        version = _VERSION.search(said)
        if version is None:
            raise ConfigError(
                f"{command[0]}: this does not answer as Codex does: {said or 'it says nothing'}",
                hint="install it anew with `pip install openai-codex`, or give its path as `command`",
            )
        return DriverInfo(command[0], version[1], (await self._login(),))

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        lines = CodexLines(
            model=self.settings.model or "",
            before=spec.before if spec.resume else None,
            now=datetime.now().astimezone(),
            price=await to_thread.run_sync(price_of, self.name, self.settings),
        )
        environment = agent_environment(spec, self._variables())
        return ProgramTurn(spec, Program(self._arguments(spec), environment, lines, lines.explain))

    def _arguments(self, spec: TurnSpec) -> list[str]:
        may_write = spec.may_write and not spec.is_repair
        return [
            *self._command(),
            "exec",
            "--json",
            "--skip-git-repo-check",  # whatever an agent has done to `.git` in an earlier turn
            f"--sandbox={'workspace-write' if may_write else 'read-only'}",
            *[f"--config={setting}" for setting in (*SETTINGS, *self._provider(), self._trust(spec.cwd))],
            *([f"--model={self.settings.model}"] if self.settings.model else []),
            *([f"--output-schema={_schema_file(spec.schema, Path(spec.state))}"] if spec.schema else []),
            *(["resume", spec.session] if spec.resume and spec.session else []),
            "-",
        ]

    def _command(self) -> list[str]:
        """Returns the program and the arguments that always come first."""
        program, *arguments = self.settings.command or ("codex",)
        found = shutil.which(program) or (None if self.settings.command else _bundled())
        if found is None:
            raise ConfigError(
                f"{program}: this program is not installed",
                hint="install it with `pip install openai-codex`, or give its path as `command`",
            )
        return [str(Path(found).absolute()), *arguments]

    def _provider(self) -> Sequence[str]:
        """Returns the settings of the provider that the profile names, and who may not see its key."""
        hidden = [f"shell_environment_policy.exclude={_toml([name])}" for name in self._key()]
        if self.settings.base_url is None:
            return hidden
        facts = {
            "name": PROVIDER,
            "base_url": self.settings.base_url,
            "wire_api": "responses",
            "request_max_retries": REQUEST_RETRIES,
            "stream_max_retries": STREAM_RETRIES,
            "stream_idle_timeout_ms": STREAM_IDLE // timedelta(milliseconds=1),
            **({"env_key": self.settings.key} if self.settings.key else {}),
        }
        table = ", ".join(f"{name}={_toml(value)}" for name, value in facts.items())
        return [*hidden, f"model_provider={_toml(PROVIDER)}", f"model_providers.{PROVIDER}={{{table}}}"]

    def _trust(self, cwd: str) -> str:
        level = "trusted" if self.settings.trusts_repository else "untrusted"
        return f"projects={{{_toml(os.path.realpath(cwd))}={{trust_level={_toml(level)}}}}}"

    def _variables(self) -> dict[str, str]:
        """Returns what Codex sees of the caller's environment beyond the usual."""
        home = os.environ.get(HOME)
        if home and not Path(home).is_dir():
            raise ConfigError(
                f"{HOME}: there is no directory {home}", hint=f"make it, or do not set {HOME}: Codex insists"
            )
        named = (HOME, *self.settings.passes)
        return {name: os.environ[name] for name in named if os.environ.get(name)} | self._key()

    def _key(self) -> dict[str, str]:
        """Returns the variable in which Codex finds its key; none if it uses a login, or needs nothing."""
        key = self.settings.key
        value = os.environ.get(key or KEY)
        if key and not value:
            raise ConfigError(
                f"{key}: this variable is to hold the key for Codex, and is not set",
                hint=f"export {key}, or take `key` out of the settings to use the login of Codex",
            )
        if not value or (self.settings.base_url and not key):
            return {}
        return {key if key and self.settings.base_url else KEY: value}

    async def _login(self) -> str:
        """Says by what Codex will be known to its provider."""
        if self._key():
            return f"uses the key in {self.settings.key or KEY}"
        if self.settings.base_url:
            return f"uses no key at {self.settings.base_url}"
        said = await self._ask("login", "status")
        state = said.splitlines()[-1] if said else "login unknown"
        return f"{state}: run `codex login`, or set `key`" if state.startswith("Not") else state

    async def _ask(self, *arguments: str) -> str:
        """Returns what Codex says to a question that it answers by itself."""
        with tempfile.TemporaryDirectory(prefix="amelia-probe-") as folder:
            output = Path(folder, "output")
            await run_supervised(
                [*self._command(), *arguments],
                cwd=Path(folder),
                env=clean_environment(self._variables()),
                timeout=PROBE_TIME,
                output=output,
            )
            return _read(output)


def _read(output: Path) -> str:
    return output.read_text(encoding="utf-8", errors="replace").strip()[-DETAIL_LIMIT:]


def _bundled() -> str | None:
    """Returns the program inside the installed distribution, which is found without being imported."""
    package = importlib.util.find_spec("codex_cli_bin")
    if package is None or package.origin is None:
        return None
    program = Path(package.origin).parent / "bin" / "codex"
    return str(program) if program.is_file() else None


def _schema_file(schema: Mapping[str, object], folder: Path) -> Path:
    """Returns a file with the schema, named by what it holds: turns that run side by side share it."""
    data = json.dumps(schema, sort_keys=True).encode()
    path = folder.absolute() / f"schema-{hashlib.sha256(data).hexdigest()[:16]}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(data)
        Path(file.name).replace(path)
    return path


def _toml(value: str | int | list[str]) -> str:
    """Writes a value as TOML, which for these is as in JSON."""
    return json.dumps(value, ensure_ascii=False)
