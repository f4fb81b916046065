"""Events as JSON: whatever was written reads back the same, and what has its default is not written."""

import dataclasses
import types
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NewType, Union, cast, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amelia.model import events as ev
from amelia.model.agents import Clocks, Ending, Role, Usage
from amelia.model.errors import JournalError
from amelia.model.findings import Finding, FindingId
from amelia.model.git import CommitId, TreeId
from amelia.model.outcome import Outcome, Result
from amelia.model.plan import UnitId
from amelia.record.codec import VERSION, decode, encode, plain, type_name
from runs import started, unit

KINDS: list[type] = list(get_args(ev.Event))
LONG = "long " * 5000
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20) | st.sampled_from(["", "é🦆", "\0\x1b[2J\n", "```", '"{}\\', LONG]),
    float: st.floats(allow_nan=False, allow_infinity=False),
    timedelta: st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Returns any value of a type, with every field of every dataclass in it."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        fields = {field.name: values(hints[field.name]) for field in dataclasses.fields(hint)}
        return st.builds(hint, **fields)
    if isinstance(hint, NewType):
        return values(hint.__supertype__)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return st.one_of([values(one) for one in inner])
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin in {dict, Mapping}:
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    return SCALARS[hint] if hint in SCALARS else st.from_type(cast("type[Any]", hint))


def again(event: ev.Event) -> ev.Event:
    kind, body = encode(event)
    return decode(kind, VERSION, body)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=type_name)
@settings(max_examples=30)
@given(data=st.data())
def test_every_event_reads_back_the_same(kind: type, data: st.DataObject) -> None:
    event: ev.Event = data.draw(values(kind))
    assert again(event) == event
    assert encode(again(event)) == encode(event)


def test_an_event_is_named_after_its_type() -> None:
    assert type_name(ev.UnitLanded) == "unit_landed"
    assert len({type_name(kind) for kind in KINDS}) == len(KINDS)


def test_what_has_its_default_is_not_written() -> None:
    work = ev.Work(CommitId("c"), TreeId("t"))
    event = ev.AttemptEnded(unit=UnitId("1"), attempt=1, ending=Ending.OK, work=work)
    assert encode(event) == (
        "attempt_ended",
        b'{"unit":"1","attempt":1,"ending":"ok","work":{"commit":"c","tree":"t"}}',
    )


def test_a_default_comes_back_as_it_was() -> None:
    facts = started(unit("1"), test_command=None)
    written = msgspec.json.decode(encode(facts)[1])
    assert "clocks" not in written
    assert "verify" not in written
    assert again(facts) == facts


def test_a_value_beside_its_default_is_written_alone() -> None:
    clocks = Clocks(silence=timedelta(seconds=90.5))
    assert plain(clocks) == {"silence": timedelta(seconds=90.5)}
    facts = started(unit("1"), test_command=None, clocks=clocks)
    assert again(facts) == facts


def test_what_is_written_is_json_of_plain_values() -> None:
    finding = Finding(FindingId("f"), "text", "a.py", 3)
    assert plain(finding) == {"id": "f", "text": "text", "file": "a.py", "line": 3}
    assert plain({UnitId("1"): (Result.HALTED, frozenset({2}))}) == {"1": ["halted", [2]]}
    assert encode(ev.RunFinished(Outcome(Result.HALTED))) == (
        "run_finished",
        b'{"outcome":{"result":"halted"}}',
    )


def test_text_that_is_no_unicode_is_spelt_out() -> None:
    facts = started(unit("1"), test_command=None, footprints={"1\udcff": ("src/\ud800.py",)})
    read = again(facts)
    assert isinstance(read, ev.RunStarted)
    assert read.footprints == {"1\\udcff": ("src/\\ud800.py",)}


@pytest.mark.parametrize("cost", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_know_is_none(cost: float) -> None:
    event = ev.UsageReported(
        unit=UnitId("1"), attempt=1, role=Role.DEVELOPER, session=None, usage=Usage(1, 2, cost)
    )
    assert again(event) == dataclasses.replace(event, usage=Usage(1, 2))


def test_a_field_that_is_not_known_is_passed_over() -> None:
    assert decode("unit_reset", VERSION, b'{"unit":"1","mood":"good"}') == ev.UnitReset(UnitId("1"))


@pytest.mark.parametrize(
    ("kind", "version", "body"),
    [
        ("unit_sang", VERSION, b"{}"),
        ("UnitReset", VERSION, b"{}"),
        ("unit_reset", VERSION + 1, b'{"unit":"1"}'),
    ],
)
def test_an_event_of_a_newer_version_is_refused_with_a_hint(kind: str, version: int, body: bytes) -> None:
    with pytest.raises(JournalError, match="does not know") as refused:
        decode(kind, version, body)
    assert refused.value.hint == "use the version that wrote it, or a newer one"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"{}",
        b'{"unit":1}',
        b'{"unit":"\xff"}',
        b'{"unit":"\\ud800"}',
        b'{"unit":"1","attempt":"2"}',
    ],
)
def test_a_damaged_event_is_refused_with_a_hint(body: bytes) -> None:
    with pytest.raises(JournalError, match="damaged event: unit_landed") as refused:
        decode("unit_landed", VERSION, body)
    assert refused.value.hint


def test_an_event_of_an_older_version_is_brought_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(old: dict[str, Any]) -> dict[str, Any]:
        return {"unit": old["task"]}

    monkeypatch.setattr("amelia.record.codec.VERSION", VERSION + 1)
    monkeypatch.setattr("amelia.record.codec._UPCASTS", {("unit_reset", VERSION): renamed})
    assert decode("unit_reset", VERSION, b'{"task":"7"}') == ev.UnitReset(UnitId("7"))
    assert decode("run_resumed", VERSION, b'{"process":7}') == ev.RunResumed(7)
