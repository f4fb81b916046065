"""What the lines of Claude Code mean; every shape here was seen on the real program."""

import json
from typing import Any

import pytest

from amelia.drive.claude.lines import ClaudeLines
from amelia.drive.stream import DETAIL_LIMIT, NUMBER_LIMIT, Heard, Line, Result
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
    total,
)
from amelia.model.prices import Price

INIT = {"type": "system", "subtype": "init", "session_id": "s1", "model": "claude-sonnet-4-5"}


def hear(*messages: Any, before: Usage | None = None) -> list[Heard]:
    lines = ClaudeLines(before)
    return [heard for message in messages for heard in lines(Line(json.dumps(message).encode()))]


def assistant(*content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(content), "usage": {"output_tokens": 1}}, **more}


def user(*content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": list(content)}}


def result(**more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "done", **more}


def fault(**more: Any) -> dict[str, Any]:
    return result(**{"is_error": True, "terminal_reason": "api_error", "result": "API Error", **more})


def used(tokens_in: int, tokens_out: int, cost: float, **more: Any) -> dict[str, Any]:
    count = {"inputTokens": tokens_in, "outputTokens": tokens_out, **more}
    return {"modelUsage": {"claude-sonnet-4-5": count}, "total_cost_usd": cost}


def end(*messages: Any) -> Result:
    [ended] = [heard for heard in hear(*messages) if isinstance(heard, Result)]
    return ended


def test_a_session_starts_once_however_often_it_says_so() -> None:
    assert hear(INIT, INIT) == [SessionStarted(SessionId("s1"), "claude-sonnet-4-5")]


def test_words_and_tools_are_told_in_their_order() -> None:
    heard = hear(
        assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I write"}),
        assistant({"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a.py"}}),
        assistant({"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "false"}}),
        user({"type": "tool_result", "tool_use_id": "t2", "is_error": True}),
        user({"type": "tool_result", "tool_use_id": "t1", "is_error": False}),
        user({"type": "tool_result", "tool_use_id": "t1"}, {"type": "text", "text": "a nudge"}),
    )
    assert heard == [
        Said("I write"),
        ToolStarted("Write", "a.py"),
        ToolStarted("Bash", "false"),
        ToolEnded("Bash", ok=False),
        ToolEnded("Write", ok=True),
        ToolEnded("tool", ok=True),
    ]


def test_a_tool_without_a_telling_input_has_no_detail() -> None:
    [started] = hear(assistant({"type": "tool_use", "id": "t", "name": "Odd", "input": ["a"]}))
    assert started == ToolStarted("Odd", "")


def test_the_tools_that_are_remembered_are_bounded() -> None:
    blocks = [{"type": "tool_use", "id": f"t{number}", "name": "Read"} for number in range(1_100)]
    ended = hear(assistant(*blocks), user({"type": "tool_result", "tool_use_id": "t1099"}))[-1]
    assert ended == ToolEnded("tool", ok=True)


def test_a_retry_has_its_number_its_delay_and_its_status() -> None:
    retry = {
        "type": "system",
        "subtype": "api_retry",
        "attempt": 1,
        "retry_delay_ms": 609,
        "error_status": 429,
    }
    assert hear(retry) == [Retrying(1, 0.609, 429)]
    assert hear({**retry, "error_status": None, "retry_delay_ms": "soon"}) == [Retrying(1, 0.0, None)]


def test_what_was_denied_is_told_once() -> None:
    denied = {
        "type": "system",
        "subtype": "permission_denied",
        "tool_name": "Write",
        "decision_reason": "Path is outside",
    }
    late = result(permission_denials=[{"tool_name": "Write"}])
    assert hear(denied, late)[:-1] == [PermissionDenied("Write: Path is outside")]
    assert hear({**denied, "decision_reason": None, "message": "No."}) == [PermissionDenied("Write: No.")]
    assert hear(late)[:-1] == [PermissionDenied("Write")]


def test_a_structured_report_is_the_report() -> None:
    ended = end(result(result='{"b": 2}', structured_output={"a": 1}))
    assert (ended.ending, ended.report) == (Ending.OK, {"a": 1})


def test_without_a_structured_report_the_last_message_may_hold_one() -> None:
    assert end(result(result='{"a": 5}')) == Result(ending=Ending.OK, text='{"a": 5}')
    assert end(result(structured_output=[1])).report is None
    given = end(result(structured_output={"a": 1}, result='{"b": 2}'))
    assert given == Result(ending=Ending.OK, report={"a": 1})


def test_a_success_that_is_an_error_is_none() -> None:
    ended = end(fault(structured_output={"a": 1}))
    assert (ended.ending, ended.report, ended.detail) == (Ending.FAILED, None, "API Error")


@pytest.mark.parametrize(
    ("status", "error", "ending"),
    [
        (400, "invalid_request", Ending.FAILED),
        (400, "billing_error", Ending.NO_CREDIT),
        (401, "authentication_failed", Ending.AUTH),
        (403, "unknown", Ending.AUTH),
        (404, "model_not_found", Ending.MODEL_NOT_FOUND),
        (408, "unknown", Ending.LIMITED),
        (402, "unknown", Ending.NO_CREDIT),
        (413, "invalid_request", Ending.OVERFLOW),
        (429, "rate_limit", Ending.LIMITED),
        (500, "server_error", Ending.LIMITED),
        (529, "overloaded", Ending.LIMITED),
        (None, "authentication_failed", Ending.AUTH),
        (None, "server_error", Ending.LIMITED),
        (None, "unknown", Ending.LIMITED),
        (None, "invalid_request", Ending.FAILED),
        (None, "max_output_tokens", Ending.FAILED),
    ],
)
def test_a_fault_of_the_provider_has_an_ending(status: int | None, error: str, ending: Ending) -> None:
    spoken = assistant({"type": "text", "text": "API Error"}, error=error, is_api_error_message=True)
    heard = hear(spoken, fault(api_error_status=status))
    assert heard == [Result(ending=ending, detail="API Error")]


@pytest.mark.parametrize(
    "facts",
    [
        {"terminal_reason": "prompt_too_long", "api_error_status": 400},
        {"result": "API Error: The model has reached its context window limit."},
    ],
)
def test_a_session_that_is_too_long_for_the_model_is_an_overflow(facts: dict[str, Any]) -> None:
    assert end(fault(**facts)).ending is Ending.OVERFLOW


def test_a_text_that_speaks_of_a_full_context_is_a_text() -> None:
    assert end(fault(result="Prompt is too long")).ending is Ending.FAILED
    assert end(result(terminal_reason="prompt_too_long")).ending is Ending.OK


def test_a_limit_that_is_reached_tells_when_it_is_reset() -> None:
    limit = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1794760487}}
    ended = end(limit, fault(api_error_status=429))
    assert (ended.ending, ended.until) == (Ending.LIMITED, "2026-11-15T16:34:47+00:00")
    assert end(limit, fault(api_error_status=400)).until is None


@pytest.mark.parametrize(
    "info",
    [
        None,
        {"status": "allowed_warning", "resetsAt": 1794760487},
        {"status": "rejected"},
        {"status": "rejected", "resetsAt": 10**14},
        {"status": "rejected", "resetsAt": "soon"},
    ],
)
def test_a_reset_time_that_is_none_is_not_told(info: Any) -> None:
    limit = {"type": "rate_limit_event", "rate_limit_info": info}
    assert end(limit, fault(api_error_status=429)).until is None


@pytest.mark.parametrize(
    ("subtype", "ending"),
    [
        ("error_max_budget_usd", Ending.OUT_OF_BUDGET),
        ("error_max_turns", Ending.FAILED),
        ("error_max_structured_output_retries", Ending.NO_REPORT),
        ("error_during_execution", Ending.FAILED),
        ("error_of_tomorrow", Ending.FAILED),
    ],
)
def test_an_end_of_its_own_says_what_was_reached(subtype: str, ending: Ending) -> None:
    ended = end(INIT, result(subtype=subtype, is_error=True, result=None, errors=["Reached it", 7, "twice"]))
    assert (ended.ending, ended.detail) == (ending, "Reached it\n\ntwice")


def test_an_unknown_session_is_lost_if_nothing_was_done() -> None:
    lost = result(
        subtype="error_during_execution",
        is_error=True,
        result=None,
        errors=["No conversation found with session ID: s1"],
    )
    assert end(lost).ending is Ending.SESSION_LOST
    assert end(INIT, lost).ending is Ending.FAILED


def test_what_is_counted_over_the_session_is_told_as_what_was_added() -> None:
    first = hear(result(**used(200, 40, 0.0012)))[0]
    assert first == Used(Usage(200, 40, 0.0012))
    second = hear(result(**used(500, 90, 0.0030)), before=Usage(200, 40, 0.0012))[0]
    assert second == Used(Usage(300, 50, 0.0018))


def test_two_results_of_one_turn_are_not_counted_twice() -> None:
    heard = hear(result(**used(200, 40, 0.0012)), result(**used(300, 60, 0.0018)))
    assert [event for event in heard if isinstance(event, Used)] == [
        Used(Usage(200, 40, 0.0012)),
        Used(Usage(100, 20, 0.0006)),
    ]


def test_a_count_that_began_anew_is_taken_as_it_is() -> None:
    assert hear(result(**used(100, 20, 0.0006)), before=Usage(200, 40, 0.0012))[0] == Used(
        Usage(100, 20, 0.0006)
    )
    assert hear(result(**used(300, 20, 0.0006)), before=Usage(200, 40, 0.0012))[0] == Used(
        Usage(300, 20, 0.0006)
    )


def test_tokens_of_the_cache_count_as_input() -> None:
    many = used(1, 2, 0.5, cacheReadInputTokens=10, cacheCreationInputTokens=100)
    assert hear(result(**many))[0] == Used(Usage(111, 2, 0.5))


def test_a_guessed_or_missing_price_is_no_cost() -> None:
    assert hear(result(**used(1, 2, 0.5, costBasis="unknown")))[0] == Used(Usage(1, 2))
    assert hear(result(**{**used(1, 2, 0.5), "total_cost_usd": None}))[0] == Used(Usage(1, 2))
    assert hear(result(**used(3, 4, 0.5)), before=Usage(1, 2))[0] == Used(Usage(2, 2))


def test_without_a_count_nothing_is_said_of_usage() -> None:
    [ended] = hear(result(modelUsage={}, total_cost_usd=0))
    assert isinstance(ended, Result)


PRICE = Price(fresh=3e-6, cached=3e-7, written=3.75e-6, output=15e-6)


def says(name: str, tokens_in: int, tokens_out: int, **more: Any) -> dict[str, Any]:
    """Describes a part of a message with the count that it begins with."""
    counts = {"input_tokens": tokens_in, "output_tokens": tokens_out, **more}
    model = {"id": name, "model": "claude-sonnet-4-5", "usage": counts}
    return {"type": "assistant", "message": {**model, "content": [{"type": "text", "text": "Hm."}]}}


def counted(*messages: Any, **facts: Any) -> list[Used]:
    lines = ClaudeLines(facts.pop("before", None), price_of=lambda _: PRICE, **facts)
    heard = [one for message in messages for one in lines(Line(json.dumps(message).encode()))]
    return [one for one in heard if isinstance(one, Used)]


def test_a_message_counts_once_as_it_is_heard_and_the_end_tells_the_rest() -> None:
    more = {"cache_read_input_tokens": 1000, "cache_creation_input_tokens": 100}
    parts = [says("m1", 100, 1), says("m1", 100, 1), says("m2", 10, 2, **more), says("m1", 100, 1)]
    first, second, rest = counted(*parts, result(**used(1210, 60, 0.002)))
    assert first == Used(Usage(100, 1, 0.000315), is_estimate=True)
    assert second == Used(Usage(1110, 2, 0.000735), is_estimate=True)
    assert rest == Used(Usage(0, 57, 0.00095))
    assert total(total(first.usage, second.usage), rest.usage) == Usage(1210, 60, 0.002)


def test_a_cost_that_was_estimated_too_high_is_corrected() -> None:
    *_, rest = counted(says("m1", 100, 1), result(**used(100, 20, 0.0001)))
    assert rest == Used(Usage(0, 19, -0.000215))


def test_what_a_session_had_used_before_is_in_its_count_and_not_in_the_turn() -> None:
    before = Usage(1000, 200, 0.5)
    *_, rest = counted(says("m1", 100, 1), result(**used(1100, 220, 0.6)), before=before)
    assert rest == Used(Usage(0, 19, 0.099685))


def test_a_count_that_lacks_a_killed_turn_takes_nothing_from_what_was_heard() -> None:
    before = Usage(1500, 300, 0.75)  # of which Claude never wrote 500 tokens down
    *_, rest = counted(says("m1", 100, 1), result(**used(1100, 220, 0.6)), before=before)
    assert rest == Used(Usage(0, 0, 0.0))


def test_without_a_price_messages_count_only_if_claude_has_none_either() -> None:
    message = says("m1", 100, 1)
    assert counted(message, has_price=False) == [Used(Usage(100, 1))]
    lines = ClaudeLines(has_price=True)
    assert not any(isinstance(heard, Used) for heard in lines(Line(json.dumps(message).encode())))


def test_messages_of_no_model_use_nothing() -> None:
    synthetic = says("m1", 0, 0)
    synthetic["message"]["model"] = "<synthetic>"
    assert counted(synthetic, says("", 100, 1)) == []


def test_no_count_is_beyond_what_can_be_kept() -> None:
    models = {str(number): {"inputTokens": NUMBER_LIMIT} for number in range(3)}
    assert hear(result(modelUsage=models, total_cost_usd=0.0))[0] == Used(Usage(NUMBER_LIMIT, 0, 0.0))


@pytest.mark.parametrize(
    "message",
    [
        {"type": "system", "subtype": "status"},
        {"type": "system"},
        {"type": "control_response"},
        {"type": "assistant"},
        {"type": "assistant", "message": {"content": "a text"}},
        {"type": "assistant", "message": {"content": [{"type": "text"}, 7, None]}},
        {"type": "user", "message": {"content": "a text"}},
    ],
)
def test_what_is_of_no_interest_is_passed_over(message: Any) -> None:
    assert hear(message) == []


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"type": 7}', b"\xff\xfe", b"Error: no such option"])
def test_what_is_no_event_is_kept_as_it_came(data: bytes) -> None:
    assert ClaudeLines()(Line(data)) == (Unparsed(data.decode("utf-8", "replace")),)


def test_an_empty_line_says_nothing() -> None:
    assert ClaudeLines()(Line(b"  ")) == ()


def test_texts_are_bounded() -> None:
    long = "x" * 100_000
    heard = hear(
        {**INIT, "session_id": long},
        {"type": "system", "subtype": "permission_denied", "tool_name": long, "message": long},
        assistant({"type": "tool_use", "id": "t", "name": long, "input": {"command": long}}),
        fault(result=long),
    )
    session, denied, started, ended = heard
    assert isinstance(session, SessionStarted)
    assert isinstance(denied, PermissionDenied)
    assert isinstance(started, ToolStarted)
    assert isinstance(ended, Result)
    for text in (session.session, denied.what, started.name, started.detail, ended.detail):
        assert len(text) == DETAIL_LIMIT
