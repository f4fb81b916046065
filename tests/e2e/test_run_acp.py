"""Runs with agents of the Agent Client Protocol that tell faults, refusals, logins and use in ways of their own."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from programs import users_settings
from repositories import executable
from stories import FILES, Done, Stage, make_stage, tasks
from tracing import wait_until

pytestmark = pytest.mark.slow

AGENT = Path(__file__).parents[1] / "real" / "acp_agents.py"
Script = dict[str, Any]
OK: Script = {"status": "completed", "summary": "It is done."}
APPROVED: Script = {"approved": True, "comments": []}
ASK = {"ask": {"toolCallId": "1", "kind": "execute", "title": "cat roof.py"}}
READS = {"update": {"sessionUpdate": "tool_call", "toolCallId": "2", "kind": "read", "title": "roof.py"}}


def say(text: str) -> Script:
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}


def resting(stage: Stage) -> list[Script]:
    """Returns the units of the run that wait for a limit to pass, once there is a run."""
    if not stage.names:
        return []
    seen = stage.amelia("status", stage.name, "--json")
    return [unit for unit in seen.json["units"] if unit["waiting_until"]] if seen.code == 0 else []


def report(answer: Script) -> Script:
    return say(json.dumps(answer))


class Desk:
    """A repository, and an agent for each role that behaves as its scripts say, one script a session."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.settings: list[str] = []

    def hire(self, role: str, *scripts: Script) -> None:
        """Sets an agent up; its last script is played again and again."""
        for number, script in enumerate(scripts):
            path = self.stage.room / f"{role}-{number}.json"
            path.write_text(json.dumps({"log": str(self.stage.room / f"{role}.log"), **script}))
        room, last = shlex.quote(str(self.stage.room / role)), len(scripts) - 1
        program = executable(
            self.stage.room / f"{role}-agent",
            f"n=$(cat {room}.calls 2>/dev/null || echo 0); echo $((n + 1)) > {room}.calls\n"
            f"[ $n -gt {last} ] && n={last}\n"
            f'exec {shlex.quote(sys.executable)} {shlex.quote(str(AGENT))} "$(cat {room}-$n.json)"\n',
        )
        self.settings += [f"[agents.{role}]", 'driver = "acp"', f"command = [{json.dumps(str(program))}]"]

    def put(self) -> tuple[tuple[str, ...], dict[str, str]]:
        (self.stage.room / "plan.md").write_text(tasks("Roof"))
        others = ["[agents]", *self.settings[-2:]]  # roles that the story has no use for
        environment = users_settings(self.stage.room, "\n".join([*others, *self.settings]))
        for calls in self.stage.room.glob("*.calls"):
            calls.unlink()
        return ("run", str(self.stage.room / "plan.md"), "--json"), environment

    def run(self, *options: str) -> Done:
        arguments, environment = self.put()
        return self.stage.amelia(*arguments, *options, env=environment)

    def prompts(self, role: str) -> list[str]:
        lines = (self.stage.room / f"{role}.log").read_text().splitlines()
        messages = [json.loads(line) for line in lines]
        return [
            one["params"]["prompt"][0]["text"] for one in messages if one.get("method") == "session/prompt"
        ]


PROBE: Script = {}
WORKS: Script = {"steps": [{"write": "roof.py"}, report(OK)]}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(make_stage(tmp_path, FILES))


def test_a_refused_key_that_an_agent_tells_as_its_message_halts_the_run_and_uses_no_attempt(
    desk: Desk,
) -> None:
    desk.hire("developer", {"steps": [say("Error: Authentication failed with provider (HTTP 401).")]})
    desk.hire("reviewer", {"steps": [report(APPROVED)]})
    done = desk.run()
    assert done.outcome == "halted(auth)"
    assert done.of_type("attempt_ended", "attempt_verified") == []
    assert "(HTTP 401)" in done.out


@pytest.mark.parametrize(
    "notice",
    [
        "Ran into this error: Rate limit exceeded: slow down.\n\nPlease retry.",
        "Error: Failed to get response from the AI model; retried 5 times. Last error: 500 it broke",
    ],
)
def test_a_limit_or_an_outage_that_an_agent_tells_as_its_message_is_waited_out(
    desk: Desk, notice: str
) -> None:
    desk.hire("developer", {"steps": [say(notice)]})
    desk.hire("reviewer", {"steps": [report(APPROVED)]})
    arguments, environment = desk.put()
    started = desk.stage.start(*arguments, env=environment)
    try:
        waiting = wait_until(lambda: resting(desk.stage), seconds=60)
    finally:
        started.process.kill()
        started.wait()
    assert [unit["attempts"] for unit in waiting] == [1]


def test_a_review_that_a_refusal_ends_is_gone_on_with_before_it_counts(desk: Desk) -> None:
    gives_up = [report(APPROVED), ASK, say("Info: Operation cancelled by user")]
    desk.hire("developer", PROBE, WORKS)
    desk.hire("reviewer", PROBE, {"prompts": [gives_up, [READS, report(APPROVED)]]})
    done = desk.run()
    assert (done.code, done.outcome) == (0, "completed"), done
    first, second = desk.prompts("reviewer")
    assert "roof.py" in first
    assert "You were refused: cat roof.py." in second


def test_a_review_that_ends_with_a_refusal_every_time_is_no_approval(desk: Desk) -> None:
    desk.hire("developer", PROBE, WORKS)
    desk.hire("reviewer", {"steps": [report(APPROVED), ASK]})
    done = desk.run()
    assert done.outcome != "completed"
    assert done.of_type("attempt_reviewed") == []
    assert "refused: cat roof.py" in done.out


def test_an_agent_that_nobody_is_logged_in_to_halts_the_run_and_names_the_login(desk: Desk) -> None:
    method = {"id": "login", "name": "Log in", "type": "terminal", "args": ["auth", "login"]}
    hello = {"protocolVersion": 1, "agentInfo": {"name": "small"}, "authMethods": [method]}
    desk.hire("developer", {"hello": hello, "login": "by hand"})
    desk.hire("reviewer", {"steps": [report(APPROVED)]})
    done = desk.run()
    assert done.outcome == "halted(auth)"
    assert "run `developer-agent auth login`" in done.out


def test_an_agent_that_does_not_tell_what_it_uses_is_not_counted_as_free(desk: Desk) -> None:
    zero = {"usage": {"inputTokens": 0, "outputTokens": 0}}
    desk.hire("developer", PROBE, {**WORKS, "answer": zero})
    desk.hire("reviewer", {"steps": [report(APPROVED)]})
    arguments, environment = desk.put()
    done = desk.stage.amelia(*arguments[:-1], "--max-cost", "1", env=environment)
    assert done.code == 0
    assert "the developer does not tell what its turn used: the budget cannot hold for that" in done.out
    stage = desk.stage
    assert stage.status()["spent"] == {"cost": None, "tokens_of_unknown_cost": 0, "turns_of_unknown_use": 2}
    standing = stage.amelia("status", stage.name).out
    assert "2 turns of unknown use" in standing
    assert "the budget cannot hold: 2 turns did not tell what was used" in standing
    shown = stage.amelia("report", stage.name).out
    assert "unknown (turns whose use nobody reported: 2)" in shown
    assert "The budget cannot hold: 2 turns did not tell what was used." in shown
