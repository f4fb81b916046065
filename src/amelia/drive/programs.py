"""What all drivers do alike with the programs they drive: find them, question them, hand them keys.

- A program is found where Amelia was started, never in the tree that an agent works in.
- A question is asked in an empty folder, and answered within a bounded time.
- An address that the settings name gets the key that the settings name, or none: never one that the caller
  has for somebody else.
- A bound that a driver cannot keep is an error, not a bound that silently does not hold.
"""

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from amelia.drive.recipes import Recipe, is_too_old, version_in
from amelia.model.agents import AgentSettings, DriverInfo
from amelia.model.errors import ConfigError
from amelia.system.environment import clean_environment
from amelia.system.process import run_supervised

PROBE_TIME = timedelta(seconds=25)
"""How long a program may take to answer a question; less than `doctor` waits for a whole driver."""

UNTRUSTED = "what a repository brings for it may count: that cannot be switched off"
"""What a person should know of an agent that reads settings of a repository, trusted or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a program wrote before it left, or before its time was up: then it has no exit code."""

    exit_code: int | None
    output: bytes

    @property
    def text(self) -> str:
        """All of it, as text for people."""
        return self.output.decode("utf-8", "replace").strip()


def find_program(
    command: Sequence[str], *, driver: str, install: str, bundled: str | None = None
) -> list[str]:
    """Returns a command with the full path of its program.

    `bundled` is where an installed package holds the program, as `package/path`, if it is not on the path;
    `install` says to people how to get it.
    """
    name, *arguments = command
    found = shutil.which(name) or (_inside_package(bundled) if bundled else None)
    if found is None:
        raise ConfigError(
            f"driver {driver}: {name} is not installed", hint=f"{install}, or give its path in `command`"
        )
    return [str(Path(found).absolute()), *arguments]


def _inside_package(place: str) -> str | None:
    """Returns a program inside an installed package, without importing that."""
    package, _, path = place.partition("/")
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((found for folder in folders if (found := shutil.which(f"{folder}/{path}"))), None)


async def ask_program(argv: Sequence[str], variables: Mapping[str, str]) -> Answer:
    """Returns what a program says to a question that it answers by itself."""
    with tempfile.TemporaryDirectory(prefix="amelia-probe-") as folder:
        output = Path(folder, "output")
        finished = await run_supervised(
            argv, cwd=Path(folder), env=clean_environment(variables), timeout=PROBE_TIME, output=output
        )
        return Answer(exit_code=finished.exit_code, output=_read(output))


async def probe_version(name: str, settings: AgentSettings, recipe: Recipe) -> DriverInfo:
    """Asks a program that is known by name for its version; no model is asked, and no session begun."""
    command = find_program(settings.command or (recipe.program,), driver=name, install=recipe.install)
    variables: Mapping[str, str] = {**recipe.variables, **own_variables(recipe), **passed_variables(settings)}
    answer = await ask_program([*command, *recipe.version], variables)
    version = version_in(answer.text)
    least = ".".join(map(str, recipe.least))
    if answer.exit_code != 0 and not version:
        raise ConfigError(
            f"driver {name}: {command[0]} says no version: {answer.text[-200:] or 'nothing'}",
            hint=f"{recipe.install}, or give its path in `command`",
        )
    is_old = is_too_old(version, recipe.least)
    notes = (
        *([f"version {least} or newer is needed: {recipe.install}"] if is_old else []),
        *([recipe.about_use] if recipe.about_use else []),
        *([] if settings.trusts_repository or recipe.heeds_trust else [UNTRUSTED]),
    )
    return DriverInfo(command[0], version or "unknown", notes, is_ready=not is_old)


def _read(output: Path) -> bytes:
    return output.read_bytes()


def keys_for(driver: str, settings: AgentSettings, defaults: Sequence[str] = ()) -> dict[str, str]:
    """Returns the keys that an agent is given, by the variables they come from.

    That is the one which the settings name; without one, those of `defaults` that are set, unless the
    settings name an address.
    """
    key = settings.key
    if key is None:
        return {} if settings.base_url else _set(defaults)
    if not os.environ.get(key):
        raise ConfigError(
            f"driver {driver}: the environment variable {key} is not set",
            hint=f"set {key} to the provider's key, or name another variable in `key`",
        )
    return {key: os.environ[key]}


def passed_variables(settings: AgentSettings) -> dict[str, str]:
    """Returns the variables that the settings pass on to the agent, as far as they are set."""
    return _set(settings.passes)


def own_variables(recipe: Recipe) -> dict[str, str]:
    """Returns the variables of the caller's that are called after an agent."""
    return {name: value for name, value in os.environ.items() if value and recipe.is_own(name)}


def _set(names: Sequence[str]) -> dict[str, str]:
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def reject_max_turns(driver: str, settings: AgentSettings) -> None:
    """Raises an error if the settings bound the turns of an agent that counts none."""
    if settings.max_turns is not None:
        raise ConfigError(
            f"driver {driver}: max_turns = {settings.max_turns}, but this agent cannot bound its turns",
            hint="set `max_turns` for other roles only; `[budget]` and `wall_minutes` bound this one",
        )
