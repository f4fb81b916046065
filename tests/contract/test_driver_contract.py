"""What every driver promises, whatever agent is behind it.

A driver joins by an entry in `STAGES`: a function that prepares one situation (`Case`) and returns its driver.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from enum import Enum
from pathlib import Path

import anyio
import pytest

from amelia.drive.script import ScriptDriver
from amelia.model.agents import (
    AgentEvent,
    Driver,
    Ending,
    Role,
    Said,
    SessionId,
    SessionStarted,
    ToolStarted,
    Turn,
    TurnEnded,
    TurnSpec,
    Usage,
)
from tracing import Trace, wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Case(Enum):
    """What the agent does."""

    WORKS = """do = [{write="made.txt", text="x"}, {say="finished"}]
report = {status="completed"}
usage = {input=7, output=8}"""
    SAYS_NOTHING = ""
    CRASHES = "do = [{exit=5}]"
    IS_LIMITED = 'do = [{limit="2026-11-15T12:00:00Z"}]'
    HANGS = 'do = [{run="setsid sleep 600 & echo > ready"}, {hang=true}]\nreport = {a=1}'


Stage = Callable[[Case, Trace], Driver]


def script_stage(case: Case, trace: Trace) -> Driver:
    path = trace.folder / "script.toml"
    path.write_text(f"[[turn]]\n{case.value}\n")
    return ScriptDriver(path, {"AMELIA_TRACE": trace.mark})


STAGES: dict[str, Stage] = {"script": script_stage}


@pytest.fixture(params=sorted(STAGES))
def stage(request: pytest.FixtureRequest) -> Stage:
    return STAGES[request.param]


def spec(trace: Trace, session: str = "11111111-2222-4333-8444-555555555555") -> TurnSpec:
    return TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="Write made.txt.",
        cwd=str(trace.folder),
        session=SessionId(session),
        transcript=str(trace.folder / "transcript.jsonl"),
        lock=str(trace.folder / "lock"),
        state=str(trace.folder / "agents"),
    )


async def events_of(turn: Turn) -> list[AgentEvent]:
    async with aclosing(turn.events()) as events:
        return [event async for event in events]


async def meanwhile(turn: Turn, trace: Trace, act: Callable[[], Awaitable[None]]) -> list[AgentEvent]:
    """Returns the events of a turn to which something happens once it is at work."""
    events: list[AgentEvent] = []

    async def listen() -> None:
        events.extend(await events_of(turn))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.to_thread.run_sync(trace.read, "ready")
        await act()
    return events


def end_of(events: list[AgentEvent]) -> TurnEnded:
    """Returns the end, which is the last event and the only one of its kind."""
    [ended] = [event for event in events if isinstance(event, TurnEnded)]
    assert events[-1] is ended
    return ended


async def test_a_probe_names_program_and_version(stage: Stage, trace: Trace) -> None:
    driver = stage(Case.WORKS, trace)
    info = await driver.probe()
    assert driver.name
    assert Path(info.program).is_absolute()
    assert info.version


async def test_a_turn_that_works_has_a_session_tools_words_and_a_report(stage: Stage, trace: Trace) -> None:
    events = await events_of(await stage(Case.WORKS, trace).start(spec(trace)))
    ended = end_of(events)
    assert ended.ending is Ending.OK
    assert ended.report == {"status": "completed"}
    assert ended.text == "finished"
    assert ended.usage == Usage(7, 8)
    assert (trace.folder / "made.txt").read_text() == "x"
    assert SessionStarted in map(type, events)
    assert ToolStarted in map(type, events)
    assert Said("finished") in events


async def test_a_given_session_is_used(stage: Stage, trace: Trace) -> None:
    asked = spec(trace)
    assert end_of(await events_of(await stage(Case.WORKS, trace).start(asked))).session == asked.session


async def test_without_a_given_session_there_is_one(stage: Stage, trace: Trace) -> None:
    ended = end_of(await events_of(await stage(Case.WORKS, trace).start(spec(trace, session=""))))
    assert ended.session


@pytest.mark.parametrize(
    ("case", "ending"),
    [
        (Case.SAYS_NOTHING, Ending.NO_REPORT),
        (Case.CRASHES, Ending.CRASHED),
        (Case.IS_LIMITED, Ending.LIMITED),
    ],
)
async def test_a_turn_without_a_report_says_why(
    stage: Stage, trace: Trace, case: Case, ending: Ending
) -> None:
    ended = end_of(await events_of(await stage(case, trace).start(spec(trace))))
    assert ended.ending is ending
    assert ended.report is None
    assert ended.detail
    assert bool(ended.until) == (ending is Ending.LIMITED)


@pytest.mark.parametrize("because", [Ending.KILLED, Ending.TIMED_OUT_WALL])
async def test_a_killed_turn_ends_as_it_was_killed_and_leaves_nothing(
    stage: Stage, trace: Trace, because: Ending
) -> None:
    turn = await stage(Case.HANGS, trace).start(spec(trace))
    events = await meanwhile(turn, trace, lambda: turn.kill(because))
    assert end_of(events).ending is because
    assert not trace.living()


async def test_an_interrupted_turn_ends_as_interrupted(stage: Stage, trace: Trace) -> None:
    turn = await stage(Case.HANGS, trace).start(spec(trace))
    events = await meanwhile(turn, trace, turn.interrupt)
    assert end_of(events).ending is Ending.INTERRUPTED
    assert not trace.living()


@pytest.mark.parametrize("case", [Case.HANGS, Case.WORKS])
async def test_a_turn_that_was_killed_before_it_began_does_not_work(
    stage: Stage, trace: Trace, case: Case
) -> None:
    turn = await stage(case, trace).start(spec(trace))
    await turn.interrupt()
    await turn.kill()
    assert end_of(await events_of(turn)).ending is Ending.KILLED
    assert not (trace.folder / "made.txt").exists()
    assert not trace.living()


async def test_whoever_stops_listening_ends_the_turn(stage: Stage, trace: Trace) -> None:
    turn = await stage(Case.HANGS, trace).start(spec(trace))
    async with aclosing(turn.events()) as events:
        async for _ in events:
            break
    assert not trace.living()


async def test_every_turn_is_recorded(stage: Stage, trace: Trace) -> None:
    for number in (1, 2):
        await events_of(await stage(Case.WORKS, trace).start(spec(trace)))
        text = (trace.folder / "transcript.jsonl").read_text()
        assert text.count("Write made.txt.") == number
        assert text.count('"ended": "ok"') == number
    assert wait_until(lambda: not trace.living())
