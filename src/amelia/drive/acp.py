"""The `acp` driver: any agent that speaks the Agent Client Protocol, by its command line.

- A program of ours (`acp_client`) speaks the protocol, between the supervisor and the agent, and tells of the
  turn in the lines of `plain`; so the agent is bounded, recorded and ended like every other.
- The protocol has no word for a base URL, a schema or a number of turns. The agent takes the first from its
  own variables, and its report is the JSON object of its last message.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from amelia.drive import acp_client
from amelia.drive.plain import read_plain_line
from amelia.drive.stream import DETAIL_LIMIT, Line, read_object, text_of
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, TurnSpec
from amelia.model.errors import ConfigError
from amelia.system.process import Finished, clean_environment, run_supervised

HANDSHAKE_TIME = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class AcpDriver:
    """Drives the agent that the command line of the settings starts."""

    settings: AgentSettings

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return "acp"

    async def probe(self) -> DriverInfo:
        """Starts the agent and shakes hands with it."""
        command = self._command()
        with tempfile.TemporaryDirectory(prefix="amelia-probe-") as folder:
            output = Path(folder) / "output"
            finished = await run_supervised(
                [*_client("--probe"), *command],
                cwd=Path(folder),
                env=clean_environment(self._variables()),
                timeout=HANDSHAKE_TIME,
                output=output,
            )
            said = output.read_bytes()
        return DriverInfo(command[0], *self._introduction(finished, said))

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        cost = spec.before.cost if spec.before is not None else None
        client = _client(
            *([f"--session={spec.session}", "--resume"] if spec.resume else []),
            *([f"--cost-before={cost}"] if cost is not None else []),
            *([f"--model={self.settings.model}"] if self.settings.model else []),
            *([] if spec.may_write else ["--read-only"]),
            *(["--trusts-repository"] if self.settings.trusts_repository else []),
        )
        environment = agent_environment(spec, self._variables())
        return ProgramTurn(spec, Program([*client, *self._command()], environment, read_plain_line))

    def _command(self) -> list[str]:
        """Returns the agent's command line, its program found where Amelia was started."""
        if not self.settings.command:
            raise ConfigError(
                "the acp driver needs the command line of an agent",
                hint='set it, as in `command = ["opencode", "acp"]`, beside `driver = "acp"`',
            )
        program, *arguments = self.settings.command
        found = shutil.which(program)
        if found is None:
            raise ConfigError(
                f"{program}: the agent's program is not there",
                hint="install it, or give its full path as `command`",
            )
        return [str(Path(found).absolute()), *arguments]

    def _variables(self) -> dict[str, str]:
        """Returns what the agent sees of the caller's environment beyond the usual."""
        key = self.settings.key
        if key is not None and not os.environ.get(key):
            raise ConfigError(
                f"{key}: this variable is to hold the agent's key, and is not set",
                hint=f"export {key}, or take `key` out of the settings",
            )
        names = [*self.settings.passes, *([key] if key is not None else [])]
        return {name: os.environ[name] for name in names if name in os.environ}

    def _introduction(self, finished: Finished, said: bytes) -> tuple[str, tuple[str, ...]]:
        """Returns version and notes from what the handshake said."""
        lines = [read_object(Line(line)) or {} for line in said.splitlines()]
        agent = next((line for line in lines if line.get("type") == "agent"), None)
        if agent is None:
            when = f"within {HANDSHAKE_TIME.seconds} seconds" if finished.timed_out else "in its handshake"
            words = said.decode("utf-8", "replace").strip()[-DETAIL_LIMIT:] or "it says nothing"
            raise ConfigError(
                f"{self.settings.command[0]}: the agent does not answer {when}: {words}",
                hint="check that this command line starts an agent of the Agent Client Protocol",
            )
        name, version = text_of(agent.get("name")), text_of(agent.get("version"))
        return f"{name} {version}".strip() or "unknown", tuple(_notes(agent, self.settings))


def _client(*options: str) -> list[str]:
    """Returns how our side of the protocol is started; nothing in a worktree gets into its imports."""
    return [sys.executable, "-I", "-m", acp_client.__name__, *options, "--"]


def _notes(agent: Mapping[str, object], settings: AgentSettings) -> list[str]:
    notes: list[str] = []
    if agent.get("may_resume") is not True:
        notes.append("it cannot go on with a session: feedback goes to a fresh one")
    if not settings.trusts_repository:
        notes.append("what a repository brings for it may count: the protocol cannot switch that off")
    return notes
