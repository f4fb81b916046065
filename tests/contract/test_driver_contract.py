"""What every driver promises, whatever agent is behind it.

A driver joins by a stage (`contract.stages`) on which its agent can be put into every situation (`Case`).
"""

import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from amelia.drive.session import Sessions
from amelia.model.agents import (
    AgentEvent,
    Allowance,
    Driver,
    Ending,
    PermissionDenied,
    Role,
    Said,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    Turn,
    TurnEnded,
    TurnSpec,
    Used,
    Written,
    total,
)
from contract.stages import CANNOT, KEY, KINDS, REPORT, Case, Promise, Stage, make_stage
from real.faults import record
from tracing import Trace, wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PROMPT = "Write made.txt."
SCHEMA = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}


@pytest.fixture(params=KINDS)
def stage(request: pytest.FixtureRequest, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with make_stage(request.param, trace, monkeypatch) as stage:
        yield stage


def needs(stage: Stage, promise: Promise) -> None:
    """Skips the test for a kind of agent that cannot have this."""
    if reason := CANNOT.get((stage.name, promise)):
        pytest.skip(reason)


def spec(trace: Trace, **facts: Any) -> TurnSpec:
    asked = TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt=PROMPT,
        cwd=str(trace.folder / "tree"),
        session=SessionId(str(uuid.uuid4())),
        schema=SCHEMA,
        transcript=str(trace.folder / "transcript.jsonl"),
        lock=str(trace.folder / "lock"),
        state=str(trace.folder / "agents"),
    )
    return replace(asked, **facts)


async def events_of(turn: Turn) -> list[AgentEvent]:
    async with aclosing(turn.events()) as events:
        return [event async for event in events]


async def play(driver: Driver, asked: TurnSpec) -> list[AgentEvent]:
    return await events_of(await driver.start(asked))


async def meanwhile(turn: Turn, trace: Trace, act: Callable[[], Awaitable[None]]) -> list[AgentEvent]:
    """Returns the events of a turn to which something happens once it is at work."""
    events: list[AgentEvent] = []

    async def listen() -> None:
        events.extend(await events_of(turn))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.to_thread.run_sync(trace.read, "tree/ready")
        await act()
    return events


def end_of(events: list[AgentEvent]) -> TurnEnded:
    """Returns the end, which is the last event and the only one of its kind."""
    [ended] = [event for event in events if isinstance(event, TurnEnded)]
    assert events[-1] is ended
    return ended


def tokens(ended: TurnEnded) -> tuple[int, int]:
    assert ended.usage is not None
    return ended.usage.input_tokens, ended.usage.output_tokens


async def test_a_probe_names_program_and_version(stage: Stage) -> None:
    driver = stage.driver(Case.WORKS)
    info = await driver.probe()
    assert driver.name == stage.name
    assert Path(info.program).is_absolute()
    assert info.version


async def test_a_turn_that_works_has_a_session_tools_words_usage_and_a_report(
    stage: Stage, trace: Trace
) -> None:
    events = await play(stage.driver(Case.WORKS), spec(trace))
    ended = end_of(events)
    assert (ended.ending, ended.report, ended.exit_code) == (Ending.OK, REPORT, 0)
    assert (trace.folder / "tree" / "made.txt").read_text().strip() == "x"
    [opened] = [event for event in events if isinstance(event, SessionStarted)]
    assert ended.session == opened.session
    assert ToolStarted in map(type, events[events.index(opened) :])
    assert True in [event.ok for event in events if isinstance(event, ToolEnded)]
    assert Said("finished") in events
    assert ended.text
    assert tokens(ended) == (7, 8)


async def test_a_given_session_is_used(stage: Stage, trace: Trace) -> None:
    needs(stage, Promise.NAMED_SESSION)
    asked = spec(trace)
    assert end_of(await play(stage.driver(Case.WORKS), asked)).session == asked.session


async def test_without_a_given_session_there_is_one(stage: Stage, trace: Trace) -> None:
    assert end_of(await play(stage.driver(Case.WORKS), spec(trace, session=None))).session


async def test_a_session_goes_on_and_what_a_turn_used_is_what_it_added(stage: Stage, trace: Trace) -> None:
    first = end_of(await play(stage.driver(Case.WORKS), spec(trace)))
    again = spec(trace, prompt="Say more.", session=first.session, resume=True, before=first.usage)
    events = await play(stage.driver(Case.GOES_ON), again)
    second = end_of(events)
    assert (second.ending, second.report, second.session) == (Ending.OK, REPORT, first.session)
    assert stage.went_on(str(first.session), PROMPT)
    assert tokens(second) == (5, 6)
    used = None
    for event in events:
        used = total(used, event.usage) if isinstance(event, Used) else used
    assert second.usage == used


async def test_a_session_that_is_not_there_is_lost(stage: Stage, trace: Trace) -> None:
    began = time.monotonic()
    events = await play(stage.driver(Case.IS_UNKNOWN), spec(trace, resume=True))
    ended = end_of(events)
    note(stage, trace, "session to go on with is gone", ended, began)
    assert (ended.ending, ended.report, ended.usage) == (Ending.SESSION_LOST, None, None)
    assert ended.detail
    assert ToolStarted not in map(type, events)


@pytest.mark.parametrize("role", list(Role))
async def test_only_a_developer_can_write(stage: Stage, trace: Trace, role: Role) -> None:
    needs(stage, Promise.READ_ONLY)
    ended = end_of(await play(stage.driver(Case.TRIES_TO_WRITE), spec(trace, role=role)))
    assert (ended.ending, ended.report) == (Ending.OK, REPORT)
    made = [path.name for path in (trace.folder / "tree").iterdir()]
    assert made == (["made.txt"] if role is Role.DEVELOPER else [])


async def test_what_an_agent_is_refused_is_told(stage: Stage, trace: Trace) -> None:
    needs(stage, Promise.TOLD_REFUSALS)
    events = await play(stage.driver(Case.TRIES_TO_WRITE), spec(trace, role=Role.REVIEWER))
    is_denied = PermissionDenied in map(type, events)
    assert is_denied or False in [event.ok for event in events if isinstance(event, ToolEnded)]


async def test_a_report_is_found_in_the_last_message_of_every_agent(stage: Stage, trace: Trace) -> None:
    ended = end_of(await play(stage.driver(Case.TALKS), spec(trace)))
    assert (ended.ending, ended.report) == (Ending.OK, REPORT)
    assert ended.written == (Written({"status": "failed"}, stands_alone=False), Written(REPORT))


@pytest.mark.parametrize(
    ("case", "ending"),
    [
        (Case.SAYS_NOTHING, Ending.NO_REPORT),
        (Case.CRASHES, Ending.CRASHED),
        (Case.IS_LIMITED, Ending.LIMITED),
        (Case.IS_REFUSED, Ending.AUTH),
    ],
)
async def test_a_turn_without_a_report_says_why(
    stage: Stage, trace: Trace, case: Case, ending: Ending
) -> None:
    began = time.monotonic()
    ended = await Sessions({Role.DEVELOPER: stage.driver(case)}).take_turn(spec(trace))
    if case is Case.CRASHES:
        note(stage, trace, "agent crashes", ended, began)
    assert (ended.ending, ended.report) == (ending, None)
    assert ended.detail
    assert ended.until is None or ending is Ending.LIMITED


async def test_a_limit_tells_when_it_ends(stage: Stage, trace: Trace) -> None:
    needs(stage, Promise.RESET_TIME)
    assert end_of(await play(stage.driver(Case.IS_LIMITED), spec(trace))).until


@pytest.mark.parametrize("case", [Case.CRASHES, Case.IS_REFUSED, Case.IS_LIMITED])
async def test_usage_that_nobody_tells_is_unknown_and_not_zero(
    stage: Stage, trace: Trace, case: Case
) -> None:
    ended = await Sessions({Role.DEVELOPER: stage.driver(case)}).take_turn(spec(trace))
    assert ended.usage is None


async def test_an_allowance_that_is_used_up_ends_the_turn(stage: Stage, trace: Trace) -> None:
    needs(stage, Promise.ALLOWANCE)
    began = time.monotonic()
    asked = spec(trace, allowance=Allowance(cost=0.001, tokens=120))
    ended = await Sessions({Role.DEVELOPER: stage.driver(Case.SPENDS)}).take_turn(asked)
    note(stage, trace, "allowance is used up", ended, began)
    assert (ended.ending, ended.report) == (Ending.OUT_OF_BUDGET, None)
    assert ended.usage is not None
    assert ended.usage.tokens <= 480
    assert not trace.living()


@pytest.mark.parametrize(
    ("because", "fault"), [(Ending.KILLED, "killed at work"), (Ending.TIMED_OUT_WALL, "time is up")]
)
async def test_a_killed_turn_ends_as_it_was_killed_and_leaves_nothing(
    stage: Stage, trace: Trace, because: Ending, fault: str
) -> None:
    turn = await stage.driver(Case.HANGS).start(spec(trace))
    began = time.monotonic()
    ended = end_of(await meanwhile(turn, trace, lambda: turn.kill(because)))
    note(stage, trace, fault, ended, began)
    assert ended.ending is because
    assert not trace.living()


async def test_an_interrupted_turn_ends_as_interrupted(stage: Stage, trace: Trace) -> None:
    turn = await stage.driver(Case.HANGS).start(spec(trace))
    began = time.monotonic()
    ended = end_of(await meanwhile(turn, trace, turn.interrupt))
    note(stage, trace, "interrupted at work", ended, began)
    assert ended.ending is Ending.INTERRUPTED
    assert not trace.living()


@pytest.mark.parametrize("case", [Case.HANGS, Case.WORKS])
async def test_a_turn_that_was_killed_before_it_began_does_not_work(
    stage: Stage, trace: Trace, case: Case
) -> None:
    turn = await stage.driver(case).start(spec(trace))
    await turn.interrupt()
    await turn.kill()
    assert end_of(await events_of(turn)).ending is Ending.KILLED
    assert not (trace.folder / "tree" / "made.txt").exists()
    assert not trace.living()


async def test_whoever_stops_listening_ends_the_turn(stage: Stage, trace: Trace) -> None:
    turn = await stage.driver(Case.HANGS).start(spec(trace))
    async with aclosing(turn.events()) as events:
        async for _ in events:
            break
    assert not trace.living()


async def test_every_turn_is_recorded_and_no_key_with_it(stage: Stage, trace: Trace) -> None:
    for number in (1, 2):
        await play(stage.driver(Case.WORKS), spec(trace))
        text = (trace.folder / "transcript.jsonl").read_text()
        assert text.count(PROMPT) == number
        assert text.count('"ended": "ok"') == number
        assert KEY not in text
    assert wait_until(lambda: not trace.living())


def note(stage: Stage, trace: Trace, fault: str, ended: TurnEnded, began: float) -> None:
    """Puts what came of a fault into the table of faults."""
    seconds = time.monotonic() - began
    record(stage.name, fault, ended.ending, seconds=seconds, processes_left=len(trace.living()))
