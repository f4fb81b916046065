"""What a run will probably take is said before it starts."""

import re
from pathlib import Path

import pytest

from programs import with_claude
from stories import APPROVED, Stage, make_stage, tasks, writes

pytestmark = pytest.mark.slow

GUESS = "forecast: 2 units, about "


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def test_a_run_says_beside_its_output_what_it_may_take(stage: Stage) -> None:
    stage.put(tasks("One", "Two"))
    options = ("--json", "--driver", "claude", "--max-cost", "0.01")
    done = stage.amelia("run", stage.room / "plan.md", *options, env=with_claude(stage.room / "few"))
    assert done.err.count(GUESS) == 1
    assert re.search(r" tokens, \$[\d.]+ to [\d.]+ \(a guess from sizes; budget \$0\.01\)\n", done.err)
    assert "warning: that may be more than the budget of $0.01" in done.err
    assert "forecast" not in done.out


def test_tokens_are_compared_where_nobody_knows_the_price(stage: Stage) -> None:
    stage.put(tasks("One", "Two"))
    options = ("--json", "--driver", "claude", "--model", "homemade", "--max-tokens", "1000")
    done = stage.amelia("run", stage.room / "plan.md", *options, env=with_claude(stage.room / "few"))
    assert "a guess from sizes; budget 1,000 tokens, as their cost is not known)" in done.err
    assert "warning: that may be more than the budget of 1,000 tokens" in done.err


def test_a_script_has_no_forecast(stage: Stage) -> None:
    assert "forecast" not in stage.run(tasks("One"), writes("1", "a"), APPROVED).err


def test_a_person_sees_it_before_the_question(stage: Stage) -> None:
    stage.put(tasks("One", "Two"))
    said = ask(stage, "n")
    assert said.index("this plan can run") < said.index(GUESS) < said.index("Run this plan?")
    assert said.count(GUESS) == 1
    assert stage.names == []


def test_who_has_seen_it_does_not_see_it_again(stage: Stage) -> None:
    stage.put(tasks("One", "Two"))
    assert ask(stage, "y").count(GUESS) == 1
    assert len(stage.names) == 1


def ask(stage: Stage, answer: str) -> str:
    """Runs the plan on a terminal of its own, answers the question, and returns everything that was shown.

    The agent is none, so that the run comes to nothing.
    """
    done = stage.at_terminal(
        *("run", stage.room / "plan.md", "--driver", "claude"),
        answers=f"{answer}\n",
        env=with_claude(stage.room / "few"),
    )
    assert done.code == 1
    return done.out
