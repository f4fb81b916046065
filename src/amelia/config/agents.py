"""The settings of agents and of what they may use: for everybody, and for single roles over that.

- A model, a program, an address, a key, a script and a bound of steps belong to the driver they are written
  for: a role that takes another driver starts without them.
- No key is ever a value of a setting.
- Which program is started, where it connects to, and which keys and variables it sees is the user's to say: a
  repository may choose between agents, and nothing more.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amelia.config.places import users_place
from amelia.config.values import (
    Found,
    Reader,
    Table,
    bound,
    command,
    file_beside,
    flag,
    number,
    one_of,
    text,
    variable,
    variables,
    web_address,
    whole,
)
from amelia.model.agents import AUTO, DRIVERS, AgentSettings, Allowance, Role
from amelia.model.errors import ConfigError
from amelia.model.policy import Budget

AGENT: Mapping[str, Reader] = {
    "driver": one_of((AUTO, *DRIVERS)),
    "model": text,
    "command": command,
    "base_url": web_address,
    "key": variable,
    "passes": variables,
    "script": file_beside,
    "trusts_repository": flag,
    "max_turns": whole(1, 10_000),
}
"""What can be said of an agent, by the name of the field it sets."""
USERS_OWN = frozenset({"command", "base_url", "key", "passes", "trusts_repository"})
"""What a repository may not say of an agent."""


def _users_own(found: Found) -> object:
    """Refuses a value that only the user's own settings may hold, without showing it."""
    raise ConfigError(
        f"{found.source}: {found.key} is not for a repository to decide",
        hint=f"put it into your own settings: {users_place()}",
    )


_CHOICE: Mapping[str, Reader] = {**AGENT, **dict.fromkeys(USERS_OWN, _users_own)}
AGENTS = Table({**AGENT, **dict.fromkeys(Role, Table(AGENT))})
"""What the user's own settings may say of agents."""
PROJECT_AGENTS = Table({**_CHOICE, **dict.fromkeys(Role, Table(_CHOICE))})
"""What the settings of a project may say of agents."""
SHORT = ("driver", "script")
"""What may also stand outside of `[agents]`."""

_COST = bound(number(0.001, 100_000))
_TOKENS = bound(whole(1, 1_000_000_000_000))
BUDGET = Table({"unit_cost": _COST, "unit_tokens": _TOKENS, "run_cost": _COST, "run_tokens": _TOKENS})


def agent_over(agent: AgentSettings, changes: Mapping[str, Any]) -> AgentSettings:
    """Returns an agent's settings with others over them; a script without a driver is played."""
    driver = changes.get("driver", "script" if "script" in changes else agent.driver)
    if driver != agent.driver:
        agent = AgentSettings(passes=agent.passes, trusts_repository=agent.trusts_repository)
    return replace(agent, **{**changes, "driver": driver})


def agents_over(agents: Mapping[Role, AgentSettings], values: Mapping[str, Any]) -> dict[Role, AgentSettings]:
    """Returns the agents of all roles with what a file says of everybody, then of the role, over them."""
    said: Mapping[str, Any] = values.get("agents", {})
    short = {key: values[key] for key in SHORT if key in values}
    everybody = short | {key: value for key, value in said.items() if key in AGENT}
    return {
        role: _keeping_key(agent, agent_over(agent_over(agent, everybody), said.get(role, {})))
        for role, agent in agents.items()
    }


def _keeping_key(before: AgentSettings, agent: AgentSettings) -> AgentSettings:
    """Returns an agent without the key of another file, if a provider would get it that was not meant."""
    is_elsewhere = agent.base_url is None and _provider(agent) != _provider(before)
    return replace(agent, key=None) if before.key is not None and is_elsewhere else agent


def _provider(agent: AgentSettings) -> str | None:
    """Returns the provider that a model is asked of directly."""
    return (agent.model or "").partition(":")[0] if agent.driver in {"api", "auto"} else None


def budget_over(budget: Budget, values: Mapping[str, Any]) -> Budget:
    """Returns a budget with the values of a file over it."""
    unit, run = (
        {key.removeprefix(whose): value for key, value in values.items() if key.startswith(whose)}
        for whose in ("unit_", "run_")
    )
    return Budget(unit=replace(budget.unit, **unit), run=replace(budget.run, **run))


def budget_within(budget: Budget, most: Budget) -> Budget:
    """Returns a budget that nowhere allows more than another one does."""
    return Budget(unit=_lower(budget.unit, most.unit), run=_lower(budget.run, most.run))


def _lower(allowance: Allowance, most: Allowance) -> Allowance:
    cost = (bound for bound in (allowance.cost, most.cost) if bound is not None)
    tokens = (bound for bound in (allowance.tokens, most.tokens) if bound is not None)
    return Allowance(cost=min(cost, default=None), tokens=min(tokens, default=None))
