"""Which object of a message is the answer: the last valid one, or none where two of them decide differently."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.answers import (
    EVALUATION_SCHEMA,
    REVIEW_SCHEMA,
    Invalid,
    Report,
    check_rulings,
    read_report,
    read_review,
)
from amelia.judge.written import last_valid, only_valid
from amelia.model.agents import Written
from amelia.model.findings import Disposition, Finding, finding_id

APPROVES: dict[str, Any] = {"approved": True, "comments": []}
REJECTS: dict[str, Any] = {"approved": False, "comments": [{"text": "No."}]}
QUOTE = {"approved": True}
FINDING = Finding(finding_id(None, "It leaks."), "It leaks.")


def review(*written: Written) -> Any:
    return only_valid(read_review, written, REVIEW_SCHEMA)


def quoted(value: dict[str, Any]) -> Written:
    return Written(value, stands_alone=False)


def test_the_last_valid_report_counts_wherever_it_stands() -> None:
    objects = [{"status": "failed"}, {"status": "completed", "summary": "b"}, {"status": "odd"}, {}]
    found = last_valid(read_report, [quoted(value) for value in objects])
    assert found == Report(status="completed", summary="b")


def test_without_a_valid_report_the_last_one_tells_what_is_wrong() -> None:
    found = last_valid(read_report, [Written({}), Written({"status": "odd"})])
    assert isinstance(found, Invalid)
    assert "odd" in found.detail
    assert last_valid(read_report, []) == Invalid("there is no report")


@pytest.mark.parametrize(
    "written",
    [
        [Written(APPROVES)],
        [Written(APPROVES), Written(APPROVES)],
        [quoted(QUOTE), Written(APPROVES)],
        [Written({"config": 1}), Written(APPROVES), quoted({"approved": "maybe"})],
    ],
)
def test_an_approval_that_nothing_contradicts_counts(written: list[Written]) -> None:
    assert review(*written) == (True, ())


@pytest.mark.parametrize(
    "written",
    [
        [quoted(APPROVES)],
        [Written(QUOTE)],
        [quoted(QUOTE)],
        [quoted(APPROVES), quoted(APPROVES)],
        [Written(APPROVES), Written(REJECTS)],
        [Written(REJECTS), Written(APPROVES)],
        [Written(APPROVES), quoted(REJECTS)],
        [Written(REJECTS), quoted(QUOTE)],
        [Written({"approved": "yes", "comments": []})],
        [],
    ],
)
def test_what_may_be_a_quote_and_what_is_contradicted_is_no_answer(written: list[Written]) -> None:
    found = review(*written)
    assert isinstance(found, Invalid)
    assert found.detail


def test_an_approval_beside_an_answer_that_cannot_be_read_is_none() -> None:
    found = only_valid(read_review, [Written(APPROVES)], REVIEW_SCHEMA, unread=["config", "approved"])
    assert isinstance(found, Invalid)
    assert 'begins with "approved"' in found.detail
    found = only_valid(read_review, [Written(APPROVES)], REVIEW_SCHEMA, unread=["config"])
    assert found == (True, ())


def test_rulings_that_differ_are_none() -> None:
    def rules(disposition: Disposition) -> Written:
        return Written({"items": [{"finding": 1, "disposition": disposition, "reason": "So."}]})

    def evaluation(*written: Written) -> Any:
        return only_valid(lambda report: check_rulings(report, [FINDING]), written, EVALUATION_SCHEMA)

    assert isinstance(evaluation(rules(Disposition.REJECT), rules(Disposition.IMPLEMENT)), Invalid)
    [ruling] = evaluation(rules(Disposition.REJECT), rules(Disposition.REJECT))
    assert ruling.disposition is Disposition.REJECT


VERDICTS = st.sampled_from([APPROVES, REJECTS, QUOTE, {"approved": False}, {}, {"approved": 1}])


@given(st.lists(st.builds(Written, VERDICTS, st.booleans()), max_size=6))
def test_nothing_is_approved_while_a_valid_object_rejects(written: list[Written]) -> None:
    found = review(*written)
    if not isinstance(found, Invalid) and found[0]:
        assert all(each.value.get("approved") is not False for each in written)
        assert any(each.stands_alone and each.value == APPROVES for each in written)
