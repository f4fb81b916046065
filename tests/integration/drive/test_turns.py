"""Whole turns over real programs: clocks, endings, cancellation, records and what an agent may see."""

import json
import os
import subprocess  # noqa: TID251 - a whole Amelia is killed
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import anyio
import pytest

from amelia.drive.plain import read_plain_line
from amelia.drive.script.driver import ScriptDriver
from amelia.drive.session import SessionError, Sessions
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import (
    AgentEvent,
    Allowance,
    Clocks,
    DriverInfo,
    Ending,
    Role,
    Said,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnSpec,
    Unparsed,
    Usage,
    Used,
)
from amelia.model.errors import AmeliaError
from tracing import Trace, wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LINE = '{"type": "session", "session": "s", "model": "m"}'
RESULT = '{"type": "result", "report": {"a": 1}}'


@dataclass(frozen=True)
class ShellDriver:
    """An agent that is a shell script and speaks the dialect of the player."""

    script: str
    trace: Trace
    environment: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        return "shell"

    async def probe(self) -> DriverInfo:
        return DriverInfo("sh", "1")

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        extra = {"AMELIA_TRACE": self.trace.mark, **self.environment}
        program = Program(["sh", "-c", self.script], agent_environment(spec, extra), read_plain_line)
        return ProgramTurn(spec, program)


class Desk:
    """A place to take turns at: a worktree, a transcript, and everything that was heard."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.work = trace.folder / "outer" / "work"
        self.work.mkdir(parents=True)
        self.transcript = trace.folder / "transcripts" / "turn.jsonl"
        self.heard: list[AgentEvent] = []
        self.spec = TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="do it",
            cwd=str(self.work),
            transcript=str(self.transcript),
            lock=str(trace.folder / "locks" / "turn"),
            state=str(trace.folder / "agents"),
            run="run-1",
        )

    async def shell(
        self,
        script: str,
        *,
        environment: dict[str, str] | None = None,
        clocks: dict[str, float] | None = None,
    ) -> TurnEnded:
        bounds = Clocks(**{name: timedelta(seconds=seconds) for name, seconds in (clocks or {}).items()})
        driver = ShellDriver(script, self.trace, environment or {})
        sessions = Sessions({Role.DEVELOPER: driver})
        return await sessions.take_turn(replace(self.spec, clocks=bounds), self.heard.append)

    async def script(self, text: str) -> TurnEnded:
        path = self.trace.folder / "script.toml"
        path.write_text(text)
        driver = ScriptDriver(path, {"AMELIA_TRACE": self.trace.mark})
        return await Sessions({Role.DEVELOPER: driver}).take_turn(self.spec, self.heard.append)

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.transcript.read_text().splitlines()]


@pytest.fixture
def desk(trace: Trace) -> Desk:
    return Desk(trace)


async def test_a_turn_is_heard_recorded_and_ended_once(desk: Desk) -> None:
    ended = await desk.script(
        """
        [[turn]]
        do = [{write="a.py", text="x"}, {say="done"}, {raw="?"}]
        report = {status="completed"}
        usage = {input=3, output=4, cost=0.5}
        """
    )
    session = ended.session
    assert session
    assert desk.heard == [
        SessionStarted(session, "script"),
        ToolStarted("write", "a.py"),
        ToolEnded("write", ok=True),
        Said("done"),
        Unparsed("?"),
        Used(Usage(3, 4, 0.5)),
        ended,
    ]
    assert ended == TurnEnded(
        ending=Ending.OK,
        session=session,
        report={"status": "completed"},
        text="done",
        exit_code=0,
        usage=Usage(3, 4, 0.5),
    )
    assert (desk.work / "a.py").read_text() == "x"
    records = desk.records()
    assert records[0]["prompt"] == "do it"
    assert records[0]["turn"]["session"] == session
    lines = [record["line"] for record in records[1:-1]]
    assert RESULT.replace('"a": 1', '"status": "completed"') in lines
    assert records[-1]["ended"] == "ok"
    assert list(desk.transcript.parent.iterdir()) == [desk.transcript]


@pytest.mark.parametrize(
    ("script", "ending", "exit_code"),
    [
        (f"echo '{LINE}'; echo; echo '{RESULT}'", Ending.OK, 0),
        (f"echo '{LINE}'; echo '{RESULT}'; exit 1", Ending.FAILED, 1),
        (f"echo '{LINE}'", Ending.NO_REPORT, 0),
        ("exit 0", Ending.NO_REPORT, 0),
        ("echo 'limit reached'; exit 0", Ending.GARBAGE, 0),
        ("head -c 3000000 /dev/urandom | tr '\\n' ' '", Ending.GARBAGE, 0),
        ("exit 3", Ending.CRASHED, 3),
        ("kill -11 $$", Ending.CRASHED, 139),
        (f"printf '%s' '{RESULT}'", Ending.OK, 0),
    ],
)
async def test_how_an_agent_ends(desk: Desk, script: str, ending: Ending, exit_code: int) -> None:
    ended = await desk.shell(script)
    assert (ended.ending, ended.exit_code) == (ending, exit_code)
    assert desk.heard[-1] == ended
    assert sum(isinstance(event, TurnEnded) for event in desk.heard) == 1


async def test_a_crash_is_explained_by_what_the_agent_wrote_last(desk: Desk) -> None:
    ended = await desk.shell("seq 100000 >&2; echo 'no such model' >&2; exit 1")
    assert ended.detail.startswith("the agent ended without a result (exit code 1): ")
    assert ended.detail.endswith("no such model")
    assert desk.records()[-2]["stderr"].endswith("no such model\n")


@pytest.mark.parametrize(
    ("script", "clocks", "ending"),
    [
        ("sleep 600", {"first_event": 0.3}, Ending.TIMED_OUT_FIRST_EVENT),
        (f"echo '{LINE}'; sleep 600", {"silence": 0.3}, Ending.TIMED_OUT_SILENCE),
        (f"echo '{LINE}'; while :; do echo '{LINE}'; sleep 0.05; done", {"wall": 0.5}, Ending.TIMED_OUT_WALL),
        ("sleep 600", {"first_event": 60, "wall": 0.3}, Ending.TIMED_OUT_WALL),
        (f"echo '{LINE}'; echo '{RESULT}'; sleep 600", {"silence": 0.3}, Ending.TIMED_OUT_SILENCE),
    ],
)
async def test_each_clock_ends_a_turn_by_its_name_and_leaves_nothing(
    desk: Desk, script: str, clocks: dict[str, float], ending: Ending
) -> None:
    started = time.monotonic()
    ended = await desk.shell(f"setsid sleep 600 & {script}", clocks=clocks)
    assert ended.ending is ending
    assert ended.report is None
    assert 0.25 < time.monotonic() - started < 30
    assert desk.heard[-1] == ended
    assert desk.records()[-1]["ended"] == ending
    assert not desk.trace.living()


async def test_an_agent_that_keeps_talking_is_not_silent(desk: Desk) -> None:
    talking = f"for i in 1 2 3 4 5; do echo '{LINE}'; sleep 0.5; done; echo '{RESULT}'"
    assert (await desk.shell(talking, clocks={"first_event": 30, "silence": 2})).ending is Ending.OK


async def test_one_huge_line_is_unparsed_and_the_turn_goes_on(desk: Desk) -> None:
    ended = await desk.shell(f"echo '{LINE}'; head -c 15000000 /dev/zero | tr '\\0' x; echo; echo '{RESULT}'")
    assert ended.ending is Ending.OK
    [line] = [event.line for event in desk.heard if isinstance(event, Unparsed)]
    assert line == "x" * 2000


async def test_what_an_agent_leaves_running_ends_with_its_turn(desk: Desk) -> None:
    ended = await desk.shell(f"setsid sleep 600 & (sleep 600 &); echo '{RESULT}'")
    assert ended.ending is Ending.OK
    assert not desk.trace.living()


async def test_an_agent_that_kills_its_supervisor_has_crashed(desk: Desk) -> None:
    ended = await desk.shell(f"echo '{RESULT}'; setsid sleep 600 & kill -9 $PPID; sleep 600")
    assert (ended.ending, ended.exit_code) == (Ending.FAILED, 137)
    assert not desk.trace.living()


async def test_a_folder_that_is_gone_is_a_crash_and_no_exception(desk: Desk) -> None:
    desk.work.rmdir()
    ended = await desk.shell("true")
    assert (ended.ending, ended.exit_code) == (Ending.CRASHED, None)
    assert f"cannot be started in {desk.work}" in ended.detail
    assert desk.heard == [ended]


async def test_a_unit_whose_name_cannot_be_passed_on_is_a_crash_and_no_exception(desk: Desk) -> None:
    desk.spec = replace(desk.spec, unit="a\0b")
    ended = await desk.shell("true")
    assert ended.ending is Ending.CRASHED
    assert "NUL" in ended.detail


async def test_cancelling_a_turn_ends_its_processes_and_goes_on(desk: Desk) -> None:
    with anyio.move_on_after(0.4) as scope:
        await desk.shell(f"echo '{LINE}'; setsid sleep 600 & sleep 600")
    assert scope.cancelled_caught
    assert not desk.trace.living()
    assert desk.records()[-1]["line"] == LINE
    assert list(desk.transcript.parent.iterdir()) == [desk.transcript]


async def test_cancelling_is_bounded_also_for_an_agent_that_does_not_listen(desk: Desk) -> None:
    started = time.monotonic()
    with anyio.move_on_after(0.2):
        await desk.shell(f"trap '' TERM; echo '{LINE}'; while :; do sleep 0.05; done")
    assert time.monotonic() - started < 30
    assert not desk.trace.living()


async def test_a_listener_that_fails_ends_the_processes(desk: Desk) -> None:
    def fail(_: AgentEvent) -> None:
        raise AmeliaError("the listener failed")

    driver = ShellDriver(f"echo '{LINE}'; setsid sleep 600 & sleep 600", desk.trace)
    with pytest.raises(AmeliaError, match="the listener failed"):
        await Sessions({Role.DEVELOPER: driver}).take_turn(desk.spec, fail)
    assert not desk.trace.living()


async def test_a_transcript_that_cannot_be_written_is_an_error_and_starts_nothing(desk: Desk) -> None:
    (desk.trace.folder / "transcripts").write_text("")
    with pytest.raises(AmeliaError, match="transcript cannot be written"):
        await desk.shell("touch made")
    assert not (desk.work / "made").exists()


async def test_keys_of_the_agent_are_neither_recorded_nor_passed_on(desk: Desk) -> None:
    ended = await desk.shell(
        f'echo \'{{"type": "say", "text": "key \'$AGENT_KEY\'"}}\'; echo $AGENT_KEY >&2; echo \'{LINE}\'; exit 1',
        environment={"AGENT_KEY": "very-secret-value"},
    )
    assert desk.heard[0] == Said("key [redacted]")
    assert ended.detail.endswith("[redacted]")
    assert "very-secret" not in desk.transcript.read_text()


async def test_an_agent_sees_a_clean_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/evil")
    monkeypatch.setenv("SOME_API_KEY", "k")
    monkeypatch.setenv("PYTHONPATH", "/evil")
    await desk.shell("env > env; cat > prompt")
    seen = dict(line.split("=", 1) for line in (desk.work / "env").read_text().splitlines())
    assert not {"GIT_DIR", "SOME_API_KEY", "PYTHONPATH", "VIRTUAL_ENV"} & set(seen)
    expected = {"AMELIA_RUN": "run-1", "AMELIA_UNIT": "1", "AMELIA_ATTEMPT": "1", "AMELIA_ROLE": "developer"}
    assert expected.items() <= seen.items()
    assert (desk.work / "prompt").read_text() == "do it"


async def test_an_agent_without_a_repository_never_finds_an_outer_one(desk: Desk) -> None:
    await anyio.run_process(["git", "init", "-q", str(desk.work.parent)])
    (desk.trace.folder / "by-link").symlink_to(desk.work)
    for cwd in (desk.work, desk.trace.folder / "by-link"):
        desk.spec = replace(desk.spec, cwd=str(cwd))
        await desk.shell("mkdir -p deep; cd deep; git rev-parse --show-toplevel > ../found 2>&1; true")
        assert "not a git repository" in (desk.work / "found").read_text()


async def test_a_session_belongs_to_one_role(desk: Desk) -> None:
    driver = ShellDriver(f"echo '{LINE}'; echo '{RESULT}'", desk.trace)
    sessions = Sessions({Role.DEVELOPER: driver, Role.REVIEWER: driver})
    mine = replace(desk.spec, session=SessionId("mine"))
    await sessions.take_turn(mine)
    await sessions.take_turn(replace(mine, resume=True))
    with pytest.raises(SessionError, match="belongs to the developer") as caught:
        await sessions.take_turn(replace(mine, role=Role.REVIEWER))
    assert caught.value.hint
    # The id that the agent gave itself belongs to its role as well.
    with pytest.raises(SessionError):
        await sessions.take_turn(replace(mine, role=Role.REVIEWER, session=SessionId("s")))
    # One that an agent gives to every role is nobody's to go on with.
    other = await sessions.take_turn(replace(mine, role=Role.REVIEWER, session=SessionId("theirs")))
    assert (other.ending, other.session) == (Ending.OK, None)


async def test_sessions_keep_their_owners_when_somebody_else_takes_over(desk: Desk) -> None:
    driver = ShellDriver(f"echo '{RESULT}'", desk.trace)
    sessions = Sessions({Role.REVIEWER: driver}, {SessionId("mine"): Role.DEVELOPER})
    with pytest.raises(SessionError, match="belongs to the developer"):
        await sessions.take_turn(replace(desk.spec, role=Role.REVIEWER, session=SessionId("mine")))


RETRY = '{"type": "retry", "attempt": 1, "delay": %s, "status": %s}'
USED = '{"type": "usage", "input": 60, "output": 60, "cost": %s}'


@pytest.mark.parametrize(
    ("line", "ending"),
    [
        (RETRY % (3600, 401), Ending.AUTH),
        (RETRY % (3600, 429), Ending.LIMITED),
        (USED % 2.5, Ending.OUT_OF_BUDGET),
        (USED % "null", Ending.OUT_OF_BUDGET),
        (RETRY % (3600, 401) + f"'; echo '{USED % 9}", Ending.AUTH),
    ],
)
async def test_a_turn_that_cannot_help_any_more_is_ended_at_once(
    desk: Desk, line: str, ending: Ending
) -> None:
    desk.spec = replace(desk.spec, allowance=Allowance(cost=2.0, tokens=100))
    ended = await desk.shell(f"echo '{line}'; setsid sleep 600 & sleep 600")
    assert ended.ending is ending
    assert not desk.trace.living()


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_login_has_a_bounded_time_to_heal(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr("amelia.drive.session.REFUSAL_GRACE", 0.5)
    refused = RETRY % (0.1, status)
    ended = await desk.shell(f"while :; do echo '{refused}'; sleep 0.1; done")
    assert ended.ending is Ending.AUTH
    assert "the provider refuses the login" in ended.detail
    assert not desk.trace.living()


async def test_a_refused_login_that_heals_is_forgotten(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amelia.drive.session.REFUSAL_GRACE", 0.5)
    said = '{"type": "say", "text": "Here I am."}'
    ended = await desk.shell(f"echo '{RETRY % (0.1, 401)}'; echo '{said}'; sleep 1; echo '{RESULT}'")
    assert ended.ending is Ending.OK


@pytest.mark.parametrize("line", [RETRY % (5, 401), RETRY % (5, 429), RETRY % (5, "null"), USED % 1.5])
async def test_a_turn_that_may_still_help_goes_on(desk: Desk, line: str) -> None:
    desk.spec = replace(desk.spec, allowance=Allowance(cost=2.0))
    assert (await desk.shell(f"echo '{line}'; echo '{RESULT}'")).ending is Ending.OK


async def test_turns_at_the_same_time_do_not_disturb_each_other(desk: Desk) -> None:
    script = f'echo \'{LINE}\'; sleep 0.1; printf \'{{"type": "result", "report": {{"unit": "%s"}}}}\' $AMELIA_UNIT'
    sessions = Sessions({Role.DEVELOPER: ShellDriver(script, desk.trace)})
    reports: dict[str, object] = {}

    async def one(unit: str) -> None:
        folder = desk.trace.folder
        spec = replace(
            desk.spec, unit=unit, transcript=str(folder / f"{unit}.jsonl"), lock=str(folder / unit)
        )
        reports[unit] = (await sessions.take_turn(spec)).report

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(one, str(number))
    assert reports == {str(number): {"unit": str(number)} for number in range(8)}


ORCHESTRATOR = """
import os, sys
from pathlib import Path
import anyio
from amelia.drive.script.driver import ScriptDriver
from amelia.drive.session import Sessions
from amelia.model.agents import Role, TurnSpec

folder = Path(sys.argv[1])
spec = TurnSpec(role=Role.DEVELOPER, unit="1", attempt=1, prompt="", cwd=str(folder),
                transcript=str(folder / "t.jsonl"), lock=str(folder / "lock"), state=str(folder))
driver = ScriptDriver(folder / "script.toml", {"AMELIA_TRACE": sys.argv[2]})
anyio.run(Sessions({Role.DEVELOPER: driver}).take_turn, spec)
"""


def test_an_agent_does_not_survive_a_killed_amelia(trace: Trace) -> None:
    (trace.folder / "script.toml").write_text(
        '[[turn]]\ndo = [{run="setsid sleep 600 & echo > ready"}, {hang=true}]'
    )
    amelia = subprocess.Popen([sys.executable, "-c", ORCHESTRATOR, str(trace.folder), trace.mark])
    trace.read("ready")
    wait_until(lambda: len(trace.living()) >= 3)
    amelia.kill()
    amelia.wait()
    trace.wait_until_gone(seconds=3)
    assert os.path.lexists(trace.folder / "t.jsonl")
