"""The `codex` driver: the Codex CLI, one `codex exec --json` for every turn.

- Codex names its threads itself: the id of a session is the one that it reports, whatever was asked for.
- It forgets model, sandbox, schema and settings from turn to turn, so each turn is given all of them.
- Whether it trusts the repository is always said: left alone, it would trust whatever it may write to, run
  the servers that a repository configures, and note that trust in the settings of the person.
- Without a wall, its sandbox keeps a developer in the worktree, the `.git` of which it can read but not
  change, and in a folder of the run for what is temporary; everybody else can change nothing at all. Behind
  one, the wall does that, and the sandbox is off. Commands that it runs do not see the key.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from anyio import to_thread

from amelia.drive.codex.lines import CodexLines
from amelia.drive.codex.records import thread_usage
from amelia.drive.homes import HOMES, folders_of, move_in
from amelia.drive.prices import price_of
from amelia.drive.programs import (
    Answer,
    ask_program,
    find_program,
    keys_for,
    passed_variables,
    reject_max_turns,
)
from amelia.drive.stream import DETAIL_LIMIT
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, SessionId, TurnSpec, Usage
from amelia.model.errors import ConfigError

BUNDLED = "codex_cli_bin/bin/codex"
INSTALL = "install it with `npm install -g @openai/codex`, or `pip install openai-codex`"
_HOME = HOMES["codex"]
HOME = _HOME.variable
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
# A repository's skills would be told to the model even where nothing else of it is trusted.
UNTRUSTED = ("skills.include_instructions=false",)
_NO_LOGIN = "no key and no login: set `key`, or run `codex login`"
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
        reject_max_turns(self.name, self.settings)
        command = self._command()
        said = (await self._ask("--version")).text[-DETAIL_LIMIT:]
        version = _VERSION.search(said)
        if version is None:
            raise ConfigError(
                f"driver codex: {command[0]} does not answer as Codex does: {said or 'it says nothing'}",
                hint="install it anew with `pip install openai-codex`, or give its path in `command`",
            )
        is_ready = await self._is_ready()
        return DriverInfo(command[0], version[1], () if is_ready else (_NO_LOGIN,), is_ready)

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        reject_max_turns(self.name, self.settings)
        lines = CodexLines(
            model=self.settings.model or "",
            before=spec.before if spec.resume else None,
            now=datetime.now().astimezone(),
            price=await to_thread.run_sync(price_of, self.name, self.settings),
        )
        is_known = bool(self._key() or self.settings.base_url)
        moved = await to_thread.run_sync(lambda: move_in(_HOME, spec, shares_login=not is_known))
        variables = {**self._variables(), **moved.variables, "TMPDIR": str(_temporary_folder(spec))}
        program = Program(
            self._arguments(spec),
            agent_environment(spec, variables),
            lines,
            lines.explain,
            secrets=(*self._key().values(), *passed_variables(self.settings).values()),
            recount=partial(self.recorded, state=Path(spec.state)),
            login=moved.login,
        )
        return ProgramTurn(spec, program)

    def recorded(self, session: SessionId, *, state: Path | None = None) -> Usage | None:
        """Returns what a thread has used in all, by Codex's own record; None without one.

        `state` is the directory of the run in which agents behind a wall have their configuration.
        """
        price = price_of(self.name, self.settings)
        found = (thread_usage(folder, session, price) for folder in folders_of(_HOME, state))
        return next((used for used in found if used is not None), None)

    def _arguments(self, spec: TurnSpec) -> list[str]:
        settings = (*SETTINGS, *self._provider(), *self._trust(spec.cwd), *_sandbox(spec))
        return [
            *self._command(),
            "exec",
            "--json",
            "--skip-git-repo-check",  # whatever an agent has done to `.git` in an earlier turn
            f"--sandbox={_mode(spec)}",
            *[f"--config={setting}" for setting in settings],
            *([f"--model={self.settings.model}"] if self.settings.model else []),
            *([f"--output-schema={_schema_file(spec.schema, _folder(spec))}"] if spec.schema else []),
            *(["resume", spec.session] if spec.resume and spec.session else []),
            "-",
        ]

    def _command(self) -> list[str]:
        """Returns the program and the arguments that always come first."""
        command = self.settings.command
        bundled = None if command else BUNDLED
        return find_program(command or ("codex",), driver=self.name, install=INSTALL, bundled=bundled)

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

    def _trust(self, cwd: str) -> Sequence[str]:
        is_trusted = self.settings.trusts_repository
        level = _toml("trusted" if is_trusted else "untrusted")
        project = f"projects={{{_toml(os.path.realpath(cwd))}={{trust_level={level}}}}}"
        return (project, *(() if is_trusted else UNTRUSTED))

    def _variables(self) -> dict[str, str]:
        """Returns what Codex sees of the caller's environment beyond the usual."""
        home = os.environ.get(HOME)
        if home and not Path(home).is_dir():
            raise ConfigError(
                f"{HOME}: there is no directory {home}", hint=f"make it, or do not set {HOME}: Codex insists"
            )
        place = {HOME: home} if home else {}
        return {**place, **passed_variables(self.settings), **self._key()}

    def _key(self) -> dict[str, str]:
        """Returns the variable in which Codex finds its key; none if it uses a login, or needs nothing."""
        keys = keys_for(self.name, self.settings, (KEY,))
        if self.settings.base_url or not keys:
            return keys
        return {KEY: next(iter(keys.values()))}

    async def _is_ready(self) -> bool:
        """Tells whether Codex has a key, needs none, or is logged in."""
        if self._key() or self.settings.base_url:
            return True
        return (await self._ask("login", "status")).exit_code == 0

    async def _ask(self, *arguments: str) -> Answer:
        return await ask_program([*self._command(), *arguments], self._variables())


def _folder(spec: TurnSpec) -> Path:
    """Returns the directory of the run in which Codex finds what it is given."""
    return Path(os.path.realpath(spec.wall.home if spec.wall is not None else spec.state))


def _temporary_folder(spec: TurnSpec) -> Path:
    """Returns where what is temporary goes, and makes it: the one of the machine is for everybody."""
    folder = Path(spec.wall.temporary) if spec.wall and spec.wall.temporary else _folder(spec) / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _mode(spec: TurnSpec) -> str:
    """Returns which of its sandboxes Codex uses; behind a wall none, for it could not mount what it needs."""
    if spec.wall is not None:
        return "danger-full-access"
    return "workspace-write" if spec.may_write else "read-only"


def _sandbox(spec: TurnSpec) -> Sequence[str]:
    """Returns where a developer may write besides the worktree."""
    return (
        "sandbox_workspace_write.exclude_slash_tmp=true",
        "sandbox_workspace_write.exclude_tmpdir_env_var=true",
        f"sandbox_workspace_write.writable_roots={_toml([str(_temporary_folder(spec))])}",
    )


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
