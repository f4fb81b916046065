"""The lines of `codex exec --json`, as the real program wrote them, and any other bytes."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.codex.lines import CodexLines
from amelia.drive.stream import DETAIL_LIMIT, LINE_LIMIT, TEXT_LIMIT, Heard, Line, Result
from amelia.model.agents import (
    Ending,
    PermissionDenied,
    Retrying,
    Said,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    Unparsed,
    Usage,
    Used,
)
from amelia.model.prices import Price

NOW = datetime(2026, 11, 15, 16, 30, 12, 500, tzinfo=timezone(timedelta(hours=2)))
THREAD = "01a1dfd2-2e9a-7983-9d7f-fa037402a407"
STARTED = f'{{"type":"thread.started","thread_id":"{THREAD}"}}'
COMMAND = "/bin/bash -lc 'cat hello.py'"
LOST = f"Error: thread/resume: thread/resume failed: no rollout found for thread id {THREAD} (code -32600)"


PRICE = Price(fresh=2.0, cached=0.5, written=3.0, output=10.0)


def lines(before: Usage | None = None, price: Price | None = None) -> CodexLines:
    return CodexLines(model="gpt-5.5", before=before, now=NOW, price=price)


def hear(*said: str | dict[str, Any], dialect: CodexLines | None = None) -> list[Heard]:
    dialect = dialect or lines()
    texts = [line if isinstance(line, str) else json.dumps(line) for line in said]
    return [heard for text in texts for heard in dialect(Line(text.encode()))]


def item(stage: str, **facts: Any) -> dict[str, Any]:
    return {"type": f"item.{stage}", "item": {"id": "item_0", **facts}}


def message(text: str) -> dict[str, Any]:
    return item("completed", type="agent_message", text=text)


def completed(tokens_in: int, tokens_out: int) -> dict[str, Any]:
    return {
        "type": "turn.completed",
        "usage": {"input_tokens": tokens_in, "cached_input_tokens": 10, "output_tokens": tokens_out},
    }


def failed(text: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": text}}


def error(text: str) -> dict[str, Any]:
    return {"type": "error", "message": text}


def result_of(heard: Sequence[Heard]) -> Result:
    assert isinstance(heard[-1], Result)
    return heard[-1]


def test_a_whole_turn_is_understood() -> None:
    changes = '"changes":[{"path":"/work/hello.py","kind":"add"},{"path":"/work/b.py","kind":"update"}]'
    run = f'"type":"command_execution","command":"{COMMAND}"'
    heard = hear(
        STARTED,
        '{"type":"turn.started"}',
        '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I will create it"}}',
        f'{{"type":"item.started","item":{{"id":"item_1","type":"file_change",{changes},"status":"in_progress"}}}}',
        f'{{"type":"item.completed","item":{{"id":"item_1","type":"file_change",{changes},"status":"completed"}}}}',
        f'{{"type":"item.started","item":{{"id":"item_2",{run},"aggregated_output":"","exit_code":null,"status":"in_progress"}}}}',
        f'{{"type":"item.completed","item":{{"id":"item_2",{run},"aggregated_output":"x","exit_code":3,"status":"failed"}}}}',
        '{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"{\\"status\\":\\"completed\\"}"}}',
        '{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":30,"cache_write_input_tokens":0,"output_tokens":60,"reasoning_output_tokens":15}}',
    )
    assert heard == [
        SessionStarted(SessionId(THREAD), "gpt-5.5"),
        Said("I will create it"),
        ToolStarted("file_change", "/work/hello.py /work/b.py"),
        ToolEnded("file_change", ok=True),
        ToolStarted("command_execution", COMMAND),
        ToolEnded("command_execution", ok=False),
        Said('{"status":"completed"}'),
        Used(Usage(300, 60)),
        Result(ending=Ending.OK, text='{"status":"completed"}'),
    ]


def test_the_last_message_is_the_one_in_which_the_report_is_looked_for() -> None:
    assert result_of(hear(message('{"a": 1}'), message("That is it."), completed(1, 1))).text == "That is it."
    assert result_of(hear(completed(1, 1))).text == ""


def test_the_last_message_is_whole_though_it_is_shown_in_part() -> None:
    text = json.dumps({"text": "x" * 2 * TEXT_LIMIT})
    said, _, result = hear(message(text), completed(1, 1))
    assert said == Said(text[:TEXT_LIMIT])
    assert isinstance(result, Result)
    assert result.text == text


@pytest.mark.parametrize(
    ("before", "total", "used"),
    [
        (None, (300, 60), Usage(300, 60)),
        (Usage(300, 60), (500, 100), Usage(200, 40)),
        (Usage(300, 60), (400, 60), Usage(100, 0)),
        (Usage(300, 60, cost=1.0), (500, 100), Usage(200, 40)),
        (Usage(300, 60), (200, 40), Usage(200, 40)),  # it counts anew
        (Usage(300, 60), (500, 40), Usage(500, 40)),
        (Usage(300, 60), (300, 60), None),
        (None, (0, 0), None),
    ],
)
def test_what_a_turn_used_is_what_the_thread_has_used_since(
    before: Usage | None, total: tuple[int, int], used: Usage | None
) -> None:
    heard = hear(completed(*total), dialect=lines(before))
    assert [event.usage for event in heard if isinstance(event, Used)] == ([used] if used else [])


@pytest.mark.parametrize(
    ("before", "total", "used"),
    [
        (None, (30, 6), Usage(30, 6, cost=40 + 5 + 60)),
        (Usage(30, 6, cost=105.0), (50, 8), Usage(20, 2, cost=40 + 20)),
        (Usage(30, 6), (50, 8), Usage(20, 2)),  # of a thread that has no price yet
        (Usage(90, 6, cost=105.0), (50, 8), Usage(50, 8, cost=80 + 5 + 80)),  # it counts anew
        (Usage(30, 6, cost=1000.0), (50, 8), Usage(20, 2, cost=0.0)),
    ],
)
def test_a_turn_costs_what_the_thread_has_cost_since(
    before: Usage | None, total: tuple[int, int], used: Usage
) -> None:
    heard = hear(completed(*total), dialect=lines(before, PRICE))
    assert heard[0] == Used(used)


def test_what_is_written_into_a_cache_has_its_own_price() -> None:
    counts = {
        "input_tokens": 30,
        "cached_input_tokens": 10,
        "cache_write_input_tokens": 5,
        "output_tokens": 1,
    }
    heard = hear({"type": "turn.completed", "usage": counts}, dialect=lines(price=PRICE))
    assert heard[0] == Used(Usage(30, 1, cost=30 + 5 + 15 + 10))


def test_what_was_counted_is_not_counted_again() -> None:
    heard = hear(completed(300, 60), completed(310, 62), dialect=lines(Usage(100, 20)))
    assert [event for event in heard if isinstance(event, Used)] == [
        Used(Usage(200, 40)),
        Used(Usage(10, 2)),
    ]


def test_no_word_of_usage_is_no_usage() -> None:
    assert hear({"type": "turn.completed"}) == [Result(ending=Ending.OK)]


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("unexpected status 401 Unauthorized: Incorrect API key, url: http://127.0.0.1:1/v1", Ending.AUTH),
        ("unexpected status 403 Forbidden: bad, url: http://127.0.0.1:1/v1/responses", Ending.AUTH),
        ("Missing environment variable: `FAKE_KEY`.", Ending.AUTH),
        ("Your access token could not be refreshed. Please log out and sign in again.", Ending.AUTH),
        ("exceeded retry limit, last status: 429 Too Many Requests", Ending.LIMITED),
        ("unexpected status 529 <unknown status code>: bad, url: http://127.0.0.1:1", Ending.LIMITED),
        ("exceeded retry limit, last status: 502 Bad Gateway", Ending.LIMITED),
        (
            "We’re currently experiencing high demand, which may cause temporary errors.",
            Ending.LIMITED,
        ),
        ("Selected model is at capacity. Please try a different model.", Ending.LIMITED),
        ("rate limit exceeded: Rate limit reached. Please try again in 1s.", Ending.LIMITED),
        ("Quota exceeded. Check your plan and billing details.", Ending.NO_CREDIT),
        ("You've hit your usage limit. Upgrade to Plus or try again later.", Ending.LIMITED),
        ("stream disconnected before completion: idle timeout waiting for SSE", Ending.LIMITED),
        ("Connection failed: error sending request", Ending.LIMITED),
        (
            "stream disconnected before completion: Incomplete response returned, reason: content_filter",
            Ending.FAILED,
        ),
        ("Incomplete response returned, reason: max_output_tokens", Ending.FAILED),
        (
            "unexpected status 404 Not Found: The model `x` does not exist, url: http://a",
            Ending.MODEL_NOT_FOUND,
        ),
        ("unexpected status 400 Bad Request: unexpected status 401, url: http://a", Ending.FAILED),
        ("unexpected status 402 Payment Required: pay, url: http://a", Ending.NO_CREDIT),
        ("unexpected status 413 Payload Too Large: too large, url: http://a", Ending.OVERFLOW),
        ("Your workspace is out of credits. Add credits to continue.", Ending.NO_CREDIT),
        ("You hit your spend cap set by the owner of your workspace.", Ending.NO_CREDIT),
        ("Codex ran out of room in the model's context window.", Ending.OVERFLOW),
        ("flagged", Ending.FAILED),
    ],
)
def test_an_error_says_how_the_turn_ended(text: str, ending: Ending) -> None:
    assert hear(error(text), failed(text)) == 2 * [Result(ending=ending, detail=text)]


@pytest.mark.parametrize(
    ("answer", "ending", "words"),
    [
        ({"error": {"message": "last status: 429 rate limit exceeded"}}, Ending.FAILED, "last status: 429"),
        ({"error": {"message": "It is too long.", "code": "context_length_exceeded"}}, Ending.OVERFLOW, "It"),
        ({"error": {"message": "No money.", "code": "insufficient_quota"}}, Ending.NO_CREDIT, "No money."),
        ({"error": {"message": "No `x`.", "code": "model_not_found"}}, Ending.MODEL_NOT_FOUND, "No `x`."),
        ({"error": {"message": "Bad.", "code": "invalid_prompt"}}, Ending.FAILED, "Bad."),
        (
            {"detail": "The 'x' model is not supported when using Codex with a ChatGPT account."},
            Ending.MODEL_NOT_FOUND,
            "The 'x' model",
        ),
        ({"detail": "The prompt says: The 'x' model is not supported"}, Ending.FAILED, "The prompt says"),
        ({"other": 1}, Ending.FAILED, '{"other"'),
    ],
)
def test_a_whole_answer_of_the_provider_says_it_by_its_code(
    answer: dict[str, Any], ending: Ending, words: str
) -> None:
    found = result_of(hear(failed(json.dumps(answer))))
    assert found.ending is ending
    assert found.detail.startswith(words)


def test_what_failed_does_not_count_once_the_turn_is_completed() -> None:
    assert result_of(hear(error("flagged"), message("{}"), completed(1, 1))).ending is Ending.OK


@pytest.mark.parametrize(
    ("told", "until"),
    [
        ("Nov 16th, 2026 3:33 AM", "2026-11-16T03:34:00+02:00"),
        ("Jan 1st, 2027 12:00 AM", "2027-01-01T00:01:00+02:00"),
        ("Dec 31st, 2026 11:59 PM", "2027-01-01T00:00:00+02:00"),
        ("5:07 PM", "2026-11-15T17:08:00+02:00"),
        ("12:07 PM", "2026-11-16T12:08:00+02:00"),
        ("4:30 PM", "2026-11-15T16:31:00+02:00"),
        ("Feb 30th, 2027 3:33 AM", None),
        ("Foo 16th, 2026 3:33 AM", None),
        ("Dec 31st, 9999 11:59 PM", None),
        ("3:77 AM", None),
        ("noon", None),
    ],
)
def test_a_usage_limit_says_from_when_on_it_goes_on(told: str, until: str | None) -> None:
    text = f"You’ve hit your usage limit. Visit https://chatgpt.com to purchase more or try again at {told}."
    assert hear(failed(text)) == [Result(ending=Ending.LIMITED, detail=text, until=until)]


def test_only_a_limit_has_a_time() -> None:
    assert result_of(hear(failed("flagged, try again at 3:33 AM."))).until is None


@pytest.mark.parametrize(
    ("text", "retrying"),
    [
        (
            "Reconnecting... 1/1 (unexpected status 401 Unauthorized: bad, url: http://a)",
            Retrying(1, 0.0, 401),
        ),
        ("Reconnecting... 3/5 (exceeded retry limit, last status: 429 Too Many)", Retrying(3, 0.0, 429)),
        (
            "Reconnecting... 2/5 (unexpected status 404 Not Found: <html>\n</html>, url)",
            Retrying(2, 0.0, 404),
        ),
        (
            "Reconnecting... 2/5 (stream disconnected before completion: unexpected status 401)",
            Retrying(2, 0.0, None),
        ),
        ("Reconnecting... 2/5", Retrying(2, 0.0, None)),
        ("Reconnecting... waiting for network (Connection failed: error)", Retrying(1, 0.0, None)),
    ],
)
def test_an_attempt_to_reconnect_is_no_end(text: str, retrying: Retrying) -> None:
    assert hear(error(text)) == [retrying]


def test_what_codex_declined_is_a_refusal() -> None:
    facts = {"type": "command_execution", "command": "rm -r /", "status": "declined"}
    assert hear(item("completed", **facts)) == [
        PermissionDenied("rm -r /"),
        ToolEnded("command_execution", ok=False),
    ]


@pytest.mark.parametrize(
    ("facts", "detail"),
    [
        ({"type": "mcp_tool_call", "server": "docs", "tool": "find"}, "find"),
        ({"type": "web_search", "query": "how"}, "how"),
        ({"type": "collab_tool_call", "tool": "spawn_agent"}, "spawn_agent"),
        ({"type": "command_execution", "command": ["ls"]}, ""),
        ({"type": "file_change", "changes": [1, {"path": "a"}, {"path": 2}]}, " a "),
        (
            {"type": "file_change", "changes": 500 * [{"path": "x" * 50}]},
            (100 * f"{'x' * 50} ")[:DETAIL_LIMIT],
        ),
    ],
)
def test_the_use_of_a_tool_says_what_it_is_about(facts: dict[str, Any], detail: str) -> None:
    assert hear(item("started", **facts)) == [ToolStarted(facts["type"], detail)]
    assert hear(item("completed", **facts)) == [ToolEnded(facts["type"], ok=True)]


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        '{"type":"turn.started"}',
        item("completed", type="reasoning", text="hm"),
        item("completed", type="error", message="Model metadata for `zzz` not found."),
        item("started", type="todo_list", items=[]),
        item("updated", type="file_change", changes=[]),
        item("completed", type="hologram"),
        item("completed", type=["agent_message"]),
        item("completed", type="agent_message", text=7),
    ],
)
def test_what_is_of_no_interest_is_nothing(line: str | dict[str, Any]) -> None:
    assert hear(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: proceeding",
        "[]",
        "{}",
        {"type": "hologram"},
        {"type": "thread.started"},
        {"type": "thread.started", "thread_id": "--last"},
        {"type": "thread.started", "thread_id": THREAD.upper()},
        {"type": "item.completed", "item": "x"},
        {"type": "turn.failed", "error": "x"},
        {"type": "error"},
    ],
)
def test_what_nobody_understands_is_unparsed(line: str | dict[str, Any]) -> None:
    [heard] = hear(line)
    assert isinstance(heard, Unparsed)


def test_a_line_that_was_cut_is_unparsed() -> None:
    [heard] = lines()(Line(STARTED.encode(), is_cut=True))
    assert isinstance(heard, Unparsed)


def test_a_thread_that_is_not_there_is_told_by_the_errors_alone() -> None:
    warning = "WARNING: proceeding, even though we could not create PATH aliases: x\n"
    assert lines().explain(f"{warning}{LOST}\n") == Result(ending=Ending.SESSION_LOST, detail=LOST)
    assert lines().explain(warning) is None
    assert lines().explain(f'error="{LOST}"') is None


def test_a_thread_that_was_there_is_not_lost() -> None:
    dialect = lines()
    hear(STARTED, dialect=dialect)
    assert dialect.explain(LOST) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KINDS = [
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.completed",
    "item.updated",
    "error",
]
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["agent_message", "command_execution", "file_change", "web_search"]) | VALUES,
        **dict.fromkeys(("text", "command", "changes", "query", "status"), VALUES),
    },
)
TEXTS = st.text(max_size=30) | st.from_regex(
    r"(Reconnecting\.\.\. \d/\d \()?(unexpected status \d{3}|You've hit your usage limit.*try again at .{0,30})"
)
MESSAGES = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={
        "item": ITEMS | VALUES,
        "thread_id": VALUES | st.uuids().map(str),
        "message": TEXTS | VALUES,
        "error": st.fixed_dictionaries({"message": TEXTS | VALUES}) | VALUES,
        "usage": st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), VALUES) | VALUES,
    },
)


@given(st.lists(MESSAGES.map(json.dumps).map(str.encode) | st.binary(max_size=200), max_size=6))
def test_no_line_is_too_strange(data: list[bytes]) -> None:
    dialect = lines(Usage(5, 5))
    for heard in (heard for line in data for heard in dialect(Line(line))):
        assert len(repr(heard).encode()) < LINE_LIMIT
        if isinstance(heard, Used):
            assert heard.usage.tokens > 0
            assert heard.usage.cost is None
