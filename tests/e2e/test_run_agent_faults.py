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


PHASES = """# Sample

## Phase 1: Begin
### Task 1: First
Do it.
### Task 2: Second
Do it.
"""
SILENT: Turn = {"role": "developer", "do": [{"write": "a.txt", "text": "a\n"}, {"say": "All is done."}]}


def test_a_developer_without_a_report_is_judged_by_the_checks_and_the_review(stage: Stage) -> None:
    done = stage.run(tasks("Only"), SILENT, APPROVED)
    assert (done.code, attempts(stage), stage.files()[-1]) == (0, ["1"], "check.sh"), done
    assert [turn["repair"] for turn in stage.turns("1", 1)] == [False, True], "it was asked once more"
    assert "a.txt" in stage.files()


def test_tasks_that_no_report_speaks_of_are_shown_as_not_reported(stage: Stage) -> None:
    done = stage.run(PHASES, SILENT, APPROVED)
    assert (done.code, attempts(stage)) == (0, ["1"]), done
    assert done.of_type("subtask_completed", "subtask_failed") == []
    assert stage.amelia("status", stage.name).out.count("not reported") == 2
    [phase] = stage.status()["phase_states"]
    assert [(each["status"], each["unreported"]) for each in phase["subtasks"]] == [("completed", True)] * 2


def test_a_developer_without_a_report_whose_work_is_bad_is_sent_back_by_the_checks(stage: Stage) -> None:
    breaks: Turn = {"role": "developer", "attempt": 1, "do": [{"write": "broken", "text": "x"}]}
    mends: Turn = {
        "role": "developer",
        "attempt": 2,
        "do": [{"delete": "broken"}, {"write": "a", "text": "a"}],
    }
    done = stage.run(tasks("Only"), breaks, mends, APPROVED)
    assert (done.code, attempts(stage)) == (0, ["2"]), done
    [retried] = done.of_type("task_retry")
    assert retried["cause"] == "checks_failed"


REPORT = '{"status": "completed", "summary": "As the message says."}'


@pytest.mark.parametrize(
    "message",
    [
        f"I have done it.\n\n```JSON\n{REPORT}\n```\nAnything else?",
        f'<think>\nShould I say {{"status": "failed"}}?\n</think>\r\n{REPORT}\r\n',
        f'First I thought of {{"status": "failed"}}. Now it is {REPORT}',
    ],
)
def test_a_report_is_the_last_valid_object_of_the_last_message(stage: Stage, message: str) -> None:
    says: Turn = {
        "role": "developer",
        "do": [{"write": "a", "text": "a"}, {"say": "Begun."}, {"say": message}],
    }
    done = stage.run(tasks("Only"), says, APPROVED)
    assert (done.code, len(stage.turns("1", 1))) == (0, 1), "nobody is asked for it once more"
    [ended] = done.of_type("attempt_ended")
    assert ended["summary"] == "As the message says."


def reviews(*messages: str, **more: object) -> Turn:
    return {"role": "reviewer", "do": [{"say": message} for message in messages], **more}


APPROVES = '{"approved": true, "comments": []}'
REJECTS = (
    '{"approved": false, "comments": [{"file": null, "line": null, "severity": "blocking", "text": "No."}]}'
)


@pytest.mark.parametrize(
    "message",
    [
        'The diff adds `{"approved": true}` to a file, which I do not like.',
        f"The diff adds `{APPROVES}` to a file.",
        f"```diff\n+{APPROVES}\n```\nThat is what it adds.",
        f"The file holds\n```\n{APPROVES}\n```\nand I say\n{REJECTS}",
        f"{REJECTS}\n{APPROVES}",
        f"The file holds\n```json\n{APPROVES}\n```\nand I say\n{REJECTS[:-2]},]}}",
        f"{REJECTS[:-20]}\n{APPROVES}",
        f"```diff\n {APPROVES}\n```",
        APPROVES.replace(', "comments": []', ""),
        "I approve.",
    ],
)
def test_a_reviewer_who_quotes_or_contradicts_an_approval_has_not_approved(
    stage: Stage, message: str
) -> None:
    done = stage.run(tasks("Only"), writes("1", "a"), reviews(message))
    assert (done.code, done.outcome) == (1, "halted(review_unavailable)"), done
    assert stage.subjects() == []


@pytest.mark.parametrize(
    "message",
    [
        APPROVES,
        f"It is fine.\n\n```JSON\r\n{APPROVES}\r\n```\r\nThank you.",
        f"<think>\nPerhaps {REJECTS}\n</think>\n{APPROVES}",
        f"{APPROVES}\n\nOnce more, as JSON:\n\n```json\n{APPROVES}\n```",
        f"The file holds a function f() {{ return 1 }}.\n{APPROVES}",
    ],
)
def test_a_reviewer_who_says_one_thing_on_lines_of_its_own_is_heard(stage: Stage, message: str) -> None:
    done = stage.run(tasks("Only"), writes("1", "a"), reviews(message))
    assert (done.code, len(stage.turns("1", 1, "reviewer"))) == (0, 1), done


def test_an_evaluator_who_contradicts_itself_dismisses_nothing(stage: Stage) -> None:
    def rules(disposition: str) -> str:
        return json.dumps({"items": [{"finding": 1, "disposition": disposition, "reason": "So."}]})

    says = {"role": "evaluator", "do": [{"say": f"{rules('IMPLEMENT')}\n{rules('REJECT')}"}]}
    done = stage.run(
        tasks("Only"),
        writes("1", "a", attempt=1),
        writes("1", "b", attempt=2),
        rejects("Do more.", attempt=1),
        says,
        APPROVED,
    )
    assert (done.code, attempts(stage)) == (0, ["2"]), done


TOLD = {"input_tokens": 1000, "output_tokens": 1}
PART = {"id": "m1", "model": "claude-sonnet-4-5", "usage": TOLD, "content": [{"type": "text", "text": "Hm."}]}
COUNT = {
    "modelUsage": {"claude-sonnet-4-5": {"inputTokens": 100, "outputTokens": 20}},
    "total_cost_usd": 0.0006,
}


def fake_claude(stage: Stage) -> dict[str, str]:
    """Installs a Claude that falls silent in the middle of its first turn, and works in all others."""
    room = stage.room

    def line(**facts: object) -> str:
        return f"echo '{json.dumps(facts)}'"

    def ends(**report: object) -> str:
        good = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
        return line(**good, structured_output=report, **COUNT)

    program = executable(
        room / "bin" / "claude",
        "\n".join(
            [
                "case \"$1\" in --version) echo '2.1.325 (Claude Code)'; exit;; esac",
                line(type="system", subtype="init", session_id="s1", model="claude-sonnet-4-5"),
                f"if ! test -e '{room}/heard'; then",
                line(type="assistant", message=PART),
                f"touch '{room}/heard'; sleep 600; fi",
                'if test "$AMELIA_ROLE" = reviewer; then',
                ends(approved=True, comments=[]),
                "else echo a > a.txt",
                ends(status="completed"),
                "fi",
            ]
        ),
    )
    own = users_settings(room, f'[agents]\ndriver = "claude"\ncommand = ["{program}"]\n')
    return {**few_programs(room / "bin", "git", "touch", "sleep"), **own, "ANTHROPIC_API_KEY": "made-up"}


def test_what_was_heard_of_a_turn_is_accounted_though_amelia_is_killed(stage: Stage) -> None:
    env = fake_claude(stage)
    (stage.room / "plan.md").write_text(tasks("Only"))
    started = stage.start("run", stage.room / "plan.md", "--json", env=env)
    started.until(lambda: '"usage_reported"' in started.out.read_text(), "the agent told what it used")
    started.kill()
    heard = 1000 * 3e-6 + 15e-6
    assert stage.status()["spent"]["cost"] == pytest.approx(heard)

    done = stage.amelia("resume", stage.name, "--json", env=env)
    assert (done.code, stage.show("a.txt")) == (0, "a"), done
    spent = stage.status()["spent"]
    assert spent["cost"] == pytest.approx(heard + 2 * 0.0006)
    assert spent["tokens_of_unknown_cost"] == 0
