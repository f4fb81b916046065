"""The `api` driver as it is used: the real library in its own process, on a scripted model."""

import json
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import anyio
import pytest

from amelia.drive.api.driver import ApiDriver
from amelia.drive.session import Sessions
from amelia.drive.turn import ProgramTurn
from amelia.judge.answers import EVALUATION_SCHEMA, REPORT_SCHEMA, REVIEW_SCHEMA
from amelia.judge.plans import PLAN_SCHEMA
from amelia.model.agents import (
    AgentEvent,
    AgentSettings,
    Allowance,
    Clocks,
    Ending,
    PermissionDenied,
    Retrying,
    Role,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnSpec,
    Usage,
)
from amelia.model.errors import ConfigError
from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Request, Script, Step, ToolCall
from real.desks import REJECTED, REPORTED, RULED
from real.faults import FULL
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

KEY = "fake-0123456789abcdef"
OTHERS = "the-key-of-somebody-else"
SESSION = SessionId("11111111-2222-4333-8444-555555555555")
SCHEMA = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}
DONE = Answer(text="finished", report={"status": "done"})
MODELS = {"openai:m1": "/v1", "openai-responses:m1": "/v1", "anthropic:claude-sonnet-5-5": ""}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, trace: Trace) -> None:
    monkeypatch.setenv("A_PROVIDER", KEY)
    monkeypatch.setenv("AMELIA_TRACE", trace.mark)
    monkeypatch.setenv("HOME", str(trace.folder / "home"))
    (trace.folder / "tree").mkdir()


def driver(server: ModelServer, model: str = "openai:m1", **settings: Any) -> ApiDriver:
    return ApiDriver(
        AgentSettings(
            driver="api",
            model=model,
            base_url=server.url + MODELS[model],
            key="A_PROVIDER",
            passes=("AMELIA_TRACE",),
            **settings,
        )
    )


def spec(trace: Trace, **facts: Any) -> TurnSpec:
    given: dict[str, Any] = {
        "role": Role.DEVELOPER,
        "prompt": "Write hello.py.",
        "session": SESSION,
        "schema": SCHEMA,
        **facts,
    }
    return TurnSpec(
        unit="1",
        attempt=1,
        cwd=str(trace.folder / "tree"),
        transcript=str(trace.folder / "transcript.jsonl"),
        lock=str(trace.folder / "lock"),
        state=str(trace.folder / "agents"),
        **given,
    )


async def play(driver: ApiDriver, spec: TurnSpec) -> tuple[list[AgentEvent], TurnEnded]:
    """Returns the events of a turn, and its end, which is the last and the only one."""
    async with aclosing((await driver.start(spec)).events()) as stream:
        events = [event async for event in stream]
    [ended] = [event for event in events if isinstance(event, TurnEnded)]
    assert events[-1] is ended
    return events, ended


def called(name: str, **arguments: object) -> Answer:
    return Answer(tools=[ToolCall(name, arguments)])


@pytest.mark.parametrize("model", MODELS)
async def test_a_model_creates_is_rejected_goes_on_edits_and_reports(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    steps = [
        called("write_file", path="hello.py", text="print('hello')\n"),
        DONE,
        called("edit_file", path="hello.py", old="hello", new="goodbye"),
        called("shell", command=f"{sys.executable} hello.py"),
        DONE,
    ]
    with ModelServer(steps) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        events, first = await play(driver(server, model), spec(trace))
        assert (trace.folder / "tree/hello.py").read_text() == "print('hello')\n"
        _, second = await play(
            driver(server, model), spec(trace, prompt="Rejected: say goodbye.", resume=True)
        )
        last = json.dumps(server.requests[-1].body)
        assert not server.left
        assert not server.connects
    assert isinstance(events[0], SessionStarted)
    assert ToolStarted("write_file", "hello.py") in events
    assert ToolEnded("write_file", ok=True) in events
    assert (first.ending, first.report, first.text) == (Ending.OK, {"status": "done"}, "finished")
    assert (first.session, first.usage) == (SESSION, Usage(200, 40))
    assert (second.ending, second.session, second.usage) == (Ending.OK, SESSION, Usage(300, 60))
    assert last.index("Write hello.py.") < last.index("say goodbye") < last.rindex("goodbye")
    assert (trace.folder / "tree/hello.py").read_text() == "print('goodbye')\n"


SCHEMAS: dict[str, tuple[Mapping[str, object], Mapping[str, object] | None]] = {
    "report": (REPORT_SCHEMA, REPORTED.report),
    "review": (REVIEW_SCHEMA, REJECTED.report),
    "evaluation": (EVALUATION_SCHEMA, RULED.report),
    "plan": (PLAN_SCHEMA, {"goal": "Greet", "tasks": []}),
}
ALLOWED = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}


def reported_by(request: Request) -> dict[str, Any]:
    """Returns the tool that a request offers for the report, whichever wire it is on."""
    tools = [tool.get("function", tool) for tool in cast("list[dict[str, Any]]", request.body["tools"])]
    [tool] = [tool for tool in tools if tool["name"] == "final_result"]
    return tool


def check_strict(schema: dict[str, Any]) -> None:
    """Holds a schema to what all three wires take: one type each, all properties required, none besides."""
    assert schema.keys() <= ALLOWED
    assert isinstance(schema.get("type", ""), str)
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(schema["properties"])
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for each in [*inner, *([schema["items"]] if "items" in schema else [])]:
        check_strict(each)


@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("model", MODELS)
async def test_every_schema_that_amelia_asks_by_is_sent_as_a_strict_one(
    trace: Trace, model: str, kind: str
) -> None:
    schema, report = SCHEMAS[kind]
    with ModelServer([Answer(report=report)]) as server:
        _, ended = await play(driver(server, model), spec(trace, schema=schema))
        [request] = server.requests
    assert (ended.ending, ended.report) == (Ending.OK, report), ended.detail
    tool = reported_by(request)
    assert tool["strict"] is True
    check_strict(tool.get("parameters") or tool["input_schema"])


@pytest.mark.parametrize("facts", [{"role": Role.REVIEWER}, {"is_repair": True}], ids=["reviewer", "repair"])
async def test_a_reviewer_and_a_repair_cannot_change_files(trace: Trace, facts: dict[str, Any]) -> None:
    with ModelServer([called("write_file", path="a.txt", text="x"), called("list_files"), DONE]) as server:
        events, ended = await play(driver(server), spec(trace, **facts))
    assert ended.ending is Ending.OK
    assert ToolEnded("write_file", ok=False) in events
    assert not list((trace.folder / "tree").iterdir())


async def test_a_path_outside_of_the_work_tree_is_denied(trace: Trace) -> None:
    with ModelServer([called("read_file", path="../transcript.jsonl"), DONE]) as server:
        events, _ = await play(driver(server), spec(trace))
    assert PermissionDenied("../transcript.jsonl") in events


LOOK = """
env; echo $A_PROVIDER; cat ../agents/*; pid=$$
while [ $pid -gt 1 ] && [ $pid != {amelia} ]; do
    echo looked at one; cat /proc/$pid/environ /proc/$pid/cmdline /proc/$pid/fd/0
    pid=$(sed -n 's/^PPid:\\s*//p' /proc/$pid/status)
done
"""


async def test_the_key_is_nowhere_to_be_read(trace: Trace) -> None:
    look = LOOK.format(amelia=os.getpid())
    with ModelServer([called("shell", command=look), DONE]) as server:
        await play(driver(server), spec(trace))
    kept = [path.read_text() for path in trace.folder.rglob("*") if path.is_file()]
    [history] = [text for text in kept if "AMELIA_UNIT=1" in text]
    assert history.count("looked at one\\n") == 4  # the command, the program, and what supervises each
    assert not any(KEY in text for text in kept)


async def test_the_record_holds_the_prompt_alone_and_no_key_that_a_provider_repeats(trace: Trace) -> None:
    with ModelServer([], then=Fault(status=401, message=f"the key {KEY} is wrong")) as server:
        _, ended = await play(driver(server), spec(trace))
    record = (trace.folder / "transcript.jsonl").read_text()
    assert json.loads(record.splitlines()[0])["prompt"] == "Write hello.py."
    assert KEY not in record
    assert "the key [redacted] is wrong" in ended.detail


@contextmanager
def listening() -> Generator[tuple[str, list[str]]]:
    """Gives the address of a server that refuses everything, and the keys that it was sent."""
    keys: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            keys.append(str(self.headers["authorization"] or self.headers["x-api-key"]))
            self.send_error(400)

        def log_message(self, *_: object) -> None:  # type: ignore[override]
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", keys
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("model", MODELS)
async def test_an_address_gets_the_key_that_was_named_for_it_and_no_other(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    usual = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    for name in usual:
        monkeypatch.setenv(name, OTHERS)
    with listening() as (url, keys):
        address = url + MODELS[model]
        for key, passes in ((None, ()), (None, usual), ("A_PROVIDER", ())):
            settings = AgentSettings(model=model, base_url=address, key=key, passes=passes)
            _, ended = await play(ApiDriver(settings), spec(trace))
            assert ended.ending is Ending.FAILED
    assert [key.removeprefix("Bearer ") for key in keys] == ["none", "none", KEY]


async def test_without_a_session_there_is_one_before_the_first_token(trace: Trace) -> None:
    with ModelServer([Fault(status=400, message="no such thing")]) as server:
        events, ended = await play(driver(server), spec(trace, session=None))
    assert isinstance(events[0], SessionStarted)
    assert ended.session == events[0].session
    assert (trace.folder / "agents" / f"{ended.session}.json").exists()
    assert (ended.ending, ended.detail) == (Ending.FAILED, "the agent failed: 400: no such thing")


async def test_a_session_that_is_gone_is_lost(trace: Trace) -> None:
    with ModelServer([DONE]) as server:
        _, ended = await play(driver(server), spec(trace, resume=True))
        assert not server.requests
    assert ended.ending is Ending.SESSION_LOST


async def test_a_refused_key_ends_at_once(trace: Trace) -> None:
    with ModelServer([], then=Fault(status=401, message="wrong key")) as server:
        events, ended = await play(driver(server), spec(trace))
        assert len(server.requests) == 1
    assert (ended.ending, ended.usage) == (Ending.AUTH, None)
    assert "wrong key" in ended.detail
    assert not [event for event in events if isinstance(event, Retrying)]


async def test_a_limit_tells_when_it_ends(trace: Trace) -> None:
    late = Fault(status=429, headers={"retry-after": "3600"}, message="slow down")
    with ModelServer([], then=late) as server:
        _, ended = await play(driver(server), spec(trace))
    assert (ended.ending, bool(ended.until)) == (Ending.LIMITED, True)
    assert "slow down" in ended.detail


async def test_an_outage_is_a_limit_after_short_retries(trace: Trace) -> None:
    with ModelServer([], then=Fault(status=529)) as server:
        events, ended = await play(driver(server), spec(trace))
        assert len(server.requests) == 3
    assert [event.status for event in events if isinstance(event, Retrying)] == [529, 529]
    assert (ended.ending, ended.until) == (Ending.LIMITED, None)


async def test_an_allowance_and_a_number_of_turns_are_kept(trace: Trace) -> None:
    look = called("list_files")
    with ModelServer([], then=look) as server:
        _, ended = await play(driver(server), spec(trace, allowance=Allowance(tokens=200)))
        assert (ended.ending, len(server.requests)) == (Ending.OUT_OF_BUDGET, 2)
        _, ended = await play(driver(server, max_turns=3), spec(trace))
        assert (ended.ending, len(server.requests)) == (Ending.FAILED, 5)


@pytest.mark.parametrize("how", [Breakdown.HANG, Breakdown.HANG_MID_STREAM])
async def test_a_provider_that_falls_silent_is_left(trace: Trace, how: Breakdown) -> None:
    clocks = Clocks(silence=timedelta(seconds=3))
    with ModelServer([], then=how) as server:
        sessions = Sessions({Role.DEVELOPER: driver(server)})
        ended = await sessions.take_turn(spec(trace, clocks=clocks))
    assert ended.ending is Ending.TIMED_OUT_SILENCE
    assert not trace.living()


Act = Callable[[ProgramTurn], Awaitable[None]]


@pytest.mark.parametrize(
    ("act", "ending"),
    [(ProgramTurn.interrupt, Ending.INTERRUPTED), (ProgramTurn.kill, Ending.KILLED)],
)
async def test_a_turn_that_is_stopped_leaves_nothing_and_can_be_gone_on_with(
    trace: Trace, act: Act, ending: Ending
) -> None:
    run = called("shell", command="setsid sleep 600 & echo > ready; sleep 600")
    with ModelServer([run, DONE]) as server:
        turn = await driver(server).start(spec(trace))
        heard: list[AgentEvent] = []

        async def listen() -> None:
            async with aclosing(turn.events()) as events:
                heard.extend([event async for event in events])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.to_thread.run_sync(trace.read, "tree/ready")
            await act(turn)
        assert isinstance(heard[-1], TurnEnded)
        assert heard[-1].ending is ending
        assert not trace.living()
        _, ended = await play(driver(server), spec(trace, prompt="Go on.", resume=True))
        assert ended.ending is Ending.OK
        assert "Write hello.py." in json.dumps(server.requests[-1].body)


async def test_what_lies_in_the_work_tree_is_not_run(trace: Trace) -> None:
    for name in ("pydantic_ai", "anyio", "json"):
        (trace.folder / "tree" / f"{name}.py").write_text("raise SystemExit('taken over')")
    with ModelServer([DONE]) as server:
        _, ended = await play(driver(server), spec(trace))
    assert ended.ending is Ending.OK


async def test_a_probe_names_the_library() -> None:
    with ModelServer() as server:
        info = await driver(server).probe()
        assert not server.log
    assert Path(info.program).is_absolute()
    assert info.version.startswith("pydantic-ai 2.")


async def test_a_probe_without_the_library_says_how_to_install_it() -> None:
    hidden = "import sys; sys.modules['pydantic_ai'] = None; from amelia.drive.api.agent import run; run(sys.argv[1:])"
    command = (sys.executable, "-c", hidden)
    settings = AgentSettings(driver="api", model="openai:m1", command=command)
    with pytest.raises(ConfigError, match="pydantic_ai") as caught:
        await ApiDriver(settings).probe()
    assert "pip install 'amelia-orchestrator[api]'" in str(caught.value.hint)


async def test_a_probe_without_a_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="there is no key") as caught:
        await ApiDriver(AgentSettings(driver="api", model="openai:m1")).probe()
    assert "OPENAI_API_KEY" in (caught.value.hint or "")


async def test_the_usual_variable_of_a_provider_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await ApiDriver(AgentSettings(driver="api", model="openai-responses:m1")).probe()


async def test_a_probe_of_a_program_that_hangs_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amelia.drive.programs.PROBE_TIME", timedelta(seconds=0.2))
    settings = AgentSettings(driver="api", model="openai:m1", command=("sh", "-c", "sleep 600"))
    with pytest.raises(ConfigError, match="no answer"):
        await ApiDriver(settings).probe()


@pytest.mark.parametrize("model", [None, "", "gpt-5", "openai:", ":gpt-5"])
async def test_a_model_must_be_named_with_its_provider(trace: Trace, model: str | None) -> None:
    settings = AgentSettings(driver="api", model=model)
    assert ApiDriver(settings).name == "api"
    for ask in (ApiDriver(settings).probe, lambda: ApiDriver(settings).start(spec(trace))):
        with pytest.raises(ConfigError, match="names no model") as caught:
            await ask()
        assert "provider:model" in str(caught.value.hint)


async def test_a_key_that_was_named_must_be_there(trace: Trace) -> None:
    settings = AgentSettings(driver="api", model="openai:m1", key="NO_SUCH_VARIABLE")
    with pytest.raises(ConfigError, match="NO_SUCH_VARIABLE is not set"):
        await ApiDriver(settings).start(spec(trace))


BIG = "x" * 30_000


def answer_of(request: Request) -> str:
    return json.dumps(request.body)


def full_at(characters: int, steps: int) -> Script:
    """Returns a model with a small window that looks at a large file again and again, then reports."""
    asked = [0]

    def model(request: Request) -> Step:
        if len(answer_of(request)) > characters:
            return FULL
        asked[0] += 1
        return called("read_file", path=f"big-{asked[0]}.txt") if asked[0] <= steps else DONE

    return model


@pytest.mark.parametrize("model", MODELS)
async def test_a_history_that_the_window_is_too_small_for_is_cut_and_the_turn_goes_on(
    trace: Trace, model: str
) -> None:
    for number in range(1, 13):
        (trace.folder / "tree" / f"big-{number}.txt").write_text(f"begin-{number} {BIG} end-{number}\n")
    with ModelServer(full_at(150_000, steps=12)) as server:
        events, ended = await play(driver(server, model), spec(trace, prompt="Read them all, says the plan."))
        sent = [answer_of(request) for request in server.requests]
    assert (ended.ending, ended.report) == (Ending.OK, {"status": "done"}), ended.detail
    assert max(map(len, sent)) < 2 * 150_000
    assert all("Read them all, says the plan." in request for request in sent), "the assignment stays"
    assert "end-12" in sent[-1], "and so does what was read last"
    assert "left out" in sent[-1]
    assert [event for event in events if isinstance(event, Retrying)]


async def test_a_history_stays_below_a_window_that_is_known(trace: Trace) -> None:
    numbers = range(1, 9)
    for number in numbers:
        (trace.folder / "tree" / f"big-{number}.txt").write_text(f"begin-{number} {BIG} end-{number}\n")
    look = [called("read_file", path=f"big-{number}.txt") for number in numbers]
    look[-1] = replace(look[-1], usage=(950_000, 20))  # of a million
    with ModelServer([*look, DONE, called("list_files"), DONE]) as server:
        asked = driver(server, "anthropic:claude-sonnet-5-5")
        _, ended = await play(asked, spec(trace))
        _, again = await play(asked, spec(trace, prompt="Say goodbye.", resume=True))
        sent = [answer_of(request) for request in server.requests]
    assert (ended.ending, again.ending) == (Ending.OK, Ending.OK)
    assert "left out" not in sent[7]
    assert "left out" in sent[8], "the next request is compacted before it is sent"
    assert "Write hello.py." in sent[8]
    assert "end-8" in sent[8]
    assert len(sent[8]) < len(sent[7])
    assert len(sent[-1]) < len(sent[7]), "what was left out stays out of the session"
    assert "Say goodbye." in sent[-1]


async def test_a_prompt_that_is_too_long_by_itself_is_an_overflow(trace: Trace) -> None:
    with ModelServer([], then=FULL) as server:
        _, ended = await play(driver(server), spec(trace))
        assert len(server.requests) == 1
    assert ended.ending is Ending.OVERFLOW


def marks(value: object) -> int:
    """Counts the marks of what may be cached."""
    return json.dumps(value).count('"cache_control": {"type": "ephemeral"')


async def test_what_may_be_cached_is_marked_for_anthropic_and_nobody_else(trace: Trace) -> None:
    for model in MODELS:
        with ModelServer([called("list_files"), DONE]) as server:
            _, ended = await play(driver(server, model), spec(trace, session=SessionId(model)))
            body = server.requests[-1].body
        assert ended.ending is Ending.OK
        if model.startswith("anthropic"):
            assert [marks(body[part]) for part in ("tools", "system", "messages")] == [1, 1, 1]
            assert "cache_control" not in body
        else:
            assert "cache" not in answer_of(server.requests[-1])
