"""The terms of a run, before it starts: from where, how it is checked, by whom, and within which bounds.

They are looked up for a run that is to be, so that a person can confirm them, and taken from the first event
of one that has begun.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from amelia.app.forecasts import foresee, foresee_new
from amelia.app.runs import NewRun, footprint_of
from amelia.app.walls import wall_gaps
from amelia.drive.models import Model, usual_model
from amelia.judge.detect import find_command, planned_commands
from amelia.model.agents import AgentSettings, Role
from amelia.model.events import RunStarted
from amelia.model.evidence import TestCommand
from amelia.model.git import CommitId
from amelia.model.plan import Mode
from amelia.model.policy import Budget, Policy
from amelia.schedule.forecast import Forecast
from amelia.schedule.parallel import most_side_by_side
from amelia.system.git_places import Source
from amelia.system.wall import find_kernel
from amelia.workspace.source import open_source, resolve, uncommitted

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
WORKERS = (Role.DEVELOPER, Role.REVIEWER, Role.EVALUATOR)
"""The roles that carry out a plan."""


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that a run starts from, and a name of it; None is an empty commit.

    `uncommitted` counts files of the checkout that are not part of it.
    """

    commit: CommitId | None
    name: str = ""
    uncommitted: int = 0


@dataclass(frozen=True, slots=True)
class AgentTerms:
    """An agent that takes a role, and the model that it will probably take."""

    agent: AgentSettings
    model: Model | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """Everything that a person agrees to by starting a run.

    `steps` counts the levels of its graph, `widest` the units that can be under way at once, and
    `is_parallel_said` tells that an option of the command asked for the number of workers; `gaps` is what the
    wall does not hold back.
    """

    base: Base
    mode: Mode
    units: int
    steps: int
    widest: int
    policy: Policy
    is_parallel_said: bool
    tests: TestCommand | None
    setup: tuple[str, ...] | None
    agents: Mapping[Role, AgentTerms]
    budget: Budget
    forecast: Forecast | None
    gaps: tuple[str, ...] = ()


def terms_of_new(new: NewRun, *, home: Path, is_parallel_said: bool = False) -> RunTerms:
    """Returns the terms of a run that is to be, as the checkout tells them."""
    source = open_source(new.repository)
    verify = new.settings.verify
    return _terms(
        new,
        base=replace(_base(new, source), uncommitted=uncommitted(source)),
        tests=find_command(source.top, verify) or _planned(new),
        agents=new.settings.agents,
        forecast=foresee_new(new, home=home),
        is_parallel_said=is_parallel_said,
    )


def terms_of(new: NewRun, facts: RunStarted, *, home: Path, is_parallel_said: bool = False) -> RunTerms:
    """Returns the terms of a run that has begun."""
    return _terms(
        new,
        base=_base(new, open_source(new.repository)),
        tests=facts.test_command,
        agents={Role(role): agent for role, agent in facts.agents.items()},
        forecast=foresee(facts, home=home),
        is_parallel_said=is_parallel_said,
    )


def _terms(
    new: NewRun,
    *,
    base: Base,
    tests: TestCommand | None,
    agents: Mapping[Role, AgentSettings],
    forecast: Forecast | None,
    is_parallel_said: bool,
) -> RunTerms:
    compiled, settings = new.compiled, new.settings
    footprints = {unit.id: footprint_of(unit) for unit in compiled.units}
    return RunTerms(
        base=base,
        mode=compiled.mode,
        units=len(compiled.units),
        steps=max((unit.group for unit in compiled.units), default=0),
        widest=most_side_by_side(compiled.units, footprints),
        policy=settings.policies[compiled.mode],
        is_parallel_said=is_parallel_said,
        tests=tests,
        setup=settings.verify.setup,
        agents={role: AgentTerms(agents[role], usual_model(agents[role])) for role in WORKERS},
        budget=settings.budget,
        forecast=forecast,
        gaps=tuple(wall_gaps(settings.wall, find_kernel())),
    )


def _base(new: NewRun, source: Source) -> Base:
    """Returns the base of a run, called as it was asked for, or by the branch of which it is the tip."""
    if new.base is None:
        return Base(source.head, source.branch or "")
    # A draft holds the commit itself, which only its own store need have.
    commit = CommitId(new.base) if _COMMIT.fullmatch(new.base) else resolve(source, new.base)
    branch = (source.branch or "") if commit == source.head else ""
    return Base(commit, branch if commit.startswith(new.base) else new.base)


def _planned(new: NewRun) -> TestCommand | None:
    """Returns how the tests would run that the plan is going to write."""
    pieces = [piece for unit in new.compiled.units for piece in unit.pieces]
    return next(iter(planned_commands(path for piece in pieces for path in piece.files)), None)
