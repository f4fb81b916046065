"""Faults of agents and their providers, seen from a run: who is charged for them, and how it goes on."""

import json
from pathlib import Path

import pytest

from programs import few_programs, users_settings
from repositories import executable
from stories import APPROVED, Act, Stage, Turn, develops, make_stage, rejects, tasks, writes

pytestmark = pytest.mark.slow

HEALS = {"raw": '{"type": "retry", "attempt": 1, "delay": 1, "status": 401}'}
WANTED: Turn = {"role": "evaluator", "report": {"items": [{"finding": 1, "disposition": "IMPLEMENT"}]}}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def ends(ending: str, detail: str = "", *before: Act) -> list[Act]:
    """Returns the acts of an agent that says how it ended, and why."""
    said = json.dumps({"type": "end", "ending": ending, "detail": detail})
    return [*before, {"raw": said}, {"exit": 1}]


def attempts(stage: Stage) -> list[str]:
    return stage.log("%(trailers:key=Amelia-Attempt,valueonly,separator=)")


def test_a_refused_login_that_heals_by_itself_halts_nothing(stage: Stage) -> None:
    done = stage.run(tasks("Only"), develops("1", HEALS, {"write": "a", "text": "a"}), APPROVED)
    assert (done.code, attempts(stage)) == (0, ["1"])


@pytest.mark.parametrize(
    ("ending", "reason", "way"),
    [
        ("auth", "auth", "mend the agent's login or key"),
        ("no_credit", "no_credit", "add credit"),
        ("model_not_found", "model_not_found", "check the model's name"),
        ("unusable", "agent_unusable", "amelia doctor"),
    ],
)
@pytest.mark.parametrize("role", ["developer", "reviewer", "evaluator"])
def test_what_only_a_person_can_mend_parks_the_run_and_spends_no_attempt(
    stage: Stage, role: str, ending: str, reason: str, way: str
) -> None:
    broken: Turn = {"role": role, "do": ends(ending, "as the provider says")}
    rest = [writes("1", "a"), rejects("Do more.", attempt=1), WANTED, APPROVED]
    done = stage.run(tasks("Only"), broken, *rest)
    assert (done.code, done.outcome) == (1, f"halted({reason})")
    [broke] = done.of_type("step_broke")
    assert "as the provider says" in broke["detail"]
    assert way in broke["detail"]
    assert "amelia resume" in broke["detail"]

    stage.play(*rest)
    more = stage.amelia("resume", stage.name, "--json")
    assert (more.code, attempts(stage)) == (0, ["2"]), "the rejection counts, the fault does not"


def test_an_option_that_the_program_does_not_know_spends_no_attempt(stage: Stage) -> None:
    few = few_programs(stage.room / "bin", "git")
    program = executable(
        stage.room / "bin" / "claude",
        """case "$1" in --version) echo '2.1.325 (Claude Code)';; *) echo "error: unknown option '--tools'" >&2; exit 1;; esac""",
    )
    own = users_settings(stage.room, f'[agents]\ndriver = "claude"\ncommand = ["{program}"]\n')
    (stage.room / "plan.md").write_text(tasks("Only"))
    env = {**few, **own, "ANTHROPIC_API_KEY": "made-up-for-tests"}
    done = stage.amelia("run", stage.room / "plan.md", "--json", env=env)
    assert (done.code, done.outcome) == (1, "halted(agent_unusable)"), done
    [broke] = done.of_type("step_broke")
    assert "unknown option '--tools'" in broke["detail"]
    assert done.of_type("attempt_ended") == []


def test_a_session_that_is_too_long_is_not_gone_on_with_and_its_work_is_kept(stage: Stage) -> None:
    half = {"write": "half.txt", "text": "half\n"}
    done = stage.run(
        tasks("Only"),
        develops("1", *ends("overflow", "prompt is too long", half), attempt=1),
        develops("1", {"write": "whole.txt", "text": "whole\n"}, attempt=2),
        APPROVED,
    )
    assert (done.code, attempts(stage)) == (0, ["2"]), done
    first, second = stage.turns("1", 1)[0], stage.turns("1", 2)[0]
    assert second["resume"] is False
    assert second["session"] != first["session"]
    assert "## Your Assignment" in second["prompt"]
    assert "prompt is too long" in second["prompt"]
    assert {"half.txt", "whole.txt"} <= set(stage.files())


def failing(attempt: int, *acts: Act) -> Turn:
    return develops("1", *ends("failed", "400: something", *acts), attempt=attempt)


def test_a_turn_that_failed_is_gone_on_with_only_if_it_came_further(stage: Stage) -> None:
    done = stage.run(
        tasks("Only"),
        failing(1, {"write": "a.txt", "text": "a\n"}),
        failing(2),
        develops("1", {"write": "b.txt", "text": "b\n"}, attempt=3),
        APPROVED,
    )
    assert (done.code, attempts(stage)) == (0, ["3"]), done
    turns = [stage.turns("1", attempt)[0] for attempt in (1, 2, 3)]
    assert [turn["resume"] for turn in turns] == [False, True, False]
    assert turns[1]["session"] == turns[0]["session"] != turns[2]["session"]
    assert "400: something" in turns[2]["prompt"]
    assert {"a.txt", "b.txt"} <= set(stage.files())
