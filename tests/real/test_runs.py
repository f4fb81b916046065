"""Whole runs of `amelia run` with the agents people have, against a scripted model on loopback."""

import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from modelserver.steps import Answer, Fault, Step, ToolCall
from real.desks import AGENTS, APPROVED, KEY, REJECTED, REPORTED, RULED, Desk, open_desk
from stories import Done
from tracing import Trace

pytestmark = pytest.mark.slow

SLEEPS = "python3 -c 'import time; time.sleep(600)'"


@pytest.fixture
def desk(trace: Trace) -> Iterator[Desk]:
    with open_desk(trace) as desk:
        yield desk


def used(done: Done) -> tuple[int, int]:
    told = [event["usage"] for event in done.of_type("usage_reported")]
    return sum(one["input_tokens"] for one in told), sum(one["output_tokens"] for one in told)


def sessions(done: Done) -> dict[tuple[str, int, str], str]:
    """Returns the session of every turn: by unit, attempt and role."""
    return {
        (event["unit"], event["attempt"], event["role"]): event["session"]
        for event in done.of_type("session_opened")
    }


@pytest.mark.rows("T4", "T21")
@pytest.mark.parametrize("name", AGENTS)
def test_a_plan_is_carried_out_reviewed_rejected_continued_and_landed(desk: Desk, name: str) -> None:
    agent = desk.hire(name)
    done = desk.run(
        desk.plan("Greet", "Note"),
        Answer(text="I greet.", tools=[agent.write("hello.txt", "hello")]),
        REPORTED,
        REJECTED,
        RULED,
        Answer(tools=[agent.edit("hello.txt", "hello", "goodbye")]),
        REPORTED,
        APPROVED,
        Answer(tools=[agent.write("note.txt", "noted")]),
        REPORTED,
        APPROVED,
    )
    assert (done.code, done.outcome) == (0, "completed"), done
    stage = desk.stage
    assert len(stage.subjects()) == 2
    assert (stage.show("hello.txt"), stage.show("note.txt")) == ("goodbye", "noted")

    again = desk.told(4)
    assert "I greet." in again, "the same session goes on"
    assert "Say goodbye." in again
    assert "I greet." not in desk.told(2), "the reviewer reads nothing of the developer's session"
    opened = sessions(done)
    assert opened["1", 1, "developer"] == opened["1", 2, "developer"]
    assert len(set(opened.values())) == len(opened) - 1
    assert done.of_type("session_replaced") == []
    check_account(desk, done, has_cost=agent.has_cost)


def check_account(desk: Desk, done: Done, *, has_cost: bool) -> None:
    """Proves that status and log tell what was used, and in which sessions."""
    requests = len(desk.server.requests)
    assert used(done) == (requests * 100, requests * 20)
    stage = desk.stage
    spent = stage.status()["spent"]
    assert spent["tokens_of_unknown_cost"] == (0 if has_cost else requests * 120)
    assert bool(spent["cost"]) == has_cost
    assert spent["turns_of_unknown_use"] == 0
    assert ("$" if has_cost else "tokens") in stage.amelia("status", stage.name).out
    assert sessions(stage.amelia("log", stage.name, "--json")) == sessions(done)
    kept = [path.read_text() for path in (stage.directory / "transcripts").rglob("*.jsonl")]
    assert len(kept) == len(sessions(done))
    assert KEY not in "".join([done.out, done.err, *kept])


def test_one_agent_writes_and_another_reviews(desk: Desk) -> None:
    writer = desk.hire("claude")
    desk.hire("api", "reviewer")
    done = desk.run(
        desk.plan("Greet"),
        Answer(tools=[writer.write("hello.txt", "hello")]),
        REPORTED,
        APPROVED,
    )
    assert (done.code, desk.stage.show("hello.txt")) == (0, "hello"), done
    asked = [request.path for request in desk.server.requests]
    assert asked == ["/v1/messages", "/v1/messages", "/v1/chat/completions"]
    drivers = {event["role"]: event["driver"] for event in done.of_type("session_opened")}
    assert drivers == {"developer": "claude", "reviewer": "api"}


@pytest.mark.parametrize(("name", "shell"), [("claude", "Bash command"), ("codex", "exec_command cmd")])
def test_a_run_that_is_killed_leaves_no_agent_and_completes_when_it_is_resumed(
    desk: Desk, name: str, shell: str
) -> None:
    agent = desk.hire(name)
    tool, argument = shell.split()
    written = Answer(tools=[agent.write("hello.txt", "hello")])
    waits = ToolCall(tool, {argument: f"setsid {SLEEPS} & echo > ready; {SLEEPS}"})
    desk.provider.steps = [written, Answer(tools=[waits])]
    started = desk.stage.start(*desk.plan("Greet"), env=desk.environment)
    started.until(lambda: list(desk.stage.home.glob("runs/*/lanes/*/work/ready")), "the agent is at work")
    assert len(desk.trace.living()) > 3
    started.send(signal.SIGKILL)
    started.process.wait(60)
    desk.trace.wait_until_gone(30)

    done = desk.resume(written, REPORTED, APPROVED)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert (desk.stage.show("hello.txt"), len(desk.stage.subjects())) == ("hello", 1)
    assert "ready" not in desk.stage.files()
    check_account(desk, desk.stage.amelia("log", desk.stage.name, "--json"), has_cost=agent.has_cost)


@pytest.mark.parametrize("name", AGENTS)
def test_a_wrong_key_parks_the_run_at_once_and_a_right_one_lets_it_go_on(desk: Desk, name: str) -> None:
    agent = desk.hire(name)
    desk.provider.then = Fault(status=401, message="invalid key")
    began = time.monotonic()
    done = desk.run(desk.plan("Greet"))
    assert (done.code, done.outcome) == (1, "halted(auth)"), done
    assert time.monotonic() - began < 60
    assert len(desk.server.requests) == (3 if name == "claude" else 1)
    [broke] = done.of_type("step_broke")
    assert "the provider refuses the login: " in broke["detail"]
    assert "mend the agent's login or key" in broke["detail"]
    assert done.of_type("attempt_ended") == []

    done = desk.resume(Answer(tools=[agent.write("hello.txt", "hello")]), REPORTED, APPROVED)
    assert (done.code, desk.stage.show("hello.txt")) == (0, "hello"), done


@pytest.mark.parametrize(("role", "place"), [("developer", 0), ("reviewer", 2)])
def test_a_limit_with_a_reset_time_is_waited_out_and_is_no_attempt(desk: Desk, role: str, place: int) -> None:
    agent = desk.hire("claude")
    reset = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=8)
    limit = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(int(reset.timestamp())),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    desk.environment |= {"CLAUDE_CODE_OAUTH_TOKEN": desk.environment.pop("ANTHROPIC_API_KEY")}
    steps: list[Step] = [Answer(tools=[agent.write("hello.txt", "hello")]), REPORTED, APPROVED]
    steps.insert(place, Fault(status=429, headers=limit))
    done = desk.run(desk.plan("Greet"), *steps)
    assert (done.code, desk.stage.show("hello.txt")) == (0, "hello"), done
    limited = done.of_type("attempt_ended" if role == "developer" else "answer_delayed")[0]
    assert (limited["attempt"], limited["until"]) == (1, reset.isoformat())
    [rested] = done.of_type("task_rested", "rest_ended")
    assert datetime.fromisoformat(rested["ts"]) >= reset
    [landed] = done.of_type("task_completed")
    assert landed["attempt"] == 1
