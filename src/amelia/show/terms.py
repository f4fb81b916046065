"""The terms of a run in words, a line for each: what a person confirms, and what a log begins with."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from amelia.app.terms import AgentTerms, Base, RunTerms
from amelia.drive.models import NamedBy
from amelia.model.agents import Allowance, Role
from amelia.model.plan import Mode
from amelia.model.policy import Policy
from amelia.show.forecast import forecast_lines
from amelia.show.text import counted, printable

_SHOWN = 12  # digits of a commit


def terms_lines(terms: RunTerms) -> Iterator[str]:
    """Yields every term of a run: first whether something is without a wall, the forecast last."""
    yield from (f"wall: {gap}" for gap in terms.gaps)
    told = {
        "base": _base(terms.base),
        "mode": terms.mode,
        "parallelism": _parallelism(terms),
        "tests": _tests(terms),
        "setup": " ".join(terms.setup) if terms.setup else "none",
        "agents": _agents(terms),
        "limits": _limits(terms),
    }
    yield from (f"{name}: {printable(text)}" for name, text in told.items())
    if terms.forecast is not None:
        yield from forecast_lines(terms.forecast, terms.budget)


def _base(base: Base) -> str:
    if base.commit is None:
        return "an empty commit, as the repository has none"
    where = f"{base.name} at {base.commit[:_SHOWN]}" if base.name else base.commit[:_SHOWN]
    if not base.uncommitted:
        return where
    files = counted(base.uncommitted, "uncommitted file")
    return f"{where}; {files} {'is' if base.uncommitted == 1 else 'are'} not part of it"


def _parallelism(terms: RunTerms) -> str:
    graph = f"{counted(terms.units, 'unit')} in {counted(terms.steps, 'step')}"
    return f"{graph}, at most {terms.widest} side by side; {_workers(terms)}"


def _workers(terms: RunTerms) -> str:
    """Says how many workers there are, and whether that is too many or too few."""
    count, widest = terms.policy.parallel_workers, terms.widest
    workers = counted(count, "worker")
    if count > 1 and widest == 1:
        said = f"--parallel {count}" if terms.is_parallel_said else f"parallel_workers = {count}"
        return f"{said} has no effect: {_why_alone(terms)}"
    if count > widest:
        return f"{workers}, of whom {widest} have work" if count > 1 else workers
    return workers if count == widest else f"{workers}, --parallel {widest} is faster"


def _why_alone(terms: RunTerms) -> str:
    if terms.units == 1:
        return "there is one unit of work"
    if terms.mode is Mode.TASKS:
        return "the mode tasks carries out one task after the other"
    if terms.steps == terms.units:
        return "every unit waits for another"
    return "units run side by side only if they declare their files, and share none"


def _tests(terms: RunTerms) -> str:
    if terms.tests is None:
        return "none found; only files and scope are checked"
    return " ".join(terms.tests.argv)


def _agents(terms: RunTerms) -> str:
    """Says who works, reviews and evaluates; roles with the same agent share a mention."""
    roles_of: dict[str, list[Role]] = {}
    for role, chosen in terms.agents.items():
        roles_of.setdefault(_agent(chosen), []).append(role)
    if len(roles_of) == 1:
        return next(iter(roles_of))
    return "; ".join(f"{_listed(roles)}: {agent}" for agent, roles in roles_of.items())


def _agent(chosen: AgentTerms) -> str:
    agent, model = chosen.agent, chosen.model
    if agent.script is not None:
        return f"{agent.driver} {Path(agent.script).name}"
    # What follows the program may be a key.
    name = " ".join((agent.driver, *(Path(program).name for program in agent.command[:1])))
    if model is None:
        return f"{name} with its default model"
    match model.named:
        case NamedBy.SETTINGS:
            return f"{name} with {model.name}"
        case NamedBy.AGENT:
            return f"{name} with {model.name}, by its own settings"
        case NamedBy.NOBODY:
            return f"{name} with its default model (probably {model.name})"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _limits(terms: RunTerms) -> str:
    unit, run = terms.budget.unit, terms.budget.run
    bounds = (_attempts(terms.policy), f"{_allowance(unit)} for a unit", f"{_allowance(run)} for the run")
    return "; ".join(bounds)


def _attempts(policy: Policy) -> str:
    each = f" of at most {counted(policy.iterations, 'iteration')}" if policy.iterations > 1 else ""
    return f"{counted(policy.attempts, 'attempt')}{each} for a unit"


def _allowance(allowed: Allowance) -> str:
    cost = f"${allowed.cost:g}" if allowed.cost is not None else ""
    tokens = f"{allowed.tokens:,} tokens of unknown cost" if allowed.tokens is not None else ""
    return " or ".join(filter(None, (cost, tokens))) or "no bound of money or tokens"
