"""What a run may use, and what happens when it has: it halts, keeps everything, and goes on with more."""

from pathlib import Path

import pytest

from stories import APPROVED, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

PRICE = {"input": 100, "output": 20, "cost": 3.0}
TWO = tasks("One", "Two")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def test_a_run_halts_when_its_budget_is_used_up_and_goes_on_when_a_person_raises_it(stage: Stage) -> None:
    first = {**writes("1", "a"), "usage": PRICE}
    second = {**writes("2", "b"), "usage": PRICE}
    done = stage.run(TWO, first, second, {**APPROVED, "usage": PRICE}, options=["--max-cost", "5"])
    assert (done.code, done.outcome) == (6, "halted(budget)")
    assert stage.subjects() == ["Task 1: One"]
    shown = stage.amelia("status", stage.name)
    assert "the budget of the run is used up" in shown.out
    assert "Task 2: ○ Pending" in shown.out
    assert "$6.00" in shown.out
    assert f"amelia resume {stage.name} --max-cost 12" in shown.out
    assert "--max-tokens" not in shown.out
    assert stage.status()["spent"]["cost"] == 6.0
    again = stage.amelia("resume", stage.name, "--json")
    assert (again.code, again.outcome) == (6, "halted(budget)")
    more = stage.amelia("resume", stage.name, "--max-cost", "20", "--json")
    assert (more.code, more.outcome) == (0, "completed")
    assert stage.subjects() == ["Task 1: One", "Task 2: Two"]


def test_tokens_count_where_nobody_knows_what_they_cost(stage: Stage) -> None:
    used = {"input": 900, "output": 200}
    done = stage.run(
        TWO, {**writes("1", "a"), "usage": used}, writes("2", "b"), APPROVED, options=["--max-tokens", "1000"]
    )
    assert done.code == 6
    shown = stage.amelia("status", stage.name).out
    assert "1k tokens of unknown cost" in shown
    assert f"amelia resume {stage.name} --max-tokens 2200" in shown
    more = stage.amelia("resume", stage.name, "--max-tokens", "5000", "--json")
    assert more.code == 0


def test_a_turn_that_uses_up_the_budget_is_stopped_and_what_it_wrote_is_kept(stage: Stage) -> None:
    line = '{"type": "usage", "input": 1, "output": 1, "cost": 7.0}'
    greedy = develops("1", {"write": "half", "text": "x"}, {"raw": line}, {"hang": True})
    done = stage.run(tasks("Only"), greedy, APPROVED, options=["--max-cost", "5"])
    assert done.code == 6
    [ended] = done.of_type("attempt_ended")
    assert ended["ending"] == "out_of_budget"
    stage.play(writes("1", "rest"), APPROVED)
    more = stage.amelia("resume", stage.name, "--max-cost", "50", "--json")
    assert (more.code, more.outcome) == (0, "completed")
    assert {"half", "rest"} <= set(stage.files())
    assert stage.log("%(trailers:key=Amelia-Attempt,valueonly,separator=)") == ["1"]


def test_a_unit_has_a_budget_of_its_own(stage: Stage) -> None:
    (stage.repo.path / "amelia.toml").write_text(
        (stage.repo.path / "amelia.toml").read_text() + "\n[budget]\nunit_cost = 2\n"
    )
    first = {**writes("1", "a"), "usage": PRICE}
    done = stage.run(tasks("Only"), first, APPROVED)
    assert done.code == 6
    shown = stage.amelia("status", stage.name).out
    assert "Over budget" in shown
    assert f"amelia resume {stage.name} --max-unit-cost 6" in shown
    assert stage.amelia("resume", stage.name, "--max-unit-cost", "4").code == 0


def test_the_tokens_of_a_unit_can_be_raised(stage: Stage) -> None:
    (stage.repo.path / "amelia.toml").write_text(
        (stage.repo.path / "amelia.toml").read_text() + "\n[budget]\nunit_tokens = 1000\n"
    )
    used = {"input": 900, "output": 200}
    assert stage.run(tasks("Only"), {**writes("1", "a"), "usage": used}, APPROVED).code == 6
    assert "--max-unit-tokens 2200" in stage.amelia("status", stage.name).out
    assert stage.amelia("resume", stage.name, "--max-unit-tokens", "2200").code == 0


@pytest.mark.parametrize("amount", ["nan", "inf", "0", "-1", "much"])
def test_only_an_amount_is_a_budget(stage: Stage, amount: str) -> None:
    stage.run(tasks("Only"))
    assert stage.amelia("resume", stage.name, "--max-cost", amount).code == 2


def test_a_login_that_is_refused_parks_the_unit_at_once_and_costs_no_attempt(stage: Stage) -> None:
    refused = '{"type": "retry", "attempt": 1, "delay": 3600, "status": 401}'
    done = stage.run(tasks("Only"), develops("1", {"raw": refused}, {"hang": True}), APPROVED)
    assert (done.code, done.outcome) == (1, "halted(auth)")
    assert "login or key is refused" in stage.amelia("status", stage.name).out
    stage.play(writes("1", "a"), APPROVED)
    more = stage.amelia("resume", stage.name, "--json")
    assert (more.code, more.outcome) == (0, "completed")
    assert stage.log("%(trailers:key=Amelia-Attempt,valueonly,separator=)") == ["1"]


def test_a_session_that_is_gone_is_replaced_and_the_run_says_so(stage: Stage) -> None:
    gone = [{"raw": '{"type": "end", "ending": "session_lost"}'}, {"exit": 1}]
    done = stage.run(
        tasks("Only"),
        writes("1", "a", attempt=1),
        {**develops("1", *gone, attempt=2)},
        {"role": "reviewer", "attempt": 1, "report": {"approved": False, "comments": [{"text": "No."}]}},
        {"role": "evaluator", "report": {"items": [{"finding": 1, "disposition": "IMPLEMENT"}]}},
        options=["--json"],
    )
    assert done.of_type("session_replaced")
    lost, fresh = stage.turns("1", 2)[:2]
    assert (lost["resume"], fresh["resume"]) == (True, False)
    assert "## Your Assignment" in fresh["prompt"]
    assert "No." in fresh["prompt"]


def test_an_answer_that_is_no_answer_is_asked_for_once_more(stage: Stage) -> None:
    mumbles = {"role": "reviewer", "report": {"approved": "perhaps"}, "repair": {"approved": True}}
    done = stage.run(tasks("Only"), writes("1", "a"), mumbles)
    assert done.code == 0
    asked = stage.turns("1", 1, "reviewer")
    assert [turn["resume"] for turn in asked] == [False, True]
    assert "not the JSON that was asked for" in asked[1]["prompt"]
