"""Another agent reads the work: the reviewer, and on a rejection the evaluator.

Both see a clean checkout of the snapshot. Whatever they do to it is thrown away, and whatever they answer
that is not valid is no approval.
"""

import uuid

from anyio import to_thread

from amelia.context.prompts import evaluator_prompt, reviewer_prompt
from amelia.judge.answers import Invalid, read_review, read_rulings
from amelia.model import events as ev
from amelia.model.agents import Ending, Role, SessionId, TurnEnded
from amelia.model.commands import EvaluateFindings, Place, ReviewWork
from amelia.model.git import CommitId
from amelia.run.checks import account
from amelia.run.waiting import wait_until
from amelia.run.workshop import Workshop
from amelia.system.git_places import Purpose
from amelia.workspace.diff import patch
from amelia.workspace.lanes import prepare

_LONGEST_DIFF = 200_000
_LONGEST = 4000


async def review_work(shop: Workshop, command: ReviewWork) -> tuple[ev.Event, ...]:
    """Lets the reviewer read an attempt."""
    at = command.at
    since = None
    if command.reviewed is not None and command.reviewed != command.work.commit:
        since = await _diff(shop, command.reviewed, command.work.commit)
    prompt = reviewer_prompt(
        shop.assignment(at.unit),
        checks="\n".join([await account(shop, at, command.work.tree), *command.notes]),
        diff=await _diff(shop, at.base, command.work.commit),
        since=since,
        open_findings=command.open_findings,
    )
    ended = await _ask(shop, command, role=Role.REVIEWER, prompt=prompt)
    if ended.ending is Ending.LIMITED:
        return (_delayed(shop, at, ended),)
    answer = read_review(ended.report) if ended.ending is Ending.OK else Invalid(_account(ended))
    if isinstance(answer, Invalid):
        return (ev.ReviewFailed(unit=at.unit, attempt=at.attempt, detail=answer.detail[:_LONGEST]),)
    approved, findings = answer
    return (
        ev.AttemptReviewed(
            unit=at.unit,
            attempt=at.attempt,
            approved=approved,
            findings=findings,
            tokens=_tokens(ended),
            cost=ended.usage.cost if ended.usage else None,
        ),
    )


async def evaluate_findings(shop: Workshop, command: EvaluateFindings) -> tuple[ev.Event, ...]:
    """Has the findings of a rejection ruled; without a valid answer all are to be implemented."""
    at = command.at
    diff = await _diff(shop, at.base, command.work.commit)
    prompt = evaluator_prompt(shop.assignment(at.unit), diff=diff, findings=command.findings)
    ended = await _ask(shop, command, role=Role.EVALUATOR, prompt=prompt)
    if ended.ending is Ending.LIMITED:
        return (_delayed(shop, at, ended),)
    report = ended.report if ended.ending is Ending.OK else None
    return (
        ev.FindingsEvaluated(
            unit=at.unit,
            attempt=at.attempt,
            rulings=read_rulings(report, command.findings),
            tokens=_tokens(ended),
            cost=ended.usage.cost if ended.usage else None,
        ),
    )


async def _ask(
    shop: Workshop, command: ReviewWork | EvaluateFindings, *, role: Role, prompt: str
) -> TurnEnded:
    # Where the developer works, which is filled anew before every turn: what proves must not be theirs.
    lane = shop.lane(command.at, Purpose.WORK)
    await to_thread.run_sync(lambda: prepare(lane, tree=command.work.tree, base=command.at.base))
    session = SessionId(str(uuid.uuid4()))
    return await shop.take_turn(role, command.at, prompt=prompt, lane=lane, session=session)


async def _diff(shop: Workshop, before: CommitId, after: CommitId) -> str:
    found = await to_thread.run_sync(lambda: patch(shop.store, before, after, limit=_LONGEST_DIFF))
    return f"{found.text}\n[the rest is cut; read the files]" if found.is_truncated else found.text


def _delayed(shop: Workshop, at: Place, ended: TurnEnded) -> ev.AnswerDelayed:
    return ev.AnswerDelayed(at.unit, at.attempt, wait_until(ended.until, shop.now()))


def _account(ended: TurnEnded) -> str:
    return f"the turn ended as {ended.ending}: {ended.detail or ended.text}"


def _tokens(ended: TurnEnded) -> int | None:
    return ended.usage.tokens if ended.usage else None
