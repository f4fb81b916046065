"""The settings of agents and of what they may use: for everybody, and for single roles over that.

- A model, a program, an address, a key and a script belong to the driver they are written for: a role that
  takes another driver starts without them.
- No key is ever a value of a setting.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amelia.config.values import (
    Reader,
    Table,
    bound,
    command,
    file_beside,
    flag,
    number,
    text,
    variable,
    variables,
    web_address,
    whole,
)
from amelia.model.agents import AgentSettings, Role
from amelia.model.policy import Budget

AGENT: Mapping[str, Reader] = {
    "driver": text,
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
AGENTS = Table({**AGENT, **dict.fromkeys(Role, Table(AGENT))})
SHORT = ("driver", "script")
"""What may also stand outside of `[agents]`."""

_COST = bound(number(0.001, 100_000))
_TOKENS = bound(whole(1, 1_000_000_000_000))
BUDGET = Table({"unit_cost": _COST, "unit_tokens": _TOKENS, "run_cost": _COST, "run_tokens": _TOKENS})


def agent_over(agent: AgentSettings, changes: Mapping[str, Any]) -> AgentSettings:
    """Returns an agent's settings with others over them; a script without a driver is played."""
    driver = changes.get("driver", "script" if "script" in changes else agent.driver)
    if driver != agent.driver:
        agent = AgentSettings(
            passes=agent.passes, trusts_repository=agent.trusts_repository, max_turns=agent.max_turns
        )
    return replace(agent, **{**changes, "driver": driver})


def agents_over(agents: Mapping[Role, AgentSettings], values: Mapping[str, Any]) -> dict[Role, AgentSettings]:
    """Returns the agents of all roles with what a file says of everybody, then of the role, over them."""
    said: Mapping[str, Any] = values.get("agents", {})
    short = {key: values[key] for key in SHORT if key in values}
    everybody = short | {key: value for key, value in said.items() if key in AGENT}
    return {
        role: agent_over(agent_over(agent, everybody), said.get(role, {})) for role, agent in agents.items()
    }


def budget_over(budget: Budget, values: Mapping[str, Any]) -> Budget:
    """Returns a budget with the values of a file over it."""
    unit, run = (
        {key.removeprefix(whose): value for key, value in values.items() if key.startswith(whose)}
        for whose in ("unit_", "run_")
    )
    return Budget(unit=replace(budget.unit, **unit), run=replace(budget.run, **run))
