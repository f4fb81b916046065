"""No prompt contradicts itself, whatever comes together in it, and each speaks to whom it is told."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from amelia.context.prompts import (
    Assignment,
    OtherPiece,
    answer_prompt,
    continuation_prompt,
    developer_prompt,
    resumption_prompt,
)
from amelia.context.retries import Retry, StartingPoint
from amelia.context.review_prompts import evaluator_prompt, reviewer_prompt
from amelia.judge.feedback import feedback
from amelia.model.evidence import Problem, ProblemCode, Verdict
from amelia.model.findings import Disposition, Finding, Ruling, finding_id
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import Mode, TaskId, TaskType, UnitId
from amelia.model.questions import Answered
from amelia.record.prompts import shipped_texts
from amelia.schedule.questions import about_findings
from tellings import Words, a_task, assignment

TEXTS = shipped_texts()
COMMIT = CommitId("2" * 40)
FAILED = Verdict(passed=False, problems=(Problem(ProblemCode.STILL_RED, "test_x failed"),))
NOT_RED = Verdict(passed=False, problems=(Problem(ProblemCode.NOT_RED, "No test of this unit fails."),))
FOUND = Finding(finding_id("a.py", "Leaks."), "Leaks.", "a.py", 3)
UNCLEAR = about_findings([FOUND], [Ruling(FOUND.id, Disposition.CLARIFY, "Who knows?")])
ERRORS = (
    feedback(FAILED),
    feedback(FAILED, is_promised=True),
    feedback(NOT_RED, is_promised=True),
    "The work was reported as partial.\nThe roof is missing.",
    "The turn ended badly: crashed.",
    f"- {FOUND}",
)
ANSWERS = ((), (Answered(UNCLEAR.text, "leave it"),))

BEGINS_ANEW = ("different strategy", "proceeding differently", "alternative approach", "do it again")
GOES_ON = ("go on from there", "in the files", "Go on where you stopped")
FAILED_BEFORE = ("approach failed", "had issues", "failed attempt", "Review the errors")
ACCEPTED = ("It was accepted",)
MUST_FAIL = ("must fail now",)
MUST_PASS = ("tests pass", "must pass", "make the tests")
NOT_HERE = ("belongs to other pieces",)
WHOLE = ("all of it", "the whole plan", "whole task")
NO_CRITERIA = ("names no acceptance criteria",)
ALL_HOLD = ("all of these hold",)
CONTRADICTIONS = (
    (BEGINS_ANEW, GOES_ON),
    (FAILED_BEFORE, ACCEPTED),
    (MUST_FAIL, MUST_PASS),
    (NOT_HERE, WHOLE),
    (ALL_HOLD, NO_CRITERIA),
)
TO_ITS_OWN_SESSION = ("You declared", "You were", "you left", "Your last", "your last", "Your work was")
OF_SOMEBODY_ELSE = ("The agent", "the agent", "An agent", "the developer", "A turn that was cut off")


def units() -> Iterator[Assignment]:
    """Yields assignments: every mode, with and without criteria, red tests, and other pieces."""
    for mode, is_red, is_piece, is_bare in product(Mode, (False, True), (False, True), (False, True)):
        more = () if is_bare else ("A bad line is an error",)
        task = replace(a_task(Words()), type=TaskType.TEST, acceptance_criteria=more)
        placed = assignment(mode, Words(), task)
        if is_red:
            placed = replace(placed, red_tasks=(task.id,))
        if is_piece:
            other = replace(placed.unit, id=UnitId("9-b"), pieces=(replace(task, id=TaskId("9-b")),))
            unit = replace(placed.unit, piece_of=UnitId("phase-9" if mode is Mode.PHASED else "9"))
            placed = replace(placed, unit=unit, others=(OtherPiece(other, is_done=True),))
        yield placed


def retries() -> Iterator[Retry | None]:
    yield None
    for cause, errors, attempt in product((None, *Cause), ERRORS, range(2, 5)):
        yield Retry(attempt=attempt, errors=errors, cause=cause, ref="refs/amelia/r/2/1", commit=COMMIT)


def contradictions(prompt: str) -> list[tuple[str, str]]:
    return [
        (one, other)
        for ones, others in CONTRADICTIONS
        for one, other in product(ones, others)
        if one in prompt and other in prompt
    ]


def said(prompt: str, phrases: tuple[str, ...]) -> list[str]:
    return [phrase for phrase in phrases if phrase in prompt]


@pytest.mark.rows("L16", "L18")
@pytest.mark.parametrize("start", StartingPoint)
@pytest.mark.parametrize("mode", Mode)
def test_no_prompt_of_a_fresh_session_contradicts_itself(start: StartingPoint, mode: Mode) -> None:
    count = 0
    for placed, retry, answers in product(units(), retries(), ANSWERS):
        if placed.mode is not mode:
            continue
        prompt = developer_prompt(TEXTS, placed, retry=retry, answers=answers, start=start)
        assert contradictions(prompt) == [], prompt
        assert said(prompt, TO_ITS_OWN_SESSION) == [], prompt
        is_anew = retry is not None and start is StartingPoint.BASE
        assert bool(said(prompt, BEGINS_ANEW + FAILED_BEFORE)) == is_anew
        assert bool(said(prompt, GOES_ON)) == (start is not StartingPoint.BASE)
        assert bool(said(prompt, MUST_FAIL)) == bool(placed.red_tasks)
        assert bool(said(prompt, NOT_HERE)) == bool(placed.others)
        count += 1
    assert count > 1000


def test_no_prompt_of_a_session_that_goes_on_contradicts_itself_or_speaks_of_somebody_else() -> None:
    for retry, answers in product(retries(), ANSWERS):
        prompts = [resumption_prompt(TEXTS)]
        if retry is not None:
            prompts.append(continuation_prompt(TEXTS, retry))
        prompts += [answer_prompt(TEXTS, answer, retry) for answer in answers]
        for prompt in prompts:
            assert contradictions(prompt) == [], prompt
            assert said(prompt, OF_SOMEBODY_ELSE) == [], prompt
            assert said(prompt, BEGINS_ANEW) == [], prompt


def test_no_prompt_of_a_reviewer_or_an_evaluator_contradicts_itself() -> None:
    for placed, since, is_red in product(units(), (None, "+x"), (False, True)):
        red = ("tests/test_a.py::test_x",) if is_red else ()
        review = reviewer_prompt(
            TEXTS, placed, checks="x", diff="+x", since=since, open_findings=[FOUND] if since else [], red=red
        )
        ruling = evaluator_prompt(TEXTS, placed, diff="+x", findings=[FOUND], red=red)
        for prompt in (review, ruling):
            assert contradictions(prompt) == [], prompt
            assert said(prompt, TO_ITS_OWN_SESSION) == [], prompt
            assert ("Red is wanted" in prompt) == bool(placed.red_tasks)
            assert bool(said(prompt, NOT_HERE)) == bool(placed.others)
