"""The terms of a run in words."""

from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from amelia.app.terms import WORKERS, AgentTerms, Base, RunTerms
from amelia.drive.models import Model, NamedBy
from amelia.model.agents import AgentSettings, Allowance, Role
from amelia.model.evidence import RunnerKind, TestCommand
from amelia.model.git import CommitId
from amelia.model.plan import Mode
from amelia.model.policy import BUDGET, POLICIES, Budget
from amelia.schedule.forecast import Between, Forecast
from amelia.show.terms import terms_lines

COMMIT = CommitId("0123456789abcdef0123456789abcdef01234567")
CLAUDE = AgentTerms(AgentSettings(driver="claude"), Model("claude-opus-5-5", NamedBy.NOBODY))
CODEX = AgentTerms(AgentSettings(driver="codex", model="gpt-5.5"), Model("gpt-5.5", NamedBy.SETTINGS))
TERMS = RunTerms(
    base=Base(COMMIT, "main"),
    mode=Mode.PHASED,
    units=3,
    steps=2,
    widest=2,
    policy=POLICIES[Mode.PHASED],
    is_parallel_said=False,
    tests=TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest")),
    setup=("uv", "sync"),
    agents=dict.fromkeys(WORKERS, CLAUDE),
    budget=BUDGET,
    forecast=Forecast(
        units=3, seconds=Between(60, 600), tokens=Between(1e6, 2e6), cost=Between(1, 2), rests_on=0
    ),
)


def lines(**changes: Any) -> dict[str, str]:
    told = (line.partition(": ") for line in terms_lines(replace(TERMS, **changes)))
    return {name: text for name, _, text in told}


def workers(count: int, **changes: Any) -> str:
    policy = replace(TERMS.policy, parallel_workers=count)
    return lines(policy=policy, **changes)["parallelism"].partition("; ")[2]


def test_every_term_is_a_line() -> None:
    assert list(terms_lines(TERMS)) == snapshot(
        [
            "base: main at 0123456789ab",
            "mode: phased",
            "parallelism: 3 units in 2 steps, at most 2 side by side; 1 worker, --parallel 2 is faster",
            "tests: python -m pytest",
            "setup: uv sync",
            "agents: claude with its default model (probably claude-opus-5-5)",
            "limits: 2 attempts for a unit; $10 or 20,000,000 tokens of unknown cost for a unit; $100 or 200,000,000 tokens of unknown cost for the run",
            "forecast: 3 units, about 1 to 10 min, 1 to 2 M tokens, $1 to 2 (a guess from sizes; budget $100)",
        ]
    )


def test_a_run_without_a_forecast_has_terms_all_the_same() -> None:
    assert "forecast" not in lines(forecast=None)


@pytest.mark.parametrize(
    ("base", "said"),
    [
        (Base(COMMIT), "0123456789ab"),
        (Base(None), "an empty commit, as the repository has none"),
        (Base(COMMIT, "v1", 1), "v1 at 0123456789ab; 1 uncommitted file is not part of it"),
        (Base(COMMIT, "main", 3), "main at 0123456789ab; 3 uncommitted files are not part of it"),
    ],
)
def test_the_base_is_named_as_far_as_it_has_a_name(base: Base, said: str) -> None:
    assert lines(base=base)["base"] == said


@pytest.mark.parametrize(
    ("count", "changes", "said"),
    [
        (1, {}, "1 worker, --parallel 2 is faster"),
        (1, {"widest": 1}, "1 worker"),
        (2, {}, "2 workers"),
        (3, {}, "3 workers, of whom 2 have work"),
        (4, {"widest": 1, "units": 1, "mode": Mode.SINGLE}, "parallel_workers = 4 has no effect: there is one unit of work"),
        (4, {"widest": 1, "is_parallel_said": True, "steps": 3}, "--parallel 4 has no effect: every unit waits for another"),
        (4, {"widest": 1, "mode": Mode.TASKS}, "parallel_workers = 4 has no effect: the mode tasks carries out one task after the other"),
        (4, {"widest": 1}, "parallel_workers = 4 has no effect: units run side by side only if they declare their files, and share none"),
    ],
)  # fmt: skip
def test_workers_that_are_too_many_or_too_few_are_told(
    count: int, changes: dict[str, Any], said: str
) -> None:
    assert workers(count, **changes) == said


def test_what_is_missing_is_said() -> None:
    told = lines(tests=None, setup=None, budget=Budget(), policy=POLICIES[Mode.LIFECYCLE])
    assert told["tests"] == "none found; only files and scope are checked"
    assert told["setup"] == "none"
    assert told["limits"] == snapshot(
        "3 attempts of at most 10 iterations for a unit; no bound of money or tokens for a unit; no bound of money or tokens for the run"
    )


def test_a_bound_that_is_taken_away_is_not_told() -> None:
    budget = Budget(unit=Allowance(cost=2.5), run=Allowance(tokens=1000))
    assert lines(budget=budget)["limits"] == snapshot(
        "2 attempts for a unit; $2.5 for a unit; 1,000 tokens of unknown cost for the run"
    )


def test_roles_with_the_same_agent_share_a_mention() -> None:
    assert lines(agents={**TERMS.agents, Role.REVIEWER: CODEX})["agents"] == snapshot(
        "developer and evaluator: claude with its default model (probably claude-opus-5-5); reviewer: codex with gpt-5.5"
    )


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (CODEX, "codex with gpt-5.5"),
        (AgentTerms(AgentSettings(driver="claude"), Model("haiku", NamedBy.AGENT)), "claude with haiku, by its own settings"),
        (AgentTerms(AgentSettings(driver="acp", command=("/bin/agent", "--token=x")), None), "acp agent with its default model"),
        (AgentTerms(AgentSettings(driver="script", script="/far/moves.toml"), None), "script moves.toml"),
    ],
)  # fmt: skip
def test_an_agent_is_told_with_its_model(chosen: AgentTerms, said: str) -> None:
    assert lines(agents=dict.fromkeys(WORKERS, chosen))["agents"] == said


def test_a_terminal_obeys_nothing_of_it() -> None:
    command = TestCommand(RunnerKind.CUSTOM, ("run", "\x1b[31mred"))
    assert "\x1b" not in "".join(terms_lines(replace(TERMS, tests=command)))
