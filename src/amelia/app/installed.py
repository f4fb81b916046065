"""The coding agents that are installed here, with their versions and the oldest that are known to work.

Every program is asked for its version only, all at once and each within a bound; no model is asked.
"""

import shutil
from collections.abc import Callable

import anyio

from amelia.app.agents import probe_agent
from amelia.app.checkup import Check, Health, broken, doubtful
from amelia.drive.programs import UNTRUSTED
from amelia.drive.recipes import RECIPES, is_too_old, version_in
from amelia.model.agents import NAMED, AgentSettings, DriverInfo
from amelia.model.errors import AmeliaError, ConfigError

_AT_ONCE = 4
_OF_THEIR_OWN = {"claude": (2, 0, 65), "codex": (0, 55, 0)}
"""Agents with a kind of driver of their own, and their oldest versions that are known to work."""


async def list_agents(tell: Callable[[Check], None]) -> None:
    """Tells of every agent that is known by name and installed, and last which are not."""
    missing: list[str] = []
    limit = anyio.CapacityLimiter(_AT_ONCE)

    async def ask(name: str) -> None:
        recipe = RECIPES.get(name)
        if recipe is not None and shutil.which(recipe.program) is None:
            missing.append(name)
            return
        async with limit:
            try:
                found: DriverInfo | AmeliaError | OSError = await probe_agent(AgentSettings(driver=name))
            except (AmeliaError, OSError) as problem:
                found = problem
        if isinstance(found, ConfigError) and recipe is None:
            missing.append(name)
        else:
            tell(agent_line(name, found))

    async with anyio.create_task_group() as tasks:
        for name in (*_OF_THEIR_OWN, *NAMED):
            tasks.start_soon(ask, name)
    if missing:
        hint = "the guide on agents says how each is installed; one agent is enough"
        tell(Check("others", Health.OK, f"not installed: {', '.join(sorted(missing))}", hint))


def agent_line(name: str, found: DriverInfo | AmeliaError | OSError) -> Check:
    """Returns the line of one agent: its version, where it is, the oldest version that will do, its login."""
    if not isinstance(found, DriverInfo):
        check = broken(name, found)
        return doubtful(name, check.text, check.hint)
    recipe = RECIPES.get(name)
    least = recipe.least if recipe is not None else _OF_THEIR_OWN[name]
    text = f"{found.version} at {found.program} ({'.'.join(map(str, least))} or newer works)"
    if is_too_old(version_in(found.version), least):
        return doubtful(name, text, recipe.install if recipe is not None else "install a newer version")
    notes = "; ".join(note for note in found.notes if note != UNTRUSTED)
    login = f"log in with: {recipe.login}" if recipe is not None else None
    return doubtful(name, f"{text}; {notes}", login) if notes else Check(name, Health.OK, text, login)
