"""The `claude` driver: the command line of Claude Code.

- Everything is said again on every turn: Claude forgets model, tools, permissions and schema on resuming.
- A role that may not write has no tool that can; a developer's edits are accepted, its commands allowed.
- Without trust in the repository, its settings, hooks, servers, skills and memory files are not read. The
  person's own servers are there for who may write, and for nobody else.
- Claude's own retries are few: limits and outages are waited out by Amelia, without a slot.
- Claude is given its key by a pipe, not by a variable that the commands it runs would see too. A bearer token
  and the keys of a cloud it takes by variables only; a probe says so. Our process above it still has the key
  in its environment, where a command that searches `/proc` finds it.
- At an address that the settings name, no login of the person is used.
"""

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from amelia.drive.claude.lines import ClaudeLines
from amelia.drive.claude.login import API_KEY, OAUTH, TOKEN, clouds_in_use, find_login
from amelia.drive.claude.records import session_usage
from amelia.drive.claude.settings import ClaudeSettings, read_claude_settings
from amelia.drive.homes import HOMES, folders_of, move_in
from amelia.drive.prices import prices_of
from amelia.drive.programs import ask_program, find_program, keys_for, passed_variables
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, SessionId, TurnSpec, Usage
from amelia.model.errors import ConfigError
from amelia.system.secrets import looks_secret

BUNDLED = "claude_agent_sdk/_bundled/claude"
INSTALL = "install it with `npm install -g @anthropic-ai/claude-code`, or `pip install claude-agent-sdk`"
_HOME = HOMES["claude"]
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
_LOGINS = (TOKEN, API_KEY, OAUTH)  # the first that is set counts, for Claude too
_BY_PIPE = {
    API_KEY: "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    OAUTH: "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
}
_HANDED_OVER = "AMELIA_AGENT_KEY"
_HAND_OVER = f"""exec 3<<KEY
${_HANDED_OVER}
KEY
unset {_HANDED_OVER}
exec "$0" "$@"
"""
_NOBODY = "none"  # a token that is no key, so that Claude does not use a login of the person
_PLACES = (
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_MODEL",
    "CLAUDE_CONFIG_DIR",
)
_PRICED = frozenset({"", "default", "best", "haiku", "opus", "opusplan", "sonnet"})
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
        own = self._own(Path.cwd())
        command, login, variables = self._command(), self._login(), self._variables(own)
        answer = await ask_program([*command, "--version"], variables)
        said = answer.text
        if answer.exit_code != 0 or not said[:1].isdigit():
            raise ConfigError(
                f"driver claude: {command[0]} --version says no version: {said[-200:] or 'nothing'}",
                hint="install Claude Code anew, or give its path in `command`",
            )
        found = find_login(self._given(login), own)
        notes = (_NO_LOGIN,) if found is None else found.doubts
        return DriverInfo(
            command[0],
            said.split()[0],
            (*notes, *_exposed({**variables, **login}, self.settings)),
            found is not None,
            "" if found is None else found.text,
        )

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        spec = replace(spec, session=spec.session or SessionId(str(uuid.uuid4())))
        login, variables = self._login(), self._variables(self._own(Path(spec.cwd)))
        moved = await to_thread.run_sync(lambda: move_in(_HOME, spec, shares_login=not login))
        environment = agent_environment(spec, {**variables, **moved.variables, **_given(login)})
        way = ("/bin/sh", "-c", _HAND_OVER) if _HANDED_OVER in environment else ()
        argv = [*way, *self._command(), *self._options(spec)]
        secrets = (*login.values(), *passed_variables(self.settings).values())
        price_of = await to_thread.run_sync(prices_of, self.name)
        lines = ClaudeLines(spec.before, price_of=price_of, has_price=self._has_price(spec))
        program = Program(
            argv,
            environment,
            lines,
            secrets=secrets,
            recount=partial(self.recorded, state=Path(spec.state)),
            login=moved.login,
        )
        return ProgramTurn(spec, program)

    def recorded(self, session: SessionId, *, state: Path | None = None) -> Usage | None:
        """Returns what a session has used in all, by Claude's own record; None without one.

        `state` is the directory of the run in which agents behind a wall have their configuration.
        """
        prices = prices_of(self.name)
        found = (session_usage(folder, session, prices) for folder in folders_of(_HOME, state))
        return next((used for used in found if used is not None), None)

    def _options(self, spec: TurnSpec) -> list[str]:
        settings, may_write = self.settings, spec.may_write
        sources = "user,project,local" if settings.trusts_repository else "user"
        budget = spec.allowance.cost if self._has_price(spec) else None
        return [
            "--print",
            "--output-format=stream-json",
            "--verbose",
            f"--resume={spec.session}" if spec.resume else f"--session-id={spec.session}",
            *(_WRITER if may_write else _READER),
            f"--setting-sources={sources}",
            "--disable-slash-commands",
            *(() if may_write else ("--strict-mcp-config",)),  # a server could write
            *((f"--model={settings.model}",) if settings.model else ()),
            *((f"--json-schema={json.dumps(spec.schema)}",) if spec.schema is not None else ()),
            *((f"--max-turns={settings.max_turns}",) if settings.max_turns is not None else ()),
            *((f"--max-budget-usd={max(budget, LEAST_BUDGET):.6f}",) if budget is not None else ()),
        ]

    def _has_price(self, spec: TurnSpec) -> bool:
        """Tells whether Claude knows what its model costs; by the price it guesses nobody is stopped."""
        names = self._variables(self._own(Path(spec.cwd)))
        model = self.settings.model or names.get("ANTHROPIC_MODEL", "")
        model = names.get(f"ANTHROPIC_DEFAULT_{model.upper()}_MODEL", model)
        is_known = spec.before is None or spec.before.cost is not None
        return is_known and (model in _PRICED or "claude-" in model)

    def _command(self) -> list[str]:
        """Returns the program by its full path, with the arguments of the profile."""
        command = self.settings.command
        bundled = None if command else BUNDLED
        return find_program(command or ("claude",), driver=self.name, install=INSTALL, bundled=bundled)

    def _login(self) -> dict[str, str]:
        """Returns what Claude is known by, under a name that it knows; nothing if that is its own login."""
        keys = keys_for(self.name, self.settings, _LOGINS)
        if not keys:
            return {TOKEN: _NOBODY} if self.settings.base_url else {}
        name, value = next(iter(keys.items()))
        return {name if name in _LOGINS else API_KEY: value}

    def _given(self, login: Mapping[str, str]) -> str | None:
        """Says what Claude is handed to be known by; None if it is handed nothing."""
        if _NOBODY in login.values():
            return "asks a server that wants no key"
        return next((f"key in {self.settings.key or name}" for name in login), None)

    def _own(self, place: Path) -> ClaudeSettings:
        """Returns what Claude's own settings say for work in a place."""
        return read_claude_settings(_top_of(place) if self.settings.trusts_repository else None)

    def _variables(self, own: ClaudeSettings) -> dict[str, str]:
        """Returns what Claude sees of Amelia's own environment, and how it is to behave.

        The keys of a cloud are its business only if it asks its model there.
        """
        url = self.settings.base_url
        clouds = [] if url else [name for cloud in clouds_in_use(own) for name in cloud.variables]
        found = {name: os.environ[name] for name in (*_PLACES, *clouds) if name in os.environ}
        place = {"ANTHROPIC_BASE_URL": url} if url else {}
        return {**_MANNERS, **found, **passed_variables(self.settings), **place}


def _top_of(place: Path) -> Path:
    """Returns the top of the repository around a place; the place itself if there is none."""
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)


def _given(login: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables by which a key gets to Claude: those of the pipe, if it is one that can."""
    for name in login.keys() & _BY_PIPE:
        return {_HANDED_OVER: login[name], _BY_PIPE[name]: "3"}
    return dict(login)


def _exposed(variables: Mapping[str, str], settings: AgentSettings) -> tuple[str, ...]:
    """Says which keys every command sees that a developer runs; those that are passed on are meant to be."""
    kept = (*_BY_PIPE, *settings.passes)
    seen = [name for name, value in variables.items() if looks_secret(name) and value != _NOBODY]
    names = ", ".join(name for name in seen if name not in kept)
    return (f"the commands that it runs see {names}",) if names else ()
