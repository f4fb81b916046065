"""The `api` driver: any model by `provider:model`, asked by a program of ours (`api_agent`).

- Nothing heavy is loaded here; the library is the child's, and a missing one is a message.
- The key goes to the child before the prompt: a command of the model could read the environment and the
  arguments of the child, as it can still read those of Amelia itself.
"""

import json
import sys
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from amelia.drive.api import agent
from amelia.drive.api.agent import INSTALL, NOT_INSTALLED
from amelia.drive.api.assignment import Assignment
from amelia.drive.homes import config_in
from amelia.drive.plain import read_plain_line
from amelia.drive.programs import ask_program, keys_for, passed_variables
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, SessionId, TurnSpec
from amelia.model.errors import ConfigError


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
        argv = self._command(self._assignment(), "--probe")
        answer = await ask_program(argv, passed_variables(self.settings))
        if answer.exit_code == 0:
            return DriverInfo(argv[0], f"pydantic-ai {answer.text}")
        if answer.exit_code == NOT_INSTALLED:
            raise ConfigError(
                f"driver api: a package is not installed ({answer.text})",
                hint=f"install what it needs: {INSTALL}",
            )
        reason = "no answer in time" if answer.exit_code is None else answer.text
        raise ConfigError(
            f"driver api: {reason}",
            hint=f"check `model` and `base_url`, and the key in {self._usual_key()}",
        )

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        spec = replace(spec, session=spec.session or SessionId(str(uuid.uuid4())))
        argv = self._command(self._assignment_for(spec))
        environment = agent_environment(spec, passed_variables(self.settings))
        key = self._key()
        program = Program(
            argv,
            environment,
            read_plain_line,
            secrets=() if key is None else (key,),
            before_prompt="" if key is None else f"{json.dumps(key)}\n",
        )
        return ProgramTurn(spec, program)

    def _assignment(self) -> Assignment:
        """Returns what is the same in every turn."""
        return Assignment(
            model=self._model(), base_url=self.settings.base_url, has_key=self._key() is not None
        )

    def _assignment_for(self, spec: TurnSpec) -> Assignment:
        return replace(
            self._assignment(),
            session=str(spec.session),
            history=str(Path(_folder(spec), f"{spec.session}.json").absolute()),
            resume=spec.resume,
            may_write=spec.may_write,
            schema=spec.schema,
            max_turns=self.settings.max_turns,
            allowance=spec.allowance,
        )

    def _command(self, assignment: Assignment, *options: str) -> list[str]:
        # Nothing that lies in the tree gets into its imports.
        own = (sys.executable, "-P", "-W", "ignore", "-m", agent.__name__)
        return [*(self.settings.command or own), *options, msgspec.json.encode(assignment).decode()]

    def _model(self) -> str:
        model = self.settings.model or ""
        if not all(model.partition(":")):
            raise ConfigError(
                f"driver api: model = {model!r} names no model of a provider",
                hint='write it as provider:model, for example "anthropic:claude-sonnet-5-5"',
            )
        return model

    def _key(self) -> str | None:
        """Returns the key that the settings name, or the usual one of the provider."""
        return next(iter(keys_for(self.name, self.settings, [self._usual_key()]).values()), None)

    def _usual_key(self) -> str:
        """Returns the variable in which the provider's key usually is, if the settings name no other."""
        provider = self._model().partition(":")[0].partition("-")[0]
        return self.settings.key or f"{provider.upper()}_API_KEY"


def _folder(spec: TurnSpec) -> Path:
    """Returns the directory in which the program keeps its sessions: one that it can write to."""
    return config_in(Path(spec.wall.home)) if spec.wall is not None else Path(spec.state)
