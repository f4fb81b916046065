"""Answers of reviewers and evaluators: whatever is not exactly what was asked for is no answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.answers import Invalid, read_review, read_rulings
from amelia.model.findings import Disposition, Finding, Ruling, Weight, finding_id

NO_REASON = "The reviewer did not approve and gave no reason."
NO_RULING = "no valid ruling"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)

NOT_AS_ASKED: list[dict[str, Any]] = [
    {},
    {"approved": None},
    {"approved": "true"},
    {"approved": "false"},
    {"approved": 1},
    {"approved": []},
    {"Approved": True},
    {"approved": True, "comments": None},
    {"approved": True, "comments": {}},
    {"approved": True, "comments": "fine"},
    {"approved": True, "comments": ["fine"]},
    {"approved": True, "comments": [None]},
    {"approved": True, "comments": [{}]},
    {"approved": True, "comments": [{"text": None}]},
    {"approved": True, "comments": [{"text": "a", "line": "3"}]},
    {"approved": True, "comments": [{"text": "a", "line": 3.5}]},
    {"approved": True, "comments": [{"text": "a", "line": True}]},
    {"approved": True, "comments": [{"text": "a", "severity": None}]},
    {"approved": True, "comments": [{"text": "a", "severity": 1}]},
    {"approved": True, "comments": [{"text": "a", "file": 1}]},
    {"approved": True, "comments": [{"text": "a"}, {"file": "b.py"}]},
]
NO_RULINGS: list[dict[str, Any] | None] = [
    None,
    {},
    {"items": None},
    {"items": {}},
    {"items": "REJECT"},
    {"items": {"finding": 1, "disposition": "REJECT"}},
    {"items": [None, 1, "REJECT", [], {}]},
    {"items": [{"finding": 1}]},
    {"items": [{"disposition": "REJECT"}]},
    {"items": [{"finding": "1", "disposition": "REJECT"}]},
    {"items": [{"finding": 1.5, "disposition": "REJECT"}]},
    {"items": [{"finding": True, "disposition": "REJECT"}]},
    {"items": [{"finding": 0, "disposition": "REJECT"}]},
    {"items": [{"finding": -1, "disposition": "REJECT"}]},
    {"items": [{"finding": 2, "disposition": "REJECT"}]},
    {"items": [{"finding": 10**30, "disposition": "REJECT"}]},
    {"items": [{"finding": 1, "disposition": "IGNORE"}]},
    {"items": [{"finding": 1, "disposition": ""}]},
    {"items": [{"finding": 1, "disposition": None}]},
    {"items": [{"finding": 1, "disposition": ["REJECT"]}]},
    {"items": [{"finding": 1, "disposition": "REJECT", "reason": 7}]},
    {"findings": [{"finding": 1, "disposition": "REJECT"}]},
]


def accepted(report: dict[str, object]) -> tuple[bool, tuple[Finding, ...]]:
    answer = read_review(report)
    assert not isinstance(answer, Invalid), answer
    return answer


def findings(*texts: str) -> tuple[Finding, ...]:
    return tuple(Finding(finding_id("a.py", text), text, "a.py", 1) for text in texts)


def ruled(report: dict[str, object] | None, *texts: str) -> list[tuple[Disposition, str]]:
    found = findings(*texts)
    rulings = read_rulings(report, found)
    assert [ruling.finding for ruling in rulings] == [finding.id for finding in found]
    return [(ruling.disposition, ruling.reason) for ruling in rulings]


def test_an_approval_without_comments_is_an_approval() -> None:
    assert accepted({"approved": True}) == (True, ())
    assert accepted({"approved": True, "comments": [], "mood": "good"}) == (True, ())


def test_a_comment_becomes_a_finding_with_an_identity() -> None:
    comment = {"file": "a.py", "line": 3, "severity": "minor", "text": " Too long. "}
    approved, [finding] = accepted({"approved": False, "comments": [comment]})
    assert not approved
    assert finding == Finding(finding_id("a.py", "Too long."), "Too long.", "a.py", 3, Weight.MINOR)


def test_a_comment_may_say_nothing_but_its_text() -> None:
    _, [finding] = accepted({"approved": False, "comments": [{"text": "Too long"}]})
    assert finding == Finding(finding_id(None, "Too long"), "Too long")
    assert finding.weight is Weight.BLOCKING


@pytest.mark.parametrize("report", NOT_AS_ASKED)
def test_an_answer_that_is_not_as_asked_for_is_none(report: dict[str, object]) -> None:
    answer = read_review(report)
    assert isinstance(answer, Invalid)
    assert answer.detail.startswith("the review is not as asked for: ")


def test_no_report_is_no_answer() -> None:
    assert read_review(None) == Invalid("the reviewer gave no report")


@pytest.mark.slow
@given(report=st.dictionaries(st.sampled_from(["approved", "comments", "x"]), JSON))
def test_whatever_the_json_only_true_approves(report: dict[str, Any]) -> None:
    answer = read_review(report)
    if not isinstance(answer, Invalid):
        approved, found = answer
        assert approved is report["approved"]
        assert approved or found


@pytest.mark.parametrize("comments", [{}, {"comments": []}])
def test_a_rejection_without_a_reason_is_a_finding_all_the_same(comments: dict[str, object]) -> None:
    approved, [finding] = accepted({"approved": False, **comments})
    assert not approved
    assert finding.text == NO_REASON
    assert finding.weight is Weight.BLOCKING


def test_an_empty_comment_blocks() -> None:
    _, [finding] = accepted({"approved": True, "comments": [{"text": " \n "}]})
    assert finding == Finding(finding_id(None, NO_REASON), NO_REASON)


@pytest.mark.parametrize("word", ["minor", "NIT", "Suggestion", "nitpick", "info", "low", "Optional"])
def test_known_words_make_a_comment_minor(word: str) -> None:
    _, [finding] = accepted({"approved": True, "comments": [{"text": "a", "severity": word}]})
    assert finding.weight is Weight.MINOR


@pytest.mark.parametrize("word", ["blocking", "critical", "", "harmless", " minor", "mınor"])
def test_a_word_that_is_not_known_counts_as_the_stricter_one(word: str) -> None:
    _, [finding] = accepted({"approved": True, "comments": [{"text": "a", "severity": word}]})
    assert finding.weight is Weight.BLOCKING


def test_the_same_comment_twice_is_one_finding_and_the_stricter_one_counts() -> None:
    comments = [
        {"file": "a.py", "line": 1, "text": "Too long", "severity": "minor"},
        {"file": "a.py", "line": 9, "text": "too  long.", "severity": "blocking"},
        {"file": "a.py", "line": 5, "text": "TOO LONG!", "severity": "minor"},
        {"file": "b.py", "line": 1, "text": "Too long", "severity": "minor"},
    ]
    _, found = accepted({"approved": True, "comments": comments})
    assert [(finding.file, finding.line, finding.weight) for finding in found] == [
        ("a.py", 9, Weight.BLOCKING),
        ("b.py", 1, Weight.MINOR),
    ]


def test_of_ten_thousand_comments_the_blocking_ones_are_kept() -> None:
    comments = [{"text": f"Comment {n}", "severity": "nit"} for n in range(10_000)]
    comments[9_000]["severity"] = "critical"
    _, found = accepted({"approved": True, "comments": comments})
    assert len(found) == 200
    assert [finding.text for finding in found[:2]] == ["Comment 9000", "Comment 0"]
    assert found[0].weight is Weight.BLOCKING


def test_texts_and_names_of_files_are_cut_to_a_length() -> None:
    comment = {"text": "long " * 10_000, "file": "f" * 10_000}
    _, [finding] = accepted({"approved": False, "comments": [comment]})
    assert len(finding.text) == len(finding.file or "") == 4000


def test_no_file_and_an_empty_one_are_the_same() -> None:
    comments = [{"text": "a", "file": ""}, {"text": "a", "file": None}, {"text": "a"}]
    _, [finding] = accepted({"approved": False, "comments": comments})
    assert finding.file is None


def test_every_finding_is_ruled_as_the_evaluator_says() -> None:
    items = [
        {"finding": 3, "disposition": "DEFER", "reason": "later"},
        {"finding": 1, "disposition": "REJECT", "reason": "see line 3"},
        {"finding": 4, "disposition": "CLARIFY", "reason": "who knows"},
        {"finding": 2, "disposition": "IMPLEMENT"},
    ]
    assert ruled({"items": items}, "a", "b", "c", "d") == [
        (Disposition.REJECT, "see line 3"),
        (Disposition.IMPLEMENT, ""),
        (Disposition.DEFER, "later"),
        (Disposition.CLARIFY, "who knows"),
    ]


@pytest.mark.parametrize("word", ["reject", "Reject", "REJECT"])
def test_dispositions_may_be_written_in_any_case(word: str) -> None:
    assert ruled({"items": [{"finding": 1, "disposition": word, "reason": "r"}]}, "a") == [
        (Disposition.REJECT, "r")
    ]


@pytest.mark.parametrize("report", NO_RULINGS)
def test_a_finding_without_a_valid_ruling_is_to_be_implemented(report: dict[str, object] | None) -> None:
    assert ruled(report, "a") == [(Disposition.IMPLEMENT, NO_RULING)]


def test_of_several_rulings_the_first_valid_one_counts() -> None:
    items = [
        {"finding": 1, "disposition": "MAYBE"},
        {"finding": 1, "disposition": "IMPLEMENT", "reason": "first"},
        {"finding": 1, "disposition": "REJECT", "reason": "second"},
    ]
    assert ruled({"items": items}, "a", "b") == [
        (Disposition.IMPLEMENT, "first"),
        (Disposition.IMPLEMENT, NO_RULING),
    ]


def test_many_rulings_are_read_and_reasons_are_cut_to_a_length() -> None:
    items = [{"finding": n, "disposition": "REJECT", "reason": "r" * 5000} for n in range(20_000, 0, -1)]
    assert ruled({"items": items}, "a", "b") == [(Disposition.REJECT, "r" * 4000)] * 2


def test_without_findings_there_is_nothing_to_rule() -> None:
    assert read_rulings({"items": [{"finding": 1, "disposition": "REJECT"}]}, ()) == ()


@pytest.mark.slow
@given(items=JSON, count=st.integers(0, 4))
def test_every_finding_is_ruled_exactly_once_whatever_the_json(items: Any, count: int) -> None:
    found = findings(*(f"finding {n}" for n in range(count)))
    rulings = read_rulings({"items": items}, found)
    assert [ruling.finding for ruling in rulings] == [finding.id for finding in found]
    assert all(isinstance(ruling, Ruling) for ruling in rulings)


CHANGED = ("tests/test_a.py::test_a", "tsconfig.json")


def ruling(**accepted: bool) -> dict[str, Any]:
    tests = [{"test": name, "accepted": yes, "reason": "Seen."} for name, yes in accepted.items()]
    return {"approved": True, "comments": [], "tests": tests}


def test_who_approves_has_to_rule_on_every_changed_test_by_name() -> None:
    found = read_review(ruling(**{CHANGED[0]: True}), CHANGED)
    assert isinstance(found, Invalid)
    assert "tsconfig.json" in found.detail
    assert read_review({"approved": True}, CHANGED) != (True, ())


def test_changed_tests_that_are_all_accepted_are_approved() -> None:
    assert read_review(ruling(**dict.fromkeys(CHANGED, True)), CHANGED) == (True, ())


def test_a_changed_test_that_is_not_accepted_blocks() -> None:
    refused = ruling(**{CHANGED[0]: True, CHANGED[1]: False})
    both = {**refused, "tests": [*ruling(**dict.fromkeys(CHANGED, True))["tests"], *refused["tests"]]}
    for report in (refused, both):
        found = read_review(report, CHANGED)
        assert not isinstance(found, Invalid)
        approved, findings = found
        assert not approved
        assert [finding.weight for finding in findings] == [Weight.BLOCKING]
        assert "tsconfig.json" in findings[0].text


def test_who_rejects_need_not_rule_on_tests() -> None:
    found = read_review({"approved": False, "comments": [{"text": "No."}]}, CHANGED)
    assert not isinstance(found, Invalid)
    assert not found[0]
