"""A whole run with a real language model that can do nothing: it ends, tells the truth, and lands nothing."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from localmodel import NAME, local_model, tokens_written
from programs import users_settings
from stories import SETTINGS, Done, Stage, make_stage, tasks

pytestmark = [pytest.mark.slow, pytest.mark.local_model]

PLAN = tasks("Write the word hello into the file hello.txt")
HALTED, WAITS_FOR_A_PERSON, OVER_BUDGET = 1, 4, 6


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with local_model() as url:
        yield url


@pytest.fixture
def stage(tmp_path: Path, url: str) -> Stage:
    """Gives a repository whose agents are that model; what it can do in one attempt says it all."""
    stage = make_stage(tmp_path)
    told = {"driver": "api", "model": f"openai:{NAME}", "base_url": url, "max_turns": 4}
    agents = "".join(f"{key} = {json.dumps(value)}\n" for key, value in told.items())
    stage.repo.commit({"amelia.toml": f"{SETTINGS}[modes.tasks]\nattempts = 1\n"})
    users_settings(stage.room, f"[agents]\n{agents}")
    return stage


def run(stage: Stage, options: Sequence[str] = ()) -> Done:
    (stage.room / "plan.md").write_text(PLAN)
    own = {"AMELIA_CONFIG": str(stage.room / "config.toml")}
    done = stage.amelia("run", stage.room / "plan.md", "--json", *options, env=own)
    assert [event["seq"] for event in done.events] == list(range(1, len(done.events) + 1))
    assert all(first["ts"] <= second["ts"] for first, second in pairwise(done.events))
    assert done.events[-1]["type"] == "run_finished"
    assert stage.amelia("log", stage.name, "--json").events == done.events
    return done


def used(done: Done) -> dict[str, int]:
    told = [event["usage"] for event in done.of_type("usage_reported")]
    assert all("cost" not in usage or usage["cost"] is None for usage in told), "nobody knows its price"
    return {key: sum(usage[key] for usage in told) for key in ("input_tokens", "output_tokens")}


def test_a_hopeless_model_lands_nothing_and_its_usage_is_told_as_it_is(stage: Stage, url: str) -> None:
    before = tokens_written(url)
    done = run(stage)
    assert done.code in {HALTED, WAITS_FOR_A_PERSON, OVER_BUDGET}, done
    assert stage.subjects() == []
    assert done.of_type("task_completed") == []
    assert stage.status()["completed_task_ids"] == []
    [ended], [failed] = done.of_type("attempt_ended"), done.of_type("task_failed")
    assert ended["summary"], "a report, or a clear word why there is none"
    assert failed["reason"]
    tokens = used(done)
    assert tokens["output_tokens"] == tokens_written(url) - before > 0
    spent = stage.status()["spent"]
    assert (spent["cost"], spent["tokens_of_unknown_cost"]) == (None, sum(tokens.values()))


def test_a_small_budget_is_kept_and_halts_the_run(stage: Stage, url: str) -> None:
    before = tokens_written(url)
    done = run(stage, ["--max-tokens", "20"])
    assert (done.code, done.outcome) == (OVER_BUDGET, "halted(budget)"), done
    assert stage.subjects() == []
    assert used(done)["output_tokens"] == tokens_written(url) - before
    assert len(done.of_type("usage_reported")) == 1, "the first answer used it up, and there was no second"
