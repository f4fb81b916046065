"""The `acp` driver: any agent that speaks the Agent Client Protocol, by its command line.

- A program of ours (`acp_client`) speaks the protocol, between the supervisor and the agent, and tells of the
  turn in the lines of `plain`; so the agent is bounded, recorded and ended like every other.
- The protocol has no word for a base URL, a schema or a number of turns. The agent takes the first from its
  own variables, its report is the JSON object of its last message, and the last cannot be asked for.
- An agent that is known by name, or by that of its program, gets what its recipe says besides.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from amelia.drive.acp import client
from amelia.drive.plain import read_plain_line
from amelia.drive.programs import (
    UNTRUSTED,
    Answer,
    ask_program,
    find_program,
    keys_for,
    own_variables,
    passed_variables,
    probe_version,
    reject_max_turns,
)
from amelia.drive.recipes import RECIPES, Recipe, recipe_of
from amelia.drive.stream import DETAIL_LIMIT, Line, read_object, text_of
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import AgentSettings, DriverInfo, TurnSpec
from amelia.model.errors import ConfigError

_MANNERS = {"NO_BROWSER": "1"}  # nobody is there to log in with one


@dataclass(frozen=True, slots=True)
class AcpDriver:
    """Drives the agent that the command line of the settings starts."""

    settings: AgentSettings

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return self.settings.driver

    @property
    def _recipe(self) -> Recipe | None:
        return recipe_of(self.settings)

    async def probe(self) -> DriverInfo:
        """Asks an agent that is known by name for its version; shakes hands with any other."""
        command = self._command()
        if (recipe := RECIPES.get(self.settings.driver)) is not None:
            self._keys()
            return await probe_version(self.name, self.settings, recipe)
        variables = {**self._variables(may_write=True), **self._keys()}
        answer = await ask_program([*_client("--probe"), *command], variables)
        return DriverInfo(command[0], *self._introduction(answer))

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        cost = spec.before.cost if spec.before is not None else None
        client = _client(
            *([f"--session={spec.session}", "--resume"] if spec.resume else []),
            *([f"--cost-before={cost}"] if cost is not None else []),
            *([f"--model={self.settings.model}"] if self.settings.model else []),
            *([] if spec.may_write else ["--read-only"]),
            *(["--trusts-repository"] if self.settings.trusts_repository else []),
            *self._known(),
        )
        keys = self._keys()
        environment = agent_environment(spec, {**self._variables(may_write=spec.may_write), **keys})
        argv = [*client, *self._command()]
        return ProgramTurn(spec, Program(argv, environment, read_plain_line, secrets=tuple(keys.values())))

    def _command(self) -> list[str]:
        """Returns the agent's command line, its program found where Amelia was started."""
        reject_max_turns(self.name, self.settings)
        if (recipe := RECIPES.get(self.settings.driver)) is not None:
            return [*self._program(recipe), *recipe.arguments]
        if not self.settings.command:
            raise ConfigError(
                "driver acp: no command line of an agent is set",
                hint='set it, as in `command = ["opencode", "acp"]`, beside `driver = "acp"`',
            )
        return find_program(self.settings.command, driver=self.name, install="install the agent")

    def _variables(self, *, may_write: bool) -> dict[str, str]:
        recipe, passed = self._recipe, passed_variables(self.settings)
        if recipe is None:
            return {**_MANNERS, **passed}
        found = {**_MANNERS, **own_variables(recipe), **passed, **recipe.variables}
        found |= {} if self.settings.trusts_repository else recipe.distrust
        return found if may_write else {**found, **recipe.reading}

    def _program(self, recipe: Recipe) -> list[str]:
        """Returns the program of an agent that is known, without the arguments that its recipe has."""
        given = self.settings.command or (recipe.program,)
        behind = len(given) - len(recipe.arguments)
        is_whole = bool(recipe.arguments) and behind > 0 and given[behind:] == recipe.arguments
        bare = given[:behind] if is_whole else given
        return find_program(bare, driver=self.name, install=recipe.install)

    def _known(self) -> list[str]:
        """Returns what our side of the protocol has to know of an agent."""
        if (recipe := self._recipe) is None:
            return []
        shows = [*self._program(recipe), *recipe.shows] if recipe.shows else []
        return [f"--login={recipe.login}", *(f"--shows={argument}" for argument in shows)]

    def _keys(self) -> dict[str, str]:
        return keys_for(self.name, self.settings)

    def _introduction(self, answer: Answer) -> tuple[str, tuple[str, ...]]:
        """Returns version and notes from what the handshake said."""
        lines = [read_object(Line(line)) or {} for line in answer.output.splitlines()]
        agent = next((line for line in lines if line.get("type") == "agent"), None)
        if agent is None:
            when = "in time" if answer.exit_code is None else "in its handshake"
            words = answer.text[-DETAIL_LIMIT:] or "it says nothing"
            raise ConfigError(
                f"driver acp: {self.settings.command[0]} does not answer {when}: {words}",
                hint="check that this command line starts an agent of the Agent Client Protocol",
            )
        name, version = text_of(agent.get("name")), text_of(agent.get("version"))
        return f"{name} {version}".strip() or "unknown", tuple(_notes(agent, self.settings))


def _client(*options: str) -> list[str]:
    """Returns how our side of the protocol is started; nothing in a worktree gets into its imports."""
    return [sys.executable, "-I", "-m", client.__name__, *options, "--"]


def _notes(agent: Mapping[str, object], settings: AgentSettings) -> list[str]:
    notes: list[str] = []
    if agent.get("may_resume") is not True:
        notes.append("it cannot go on with a session: feedback goes to a fresh one")
    if not settings.trusts_repository:
        notes.append(UNTRUSTED)
    return notes
