"""Anything that has the look of Claude's events, and anything else, is taken without an exception."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.claude.lines import ClaudeLines
from amelia.drive.ending import Seen, conclude
from amelia.drive.stream import NUMBER_LIMIT, Line
from amelia.model.agents import SessionId, TurnEnded, Usage, Used

KEYS = """
    type subtype message content text id name input command tool_use_id is_error error error_status attempt
    retry_delay_ms tool_name decision_reason rate_limit_info status resetsAt result errors structured_output
    permission_denials modelUsage inputTokens outputTokens costBasis total_cost_usd api_error_status
""".split()
WORDS = """
    system assistant user rate_limit_event result init api_retry permission_denied text tool_use tool_result
    success error_during_execution error_max_turns rejected unknown server_error
""".split()

keys = st.sampled_from(KEYS) | st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=20,
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS)},
    optional={
        "subtype": st.sampled_from(WORDS) | values,
        "message": st.fixed_dictionaries({"content": values | st.lists(values)}) | values,
        "modelUsage": st.dictionaries(keys, st.dictionaries(st.sampled_from(KEYS), values)) | values,
        "rate_limit_info": st.fixed_dictionaries({"status": st.just("rejected"), "resetsAt": values})
        | values,
        "is_error": st.booleans() | values,
        "errors": values,
        "result": values,
        "error": values,
        "total_cost_usd": values,
        "permission_denials": values,
    },
)


@pytest.mark.slow
@given(st.lists(events | values | st.binary(max_size=50), max_size=8), st.sampled_from([0, 1, None]))
def test_no_line_makes_the_dialect_raise(said: list[Any], code: int | None) -> None:
    lines = ClaudeLines(Usage(5, 5, 0.1))
    seen = Seen(SessionId("s"))
    for item in said:
        data = item if isinstance(item, bytes) else json.dumps(item).encode("utf-8", "replace")
        for heard in lines(Line(data)):
            seen = seen.plus(heard)
            if isinstance(heard, Used):
                assert 0 <= heard.usage.input_tokens <= NUMBER_LIMIT
                assert heard.usage.cost is None or heard.usage.cost >= 0
    ended = conclude(seen, exit_code=code, ended_by=None, errors="")
    assert isinstance(ended, TurnEnded)
    assert f"{ended.text}{ended.detail}{ended.session}".encode(), "it can be written down"
