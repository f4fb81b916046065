"""The JSON objects in a message: found wherever they stand, quotes told apart, whatever else is there."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.objects import MOST, objects_in, read_message
from amelia.drive.stream import MESSAGE_LIMIT
from amelia.model.agents import Written

REPORT = {"status": "completed", "summary": 'It says "{" and `}`.'}
TEXT = json.dumps(REPORT)
PRETTY = json.dumps(REPORT, indent=2)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, max_size=4)
PROSE = st.text(st.characters(blacklist_characters='{}[]"<>`~', blacklist_categories=("Cs",)), max_size=40)


def values(message: str) -> list[Any]:
    return [found.value for found in objects_in(message)]


@pytest.mark.parametrize(
    "message",
    [
        TEXT,
        PRETTY,
        f"  {TEXT}\n",
        f"\ufeff{TEXT}",
        f"I am done.\n\n{TEXT}",
        f"{TEXT}\n\nTell me if anything is missing.",
        f"Here it is:\n```json\n{PRETTY}\n```\nDone.",
        f"Here it is:\n```JSON\n{TEXT}\n```",
        f"Here it is:\r\n```json\r\n{PRETTY.replace(chr(10), chr(13) + chr(10))}\r\n```\r\n",
        f"~~~\n{TEXT}\n~~~",
        f"````json\n{TEXT}\n````",
        f"```json\n{TEXT}",
        f'<think>\nIs it {{"status": "failed"}}? No.\n</think>\n{TEXT}',
        f"<thinking>{{}}</thinking>{chr(10)}{TEXT}",
        f'Perhaps {{"status": "failed"}}.\n</think>\n\n{TEXT}',
        f"<think>\nHm, {{ is a brace\n</think>\n{TEXT}",
        f"The function f() {{ return 1 }} works.\n{TEXT}",
        f'An unfinished one: {{"status: \n{TEXT}',
    ],
)
def test_an_object_that_stands_alone_is_found_whatever_is_around_it(message: str) -> None:
    assert objects_in(message)[-1] == Written(REPORT)


@pytest.mark.parametrize(
    "message",
    [
        f"The file holds {TEXT} now.",
        f"The file holds `{TEXT}`",
        f"+{TEXT}",
        f"> {TEXT}",
        f"{TEXT} is what the file holds",
        f"```diff\n-nothing\n+{TEXT}\n```",
        f"```diff\n {TEXT}\n```",
        f"~~~ python\n{TEXT}\n~~~",
        f"```python\nreport = (\n{TEXT}\n)\n```",
        f"```\n{TEXT}\nmore of the file\n```",
        f'{{"review":\n{TEXT}\n',
        f'An unfinished one: {{"status": \n{TEXT}',
        f"[1, {TEXT}",
    ],
)
def test_an_object_inside_of_something_else_is_a_quote(message: str) -> None:
    assert objects_in(message) == (Written(REPORT, stands_alone=False),)


@pytest.mark.parametrize(
    ("message", "unread"),
    [
        (f'{{"status": "failed",}}\n{TEXT}', ("status",)),
        (f'{TEXT}\n```json\n  {{\n  "summary": "it is', ("summary",)),
        (f"{TEXT}\n{{'status': 'failed'}}", ("status",)),
        (f'{{ // why\n status: "failed"}}\n{TEXT}', ("status",)),
        (f'{{"a": 1,}}\n{{"b": 1,}}\n{{"a": 2,}}\n{TEXT}', ("a", "b")),
        (f'Answer with {{"status": "a" | "b"}}.\n{TEXT}', ()),
        (f"int main()\n{{\n  return 0;\n}}\n{TEXT}", ()),
        (f'<think>\n{{"status": 1,}}\n</think>\n{TEXT}', ()),
        (f'{{"status": 1,}}</think>\n{TEXT}', ()),
        (f'{" " * 1_000}{{"status": 1,}}\n{TEXT}', ()),
        (TEXT, ()),
    ],
)
def test_what_was_to_be_an_object_is_told_by_its_first_name(message: str, unread: tuple[str, ...]) -> None:
    found = read_message(message)
    assert ([each.value for each in found.written], found.unread) == ([REPORT], unread)


OUTERMOST: list[tuple[str, list[object]]] = [
    ("", []),
    ("[1]", []),
    ("{", []),
    ("{}", [{}]),
    ('{"a": {"b": 1}}', [{"a": {"b": 1}}]),
    ('{"a": "{\\"b\\": 1}"}', [{"a": '{"b": 1}'}]),
    ('{"a": 1} and {"b": 2}', [{"a": 1}, {"b": 2}]),
    ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
    ('{"a": 1, "b": {"c": 2}, oops', [{"c": 2}]),
    ('{"a": {"b": {"c": 2}}, "d": [{"e": 1}, {"f": 2}', [{"b": {"c": 2}}, {"e": 1}, {"f": 2}]),
    ('{"a": "+{"b": 1}"}', [{"b": 1}]),
    ("{'a': 1}", []),
    ('{"a": 01}', []),
    ('{"a": [1, 2}', []),
    ('{"a": 1]', []),
    ('{"a" 1}', []),
    ('{"a": 1,}', []),
    ('{"a": "\\ud800"}', []),
    ('<think>\n{"a": 1}\n', []),
    ('{"a": "</think>"}', [{"a": "</think>"}]),
    ('{"a": 1}\nIt handles <think> well.', [{"a": 1}]),
    ('{"a": 1}\n<think>\n{"b": 2}\n</think>\n', [{"a": 1}]),
    ('Text.\n<think>\n{"b": 2}\n', [{"b": 2}]),
]


@pytest.mark.parametrize(("message", "found"), OUTERMOST)
def test_outermost_objects_are_found_in_their_order(message: str, found: list[object]) -> None:
    assert values(message) == found


def test_objects_that_share_a_line_or_a_fence_are_quotes() -> None:
    for message in ('{"a": 1} {"b": 2}', '```\n{"a": 1}\n{"b": 2}\n```'):
        assert [found.stands_alone for found in objects_in(message)] == [False, False]
    assert [found.stands_alone for found in objects_in('{"a": 1}\n{"b": 2}')] == [True, True]


@given(PROSE, OBJECTS, PROSE, st.sampled_from([None, 1]))
def test_any_object_in_any_prose_is_found(before: str, value: Any, after: str, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert objects_in(f"{before}\n{text}\n{after}") == (Written(value),)
    assert values(f"{before}{text}{after}") == [value]


@given(st.text(st.sampled_from('{}[]",:\\ \n0atrue`~<>/think'), max_size=200) | st.text())
def test_no_message_is_too_strange(message: str) -> None:
    for found in objects_in(message):
        assert isinstance(found.value, dict)


@given(st.lists(OBJECTS, max_size=4), st.text(st.sampled_from('{}[]":, \n'), max_size=20))
def test_what_comes_before_an_object_takes_nothing_from_it(earlier: list[Any], broken: str) -> None:
    texts = [json.dumps(value) for value in earlier]
    assert values("\n".join([*texts, broken.replace('"', ""), TEXT]))[-1] == REPORT


HOSTILE = {
    "open braces": "{",
    "open objects": '{"a":',
    "open objects in strings": '{"a":"{',
    "flipped strings": '{"{":":",",":":","',
    "open lists": '{"a":[',
    "broken strings": '{"a',
    "escapes": '{"\\"',
    "spaces": "{          ",
    "objects on a line": "{}",
    "objects in fences": "~~~\n{}\n",
    "mixed fences": "```\n{}\n~~~\n{}\n",
    "thoughts": "<think>\n{}",
    "ends of thoughts": "{}</think>\n",
    "blank lines": "\n",
    "spaces alone": " ",
}


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_time_is_linear_in_what_is_meant_to_hurt(piece: str) -> None:
    message = (piece * (MESSAGE_LIMIT // len(piece)))[: MESSAGE_LIMIT - len(TEXT) - 1] + "\n" + TEXT
    began = time.process_time()
    found = objects_in(message)
    assert time.process_time() - began < 20  # a second or two; what grows with the square takes hours
    assert len(found) <= MOST


def test_a_report_at_the_end_of_a_very_long_message_is_found() -> None:
    assert values("x" * 3 * MESSAGE_LIMIT + TEXT) == [REPORT]
