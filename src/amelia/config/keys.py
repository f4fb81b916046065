"""Every key of the settings: what it may hold, and which field it becomes.

`docs/reference/settings.md` describes the same keys; a test compares the two.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amelia.config.agents import AGENT, AGENTS, BUDGET, PROJECT_AGENTS, SHORT, agents_over, budget_over
from amelia.config.values import (
    Table,
    command,
    flag,
    minutes,
    number,
    one_of,
    path_inside,
    paths_inside,
    whole,
)
from amelia.model.plan import Mode
from amelia.model.policy import OnFailure, Policy, RetrySession
from amelia.model.settings import PlanSettings, RunSettings, Settings, TddRule

_DAY = 1440

_LIMITS = Table(
    {
        "max_files_to_create": whole(1, 1000),
        "max_files_to_modify": whole(1, 1000),
        "max_acceptance_criteria": whole(1, 1000),
        "max_criteria_per_task": whole(1, 1000),
        "max_input_tokens": whole(100, 10_000_000),
        "max_time_minutes": number(0.1, 100_000),
        "complexity_threshold": number(0, 13),
        "auto_split": flag,
    }
)
_VERIFY = Table(
    {
        "command": command,
        "junit": path_inside,
        "setup": command,
        "timeout_minutes": minutes(0.01, _DAY),
        "scope": one_of(("report", "enforce")),
        "protected": paths_inside,
    }
)
_CLOCKS = Table(
    {
        "first_event_minutes": minutes(0.001, _DAY),
        "silence_minutes": minutes(0.001, _DAY),
        "wall_minutes": minutes(0.001, _DAY),
    }
)
_POLICY = Table(
    {
        "attempts": whole(1, 100),
        "retry_session": one_of(RetrySession),
        "keeps_workspace": flag,
        "on_failure": one_of(OnFailure),
    }
)
SHARED = Table(
    {
        "task_size_limits": _LIMITS,
        "parallel_workers": whole(1, 64),
    }
)
"""What is read from a file that other tools have their keys in, too."""
KEYS = Table(
    {
        **SHARED.readers,
        "tdd": one_of(TddRule),
        "enable_phased_execution": flag,
        **{key: AGENT[key] for key in SHORT},
        "agents": AGENTS,
        "budget": BUDGET,
        "max_task_review_iterations": whole(1, 100),
        "verify": _VERIFY,
        "clocks": _CLOCKS,
        "modes": Table(dict.fromkeys(Mode, _POLICY)),
    }
)
"""What is read from the user's own file."""
PROJECT = Table({**KEYS.readers, "agents": PROJECT_AGENTS})
"""What is read from a project's file: the same keys, but not all of them are a repository's to decide."""

_FIELDS = {
    "max_criteria_per_task": "max_acceptance_criteria",
    "timeout_minutes": "timeout",
    "first_event_minutes": "first_event",
    "silence_minutes": "silence",
    "wall_minutes": "wall",
}
"""Keys that are called differently from the field they set."""
_REVIEWED_BY_TASK = frozenset({Mode.SINGLE, Mode.TASKS})


def overlay(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Returns the settings with the values of one file over them."""
    return Settings(_plan(settings.plan, values), _run(settings.run, values))


def _plan(plan: PlanSettings, values: Mapping[str, Any]) -> PlanSettings:
    limits = replace(plan.limits, **_fields(values.get("task_size_limits", {})))
    return replace(plan, limits=limits, **_only(values, "tdd", "enable_phased_execution"))


def _run(run: RunSettings, values: Mapping[str, Any]) -> RunSettings:
    return replace(
        run,
        agents=agents_over(run.agents, values),
        budget=budget_over(run.budget, values.get("budget", {})),
        policies={mode: _policy(mode, policy, values) for mode, policy in run.policies.items()},
        verify=replace(run.verify, **_fields(values.get("verify", {}))),
        clocks=replace(run.clocks, **_fields(values.get("clocks", {}))),
        **_only(values, "parallel_workers"),
    )


def _policy(mode: Mode, policy: Policy, values: Mapping[str, Any]) -> Policy:
    """Returns a mode's policy; what is said of the mode itself outranks what is said of several."""
    changes = _only(values, "parallel_workers")
    if mode in _REVIEWED_BY_TASK and "max_task_review_iterations" in values:
        changes["attempts"] = values["max_task_review_iterations"]
    return replace(policy, **{**changes, **values.get("modes", {}).get(mode, {})})


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_FIELDS.get(key, key): value for key, value in values.items()}


def _only(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: values[key] for key in keys if key in values}
