"""The settings of a run as the text of an `amelia.toml`, so that it can be run the same way elsewhere."""

from dataclasses import asdict
from datetime import timedelta

from amelia.app.replay.scripts import Table, table_text
from amelia.model.agents import Allowance, Clocks
from amelia.model.events import RunStarted
from amelia.model.evidence import VerifySettings
from amelia.model.policy import Policy
from amelia.model.settings import PlanSettings

_NO_BOUND = "none"


def settings_text(facts: RunStarted, plan: PlanSettings) -> str:
    """Returns everything that decides how a plan is cut and carried out, but for the agents."""
    top = {
        "tdd": plan.tdd,
        "enable_phased_execution": plan.enable_phased_execution,
        "parallel_workers": facts.policy.parallel_workers,
    }
    sections: dict[str, Table] = {
        "task_size_limits": asdict(plan.limits),
        f"modes.{facts.mode}": _policy(facts.policy),
        "verify": _verify(facts.verify),
        "clocks": _clocks(facts.clocks),
        "budget": {**_bounds("unit", facts.budget.unit), **_bounds("run", facts.budget.run)},
    }
    return table_text(top) + "".join(f"\n[{name}]\n{table_text(table)}" for name, table in sections.items())


def _policy(policy: Policy) -> Table:
    return {
        "attempts": policy.attempts,
        "retry_session": policy.retry_session,
        "keeps_workspace": policy.keeps_workspace,
        "on_failure": policy.on_failure,
        "max_iterations": policy.iterations,
        "max_questions": policy.questions,
        "session_scope": policy.session_scope,
    }


def _verify(verify: VerifySettings) -> Table:
    said: dict[str, object] = {
        "command": list(verify.command or ()),
        "junit": verify.junit,
        "setup": list(verify.setup or ()),
        "protected": list(verify.protected),
        "tests": verify.tests,
        "scope": verify.scope,
        "timeout_minutes": _minutes(verify.timeout),
    }
    return {key: value for key, value in said.items() if value}


def _clocks(clocks: Clocks) -> Table:
    return {
        "first_event_minutes": _minutes(clocks.first_event),
        "silence_minutes": _minutes(clocks.silence),
        "wall_minutes": _minutes(clocks.wall),
    }


def _bounds(whose: str, allowance: Allowance) -> Table:
    bounds = {"cost": allowance.cost, "tokens": allowance.tokens}
    return {f"{whose}_{what}": _NO_BOUND if bound is None else bound for what, bound in bounds.items()}


def _minutes(time: timedelta) -> float:
    return time / timedelta(minutes=1)
