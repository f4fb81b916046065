"""What faults of the provider come to with the `api` driver."""

import socket
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from amelia.drive.api.driver import ApiDriver
from amelia.drive.session import Sessions
from amelia.model.agents import AgentSettings, Clocks, Ending, Role, TurnSpec
from modelserver.server import ModelServer
from modelserver.steps import Breakdown, Fault, Step
from real.faults import FULL, NO_CREDIT, UNKNOWN_MODEL, record
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

KEY = "sk-made-up-for-these-tests"
FAULTS: dict[str, tuple[Step, Ending]] = {
    "400": (Fault(status=400), Ending.FAILED),
    "401": (Fault(status=401), Ending.AUTH),
    "403": (Fault(status=403), Ending.AUTH),
    "402": (Fault(status=402), Ending.NO_CREDIT),
    "404": (Fault(status=404), Ending.MODEL_NOT_FOUND),
    "413": (Fault(status=413), Ending.OVERFLOW),
    "context is full": (FULL, Ending.OVERFLOW),
    "no credit": (NO_CREDIT, Ending.NO_CREDIT),
    "unknown model": (UNKNOWN_MODEL, Ending.MODEL_NOT_FOUND),
    "429": (Fault(status=429), Ending.LIMITED),
    "429 with retry-after": (Fault(status=429, headers={"retry-after": "3600"}), Ending.LIMITED),
    "500": (Fault(status=500), Ending.LIMITED),
    "503": (Fault(status=503), Ending.LIMITED),
    "529": (Fault(status=529), Ending.LIMITED),
    Breakdown.HANG: (Breakdown.HANG, Ending.TIMED_OUT_SILENCE),
    Breakdown.HANG_MID_STREAM: (Breakdown.HANG_MID_STREAM, Ending.TIMED_OUT_SILENCE),
    Breakdown.CUT_STREAM: (Breakdown.CUT_STREAM, Ending.LIMITED),
    Breakdown.DROP: (Breakdown.DROP, Ending.LIMITED),
    Breakdown.GARBAGE: (Breakdown.GARBAGE, Ending.LIMITED),
    Breakdown.BROKEN_EVENTS: (Breakdown.BROKEN_EVENTS, Ending.LIMITED),
}


PATIENT = Clocks(wall=timedelta(minutes=1))
IMPATIENT = Clocks(silence=timedelta(seconds=4), wall=timedelta(minutes=1))
NO_ANSWERS = (Breakdown.CUT_STREAM, Breakdown.GARBAGE, Breakdown.BROKEN_EVENTS)


def spec(trace: Trace, clocks: Clocks = PATIENT) -> TurnSpec:
    (trace.folder / "tree").mkdir()
    return TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="Do what the plan says.",
        cwd=str(trace.folder / "tree"),
        transcript=str(trace.folder / "turn.jsonl"),
        lock=str(trace.folder / "lock"),
        state=str(trace.folder / "state"),
        clocks=clocks,
    )


@pytest.fixture
def environment(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Callable[[ModelServer], None]:
    """Gives what sets up an agent's environment: a home, a key, and a proxy that leads nowhere."""

    def set_up(server: ModelServer) -> None:
        own = {"HOME": str(trace.folder), "AMELIA_TRACE": trace.mark, "MODEL_KEY": KEY}
        for name, value in {**own, **server.environment()}.items():
            monkeypatch.setenv(name, value)

    return set_up


def driver(model: str, url: str) -> ApiDriver:
    return ApiDriver(
        AgentSettings(driver="api", model=model, base_url=url, key="MODEL_KEY", passes=("AMELIA_TRACE",))
    )


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_provider_has_an_ending(
    trace: Trace, environment: Callable[[ModelServer], None], fault: str
) -> None:
    step, ending = FAULTS[fault]
    clocks = IMPATIENT if ending is Ending.TIMED_OUT_SILENCE else PATIENT
    with ModelServer(then=step) as server:
        environment(server)
        began = time.monotonic()
        sessions = Sessions({Role.DEVELOPER: driver("openai:scripted", f"{server.url}/v1")})
        ended = await sessions.take_turn(spec(trace, clocks))
        seconds = time.monotonic() - began
    left = trace.living()
    record("api", fault, ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is ending, ended.detail
    assert ended.detail
    assert (ended.until is not None) == (fault == "429 with retry-after")
    assert seconds < 25
    assert not left
    assert server.connects == []
    assert KEY not in ended.detail + (trace.folder / "turn.jsonl").read_text()


@pytest.mark.parametrize("fault", NO_ANSWERS)
@pytest.mark.parametrize(
    ("model", "path"), [("anthropic:scripted", ""), ("openai-responses:scripted", "/v1")]
)
async def test_an_answer_that_is_none_is_an_outage_in_every_protocol(
    trace: Trace, environment: Callable[[ModelServer], None], *, model: str, path: str, fault: Breakdown
) -> None:
    with ModelServer(then=fault) as server:
        environment(server)
        sessions = Sessions({Role.DEVELOPER: driver(model, server.url + path)})
        ended = await sessions.take_turn(spec(trace))
    assert ended.ending is Ending.LIMITED, ended.detail


async def test_a_provider_that_cannot_be_reached_is_an_outage(
    trace: Trace, environment: Callable[[ModelServer], None]
) -> None:
    with ModelServer() as server, socket.socket() as nobody_listens:
        environment(server)
        nobody_listens.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/v1"
        began = time.monotonic()
        ended = await Sessions({Role.DEVELOPER: driver("openai:scripted", url)}).take_turn(spec(trace))
        seconds = time.monotonic() - began
    left = trace.living()
    record("api", "refused connection", ended.ending, seconds=seconds, processes_left=len(left))
    assert ended.ending is Ending.LIMITED
    assert not left
