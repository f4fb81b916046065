"""What a person did by hand: what they may decide, and what they have to say in so many words."""

import pytest

from amelia.judge.person import of_a_person
from amelia.model.evidence import NoteCode, Problem, ProblemCode, Verdict
from amelia.model.interventions import Accepted


def verdict(*codes: ProblemCode) -> Verdict:
    return Verdict(passed=not codes, problems=tuple(Problem(code, f"says {code}") for code in codes))


def test_a_person_may_touch_what_an_agent_may_not_and_it_is_noted() -> None:
    judged = of_a_person(verdict(ProblemCode.PROTECTED_PATH, ProblemCode.WEAKENED_TESTS))
    assert judged.passed
    assert [note.code for note in judged.notes] == [NoteCode.DECIDED_BY_PERSON] * 2


def test_what_runs_has_to_be_green_all_the_same() -> None:
    judged = of_a_person(verdict(ProblemCode.REGRESSION), list(Accepted))
    assert not judged.passed


@pytest.mark.parametrize(
    ("code", "doubt"),
    [
        (ProblemCode.NO_CHANGES, Accepted.UNCHANGED),
        (ProblemCode.MISSING_FILE, Accepted.MISSING_FILES),
    ],
)
def test_a_doubt_holds_until_the_person_sets_it_aside(code: ProblemCode, doubt: Accepted) -> None:
    assert not of_a_person(verdict(code)).passed
    assert not of_a_person(verdict(code), set(Accepted) - {doubt}).passed
    judged = of_a_person(verdict(code), [doubt])
    assert (judged.passed, [note.message for note in judged.notes]) == (True, [f"says {code}"])
