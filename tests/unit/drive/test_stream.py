"""From bytes to events: whatever an agent writes, something bounded comes out and nothing is raised."""

import json
import tracemalloc
from dataclasses import fields
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive import stream
from amelia.drive.plain import read_plain_line
from amelia.drive.stream import Line, Lines, Result
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


def cut(*chunks: bytes, limit: int = 1000) -> list[Line]:
    lines = Lines(limit)
    return [line for chunk in chunks for line in lines.feed(chunk)] + list(lines.close())


def read(message: Any) -> Any:
    [heard] = read_plain_line(Line(json.dumps(message).encode()))
    return heard


def test_lines_are_found_across_chunks() -> None:
    assert cut(b"a", b"b\nc\r", b"\n\nd") == [Line(b"ab"), Line(b"c"), Line(b""), Line(b"d")]


def test_a_stream_that_ends_with_a_line_has_no_line_after_it() -> None:
    assert cut(b"a\n") == [Line(b"a")]


@pytest.mark.parametrize(("size", "is_cut"), [(9, False), (10, False), (11, True), (500, True)])
def test_a_line_over_the_limit_is_cut_and_the_next_is_whole(size: int, is_cut: bool) -> None:  # noqa: FBT001
    data = b"x" * size + b"\nnext\n"
    expected = [Line(b"x" * min(size, 10), is_cut=is_cut), Line(b"next")]
    assert cut(data, limit=10) == expected
    assert cut(*(data[i : i + 1] for i in range(len(data))), limit=10) == expected


def test_a_line_without_end_takes_no_more_memory_than_the_limit() -> None:
    lines = Lines(100)
    tracemalloc.start()
    for _ in range(1000):
        assert not list(lines.feed(b"x" * 10_000))
    assert tracemalloc.get_traced_memory()[0] < 100_000
    tracemalloc.stop()
    assert list(lines.close()) == [Line(b"x" * 100, is_cut=True)]


@given(st.lists(st.binary(max_size=50)))
def test_how_a_stream_is_cut_into_chunks_does_not_matter(chunks: list[bytes]) -> None:
    assert cut(*chunks) == cut(b"".join(chunks))


@pytest.mark.parametrize(
    ("message", "heard"),
    [
        ({"type": "session", "session": "s", "model": "m"}, SessionStarted(SessionId("s"), "m")),
        ({"type": "say", "text": "\x1b[31mred"}, Said("\x1b[31mred")),
        ({"type": "tool", "state": "started", "name": "run", "detail": "ls"}, ToolStarted("run", "ls")),
        ({"type": "tool", "state": "ended", "name": "run", "ok": False}, ToolEnded("run", ok=False)),
        ({"type": "usage", "input": 1, "output": 2, "cost": 0.5}, Used(Usage(1, 2, 0.5))),
        ({"type": "usage", "input": -1, "output": True, "cost": False}, Used(Usage(0, 0))),
        ({"type": "usage", "input": 10**30, "output": "2", "cost": 10**300}, Used(Usage(0, 0))),
        ({"type": "denied", "what": "write a"}, PermissionDenied("write a")),
        ({"type": "retry", "attempt": 2, "delay": 1.5, "status": 529}, Retrying(2, 1.5, 529)),
        ({"type": "retry"}, Retrying(0, 0.0, None)),
        ({"type": "end", "ending": "auth", "detail": "no"}, Result(ending=Ending.AUTH, detail="no")),
        (
            {"type": "limit", "until": "2026-11-15T12:00:00Z"},
            Result(ending=Ending.LIMITED, until="2026-11-15T12:00:00Z"),
        ),
        ({"type": "limit", "until": 5}, Result(ending=Ending.LIMITED)),
        ({"type": "result", "report": {"a": 1}}, Result(ending=Ending.OK, report={"a": 1})),
    ],
)
def test_a_known_message_is_understood(message: Any, heard: Any) -> None:
    assert read(message) == heard


@pytest.mark.parametrize(
    "message",
    [
        {"type": "result"},
        {"type": "result", "report": "done"},
        {"type": "result", "report": None},
        {"type": "say", "text": 1},
        {"type": "tool", "name": "x"},
        {"type": "session"},
        {"type": "unknown"},
        {"type": ["say"]},
        {},
        [],
        "limit reached",
        None,
    ],
)
def test_a_message_that_is_not_known_is_unparsed(message: Any) -> None:
    assert read(message) == Unparsed(json.dumps(message))


@pytest.mark.parametrize(
    "data",
    [
        b"plain text",
        b"\xff\xfe\x00",
        b"\0\0",
        b"{",
        b'{"type": NaN}',
        b'{"type": "say", "text": "\\ud800"}',
        b"[" * 9999,
    ],
)
def test_what_is_no_json_is_unparsed(data: bytes) -> None:
    [heard] = read_plain_line(Line(data))
    assert isinstance(heard, Unparsed)


def test_an_empty_line_says_nothing() -> None:
    assert read_plain_line(Line(b"  \t")) == ()


def test_a_cut_line_is_unparsed_and_short_even_if_it_reads_as_json() -> None:
    data = json.dumps({"type": "say", "text": "x" * 5000}).encode()
    [heard] = read_plain_line(Line(data, is_cut=True))
    assert isinstance(heard, Unparsed)
    assert len(heard.line) == stream.DETAIL_LIMIT


@pytest.mark.parametrize("ending", ["ok", "killed", "interrupted", "crashed", "nonsense"])
def test_an_agent_cannot_say_of_itself_what_only_we_can_say(ending: str) -> None:
    assert isinstance(read({"type": "end", "ending": ending}), Unparsed)


def nested(depth: int) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for _ in range(depth):
        report = {"a": [report]}
    return report


def test_a_report_that_is_nested_beyond_reason_is_unparsed() -> None:
    assert isinstance(read({"type": "result", "report": nested(20)}), Result)
    assert isinstance(read({"type": "result", "report": nested(30)}), Unparsed)


def test_many_brackets_are_not_deep() -> None:
    assert isinstance(read({"type": "result", "report": {"a": [[]] * 1000}}), Result)
    assert read({"type": "say", "text": "[{" * 1000}) == Said("[{" * 1000)


@pytest.mark.parametrize("brackets", range(stream.DEPTH_LIMIT - 3, stream.DEPTH_LIMIT + 3))
def test_how_deep_is_too_deep_does_not_depend_on_how_it_is_found_out(brackets: int) -> None:
    deep = b'{"a":' + b"[" * (brackets - 1) + b"1" + b"]" * (brackets - 1)
    alone, in_company = deep + b"}", deep + b',"b":"' + b"[" * stream.DEPTH_LIMIT + b'"}'
    found = [stream.read_object(Line(data)) is not None for data in (alone, in_company)]
    assert found == [brackets < stream.DEPTH_LIMIT] * 2


def test_texts_are_bounded() -> None:
    long = "ä" * 2_000_000
    assert read({"type": "say", "text": long}) == Said(long[: stream.MESSAGE_LIMIT])
    assert read({"type": "session", "session": long}) == SessionStarted(
        SessionId(long[: stream.DETAIL_LIMIT]), ""
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
KEYS = st.sampled_from(
    [
        "session",
        "model",
        "text",
        "state",
        "name",
        "detail",
        "ok",
        "input",
        "output",
        "cost",
        "until",
        "report",
    ]
)
KINDS = st.sampled_from(
    ["session", "say", "tool", "usage", "limit", "denied", "retry", "end", "result", "other"]
)
STATES = st.sampled_from(["started", "ended"])
MESSAGES = st.tuples(KINDS, STATES, st.dictionaries(KEYS, JSON))


def written(message: tuple[str, str, dict[str, Any]]) -> bytes:
    kind, state, rest = message
    return json.dumps({"state": state, **rest, "type": kind}).encode()


@given(st.one_of(st.binary(), MESSAGES.map(written)))
def test_whatever_an_agent_writes_can_be_stored(data: bytes) -> None:
    for heard in read_plain_line(Line(data)):
        msgspec.json.encode({field.name: getattr(heard, field.name) for field in fields(heard)})
