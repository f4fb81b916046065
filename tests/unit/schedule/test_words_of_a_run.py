"""The vocabulary of runs: what outcomes, findings and states say of themselves."""

import pytest

from amelia.model.findings import Finding, finding_id
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode
from amelia.model.policy import POLICIES, OnFailure, RetrySession
from unit.schedule.worlds import Story, facts, unit


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_meaning_of_its_own(reason: Reason) -> None:
    assert reason.meaning
    assert [other for other in Reason if other.meaning == reason.meaning] == [reason]


def test_only_what_a_person_cannot_change_is_final() -> None:
    assert {result for result in Result if Outcome(result).is_final} == {"completed", "aborted", "cancelled"}


def test_an_outcome_reads_as_its_result_and_reason() -> None:
    assert str(Outcome(Result.HALTED, Reason.REVIEW_LIMIT)) == "halted(review_limit)"
    assert str(Outcome(Result.COMPLETED)) == "completed"


def test_a_finding_is_the_same_whatever_its_line_spacing_case_and_full_stop() -> None:
    assert finding_id("a.py", "Leaks  the\nhandle.") == finding_id("a.py", " leaks the HANDLE!")
    assert finding_id("a.py", "leaks") != finding_id("b.py", "leaks")
    assert finding_id(None, "leaks") != finding_id("a.py", "leaks")
    assert finding_id("a.py", "leaks") != finding_id("a.py", "leaks more")
    assert len(finding_id(None, "leaks")) == 12


def test_a_finding_reads_as_its_place_and_text() -> None:
    name = finding_id(None, "leaks")
    assert str(Finding(name, "leaks")) == "leaks"
    assert str(Finding(name, "leaks", "a.py")) == "a.py: leaks"
    assert str(Finding(name, "leaks", "a.py", 3)) == "a.py:3: leaks"


def test_a_run_reads_as_where_it_stands() -> None:
    story = Story(facts(unit("a"), unit("b"), unit("c"))).finishes("a")
    assert repr(story.run) == "<Run r1 going | 1 landed, 1 driving, 1 waiting>"
    for _ in range(5):
        story.drives("b").verifies("b", passed=False)
    assert repr(story.run) == "<Run r1 halted(verify_limit) | 1 landed, 1 parked, 1 waiting>"


def test_modes_differ_in_how_they_try_again_and_in_what_a_failure_stops() -> None:
    table = {
        mode: (p.attempts, p.retry_session, p.keeps_workspace, p.on_failure, p.parallel_workers)
        for mode, p in POLICIES.items()
    }
    assert table == {
        Mode.SINGLE: (5, RetrySession.SAME, True, OnFailure.HALT, 1),
        Mode.TASKS: (5, RetrySession.SAME, True, OnFailure.HALT, 1),
        Mode.PHASED: (2, RetrySession.FRESH, False, OnFailure.HALT, 1),
        Mode.LIFECYCLE: (3, RetrySession.FRESH, False, OnFailure.CONTINUE, 1),
    }
    assert {(p.review_tries, p.conflict_retries) for p in POLICIES.values()} == {(2, 1)}
