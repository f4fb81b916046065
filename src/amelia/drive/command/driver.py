"""The `command` driver: any agent that is a program, by a command line with places in it.

- `{prompt}`, `{prompt_file}`, `{model}`, `{session}` and `{role}` in an argument stand for what a turn has;
  every other brace is text. A line without a place for the prompt gets it by its standard input.
- A session goes on by `resume_command`. Without one every turn is a fresh session that is told everything.
- A role that may only read is a command line of its own: nothing else keeps a program from writing, but for
  the look at the tree that a run takes after such a turn.
"""

import re
import uuid
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from amelia.drive.command.lines import CommandLines
from amelia.drive.programs import (
    UNTRUSTED,
    find_program,
    keys_for,
    own_variables,
    passed_variables,
    probe_version,
    reject_max_turns,
)
from amelia.drive.recipes import Recipe, recipe_of
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    DriverInfo,
    Ending,
    SessionId,
    Turn,
    TurnEnded,
    TurnSpec,
)
from amelia.model.errors import ConfigError
from amelia.model.git import ref_component

LONGEST_ARGUMENT = 100_000
"""Bytes of a prompt that an argument can hold; operating systems refuse longer ones."""
_PLACE = re.compile(r"\{(prompt|prompt_file|model|session|role)\}")
_TOO_LONG = "Your assignment is too long for a command line. Read it in the file {file}, and carry it out."
_UNTOLD = "it tells what it uses only if it prints that: else a budget cannot hold"
_UNNAMED = (
    "`resume_command` counts only if it prints the id of its session, since `command` has no {session}; "
    "else every turn is a fresh session"
)


@dataclass(frozen=True, slots=True)
class CommandDriver:
    """Drives the program that the settings, or a recipe, name."""

    settings: AgentSettings

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return self.settings.driver

    @property
    def _recipe(self) -> Recipe | None:
        return recipe_of(self.settings)

    @property
    def _resumes(self) -> tuple[str, ...]:
        return () if self._recipe is not None else self.settings.resume_command

    async def probe(self) -> DriverInfo:
        """Finds the program; one that is known by name is asked for its version."""
        line = self._line(may_write=True, is_resumed=False)
        keys_for(self.name, self.settings)
        if (recipe := self._recipe) is None:
            return DriverInfo(line[0], "unknown", tuple(self._notes()))
        return await probe_version(self.name, self.settings, recipe)

    def _notes(self) -> Iterator[str]:
        """Yields what a person should know of a program that nobody knows by name."""
        yield _UNTOLD
        if self._resumes and not self._names_sessions:
            yield _UNNAMED
        if not self.settings.trusts_repository:
            yield UNTRUSTED

    async def start(self, spec: TurnSpec) -> Turn:
        """Prepares one turn."""
        if spec.resume and not self._resumes:
            return _LostTurn(spec)
        line = self._line(may_write=spec.may_write, is_resumed=spec.resume)
        spec = replace(spec, session=self._session(spec))
        keys, recipe = keys_for(self.name, self.settings), self._recipe
        variables = {
            **(own_variables(recipe) if recipe else {}),
            **(recipe.variables if recipe else {}),
            **passed_variables(self.settings),
            **keys,
        }
        lines = CommandLines(spec.session, model=self.settings.model or "", is_resumed=spec.resume)
        program = Program(
            self._filled(line, spec),
            agent_environment(spec, variables),
            lines,
            secrets=tuple(keys.values()),
            reads_prompt=not _places(line) & {"prompt", "prompt_file"},
            conclude=lines.conclude,
        )
        return ProgramTurn(spec, program)

    def _session(self, spec: TurnSpec) -> SessionId | None:
        """Returns the session of a turn; None if the program has none, or names it itself."""
        if spec.resume:
            return spec.session
        is_named = self._resumes and self._names_sessions
        return (spec.session or SessionId(str(uuid.uuid4()))) if is_named else None

    @property
    def _names_sessions(self) -> bool:
        return "session" in _places(self.settings.command)

    def _line(self, *, may_write: bool, is_resumed: bool) -> list[str]:
        """Returns the command line of a turn with its places, its program found where Amelia was started."""
        reject_max_turns(self.name, self.settings)
        given, recipe = self.settings.command, self._recipe
        if recipe is not None:
            program = find_program(given or (recipe.program,), driver=self.name, install=recipe.install)
            if not self.settings.model:
                raise ConfigError(
                    f"driver {self.name}: no model is set, and {recipe.title} would ask a person for one",
                    hint='set it, as in `model = "openai/gpt-5.5"`, and name its key with `key`',
                )
            more = recipe.to_write if may_write else recipe.to_read
            return [*program, *recipe.arguments, *more, *recipe.with_model]
        if not given:
            raise ConfigError(
                f"driver {self.name}: no command line of an agent is set",
                hint='set it, as in `command = ["my-agent", "--prompt-file", "{prompt_file}"]`',
            )
        line = self._resumes if is_resumed else given
        _check(line, self.settings)
        return find_program(line, driver=self.name, install="install the agent")

    def _filled(self, line: Sequence[str], spec: TurnSpec) -> list[str]:
        """Returns a command line with what a turn has in its places."""
        values = {"model": self.settings.model or "", "session": spec.session or "", "role": spec.role}
        if _places(line) & {"prompt", "prompt_file"}:
            file = _write_prompt(spec)
            is_long = len(spec.prompt.encode("utf-8", "replace")) > LONGEST_ARGUMENT
            values |= {
                "prompt_file": file,
                "prompt": _TOO_LONG.format(file=file) if is_long else spec.prompt,
            }
        return [line[0], *(_PLACE.sub(lambda place: values[place[1]], each) for each in line[1:])]


def _places(line: Sequence[str]) -> set[str]:
    return {place for argument in line[1:] for place in _PLACE.findall(argument)}


def _check(line: Sequence[str], settings: AgentSettings) -> None:
    """Raises an error if a setting cannot reach the program, or is missing for a place in its line."""
    if settings.model and "model" not in _places(line):
        raise ConfigError(
            f"driver {settings.driver}: model is set, but the command line has no place for it",
            hint='put it there, as in `"--model", "{model}"`, or do not set `model`',
        )
    if not settings.model and "model" in _places(line):
        raise ConfigError(
            f"driver {settings.driver}: the command line wants a model, and none is set",
            hint="set `model` beside it, or leave `{model}` out of the line",
        )
    if settings.base_url is not None:
        raise ConfigError(
            f"driver {settings.driver}: base_url is set, but Amelia cannot give it to any program",
            hint="give it to the agent in its command line, or by a variable that `passes` names",
        )


def _write_prompt(spec: TurnSpec) -> str:
    """Writes the prompt of a turn where its agent can read it, and returns the path of the file."""
    folder = Path(spec.wall.home if spec.wall is not None else spec.state) / "prompts"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / f"{ref_component(spec.unit)}-{spec.attempt}-{spec.role}.md"
    file.write_bytes(spec.prompt.encode("utf-8", "replace"))
    return str(file.absolute())


@dataclass(frozen=True, slots=True)
class _LostTurn:
    """A turn in a session that cannot go on: nothing is started."""

    spec: TurnSpec

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Yields the end."""
        detail = "the agent cannot go on with a session: no `resume_command` is set"
        yield TurnEnded(ending=Ending.SESSION_LOST, session=self.spec.session, detail=detail)

    async def interrupt(self) -> None:
        """Does nothing: there is nothing to stop."""

    async def kill(self, because: Ending = Ending.KILLED) -> None:
        """Does nothing: there is nothing to stop."""
