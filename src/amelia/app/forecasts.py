"""What a run will probably take, from its plan and from what earlier runs on the same repository took."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from amelia.app.runs import NewRun
from amelia.drive.prices import likely_price, price_of
from amelia.model import events as ev
from amelia.model.agents import AUTO, AgentSettings, Role, Usage, total
from amelia.model.errors import JournalError
from amelia.model.journal import Recorded
from amelia.model.plan import Unit, UnitId
from amelia.model.policy import Policy
from amelia.record.journal import read_journal
from amelia.record.runs import RunDirectory, all_runs, started
from amelia.schedule.forecast import Experience, Forecast, forecast, guessed_pace, learned_pace, work_of
from amelia.system.git import check_git
from amelia.workspace.source import open_source

_SCRIPT = "script"
_MOST_RUNS = 10  # the newest of them; each has a journal to be read
_PAID = (Role.DEVELOPER, Role.REVIEWER, Role.EVALUATOR)


def foresee_new(new: NewRun, *, home: Path) -> Forecast | None:
    """Returns what a run that is to be will probably take; None if it only plays a script."""
    check_git()
    return _foresee(
        new.compiled.units,
        agents=new.settings.agents,
        policy=new.settings.policies[new.compiled.mode],
        past=_experience(home, str(open_source(new.repository).top), new.settings.agents[Role.DEVELOPER]),
    )


def foresee(facts: ev.RunStarted, *, home: Path) -> Forecast | None:
    """Returns what a run that is about to go will probably take; None if it only plays a script."""
    agents = {Role(role): agent for role, agent in facts.agents.items()}
    return _foresee(
        facts.units,
        agents=agents,
        policy=facts.policy,
        past=_experience(home, facts.repository, agents[Role.DEVELOPER]),
    )


def _foresee(
    units: Sequence[Unit],
    *,
    agents: Mapping[Role, AgentSettings],
    policy: Policy,
    past: Iterable[Experience],
) -> Forecast | None:
    if agents[Role.DEVELOPER].driver == _SCRIPT:
        return None
    pace = learned_pace(list(past))
    if pace is None:
        prices = [likely_price(agents[role]) for role in _PAID]
        known = [price for price in prices if price is not None]
        pace = guessed_pace(attempts=policy.attempts, prices=known if len(known) == len(prices) else ())
        pace = replace(pace, is_counted=all(_tells_cost(agents[role]) for role in _PAID))
    return forecast(units, workers=policy.parallel_workers, pace=pace)


def _tells_cost(agent: AgentSettings) -> bool:
    """Says whether a run is told what an agent costs: by the agent, or by the price of its model."""
    return agent.driver == "claude" or price_of(agent.driver, agent) is not None


def _experience(home: Path, repository: str, agent: AgentSettings) -> Iterator[Experience]:
    """Yields what units took that landed in this repository, by the same agent; those of a few runs."""
    alike = sorted(_alike(home, repository, agent), key=lambda run: run[0], reverse=True)
    return chain.from_iterable(_landed(directory) for _, directory in alike[:_MOST_RUNS])


def _alike(home: Path, repository: str, agent: AgentSettings) -> Iterator[tuple[datetime, RunDirectory]]:
    for directory in all_runs(home):
        found = started(directory)
        if found is not None and found[1].repository == repository:
            then = found[1].agents.get(Role.DEVELOPER)
            if then is not None and _is_alike(then, agent):
                yield found[0], directory


def _is_alike(then: AgentSettings, now: AgentSettings) -> bool:
    is_free = now.driver == AUTO and then.driver != _SCRIPT
    return then.model == now.model and (is_free or then.driver == now.driver)


def _landed(directory: RunDirectory) -> Sequence[Experience]:
    try:
        return list(experience_of(read_journal(directory.journal)))
    except JournalError:
        return ()


def experience_of(past: Iterable[Recorded]) -> Iterator[Experience]:
    """Yields what each unit took that landed in one go: without a person, a pause or a limit in between."""
    work: dict[UnitId, float] = {}
    begun: dict[UnitId, datetime] = {}
    used: dict[UnitId, Usage | None] = {}
    for recorded in past:
        match recorded.event:
            case ev.RunStarted(units=units):
                work = {unit.id: work_of(unit) for unit in units}
            case ev.RunResumed():
                work = {unit: points for unit, points in work.items() if unit not in begun}
            case ev.UnitStarted(unit):
                begun[unit] = recorded.at
            case ev.UnitParked(unit) | ev.UnitRested(unit) | ev.RestEnded(unit):
                work.pop(unit, None)
            case ev.UsageReported(unit=unit, usage=usage):
                used[unit] = total(used.get(unit), usage)
            case ev.UnitLanded(unit) if unit in work:
                seconds = (recorded.at - begun[unit]).total_seconds()
                yield Experience(work[unit], seconds, used.get(unit))
            case _:
                pass
