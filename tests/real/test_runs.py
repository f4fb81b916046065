"""Whole runs of `amelia run` with the agents people have, against a scripted model on loopback.

They are set up as a person does it: by settings of their own and variables in the environment.
"""

import json
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents import claude_program, codex_program
from modelserver.server import ModelServer
from modelserver.steps import Answer, Fault, Request, Step, ToolCall
from programs import users_settings
from stories import FILES, Done, make_stage, tasks
from tracing import Trace

pytestmark = pytest.mark.slow

KEY = "sk-made-up-for-these-tests"
TREE = "{tree}"
"""Stands for the worktree of the agent, which only its request tells."""

REPORTED = Answer(
    report={
        "status": "completed",
        "summary": "It is done.",
        "subtasks_completed": [],
        "subtasks_failed": [],
        "error_context": None,
    }
)
APPROVED = Answer(report={"approved": True, "comments": []})
REJECTED = Answer(
    report={
        "approved": False,
        "comments": [{"file": "hello.txt", "line": 1, "severity": "blocking", "text": "Say goodbye."}],
    }
)
RULED = Answer(report={"items": [{"finding": 1, "disposition": "IMPLEMENT", "reason": "True."}]})
SLEEPS = "python3 -c 'import time; time.sleep(600)'"


@dataclass(frozen=True, kw_only=True)
class Agent:
    """How a person sets an agent up, and how its model uses the tools it gets."""

    settings: Callable[[str], Mapping[str, str | list[str]]]
    environment: Callable[[str], Mapping[str, str]]
    write: Callable[[str, str], ToolCall]
    edit: Callable[[str, str, str], ToolCall]
    program: Path | None = Path("/")
    has_cost: bool = False


def patch(*lines: str) -> ToolCall:
    return ToolCall("apply_patch", "\n".join(["*** Begin Patch", *lines, "*** End Patch\n"]))


AGENTS = {
    "claude": Agent(
        settings=lambda _: {"command": [str(claude_program())], "model": "claude-sonnet-4-5"},
        environment=lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY},
        write=lambda name, text: ToolCall("Write", {"file_path": f"{TREE}/{name}", "content": f"{text}\n"}),
        edit=lambda name, old, new: ToolCall(
            "Edit", {"file_path": f"{TREE}/{name}", "old_string": old, "new_string": new}
        ),
        program=claude_program(),
        has_cost=True,
    ),
    "codex": Agent(
        settings=lambda url: {
            "command": [str(codex_program())],
            "model": "gpt-5.5",
            "base_url": f"{url}/v1",
            "key": "TEAM_KEY",
        },
        environment=lambda _: {"TEAM_KEY": KEY},
        write=lambda name, text: patch(f"*** Add File: {name}", f"+{text}"),
        edit=lambda name, old, new: patch(f"*** Update File: {name}", "@@", f"-{old}", f"+{new}"),
        program=codex_program(),
    ),
    "api": Agent(
        settings=lambda url: {"model": "openai:scripted", "base_url": f"{url}/v1"},
        environment=lambda _: {"OPENAI_API_KEY": KEY},
        write=lambda name, text: ToolCall("write_file", {"path": name, "text": f"{text}\n"}),
        edit=lambda name, old, new: ToolCall("edit_file", {"path": name, "old": old, "new": new}),
    ),
}


class Provider:
    """The scripted model of a run, which knows the worktree of whoever asks."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.then: Step = Fault(status=400, message="the story is at its end")
        self.server = ModelServer(self._answer)

    def _answer(self, request: Request) -> Step:
        step = self.steps.pop(0) if self.steps else self.then
        return _placed(step, request) if isinstance(step, Answer) else step


def _placed(answer: Answer, request: Request) -> Answer:
    if TREE not in json.dumps([call.input for call in answer.tools]):
        return answer
    found = re.search(r"[Ww]orking directory: ([^\\\s]+)", json.dumps(request.body))
    assert found, "the request does not tell where the agent works"
    placed = (json.loads(json.dumps(call.input).replace(TREE, found[1])) for call in answer.tools)
    return replace(
        answer, tools=[replace(call, input=given) for call, given in zip(answer.tools, placed, strict=True)]
    )


class Desk:
    """A repository, a person's home, the agents of the roles, and the provider that all of them ask."""

    def __init__(self, trace: Trace, provider: Provider) -> None:
        self.trace = trace
        self.provider = provider
        self.server = provider.server
        self.stage = make_stage(trace.folder, FILES)
        self.environment = {"AMELIA_TRACE": trace.mark, **self.server.environment()}
        self.agents: list[str] = []

    def hire(self, name: str, role: str | None = None) -> Agent:
        """Sets an agent up, for one role or for all."""
        agent = AGENTS[name]
        if agent.program is None:
            pytest.skip("the real agent is not installed: run scripts/agents")
        told = {"driver": name, "passes": ["AMELIA_TRACE"], **agent.settings(self.server.url)}
        table = f"[agents.{role}]" if role else "[agents]"
        self.agents += [table, *(f"{key} = {json.dumps(value)}" for key, value in told.items())]
        self.environment |= users_settings(self.stage.room, "\n".join(self.agents))
        self.environment |= agent.environment(self.server.url)
        return agent

    def plan(self, *titles: str) -> tuple[str, ...]:
        path = self.stage.room / "plan.md"
        path.write_text(tasks(*titles))
        return ("run", str(path), "--json")

    def run(self, plan: Sequence[str], *steps: Step, **environment: str) -> Done:
        self.provider.steps = list(steps)
        return self.stage.amelia(*plan, env={**self.environment, **environment})

    def resume(self, *steps: Step) -> Done:
        return self.run(("resume", self.stage.name, "--json"), *steps)

    def told(self, number: int) -> str:
        """Returns everything the model was told with one of its requests."""
        return json.dumps(self.server.requests[number].body)


@pytest.fixture
def desk(trace: Trace) -> Iterator[Desk]:
    """Gives a desk, and holds a run to it that it asked nobody else and left nothing."""
    provider = Provider()
    with provider.server as server:
        yield Desk(trace, provider)
        assert server.connects == []
    assert not provider.steps, "the run asked less than its story tells"
    assert not trace.living()


def used(done: Done) -> tuple[int, int]:
    told = [event["usage"] for event in done.of_type("usage_reported")]
    return sum(one["input_tokens"] for one in told), sum(one["output_tokens"] for one in told)


def sessions(done: Done) -> dict[tuple[str, int, str], str]:
    """Returns the session of every turn: by unit, attempt and role."""
    return {
        (event["unit"], event["attempt"], event["role"]): event["session"]
        for event in done.of_type("session_opened")
    }


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
    kept = [path.read_text() for path in stage.directory.rglob("*.jsonl")]
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


@pytest.mark.parametrize("name", AGENTS)
def test_a_wrong_key_parks_the_run_at_once_and_a_right_one_lets_it_go_on(desk: Desk, name: str) -> None:
    agent = desk.hire(name)
    desk.provider.then = Fault(status=401, message="invalid key")
    began = time.monotonic()
    done = desk.run(desk.plan("Greet"))
    assert (done.code, done.outcome) == (1, "halted(auth)"), done
    assert time.monotonic() - began < 20
    assert len(desk.server.requests) == 1
    [broke] = done.of_type("step_broke")
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
