"""Which agent takes which role: drivers by name, each proved to be there before a run relies on it.

- A driver is imported when it is asked for, and nothing of the others with it.
- `auto` never sends a key or an address to an agent that they were not meant for, and prefers an agent that
  somebody is logged in to.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path

import anyio

from amelia.model.agents import AUTO, DRIVERS, NAMED, AgentSettings, Driver, DriverInfo, Role
from amelia.model.errors import AmeliaError, ConfigError
from amelia.model.settings import RunSettings

PATIENCE = timedelta(seconds=30)
"""How long an agent may take to answer a handshake."""

_INSTALL = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "api": "pip install 'amelia-orchestrator[api]' and --model provider:model",
}
_OF_A_PROVIDER = re.compile(r"[a-z][a-z0-9_-]{0,40}:.")


def make_driver(settings: AgentSettings) -> Driver:
    """Returns the driver of that name, ready to work."""
    match settings.driver:
        case "claude":
            from amelia.drive.claude.driver import ClaudeDriver  # noqa: PLC0415 - only if it is asked for

            return ClaudeDriver(settings)
        case "codex":
            from amelia.drive.codex.driver import CodexDriver  # noqa: PLC0415

            return CodexDriver(settings)
        case "api":
            from amelia.drive.api.driver import ApiDriver  # noqa: PLC0415

            return ApiDriver(settings)
        case "acp":
            from amelia.drive.acp.driver import AcpDriver  # noqa: PLC0415

            return AcpDriver(settings)
        case "command":
            from amelia.drive.command.driver import CommandDriver  # noqa: PLC0415

            return CommandDriver(settings)
        case "script":
            return _script_driver(settings.script)
        case name if name in NAMED:
            return _named_driver(settings)
        case unknown:
            raise _unknown_driver(unknown)


def _named_driver(settings: AgentSettings) -> Driver:
    from amelia.drive.acp.driver import AcpDriver  # noqa: PLC0415
    from amelia.drive.command.driver import CommandDriver  # noqa: PLC0415
    from amelia.drive.recipes import RECIPES, Speaks  # noqa: PLC0415

    is_acp = RECIPES[settings.driver].speaks is Speaks.ACP
    return AcpDriver(settings) if is_acp else CommandDriver(settings)


def _script_driver(script: str | None) -> Driver:
    from amelia.drive.script.driver import ScriptDriver, check_script  # noqa: PLC0415

    if script is None:
        raise ConfigError("the script driver has no script", hint="give one: --script FILE.toml")
    check_script(Path(script))
    return ScriptDriver(Path(script))


def _unknown_driver(name: str) -> ConfigError:
    known = (AUTO, *DRIVERS, *NAMED)
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known drivers: {', '.join(known)}"
    return ConfigError(f"there is no driver {name!r}", hint=hint)


async def probe_agent(settings: AgentSettings) -> DriverInfo:
    """Shakes hands with an agent within a bounded time; a `ConfigError` says what is missing."""
    driver = make_driver(settings)
    with anyio.move_on_after(PATIENCE.total_seconds()):
        return await driver.probe()
    raise ConfigError(
        f"{settings.driver} does not answer within {PATIENCE.total_seconds():.0f} seconds",
        hint="see whether it works by itself, outside of Amelia",
    )


async def missing_of(settings: AgentSettings) -> Sequence[str]:
    """Returns what an agent that was chosen lacks to be ready; nothing if it is."""
    try:
        info = await probe_agent(settings)
    except AmeliaError as problem:
        return (str(problem),)
    return () if info.is_ready else info.notes


def candidates(settings: AgentSettings) -> tuple[AgentSettings, ...]:
    """Returns what `auto` may become, best first.

    A model that is written `provider:model` is one for the `api` driver, any other one for a coding agent.
    """
    if _OF_A_PROVIDER.match(settings.model or ""):
        return (replace(settings, driver="api"),)
    if settings.command or settings.base_url or settings.key:
        raise ConfigError(
            "a command, a base_url or a key is for one kind of agent, and no driver says for which",
            hint=f"name the driver beside it: {', '.join(DRIVERS)}",
        )
    return replace(settings, driver="claude"), replace(settings, driver="codex")


def none_found(problems: Iterable[Exception]) -> ConfigError:
    """Returns the error that says of every agent that `auto` tried why it cannot work."""
    said = "; ".join(map(str, problems))
    ways = ", or ".join(f"{name}: {way}" for name, way in _INSTALL.items())
    return ConfigError(
        f"no agent is there to do the work ({said})",
        hint=f"install one ({ways}), or name another with --driver; `amelia doctor` looks at all of them",
    )


def best_of(answers: Mapping[AgentSettings, DriverInfo | AmeliaError | OSError]) -> AgentSettings:
    """Returns the first agent that is ready, else the first that is there at all."""
    there = {agent: answer for agent, answer in answers.items() if isinstance(answer, DriverInfo)}
    if not there:
        raise none_found(answer for answer in answers.values() if isinstance(answer, Exception))
    return next((agent for agent, info in there.items() if info.is_ready), next(iter(there)))


async def choose_agents(settings: RunSettings) -> Mapping[Role, AgentSettings]:
    """Returns the agent of every role, proved to be there; `auto` becomes the best that is."""
    chosen: dict[AgentSettings, AgentSettings] = {}
    for wanted in settings.agents.values():
        if wanted not in chosen:
            chosen[wanted] = await _choose(wanted)
    return {role: chosen[wanted] for role, wanted in settings.agents.items()}


async def _choose(wanted: AgentSettings) -> AgentSettings:
    if wanted.driver != AUTO:
        await probe_agent(wanted)
        return wanted
    answers: dict[AgentSettings, DriverInfo | AmeliaError | OSError] = {}
    for candidate in candidates(wanted):
        try:
            answers[candidate] = info = await probe_agent(candidate)
        except AmeliaError as problem:
            answers[candidate] = problem
        else:
            if info.is_ready:
                return candidate
    return best_of(answers)
