"""Looks at everything that a run needs, without changing any of it.

- Agents that may be used are asked all at once, each within a bound, while the rest is looked at.
- What is found is told as it arrives, once, and never with a key in it.
- Where the settings cannot be read, nothing is said that depends on them.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio import to_thread

from amelia.app.agents import probe_agent
from amelia.app.checkup import (
    Check,
    agent_check,
    auto_checks,
    broken,
    candidate_checks,
    command_check,
    doubtful,
    files_check,
    home_check,
    no_repository,
    repository_check,
    runs_checks,
    subjects,
    wall_check,
    well,
)
from amelia.app.history import take_inventory
from amelia.app.walls import check_wall
from amelia.config import NO_OPTIONS, Options, load
from amelia.config.places import caller_secrets, is_repository, repository_around
from amelia.judge.detect import find_command
from amelia.model.agents import AgentSettings, DriverInfo, Role
from amelia.model.errors import AmeliaError, ConfigError
from amelia.model.settings import RunSettings
from amelia.record.runs import strangers
from amelia.schedule.decide import is_over
from amelia.system.git import check_git
from amelia.system.secrets import Redactor
from amelia.system.wall import find_kernel
from amelia.workspace.source import open_source, uncommitted

Tell: TypeAlias = Callable[[Check], None]


@dataclass(frozen=True, slots=True)
class _Patient:
    """What is examined: a directory, the home of its runs, and the settings in it if they can be read."""

    place: Path
    home: Path
    settings: RunSettings | None


async def examine(place: Path, *, home: Path, tell: Tell, options: Options = NO_OPTIONS) -> None:
    """Looks at a directory, a state home and the agents of a run, and tells each finding when it is there."""
    redactor = Redactor(caller_secrets())

    def clean(text: str) -> str:
        return redactor.redact(text.encode(errors="replace")).decode(errors="replace")

    def say(check: Check) -> None:
        tell(replace(check, text=clean(check.text), hint=check.hint and clean(check.hint)))

    settings = _settings(place, options, say)
    agents: Mapping[Role, AgentSettings] = {} if settings is None else settings.agents
    patient = _Patient(place, home, settings)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_look_around, patient, say)
        tasks.start_soon(_ask_agents, agents, say)


def _settings(place: Path, options: Options, say: Tell) -> RunSettings | None:
    """Returns the settings that hold, if they can be read."""
    try:
        loaded = load(place, options)
    except ConfigError as problem:
        say(broken("settings", problem))
        return None
    say(files_check(loaded.files))
    for remark in loaded.remarks:
        say(doubtful("settings", remark.text, remark.hint))
    return loaded.settings.run


async def _look_around(patient: _Patient, say: Tell) -> None:
    for name, look in _LOOKS.items():
        try:
            checks = await to_thread.run_sync(lambda look=look: list(look(patient)))
        except (AmeliaError, OSError) as problem:
            checks = [broken(name, problem)]
        for check in checks:
            say(check)


def _look_at_git(_: _Patient) -> Iterable[Check]:
    yield well("git", ".".join(map(str, check_git())))


def _look_at_repository(patient: _Patient) -> Iterable[Check]:
    try:
        source = open_source(patient.place)
    except ConfigError as problem:
        if any(is_repository(place) for place in (patient.place, *patient.place.parents)):
            raise
        yield no_repository(problem)
        return
    yield repository_check(source, uncommitted(source))
    yield well("identity", f"{source.identity.name} <{source.identity.email}>")
    if patient.settings is not None:
        yield command_check(find_command(source.top, patient.settings.verify))


def _look_at_home(patient: _Patient) -> Iterable[Check]:
    there = next(place for place in (patient.home, *patient.home.parents) if place.exists())
    yield home_check(
        patient.home,
        free=shutil.disk_usage(there).free,
        is_writable=there.is_dir() and os.access(there, os.W_OK | os.X_OK),
    )


def _look_at_runs(patient: _Patient) -> Iterable[Check]:
    inventory = take_inventory(patient.home)
    idle = [known for known in inventory.runs if not known.is_driven]
    final = [known for known in idle if known.run.is_final]
    finished = [known.run.facts for known in final if known.directory.store.exists()]
    here = str(repository_around(patient.place))
    is_here = all((facts.replay_of or facts.repository) == here for facts in finished)
    yield from runs_checks(
        finished=len(finished),
        clears="amelia gc" if is_here else "amelia gc --all",
        interrupted=[known.directory.run for known in idle if not is_over(known.run)],
        unreadable=[one.directory.run for one in inventory.lost],
        strangers=[str(one.path) for one in strangers(patient.home)],
    )


def _look_at_wall(patient: _Patient) -> Iterable[Check]:
    if patient.settings is not None:
        check_wall(patient.settings.wall)
        yield wall_check(patient.settings.wall, find_kernel())


_LOOKS: dict[str, Callable[[_Patient], Iterable[Check]]] = {
    "git": _look_at_git,
    "repository": _look_at_repository,
    "state": _look_at_home,
    "runs": _look_at_runs,
    "wall": _look_at_wall,
}


async def _ask_agents(agents: Mapping[Role, AgentSettings], say: Tell) -> None:
    told: set[Check] = set()
    answers: dict[AgentSettings, DriverInfo | AmeliaError | OSError] = {}

    async def ask(agent: AgentSettings, roles: tuple[Role, ...]) -> None:
        try:
            answers[agent] = await probe_agent(agent)
        except (AmeliaError, OSError) as problem:
            answers[agent] = problem
        if roles:
            tell(agent_check(agent, roles, answers[agent]))

    def tell(check: Check) -> None:
        if check not in told:  # of agents that differ in their model only, one line is enough
            told.add(check)
            say(check)

    try:
        wanted = subjects(agents)
    except ConfigError as problem:
        say(broken("agents", problem))
        return
    async with anyio.create_task_group() as tasks:
        for agent, roles in wanted.items():
            tasks.start_soon(ask, agent, roles)
    for check in (*candidate_checks(agents, answers), *auto_checks(agents, answers)):
        tell(check)
