"""The program that speaks for a model, run in this process on a scripted model: every line it writes."""

import json
from collections.abc import Callable, Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest

from amelia.drive.api import turn as api_turn
from amelia.drive.api.agent import INTERRUPTED, NOT_INSTALLED, NOT_USABLE, main, read_input
from amelia.drive.api.assignment import Assignment
from amelia.model.agents import Allowance
from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Step, ToolCall

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}
DONE = Answer(text="finished", report={"status": "done"}, usage=(7, 8))
TALK = Answer(text="I will do it soon.", usage=(7, 8))
MODELS = {"openai:m1": "/v1", "openai-responses:gpt-5": "/v1", "anthropic:m1": ""}

Line: TypeAlias = dict[str, Any]


class Stage:
    """Runs the program in a folder, with a prompt, and reads what it tells."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[bytes]
    ) -> None:
        self.folder = folder
        self.history = folder / "state" / "s1.json"
        self.errors = ""
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.tree = folder / "tree"
        self.tree.mkdir()
        monkeypatch.chdir(self.tree)

    def run(
        self, prompt: str = "Do it.", *options: str, key: str | None = "sk-fake-key", **facts: Any
    ) -> int:
        given_input = prompt if key is None else f"{json.dumps(key)}\n{prompt}"
        self._monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(given_input.encode())))
        given = {"session": "s1", "history": str(self.history), "schema": SCHEMA, "may_write": True}
        assignment = msgspec.convert(
            {"model": "openai:m1", "has_key": key is not None, **given, **facts}, Assignment
        )
        return main([*options, msgspec.json.encode(assignment).decode()])

    def lines(self) -> list[Line]:
        said = self._capsys.readouterr()
        self.errors = said.err.decode()
        return [json.loads(line) for line in said.out.splitlines()]

    def turn(self, server: ModelServer, prompt: str = "Do it.", **facts: Any) -> list[Line]:
        model = facts.setdefault("model", "openai:m1")
        assert self.run(prompt, base_url=server.url + MODELS[model], **facts) == 0
        return self.lines()

    def play(self, steps: Sequence[Step], **facts: Any) -> list[Line]:
        with ModelServer(steps, then=facts.pop("then", Fault(status=400))) as server:
            return self.turn(server, **facts)


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Stage:
    monkeypatch.setattr(api_turn, "DELAYS", (0.01, 0.02))
    return Stage(tmp_path, monkeypatch, capsysbinary)


def of(lines: list[Line], kind: str) -> list[Line]:
    return [line for line in lines if line["type"] == kind]


@pytest.mark.parametrize("model", MODELS)
def test_a_turn_tells_session_words_tools_usage_and_report(stage: Stage, model: str) -> None:
    write = ToolCall("write_file", {"path": "a.txt", "text": "hello"})
    lines = stage.play([Answer(text="first", tools=[write], usage=(10, 2)), DONE], model=model)
    assert lines == [
        {"type": "session", "session": "s1", "model": model},
        {"type": "say", "text": "first"},
        {"type": "usage", "input": 10, "output": 2, "cost": None},
        {"type": "tool", "state": "started", "name": "write_file", "detail": "a.txt"},
        {"type": "tool", "state": "ended", "name": "write_file", "ok": True},
        {"type": "say", "text": "finished"},
        {"type": "result", "report": {"status": "done"}},
        {"type": "usage", "input": 7, "output": 8, "cost": None},
    ]
    assert (stage.tree / "a.txt").read_text() == "hello"


def test_a_tool_that_fails_or_is_refused_is_told_so(stage: Stage) -> None:
    calls = [
        ToolCall("shell", {"command": "exit 3"}),
        ToolCall("read_file", {"path": "/etc/passwd"}),
        ToolCall("no_such_tool", {"a": 1}),
        ToolCall("read_file", "{not json"),
    ]
    lines = stage.play([Answer(tools=[call]) for call in calls] + [DONE])
    assert [line["ok"] for line in of(lines, "tool") if line["state"] == "ended"] == [False] * 4
    assert of(lines, "denied") == [{"type": "denied", "what": "/etc/passwd"}]
    details = [line["detail"] for line in of(lines, "tool") if line["state"] == "started"]
    assert details == ["exit 3", "/etc/passwd", "", "{not json"]
    assert of(lines, "result")


def test_the_tools_of_one_answer_are_used_one_after_the_other(stage: Stage) -> None:
    slow = ToolCall("shell", {"command": "sleep 0.2; echo made > a.txt"})
    look = ToolCall("read_file", {"path": "a.txt"})
    lines = stage.play([Answer(tools=[slow, look]), DONE])
    ended = [(line["name"], line["ok"]) for line in of(lines, "tool") if line["state"] == "ended"]
    assert ended == [("shell", True), ("read_file", True)]


def test_a_session_goes_on_where_it_stopped(stage: Stage) -> None:
    stage.play([TALK, DONE], prompt="Begin with alpha.")
    with ModelServer([DONE]) as server:
        lines = stage.turn(server, prompt="Now beta.", resume=True)
        asked = json.dumps(server.requests[0].body)
    assert of(lines, "result")
    assert asked.index("Begin with alpha.") < asked.index("I will do it soon.") < asked.index("Now beta.")


@pytest.mark.parametrize("content", [None, b"", b"{}", b'[{"kind": "strange"}]', b"\xff"])
def test_a_session_that_is_not_there_is_lost(stage: Stage, content: bytes | None) -> None:
    if content is not None:
        stage.history.parent.mkdir()
        stage.history.write_bytes(content)
    with ModelServer([DONE]) as server:
        lines = stage.turn(server, resume=True)
        assert not server.requests
    assert [line["type"] for line in lines] == ["session", "end"]
    assert lines[-1]["ending"] == "session_lost"
    assert str(stage.history) in lines[-1]["detail"]


def test_a_turn_that_broke_off_can_be_gone_on_with(stage: Stage) -> None:
    write = ToolCall("write_file", {"path": "a.txt", "text": "hello"})
    stage.play([Answer(tools=[write])], prompt="Begin with alpha.")  # then the server refuses
    with ModelServer([DONE]) as server:
        lines = stage.turn(server, prompt="Go on.", resume=True)
        asked = json.dumps(server.requests[0].body)
    assert of(lines, "result")
    assert asked.index("Begin with alpha.") < asked.index("wrote a.txt") < asked.index("Go on.")


def test_the_prompt_is_kept_before_the_model_has_answered(stage: Stage) -> None:
    def answer(_: object) -> Step:
        assert "Begin with alpha." in stage.history.read_text()
        return DONE

    with ModelServer(answer) as server:
        assert of(stage.turn(server, prompt="Begin with alpha."), "result")


def test_a_model_that_only_talks_is_reminded_and_then_has_no_report(stage: Stage) -> None:
    with ModelServer([], then=TALK) as server:
        lines = stage.turn(server)
        assert len(server.requests) == 3
        assert "final_result" in json.dumps(server.requests[-1].body["messages"])
    assert not of(lines, "result")
    assert not of(lines, "end")
    assert len(of(lines, "usage")) == 3


def test_a_report_in_a_message_counts_too(stage: Stage) -> None:
    text = 'Done.\n```json\n{"status": "done"}\n```'
    assert of(stage.play([Answer(text=text)]), "result") == [{"type": "result", "text": text}]


@pytest.mark.parametrize(("text", "reports"), [('{"a": 1}', ['{"a": 1}']), ("just words", [])])
def test_without_a_schema_a_report_is_what_the_last_message_holds(
    stage: Stage, text: str, reports: list[str]
) -> None:
    lines = stage.play([Answer(text=text)], schema=None)
    assert [line["text"] for line in of(lines, "result")] == reports
    assert of(lines, "say")[-1]["text"] == text


def test_who_may_not_write_is_offered_no_tool_for_it(stage: Stage) -> None:
    with ModelServer([DONE]) as server:
        stage.turn(server, may_write=False)
        [request] = server.requests
    offered = {tool["function"]["name"] for tool in request.body["tools"]}  # type: ignore[index]
    assert offered == {"read_file", "list_files", "search", "final_result"}


def test_the_allowance_ends_a_turn_before_anything_more_is_done(stage: Stage) -> None:
    write = ToolCall("write_file", {"path": "a.txt", "text": "hello"})
    with ModelServer([], then=Answer(tools=[write], usage=(60, 40))) as server:
        lines = stage.turn(server, allowance=Allowance(tokens=100))
        assert len(server.requests) == 1
    assert lines[-1] == {"type": "end", "ending": "out_of_budget", "detail": ""}
    assert not (stage.tree / "a.txt").exists()
    assert of(stage.play([DONE], resume=True), "result")


WRITE = ToolCall("write_file", {"path": "a.txt", "text": "hello"})
LAST_WORDS = {
    "a report": DONE,
    "a report in a message": Answer(text='{"status": "done"}', usage=(7, 8)),
    "a report with other work": Answer(tools=[WRITE], report={"status": "done"}, usage=(7, 8)),
}


@pytest.mark.parametrize("answer", LAST_WORDS.values(), ids=LAST_WORDS)
def test_a_report_that_comes_with_the_last_of_the_money_counts(stage: Stage, answer: Answer) -> None:
    lines = stage.play([answer], allowance=Allowance(tokens=15))
    assert [line["type"] for line in lines if line["type"] in {"result", "usage", "end"}] == [
        "result",
        "usage",
    ]


def test_without_a_report_the_last_of_the_money_is_the_end(stage: Stage) -> None:
    with ModelServer([], then=TALK) as server:
        lines = stage.turn(server, allowance=Allowance(tokens=15))
        assert len(server.requests) == 1
    assert [line["type"] for line in lines] == ["session", "say", "usage", "end"]
    assert lines[-1]["ending"] == "out_of_budget"
    lines = stage.play([TALK], schema=None, allowance=Allowance(tokens=15))
    assert lines[-1]["ending"] == "out_of_budget"


def test_what_a_provider_does_not_count_is_not_told_as_nothing(stage: Stage) -> None:
    lines = stage.play([Answer(report={"status": "done"}, usage=(0, 0))])
    assert not of(lines, "usage")
    assert of(lines, "result")


def test_a_turn_has_only_so_many_requests(stage: Stage) -> None:
    look = ToolCall("list_files", {})
    with ModelServer([], then=Answer(tools=[look])) as server:
        lines = stage.turn(server, max_turns=2)
        assert len(server.requests) == 2
    assert lines[-1]["ending"] == "failed"
    assert "2 requests" in lines[-1]["detail"]


def test_a_provider_that_stumbles_is_asked_again(stage: Stage) -> None:
    lines = stage.play([Fault(status=500), Breakdown.DROP, DONE])
    assert [(line["attempt"], line["status"]) for line in of(lines, "retry")] == [(1, 500), (2, None)]
    assert of(lines, "result")


def test_a_short_wait_is_waited_and_a_long_one_is_not(stage: Stage) -> None:
    soon = Fault(status=429, headers={"retry-after-ms": "30"})
    late = Fault(status=429, headers={"retry-after": "3600"})
    lines = stage.play([soon, late])
    assert [line["delay"] for line in of(lines, "retry")] == [0.03]
    assert lines[-1]["type"] == "limit"
    assert lines[-1]["until"]
    assert "429: scripted fault" in lines[-1]["detail"]


FAULTS: list[tuple[Step, str]] = [
    (Fault(status=401), "auth"),
    (Fault(status=403), "auth"),
    (Fault(status=400), "failed"),
    (Fault(status=402), "no_credit"),
    (Fault(status=404), "model_not_found"),
    (Fault(status=413), "overflow"),
    (Fault(status=429), "limit"),
    (Fault(status=500), "limit"),
    (Fault(status=529), "limit"),
    (Breakdown.DROP, "limit"),
    (Breakdown.CUT_STREAM, "limit"),
    (Breakdown.GARBAGE, "limit"),
    (Breakdown.BROKEN_EVENTS, "limit"),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("fault", "ending"), FAULTS, ids=lambda value: str(value)[:20])
def test_every_fault_is_one_end_and_no_traceback(stage: Stage, model: str, fault: Step, ending: str) -> None:
    lines = stage.play([], then=fault, model=model)
    assert lines[0]["type"] == "session"
    ends = [line.get("ending", "limit") for line in lines if line["type"] in {"end", "limit", "result"}]
    assert ends == [ending]
    assert ending == "limit" or not of(lines, "retry")
    assert "Traceback" not in stage.errors


def test_a_server_that_is_not_there_is_an_outage(stage: Stage) -> None:
    with ModelServer() as server:
        url = server.url
    stage.run(base_url=f"{url}/v1")
    lines = stage.lines()
    assert len(of(lines, "retry")) == 2
    assert (lines[-1]["type"], lines[-1]["until"]) == ("limit", None)
    assert url in lines[-1]["detail"]


def test_the_file_with_the_key_is_emptied_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "input"
    file.write_text('"a \\n key"\nDo it.\nNow.')
    with file.open("r+b") as stdin:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(stdin))
        assert read_input(has_key=True) == ("a \n key", "Do it.\nNow.")
        assert file.read_bytes() == b""


@pytest.mark.parametrize(
    ("model", "key", "ending"),
    [
        ("anthropic:m1", None, "auth"),
        ("nobody:m1", "k", "unusable"),
        ("nobody:m1", None, "unusable"),
    ],
)
def test_a_model_that_cannot_be_asked_is_an_end(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, model: str, key: str | None, ending: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert stage.run(model=model, key=key) == 0
    lines = stage.lines()
    assert [line["type"] for line in lines] == ["session", "end"]
    assert lines[-1]["ending"] == ending
    assert model in lines[-1]["detail"]


def test_letters_of_every_kind_are_told(stage: Stage) -> None:
    text = "grüße 🎈 \u2028 \x1b[31m"
    assert of(stage.play([Answer(text=text, report={"status": text})]), "say")[0]["text"] == text


@pytest.mark.parametrize(
    ("model", "key", "code", "said"),
    [
        ("openai:m1", "k", 0, "."),
        ("openai:m1", None, NOT_USABLE, "no key for this provider"),
        ("nobody:m1", "k", NOT_USABLE, "nobody"),
    ],
)
def test_a_probe_says_the_version_or_the_reason(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    model: str,
    key: str | None,
    code: int,
    said: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert stage.run("", "--probe", model=model, key=key) == code
    assert said in capsysbinary.readouterr().out.decode()


@pytest.mark.parametrize(("options", "code"), [(["--probe"], NOT_INSTALLED), ([], 0)])
def test_a_missing_library_is_a_message(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    options: list[str],
    code: int,
) -> None:
    for module in ("api.models", "api.turn"):
        monkeypatch.setitem(__import__("sys").modules, f"amelia.drive.{module}", None)
    assert stage.run("", *options) == code
    assert "amelia.drive.api." in capsysbinary.readouterr().out.decode()


def test_an_interrupted_turn_ends_quietly(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Callable[[], None]:
        raise KeyboardInterrupt

    monkeypatch.setattr(api_turn, "make_model", interrupted)
    assert stage.run() == INTERRUPTED
    assert [line["type"] for line in stage.lines()] == ["session"]
