"""Agents that people have, set up as a person does it, and the scripted model on loopback that all of them ask."""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agents import claude_program, codex_program
from modelserver.server import ModelServer
from modelserver.steps import Answer, Fault, Request, Step, ToolCall
from programs import users_settings
from stories import FILES, Done, make_stage, tasks
from tracing import Trace

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
        "needs_clarification": None,
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


def _api(model: str, path: str = "") -> Agent:
    """Returns a model that is asked by its provider's wire."""
    return Agent(
        settings=lambda url: {"driver": "api", "model": model, "base_url": url + path, "key": "A_PROVIDER"},
        environment=lambda _: {"A_PROVIDER": KEY},
        write=lambda name, text: ToolCall("write_file", {"path": name, "text": f"{text}\n"}),
        edit=lambda name, old, new: ToolCall("edit_file", {"path": name, "old": old, "new": new}),
    )


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
    "api": _api("openai:scripted", "/v1"),
    "api (responses)": _api("openai-responses:scripted", "/v1"),
    "api (anthropic)": _api("anthropic:claude-sonnet-5-5"),
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


@contextmanager
def open_desk(trace: Trace) -> Generator[Desk]:
    """Gives a desk, and holds a run to it that it asked nobody else and left nothing."""
    provider = Provider()
    with provider.server as server:
        yield Desk(trace, provider)
        assert server.connects == []
    assert not provider.steps, "the run asked less than its story tells"
    assert not trace.living()
