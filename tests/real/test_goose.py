"""Goose, a real agent by its name, against a scripted model on loopback."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from amelia.app.agents import make_driver
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Ending,
    PermissionDenied,
    Role,
    SessionStarted,
    ToolEnded,
    TurnEnded,
    TurnSpec,
)
from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Step, ToolCall
from programs import users_settings
from real.desks import APPROVED, REPORTED
from real.faults import record
from repositories import git, make_repository
from stories import FILES, make_stage, tasks
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PACKAGE = Path(__file__).parents[2] / ".agents-acp" / "node_modules" / "@aaif" / "goose-binary-linux-x64"
GOOSE = PACKAGE / "bin" / "goose"
KEY = "sk-made-up-for-these-tests"
KEPT = ("PATH", "TMPDIR", "LANG", "AMELIA_FAULT_TABLE")
REPORT = {"status": "completed"}
DONE = Answer(text=f"Here it is.\n```json\n{json.dumps(REPORT)}\n```")


def run(command: str) -> Answer:
    return Answer(text="I run it.", tools=[ToolCall("shell", {"command": command})])


def variables(server: ModelServer) -> dict[str, str]:
    """Returns the environment of a person who has set Goose up; what is called after it needs no `passes`."""
    return {
        **server.environment(),
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "gpt-4.1",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_HOST": server.url,
        "OPENAI_API_KEY": KEY,
    }


class Desk:
    """A repository, a home of its own, and turns of Goose in it."""

    def __init__(self, trace: Trace, patch: pytest.MonkeyPatch) -> None:
        self.trace = trace
        self.patch = patch
        self.repo = make_repository(trace.folder / "repo", {"README.md": "A sample.\n"}).path
        self.settings = AgentSettings(
            driver="goose",
            command=(str(GOOSE),),
            key="OPENAI_API_KEY",
            passes=("AMELIA_TRACE", "OPENAI_HOST"),
        )
        self.heard: list[AgentEvent] = []

    async def take(self, server: ModelServer, **facts: Any) -> TurnEnded:
        for name, value in variables(server).items():
            self.patch.setenv(name, value)
        spec = TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="Do what the plan says.",
            cwd=str(self.repo),
            transcript=str(self.trace.folder / "turn.jsonl"),
            lock=str(self.trace.folder / "lock"),
            state=str(self.trace.folder / "state"),
        )
        turn = await make_driver(self.settings).start(replace(spec, **facts))
        with anyio.fail_after(60):
            async with aclosing(turn.events()) as events:
                self.heard = [event async for event in events]
        ended = self.heard[-1]
        assert isinstance(ended, TurnEnded)
        return ended

    def changes(self) -> list[str]:
        return git(self.repo, "status", "--short", "--untracked-files=all").splitlines()


@pytest.fixture
def desk(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Gives a desk, and an environment in which no key, no login and no setting of this machine is left."""
    if not GOOSE.exists():
        pytest.skip("Goose is not installed: run scripts/acp-agent")
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(("COV", "PYTEST")):
            monkeypatch.delenv(name)
    (trace.folder / "home").mkdir()
    monkeypatch.setenv("HOME", str(trace.folder / "home"))
    monkeypatch.setenv("AMELIA_TRACE", trace.mark)
    return Desk(trace, monkeypatch)


async def test_a_probe_tells_the_version(desk: Desk) -> None:
    desk.patch.setenv("OPENAI_API_KEY", KEY)
    info = await make_driver(desk.settings).probe()
    assert (info.program, info.version, info.is_ready) == (str(GOOSE), "1.52.0", True)


async def test_a_session_works_goes_on_and_reports(desk: Desk) -> None:
    with ModelServer([run("echo hello > hello.txt"), DONE, run("echo more >> hello.txt"), DONE]) as server:
        began = await desk.take(server)
        assert (began.ending, began.report) == (Ending.OK, REPORT)
        assert {SessionStarted, ToolEnded} <= set(map(type, desk.heard))
        went_on = await desk.take(server, session=began.session, resume=True, before=began.usage)
        assert (went_on.ending, went_on.session) == (Ending.OK, began.session)
        assert "Here it is." in json.dumps(server.requests[2].body)
    assert (desk.repo / "hello.txt").read_text() == "hello\nmore\n"
    assert KEY not in (desk.trace.folder / "turn.jsonl").read_text()
    assert not desk.trace.living()


async def test_a_reviewer_writes_neither_here_nor_elsewhere(desk: Desk) -> None:
    outside = desk.trace.folder / "outside.txt"
    with ModelServer([run(f"echo x > bad.txt; echo x > {outside}"), DONE], then=DONE) as server:
        ended = await desk.take(server, role=Role.REVIEWER)
    assert (ended.ending, ended.report) == (Ending.OK, REPORT)
    assert PermissionDenied in map(type, desk.heard)
    assert desk.changes() == []
    assert not outside.exists()


FAULTS: Mapping[str, tuple[Step, Ending]] = {
    "401": (Fault(status=401), Ending.AUTH),
    "429": (Fault(status=429), Ending.LIMITED),
    "500": (Fault(status=500), Ending.LIMITED),
    "dropped connection": (Breakdown.DROP, Ending.LIMITED),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_provider_is_told_as_what_it_is(desk: Desk, fault: str) -> None:
    step, ending = FAULTS[fault]
    began = time.monotonic()
    with ModelServer(then=step) as server:
        ended = await desk.take(server)
    seconds, left = time.monotonic() - began, desk.trace.living()
    record("acp (goose)", fault, ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is ending, ended.detail
    assert not left


async def test_a_fault_in_the_middle_of_a_turn_is_one_too(desk: Desk) -> None:
    with ModelServer([run("echo hello > hello.txt")], then=Fault(status=429)) as server:
        ended = await desk.take(server)
    assert (ended.ending, desk.changes()) == (Ending.LIMITED, ["?? hello.txt"]), ended.detail


def test_a_plan_is_carried_out_and_reviewed(desk: Desk) -> None:
    def report(answer: Answer) -> Answer:
        return Answer(text=json.dumps(answer.report))

    stage = make_stage(desk.trace.folder / "stage", FILES)
    (stage.room / "plan.md").write_text(tasks("Greet"))
    with ModelServer([run("echo hello > hello.txt"), report(REPORTED), report(APPROVED)]) as server:
        settings = (
            f'[agents]\ndriver = "goose"\ncommand = ["{GOOSE}"]\nkey = "OPENAI_API_KEY"\n'
            'passes = ["AMELIA_TRACE", "OPENAI_HOST"]\n'
        )
        environment = {
            **users_settings(stage.room, settings),
            **variables(server),
            "AMELIA_TRACE": desk.trace.mark,
        }
        done = stage.amelia("run", str(stage.room / "plan.md"), "--json", env=environment)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert stage.show("hello.txt") == "hello"
    assert not desk.trace.living()
