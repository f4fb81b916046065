"""The `api` driver with a real language model that can do nothing: what must hold all the same."""

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from amelia.drive.api.driver import ApiDriver
from amelia.drive.session import Sessions
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Allowance,
    Ending,
    Role,
    SessionStarted,
    TurnEnded,
    TurnSpec,
    Usage,
    Used,
)
from localmodel import LONGEST_ANSWER, NAME, local_model, tokens_written
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.local_model]

SCHEMA = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with local_model() as url:
        yield url


def driver(url: str) -> ApiDriver:
    return ApiDriver(AgentSettings(driver="api", model=f"openai:{NAME}", base_url=url))


def spec(trace: Trace, **facts: Any) -> TurnSpec:
    return TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="Write the word hello into the file hello.txt.",
        cwd=str(trace.folder),
        schema=SCHEMA,
        transcript=str(trace.folder / "transcript.jsonl"),
        state=str(trace.folder / "agents"),
        **facts,
    )


async def events_of(driver: ApiDriver, spec: TurnSpec) -> list[AgentEvent]:
    async with aclosing((await driver.start(spec)).events()) as events:
        return [event async for event in events]


async def test_a_hopeless_model_ends_once_with_a_report_or_a_clear_refusal(url: str, trace: Trace) -> None:
    written = tokens_written(url)
    events = await events_of(driver(url), spec(trace))
    assert isinstance(events[0], SessionStarted)
    [ended] = [event for event in events if isinstance(event, TurnEnded)]
    assert events[-1] is ended
    assert ended.ending in {Ending.OK, Ending.NO_REPORT, Ending.FAILED}
    assert (ended.report is not None) == (ended.ending is Ending.OK)
    assert ended.detail or ended.ending is Ending.OK
    used = [event.usage for event in events if isinstance(event, Used)]
    assert ended.usage is not None
    assert ended.usage == Usage(sum(one.input_tokens for one in used), sum(one.output_tokens for one in used))
    assert ended.usage.output_tokens == tokens_written(url) - written > 0
    assert all(one.input_tokens > 0 and 0 < one.output_tokens <= LONGEST_ANSWER for one in used)


async def test_its_allowance_is_kept(url: str, trace: Trace) -> None:
    written = tokens_written(url)
    sessions = Sessions({Role.DEVELOPER: driver(url)})
    ended = await sessions.take_turn(spec(trace, allowance=Allowance(tokens=20)))
    assert ended.ending is Ending.OUT_OF_BUDGET
    assert ended.report is None
    assert ended.usage is not None
    assert ended.usage.cost is None
    assert 0 < tokens_written(url) - written <= LONGEST_ANSWER  # one answer, and no second one


async def test_a_prompt_that_is_too_long_is_a_clear_refusal(url: str, trace: Trace) -> None:
    *_, ended = await events_of(driver(url), replace(spec(trace), prompt="hello " * 10_000))
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.usage) == (Ending.OVERFLOW, None)
    assert "context" in ended.detail
