"""One layer of settings over another, key by key; where a value comes from goes with it.

- What is said of everybody is settled into what holds for each role or mode: only settled keys are held.
- A model, a program, an address, a key, a script and a bound of steps belong to the driver they are written
  for: a role that takes another driver starts without them.
- A repository does not get a key of the user's to a provider that it was not meant for, nor more money than
  the user allows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from amelia.config.found import Entry
from amelia.config.keys import AGENT
from amelia.model.agents import AUTO, Role
from amelia.model.plan import Mode

Held: TypeAlias = Mapping[str, Entry]

_OF_EVERY_DRIVER = frozenset({"passes", "trusts_repository"})
_SHORT = ("driver", "script")
"""What may also stand outside of `[agents]`."""
_ITERATIONS = "max_task_review_iterations"
_REVIEWED_BY_TASK = (Mode.SINGLE, Mode.TASKS)
_SECOND_SPELLING = "task_size_limits.max_acceptance_criteria"
_SPELLING = "task_size_limits.max_criteria_per_task"
SYNONYMS = frozenset({*_SHORT, _SECOND_SPELLING, _ITERATIONS})
"""Keys that say the same as others, in other words."""
UNSETTLED = frozenset({*SYNONYMS, *(f"agents.{key}" for key in AGENT.readers)})
"""Keys that stand for others, and are not held themselves."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place says, by dotted key; `is_projects` tells that a repository says it."""

    said: Held
    is_projects: bool = False


def merge(layers: Iterable[Layer]) -> Held:
    """Returns what holds, by settled key: of every key the last that is said, within what may be said."""
    layers = tuple(layers)
    most = {
        key: entry
        for layer in layers
        if not layer.is_projects
        for key, entry in layer.said.items()
        if key.startswith("budget.")
    }
    held: Held = {}
    for layer in layers:
        said = _within(layer.said, most) if layer.is_projects else layer.said
        others = {key: entry for key, entry in held.items() if not key.startswith("agents.")}
        held = {**others, **_plain(said), **_agents(held, replace(layer, said=said))}
    return held


def _within(said: Held, most: Held) -> Held:
    """Returns what a repository says, with the user's bound where it would allow more."""
    return {
        key: most[key] if key in most and _bound(most[key]) < _bound(entry) else entry
        for key, entry in said.items()
    }


def _bound(entry: Entry) -> float:
    return entry.value if isinstance(entry.value, int | float) else float("inf")


def _plain(said: Held) -> Held:
    """Returns everything but agents; what is said of a mode itself outranks what is said of several."""
    own = {
        _SPELLING if key == _SECOND_SPELLING else key: entry
        for key, entry in said.items()
        if key not in UNSETTLED - {_SECOND_SPELLING} and not key.startswith("agents.")
    }
    if _ITERATIONS not in said:
        return own
    return {f"modes.{mode}.attempts": said[_ITERATIONS] for mode in _REVIEWED_BY_TASK} | own


def _agents(held: Held, layer: Layer) -> Held:
    """Returns the agents of all roles with what a layer says of everybody, then of the role, over them."""
    said = layer.said
    short = {key: said[key] for key in _SHORT if key in said}
    everybody = short | _below("agents.", said)
    settled: dict[str, Entry] = {}
    for role in Role:
        prefix = f"agents.{role}."
        before = _below(prefix, held)
        agent = _over(_over(before, everybody), _below(prefix, said))
        if layer.is_projects and _is_sent_elsewhere(before, agent):
            agent.pop("key", None)
        settled |= {prefix + key: entry for key, entry in agent.items()}
    return settled


def _below(prefix: str, entries: Held) -> dict[str, Entry]:
    """Returns what is said of one agent, by the names of its own keys."""
    return {key: entries[prefix + key] for key in AGENT.readers if prefix + key in entries}


def _over(agent: Held, said: Held) -> dict[str, Entry]:
    """Returns an agent with what is said over it; a script without a driver is played."""
    if not said:
        return dict(agent)
    driver = said.get("driver") or (replace(said["script"], value="script") if "script" in said else None)
    if driver is not None and driver.value != _value(agent, "driver", AUTO):
        agent = {key: entry for key, entry in agent.items() if key in _OF_EVERY_DRIVER}
    if "command" in said:  # a session goes on by the program that began it
        agent = {key: entry for key, entry in agent.items() if key != "resume_command"}
    return {**agent, **said, **({"driver": driver} if driver is not None else {})}


def _value(agent: Held, key: str, default: object = None) -> object:
    return agent[key].value if key in agent else default


def _is_sent_elsewhere(before: Held, agent: Held) -> bool:
    """Says whether a provider would get a key that was not meant for it."""
    has_address = _value(agent, "base_url") is not None
    return "key" in before and not has_address and _provider(agent) != _provider(before)


def _provider(agent: Held) -> str | None:
    """Returns the provider that a model is asked of directly."""
    is_direct = _value(agent, "driver", AUTO) in {"api", AUTO}
    return str(_value(agent, "model") or "").partition(":")[0] if is_direct else None
