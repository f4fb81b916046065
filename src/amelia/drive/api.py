"""The `api` driver: any model by `provider:model`, asked by a program of ours (`api_agent`).

- Nothing heavy is loaded here; the library is the child's, and a missing one is a message.
- The key goes to the child by its environment, under one name, never by its arguments.
"""

import os
import sys
import tempfile
import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import msgspec

from amelia.drive import api_agent
from amelia.drive.api_agent import INSTALL, KEY, NOT_INSTALLED, Assignment
from amelia.drive.plain import read_plain_line
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, SessionId, TurnSpec
from amelia.model.errors import ConfigError
from amelia.system.process import clean_environment, run_supervised

PROBE_TIME = timedelta(seconds=25)


@dataclass(frozen=True, slots=True)
class ApiDriver:
    """Asks one model, with tools for files and a shell."""

    settings: AgentSettings

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return "api"

    async def probe(self) -> DriverInfo:
        """Tries whether the library is there and the model could be asked; nothing is asked."""
        argv = self._command(Assignment(model=self._model(), base_url=self.settings.base_url), "--probe")
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "output")
            environment = clean_environment(self._variables())
            finished = await run_supervised(
                argv, cwd=Path(folder), env=environment, timeout=PROBE_TIME, output=output
            )
            said = _read(output)
        if finished.exit_code == 0:
            return DriverInfo(argv[0], f"pydantic-ai {said}")
        if finished.exit_code == NOT_INSTALLED:
            raise ConfigError(f"driver api: {said}", hint=f"install what it needs: {INSTALL}")
        reason = f"no answer after {PROBE_TIME.total_seconds():.0f} s" if finished.timed_out else said
        raise ConfigError(
            f"driver api: {reason}", hint="check `model`, `base_url` and the variable that `key` names"
        )

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        spec = replace(spec, session=spec.session or SessionId(str(uuid.uuid4())))
        environment = agent_environment(spec, self._variables())
        argv = self._command(self._assignment(spec))
        return ProgramTurn(spec, Program(argv, environment, read_plain_line))

    def _assignment(self, spec: TurnSpec) -> Assignment:
        return Assignment(
            model=self._model(),
            base_url=self.settings.base_url,
            session=str(spec.session),
            history=str(Path(spec.state, f"{spec.session}.json").absolute()),
            resume=spec.resume,
            may_write=spec.may_write and not spec.is_repair,
            schema=spec.schema,
            max_turns=self.settings.max_turns,
            allowance=spec.allowance,
        )

    def _command(self, assignment: Assignment, *options: str) -> list[str]:
        own = (
            sys.executable,
            "-P",
            "-W",
            "ignore",
            "-m",
            api_agent.__name__,
        )  # -P: not what lies in the tree
        return [*(self.settings.command or own), *options, msgspec.json.encode(assignment).decode()]

    def _model(self) -> str:
        model = self.settings.model or ""
        if not all(model.partition(":")):
            raise ConfigError(
                f"driver api: model = {model!r} names no model of a provider",
                hint='write it as provider:model, for example "anthropic:claude-sonnet-5-5"',
            )
        return model

    def _variables(self) -> dict[str, str]:
        """Returns what the child sees of Amelia's own environment: the key, and what the profile passes."""
        passed = {name: os.environ[name] for name in self.settings.passes if name in os.environ}
        provider = self._model().partition(":")[0].partition("-")[0]
        name = self.settings.key or f"{provider.upper()}_API_KEY"
        if self.settings.key and name not in os.environ:
            raise ConfigError(
                f"driver api: the environment variable {name} is not set",
                hint=f"set {name} to the provider's key, or name another variable in `key`",
            )
        return {**passed, KEY: os.environ[name]} if name in os.environ else passed


def _read(output: Path) -> str:
    return output.read_text(encoding="utf-8", errors="replace").strip()
