"""Another agent reads the work: the reviewer, and on a rejection the evaluator.

Both see a clean checkout of the snapshot. Whatever they do to it is thrown away, and whatever they answer
that is not valid is no approval.
"""

from collections.abc import Mapping
from functools import partial
from typing import TypeVar

from anyio import to_thread

from amelia.context.prompts import Assignment
from amelia.context.review_prompts import evaluator_prompt, reviewer_prompt
from amelia.judge.answers import (
    EVALUATION_SCHEMA,
    REVIEW_OF_TESTS_SCHEMA,
    REVIEW_SCHEMA,
    Invalid,
    check_rulings,
    read_review,
    read_rulings,
)
from amelia.judge.written import is_own
from amelia.model import events as ev
from amelia.model.agents import Ending, Role
from amelia.model.commands import EvaluateFindings, Place, ReviewWork
from amelia.model.git import CommitId
from amelia.run.asking import Answer, Question, Tell, ask
from amelia.run.checks import account
from amelia.run.faults import broken_step
from amelia.run.review_diff import review_diff
from amelia.run.waiting import wait_until
from amelia.run.workshop import Workshop
from amelia.system.git_places import Purpose

A = TypeVar("A")
_LONGEST_DIFF = 200_000
_LONGEST = 4000


async def review_work(shop: Workshop, command: ReviewWork, tell: Tell) -> tuple[ev.Event, ...]:
    """Lets the reviewer read an attempt."""
    at = command.at
    question = Question(
        role=Role.REVIEWER,
        at=at,
        lane=shop.lane(at, Purpose.WORK),
        in_full=await _review_prompt(shop, command),
        schema=REVIEW_OF_TESTS_SCHEMA if command.changed_tests else REVIEW_SCHEMA,
        read=partial(read_review, changed_tests=command.changed_tests),
        allowance=command.allowance,
    )
    answer = await _ask(shop, command, question, tell=tell)
    if (unanswered := _unanswered(shop, command, answer)) is not None:
        return (unanswered,)
    if isinstance(answer.found, Invalid):
        detail = answer.found.detail[:_LONGEST]
        return (ev.ReviewFailed(unit=at.unit, attempt=at.attempt, detail=detail),)
    approved, findings = answer.found
    return (ev.AttemptReviewed(unit=at.unit, attempt=at.attempt, approved=approved, findings=findings),)


async def evaluate_findings(shop: Workshop, command: EvaluateFindings, tell: Tell) -> tuple[ev.Event, ...]:
    """Has the findings of a rejection ruled; without a valid answer all are to be implemented."""
    at = command.at
    question = Question(
        role=Role.EVALUATOR,
        at=at,
        lane=shop.lane(at, Purpose.WORK),
        in_full=evaluator_prompt(
            shop.desk.texts,
            await _assignment(shop, at),
            diff=await _diff(shop, at.base, command.work.commit, base=at.base),
            findings=command.findings,
            red=command.red,
        ),
        schema=EVALUATION_SCHEMA,
        read=lambda report: check_rulings(report, command.findings),
        allowance=command.allowance,
    )
    answer = await _ask(shop, command, question, tell=tell)
    if (unanswered := _unanswered(shop, command, answer)) is not None:
        return (unanswered,)
    rulings = answer.found
    if isinstance(rulings, Invalid):
        rulings = read_rulings(_partial(answer), command.findings)
    return (ev.FindingsEvaluated(unit=at.unit, attempt=at.attempt, rulings=rulings),)


def _partial(answer: Answer[A]) -> Mapping[str, object] | None:
    """Returns an answer that is only a part of what was asked for; None if it may be no answer at all."""
    ended = answer.ended
    if ended.ending is not Ending.OK or answer.has_meddled:
        return None
    if not ended.written:
        return ended.report
    own = [each.value for each in ended.written if is_own(each, EVALUATION_SCHEMA)]
    return own[0] if len(own) == len(ended.written) == 1 and not ended.unread else None


async def _review_prompt(shop: Workshop, command: ReviewWork) -> str:
    at, commit = command.at, command.work.commit
    since = None
    if command.reviewed is not None and command.reviewed != commit:
        since = await _diff(shop, command.reviewed, commit, base=at.base)
    return reviewer_prompt(
        shop.desk.texts,
        await _assignment(shop, at),
        checks="\n".join([await account(shop, at, command.work.tree, red=command.red), *command.notes]),
        diff=await _diff(shop, at.base, commit, base=at.base),
        red=command.red,
        changed_tests=command.changed_tests,
        since=since,
        open_findings=command.open_findings,
    )


async def _ask(
    shop: Workshop, command: ReviewWork | EvaluateFindings, question: Question[A], *, tell: Tell
) -> Answer[A]:
    # Where the developer works, and not where it was proved: what proves must not be theirs.
    show = partial(shop.show_work, question.lane, tree=command.work.tree, base=command.at.base)
    await to_thread.run_sync(show)
    return await ask(shop.desk, question, tell)


def _unanswered(
    shop: Workshop, command: ReviewWork | EvaluateFindings, answer: Answer[A]
) -> ev.AnswerDelayed | ev.UnitHeld | ev.StepBroke | None:
    """Returns why there is no answer yet, if that is nothing the agent could be blamed for."""
    at, ended = command.at, answer.ended
    match ended.ending:
        case Ending.LIMITED:
            return ev.AnswerDelayed(at.unit, at.attempt, wait_until(ended.until, shop.now()))
        case Ending.OUT_OF_BUDGET if command.allowance.is_used_up_by(answer.spent):
            return ev.UnitHeld(at.unit)
        case _:
            return broken_step(at, command.step, ended)


async def _assignment(shop: Workshop, at: Place) -> Assignment:
    return await to_thread.run_sync(lambda: shop.assignment(at, shop.recorder.catch_up()))


async def _diff(shop: Workshop, before: CommitId, after: CommitId, *, base: CommitId) -> str:
    read = partial(review_diff, shop.store, before, after, base=base, limit=_LONGEST_DIFF)
    return await to_thread.run_sync(read)
