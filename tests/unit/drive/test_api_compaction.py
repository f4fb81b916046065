"""A history that is made to fit: what was asked stays, calls keep what they returned, the latest stays longest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, RequestUsage, TextPart, ToolCallPart
from pydantic_ai.messages import ToolReturnPart, UserPromptPart, repair_messages

from amelia.drive.api.compaction import LATEST, LEFT_OUT, compacted, size_of

ASSIGNMENT = "Build it. " * 50
LONG = "x" * 20_000


def asked(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def exchange(number: int, text: str = LONG) -> list[ModelMessage]:
    call = ToolCallPart("write_file", {"path": f"{number}.txt", "text": text}, tool_call_id=f"c{number}")
    returned = ToolReturnPart("write_file", f"wrote {number}: {text}", tool_call_id=f"c{number}")
    return [ModelResponse(parts=[TextPart(f"I do {number}."), call]), ModelRequest(parts=[returned])]


def history(*numbers: int, text: str = LONG) -> list[ModelMessage]:
    return [asked(ASSIGNMENT), *(message for number in numbers for message in exchange(number, text))]


def prompts(messages: list[ModelMessage]) -> list[object]:
    parts = (part for message in messages for part in message.parts)
    return [part.content for part in parts if isinstance(part, UserPromptPart) and part.content != LEFT_OUT]


def calls(messages: list[ModelMessage]) -> tuple[list[str], list[str]]:
    parts = [part for message in messages for part in message.parts]
    called = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    return called, [part.tool_call_id for part in parts if isinstance(part, ToolReturnPart)]


def test_what_fits_stays_as_it_is() -> None:
    messages = history(1, 2, 3)
    assert compacted(messages, size_of(messages)) == messages


def test_first_the_long_texts_of_old_exchanges_go() -> None:
    messages = history(*range(20))
    fitting = compacted(messages, size_of(messages) // 2)
    assert len(fitting) == len(messages)
    assert fitting[-LATEST:] == messages[-LATEST:]
    assert "characters left out" in str(fitting[1])
    assert size_of(fitting) <= size_of(messages) // 2


def test_then_old_exchanges_go_and_all_that_was_asked_stays() -> None:
    messages = [*history(*range(200), text="y" * 300), asked("Do more."), *exchange(300), *exchange(301)]
    fitting = compacted(messages, 40_000)
    assert prompts(fitting) == [ASSIGNMENT, "Do more."]
    assert LEFT_OUT in str(fitting[0])
    assert fitting[-2:] == messages[-2:]
    assert str(compacted(fitting, 15_000)).count(LEFT_OUT) == 1, "it is said once"


def test_at_last_the_latest_texts_are_shortened() -> None:
    fitting = compacted(history(*range(10), text="z" * 200_000), 20_000)
    assert size_of(fitting) <= 20_000
    assert "wrote 9" in str(fitting[-1])


def test_an_assignment_that_is_too_long_by_itself_stays() -> None:
    messages: list[ModelMessage] = [asked(LONG * 10)]
    assert compacted(messages, 5_000) == messages


def test_a_call_whose_arguments_are_no_json_is_left_out_like_the_others() -> None:
    call = ToolCallPart("write_file", '{"path": "' + LONG, tool_call_id="c")
    messages = [asked(ASSIGNMENT), ModelResponse(parts=[call]), *history(*range(20))[1:]]
    assert size_of(compacted(messages, 40_000)) <= 40_000


def test_the_count_of_an_answer_counts_more_than_its_bytes() -> None:
    told = ModelResponse(parts=[TextPart("a")], usage=RequestUsage(input_tokens=90_000, output_tokens=10))
    messages: list[ModelMessage] = [asked(ASSIGNMENT), told, asked("b" * 3_000)]
    assert 91_000 < size_of(messages, told) < 92_000
    assert size_of(messages) < 10_000
    assert size_of(messages, ModelResponse(parts=[])) == size_of(messages)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5_000)), max_size=25),
    st.integers(min_value=4_000, max_value=60_000),
)
def test_whatever_is_left_out_the_history_stays_whole(steps: list[tuple[bool, int]], room: int) -> None:
    messages: list[ModelMessage] = [asked(ASSIGNMENT)]
    for number, (is_prompt, length) in enumerate(steps):
        messages += [asked(f"{number}" * 9)] if is_prompt else exchange(number, "w" * length)
    fitting = compacted(messages, room)
    assert prompts(fitting) == prompts(messages)
    called, returned = calls(fitting)
    assert called == returned
    assert size_of(fitting) <= max(room, size_of(messages))
    assert repair_messages(fitting)
    assert str(fitting[-1].parts[-1])[:50] == str(messages[-1].parts[-1])[:50] or LEFT_OUT in str(fitting[-1])
