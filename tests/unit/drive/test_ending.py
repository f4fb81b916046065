"""How a turn ended, from what was said, the exit code and who ended it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.ending import Seen, conclude
from amelia.drive.stream import DETAIL_LIMIT, Heard, Result
from amelia.model.agents import (
    Ending,
    Said,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Unparsed,
    Usage,
    Used,
    Written,
)

REPORT = {"status": "completed"}
DONE = Result(ending=Ending.OK, report=REPORT)
STARTED = SessionStarted(SessionId("s"), "m")


def end(
    *heard: Heard, exit_code: int | None = 0, ended_by: Ending | None = None, errors: str = ""
) -> TurnEnded:
    seen = Seen(None)
    for event in heard:
        seen = seen.plus(event)
    return conclude(seen, exit_code=exit_code, ended_by=ended_by, errors=errors)


@pytest.mark.parametrize(
    ("heard", "exit_code", "ending"),
    [
        ([STARTED, DONE], 0, Ending.OK),
        ([STARTED, DONE], 1, Ending.FAILED),
        ([STARTED, DONE], None, Ending.FAILED),
        ([STARTED, Result(ending=Ending.OK)], 0, Ending.NO_REPORT),
        ([STARTED, Result(ending=Ending.FAILED)], 0, Ending.FAILED),
        ([STARTED, Result(ending=Ending.LIMITED)], 1, Ending.LIMITED),
        ([STARTED, Result(ending=Ending.LIMITED)], 0, Ending.LIMITED),
        ([STARTED, Result(ending=Ending.AUTH)], 1, Ending.AUTH),
        ([STARTED], 0, Ending.NO_REPORT),
        ([], 0, Ending.NO_REPORT),
        ([STARTED, Said("limit reached, try again at 5pm")], 0, Ending.NO_REPORT),
        ([STARTED, Said("limit reached"), DONE], 0, Ending.OK),
        ([STARTED], 2, Ending.CRASHED),
        ([Unparsed("limit reached")], 1, Ending.CRASHED),
        ([], None, Ending.CRASHED),
        ([Unparsed("x"), Unparsed("y")], 0, Ending.GARBAGE),
        ([Unparsed("x"), STARTED], 0, Ending.NO_REPORT),
        ([Unparsed("x"), STARTED, DONE], 0, Ending.OK),
        ([DONE, Result(ending=Ending.FAILED)], 0, Ending.FAILED),
    ],
)
def test_an_agents_own_end(heard: list[Heard], exit_code: int | None, ending: Ending) -> None:
    assert end(*heard, exit_code=exit_code).ending is ending


@pytest.mark.parametrize(
    "heard",
    [
        [STARTED, Said("Begun."), Said('It is done.\n{"status": "completed"}')],
        [
            STARTED,
            Said("Shown in part."),
            Result(ending=Ending.OK, text='```JSON\n{"status": "completed"}\n```'),
        ],
    ],
)
def test_a_report_that_is_not_given_otherwise_is_looked_for_in_the_last_message(heard: list[Heard]) -> None:
    found = end(*heard)
    assert (found.ending, found.report, found.written) == (Ending.OK, REPORT, (Written(REPORT),))


def test_a_report_of_an_earlier_message_or_of_a_turn_that_ended_badly_is_none() -> None:
    said = Said('{"status": "completed"}')
    assert end(STARTED, said, Said("Or not.")).ending is Ending.NO_REPORT
    assert end(STARTED, said, exit_code=3).ending is Ending.CRASHED
    assert end(STARTED, said, Result(ending=Ending.FAILED)).written == ()
    killed = end(STARTED, said, ended_by=Ending.KILLED)
    assert (killed.report, killed.written) == (None, ())


def test_a_given_report_counts_whatever_the_last_message_says() -> None:
    found = end(STARTED, Said('{"status": "failed"}'), DONE)
    assert (found.report, found.written) == (REPORT, ())


@pytest.mark.parametrize("ended_by", [Ending.KILLED, Ending.INTERRUPTED, Ending.TIMED_OUT_SILENCE])
@pytest.mark.parametrize("exit_code", [0, 143, None])
def test_who_ended_a_turn_decides_and_a_report_from_before_does_not_count(
    ended_by: Ending, exit_code: int | None
) -> None:
    ended = end(STARTED, DONE, exit_code=exit_code, ended_by=ended_by)
    assert ended.ending is ended_by
    assert ended.report is None


def test_everything_that_was_seen_is_in_the_end() -> None:
    events = (
        STARTED,
        Used(Usage(1, 2, 0.25)),
        Said("one"),
        ToolStarted("t", ""),
        ToolEnded("t", ok=True),
        Used(Usage(3, 4, 0.5)),
    )
    ended = end(*events, Said("two"), DONE)
    assert ended == TurnEnded(
        ending=Ending.OK,
        session=SessionId("s"),
        report=REPORT,
        text="two",
        exit_code=0,
        usage=Usage(4, 6, 0.75),
    )


def test_the_text_of_a_result_is_the_last_word() -> None:
    assert end(Said("one"), Result(ending=Ending.OK, report={}, text="all done")).text == "all done"


def test_a_limit_says_until_when() -> None:
    ended = end(Result(ending=Ending.LIMITED, until="2026-11-15T12:00:00Z"), exit_code=1)
    assert ended.until == "2026-11-15T12:00:00Z"
    assert end(Result(ending=Ending.LIMITED, until="x"), ended_by=Ending.KILLED).until is None


@pytest.mark.parametrize(
    ("case", "detail"),
    [
        (
            {"exit_code": 3, "errors": "no such file\n"},
            "the agent ended without a result (exit code 3): no such file",
        ),
        (
            {"exit_code": None, "errors": "cannot be started"},
            "the agent ended without a result: cannot be started",
        ),
        ({"exit_code": 0}, "the agent ended without a report"),
        ({"ended_by": Ending.TIMED_OUT_WALL}, "the turn's whole time was up"),
    ],
)
def test_the_detail_says_what_happened(case: dict[str, Any], detail: str) -> None:
    assert end(**case).detail == detail


def test_what_the_agent_says_of_its_failure_comes_before_its_messages() -> None:
    ended = end(Result(ending=Ending.FAILED, detail="too many turns"), exit_code=1, errors="noise")
    assert ended.detail == "the agent failed (exit code 1): too many turns"


def test_the_detail_is_bounded_and_keeps_the_end() -> None:
    ended = end(exit_code=1, errors="x" * 100_000 + "the reason")
    assert len(ended.detail) < DETAIL_LIMIT + 100
    assert ended.detail.endswith("the reason")


EVENTS = st.sampled_from(
    [
        STARTED,
        Said("x"),
        Unparsed("x"),
        DONE,
        *(Result(ending=e, report=REPORT) for e in (Ending.FAILED, Ending.LIMITED)),
    ]
)


def test_a_report_that_was_there_when_the_budget_ran_out_counts() -> None:
    ready = Result(ending=Ending.OK, report={"status": "completed"})
    used = Used(Usage(1, 1, 9.0))
    assert end(ready, used, exit_code=143, ended_by=Ending.OUT_OF_BUDGET).ending is Ending.OK
    assert end(used, exit_code=143, ended_by=Ending.OUT_OF_BUDGET).ending is Ending.OUT_OF_BUDGET


@given(
    st.lists(EVENTS),
    st.sampled_from([None, 0, 1, 137]),
    st.sampled_from([None, *(e for e in Ending if e is not Ending.OK)]),
)
def test_a_report_counts_only_with_a_clean_exit_that_was_the_agents_own(
    heard: list[Heard], exit_code: int | None, ended_by: Ending | None
) -> None:
    ended = end(*heard, exit_code=exit_code, ended_by=ended_by)
    if ended.report is not None:
        assert ended.ending is Ending.OK
        assert (exit_code, ended_by) == (0, None) or ended_by is Ending.OUT_OF_BUDGET
    assert (ended.detail == "") == (ended.ending is Ending.OK)
