"""What an agent of the Agent Client Protocol says, in the lines of the plain dialect."""

import json
import tracemalloc
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.acp.updates import Updates, permission, touched_paths
from amelia.drive.plain import read_plain_line
from amelia.drive.stream import MESSAGE_LIMIT, Heard, Line
from amelia.model.agents import PermissionDenied, Said, ToolEnded, ToolStarted, Unparsed, Usage, Used

Table = dict[str, Any]


def piece(text: str, message: str | None = None) -> Table:
    update: Table = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return update if message is None else {**update, "messageId": message}


def tool(call: str, status: str | None = None, *, kind: str = "tool_call", **facts: str) -> Table:
    return {"sessionUpdate": kind, "toolCallId": call, **({"status": status} if status else {}), **facts}


def cost(amount: object, currency: str = "USD") -> Table:
    return {
        "sessionUpdate": "usage_update",
        "used": 5,
        "size": 9,
        "cost": {"amount": amount, "currency": currency},
    }


def understood(messages: Iterable[Mapping[str, object]]) -> list[Heard]:
    return [heard for message in messages for heard in read_plain_line(Line(json.dumps(message).encode()))]


def heard_of(*given: Table, answer: Table | None = None, before: float | None = None) -> list[Heard]:
    updates = Updates(before)
    heard = [heard for update in given for heard in understood(updates.hear(update))]
    return [*heard, *understood(updates.end_turn(answer or {}))]


def test_the_pieces_of_a_message_come_out_as_one() -> None:
    assert heard_of(piece("a "), piece("b "), piece("c")) == [Said("a b c")]


def test_messages_end_where_another_begins_or_the_agent_turns_to_something_else() -> None:
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}
    assert heard_of(piece("a", "1"), piece("b", "2"), thought, piece("c", "2")) == [
        Said("a"),
        Said("b"),
        Said("c"),
    ]


def test_news_of_the_session_do_not_cut_a_message() -> None:
    news = [{"sessionUpdate": kind} for kind in ("usage_update", "plan", "available_commands_update")]
    assert heard_of(piece("a"), *news, piece("b")) == [Said("ab")]


@pytest.mark.parametrize("parts", [("x" * MESSAGE_LIMIT, "y", "", "z"), ("x" * MESSAGE_LIMIT + "yz",)])
def test_the_end_of_a_message_is_kept_where_it_is_too_long_since_the_report_is_there(
    parts: tuple[str, ...],
) -> None:
    updates = Updates()
    for part in parts:
        list(updates.hear(piece(part)))
    said = understood(updates.end_turn({}))
    assert updates.last_message == "x" * (MESSAGE_LIMIT - 2) + "yz"
    assert said == [Said(updates.last_message)]


def test_a_message_that_does_not_end_takes_no_more_memory_than_is_kept() -> None:
    updates, text = Updates(), "x" * MESSAGE_LIMIT
    tracemalloc.start()
    for number in range(50):
        list(updates.hear(piece(f"{text}{number}")))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 5 * MESSAGE_LIMIT


def test_a_tool_starts_once_and_ends_once() -> None:
    more = "tool_call_update"
    assert heard_of(
        tool("1", "pending", kind="tool_call"),
        tool("2", "completed", title="Read b"),
        tool("1", "in_progress", kind=more),
        tool("1", "failed", kind=more),
        tool("1", "completed", kind=more),
    ) == [
        ToolStarted("tool", ""),
        ToolStarted("tool", "Read b"),
        ToolEnded("tool", ok=True),
        ToolEnded("tool", ok=False),
    ]


def test_a_tool_that_is_first_heard_of_by_its_end_has_started_too() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "kind": "edit", "status": "completed"}
    assert heard_of(update) == [ToolStarted("edit", ""), ToolEnded("edit", ok=True)]


def test_an_unknown_update_is_handed_on_whole() -> None:
    [heard] = heard_of({"sessionUpdate": "dance", "steps": 3})
    assert isinstance(heard, Unparsed)
    assert '"dance"' in heard.line


def test_tokens_come_with_the_answer_and_caches_count() -> None:
    usage = {
        "inputTokens": 10,
        "outputTokens": 5,
        "cachedReadTokens": 100,
        "cachedWriteTokens": 7,
        "totalTokens": 122,
    }
    assert heard_of(answer={"usage": usage}) == [Used(Usage(117, 5))]


@pytest.mark.parametrize("total", [{"totalTokens": 18}, {"outputTokens": 8}])
def test_thoughts_count_as_output(total: Table) -> None:
    usage = {"inputTokens": 10, "outputTokens": 5, "thoughtTokens": 3, **total}
    assert heard_of(answer={"usage": usage}) == [Used(Usage(10, 8))]


@pytest.mark.parametrize("answer", [{}, {"usage": None}, {"usage": "much"}])
def test_what_is_not_counted_stays_unknown(answer: Table) -> None:
    assert heard_of(cost(0), cost(0.0), cost(5, "EUR"), cost(-1), cost("a lot"), answer=answer) == []


def test_money_counts_over_the_session_and_comes_out_as_what_was_added() -> None:
    usage = {"usage": {"inputTokens": 10, "outputTokens": 5}}
    heard = heard_of(cost(0.5), cost(0.75), answer=usage, before=0.25)
    assert heard == [Used(Usage(0, 0, 0.25)), Used(Usage(0, 0, 0.25)), Used(Usage(10, 5, 0.0))]


def test_an_agent_that_counts_money_from_its_own_start_is_believed() -> None:
    assert heard_of(cost(0.125), before=4.0) == [Used(Usage(0, 0, 0.125))]


def test_a_sum_that_is_off_by_a_rounding_is_not_a_new_start() -> None:
    assert heard_of(cost(0.3), before=0.1 + 0.2) == [Used(Usage(0, 0, 0.0))]


def test_what_a_loaded_session_had_cost_is_not_of_this_turn() -> None:
    updates = Updates()
    updates.recall(cost(2.0))
    updates.recall(piece("said long ago"))
    assert understood(updates.hear(cost(2.5))) == [Used(Usage(0, 0, 0.5))]
    assert list(updates.end_turn({})) == []


@pytest.mark.parametrize(
    ("is_allowed", "kinds", "chosen"),
    [
        (True, ["allow_always", "allow_once", "reject_once"], "allow_once"),
        (True, ["reject_once", "allow_always"], "allow_always"),
        (False, ["allow_once", "reject_always", "reject_once"], "reject_once"),
        (False, ["reject_always"], "reject_always"),
    ],
)
def test_permission_is_given_and_refused_for_once_where_that_is_offered(
    kinds: list[str], chosen: str, *, is_allowed: bool
) -> None:
    options = [{"kind": kind, "optionId": kind} for kind in kinds]
    assert permission(options, is_allowed=is_allowed) == {
        "outcome": {"outcome": "selected", "optionId": chosen}
    }


@pytest.mark.parametrize("options", [None, [], ["x"], [{"kind": "allow_once", "optionId": "a"}]])
def test_where_no_refusal_is_offered_the_request_is_cancelled(options: object) -> None:
    assert permission(options, is_allowed=False) == {"outcome": {"outcome": "cancelled"}}


def test_the_files_that_a_call_changes_are_its_places_and_its_diffs() -> None:
    call: Table = {"locations": [{"path": "a"}, {}], "content": [{"type": "diff", "path": "b"}, 3]}
    assert touched_paths({"kind": "edit", **call}) == ["a", "b"]
    assert touched_paths(call) == ["a", "b"]
    assert touched_paths({"kind": "read", **call}) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = "sessionUpdate messageId content text toolCallId kind title status cost amount currency".split()
KINDS = "agent_message_chunk agent_thought_chunk tool_call tool_call_update usage_update plan dance".split()
TABLES = st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["completed", "USD"]), max_size=6)


def of_a_kind(kind: str, update: Table) -> Table:
    return {**update, "sessionUpdate": kind}


@pytest.mark.slow
@given(st.lists(TABLES | st.builds(of_a_kind, st.sampled_from(KINDS), TABLES)), JSON)
def test_any_updates_are_taken(given_updates: list[Table], anything: object) -> None:
    updates = Updates()
    for update in given_updates:
        updates.recall(update)
        assert understood(updates.hear(update)) is not None
    for heard in understood(updates.end_turn({"usage": anything})):
        assert not isinstance(heard, Unparsed)
    assert permission(anything, is_allowed=True)
    assert touched_paths({"kind": anything, "locations": anything, "content": anything}) is not None


def used(given: int, made: int) -> Used:
    return Used(Usage(given, made))


def counted(given: int, made: int) -> Table:
    return {"field_meta": {"openhands.dev/metrics": {"input_tokens": given, "output_tokens": made}}}


def test_tokens_that_a_message_tells_in_its_notes_are_counted_once() -> None:
    noted = {**piece(""), "_meta": {"usage": {"inputTokens": 7, "outputTokens": 8, "totalTokens": 15}}}
    whole = {"usage": {"inputTokens": 14, "outputTokens": 16}}
    assert heard_of(piece("a"), noted, noted, answer=whole) == [used(7, 8), used(7, 8), Said("a")]


def test_tokens_that_an_answer_tells_in_its_notes_are_counted() -> None:
    quota = {"token_count": {"input_tokens": 7, "output_tokens": 8}}
    assert heard_of(answer={"_meta": {"quota": quota}}) == [used(7, 8)]


def test_a_running_count_comes_out_as_what_was_added() -> None:
    updates = Updates()
    updates.recall({}, counted(5, 5))
    told = [
        understood(updates.hear(piece(""), counted(*count))) for count in [(7, 8), (7, 8), (9, 8), (1, 1)]
    ]
    assert told == [[used(2, 3)], [], [used(2, 0)], [used(1, 1)]]


@pytest.mark.parametrize("usage", [{"inputTokens": 0, "outputTokens": 0}, {"used": 140}, {}])
def test_a_count_without_tokens_is_not_a_count_of_zero(usage: Table) -> None:
    assert heard_of(answer={"usage": usage}) == []


def test_what_was_said_before_a_refusal_is_no_answer() -> None:
    updates = Updates()
    heard = [*understood(updates.hear(piece("{}"))), *understood(updates.refuse("ls"))]
    assert heard == [Said("{}"), PermissionDenied("ls")]
    assert (updates.last_message, updates.refused) == ("", "ls")
    list(updates.hear(tool("2")))
    assert updates.refused == ""
