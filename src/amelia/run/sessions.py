"""The sessions of a developer's turn: one for the whole unit, or a fresh one for each of its tasks.

Sessions of tasks follow one another in the same workspace, and stop at the first that ends badly or reports
its task as not done. Together they are one turn: one answer, one snapshot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anyio import to_thread

from amelia.context.prompts import (
    answer_prompt,
    continuation_prompt,
    developer_prompt,
    resumption_prompt,
)
from amelia.context.retries import Retry, StartingPoint
from amelia.context.texts import Texts
from amelia.judge.answers import REPORT_SCHEMA, Invalid, Report, read_report
from amelia.model import events as ev
from amelia.model.agents import Ending, Role, Spent, TurnEnded
from amelia.model.commands import StartTurn
from amelia.model.plan import Task, TaskId
from amelia.run.asking import ENDED_WELL, Answer, Question, Tell, ask
from amelia.run.workshop import Workshop
from amelia.schedule.decide import has_session_per_task
from amelia.system.git_places import Lane

_OUT_OF_BUDGET = TurnEnded(
    ending=Ending.OUT_OF_BUDGET,
    session=None,
    detail="there is nothing left to pay the session of the next task with",
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What a developer answered, which tasks of the unit had a session, and which of those ended well.

    A session that ended well reports its task as done, or reports nothing.
    """

    answer: Answer[Report]
    begun: tuple[TaskId, ...]
    finished: tuple[TaskId, ...] = ()


async def carry_out(shop: Workshop, command: StartTurn, lane: Lane, *, tell: Tell) -> Carried:
    """Has a unit carried out, or what is left of it."""
    unit = command.at.assigned
    if not has_session_per_task(shop.facts.policy, unit):
        question = await to_thread.run_sync(_question, shop, command, lane)
        return Carried(await ask(shop.desk, question, tell), begun=unit.tasks)
    return await _one_by_one(shop, command, lane, tell=tell)


async def _one_by_one(shop: Workshop, command: StartTurn, lane: Lane, *, tell: Tell) -> Carried:
    at, spent = command.at, Spent()
    begun, finished = list(command.begun), list(command.finished)
    ended, found = _OUT_OF_BUDGET, Invalid(_OUT_OF_BUDGET.detail)
    reports: list[Report] = []
    for task in at.assigned.pieces:
        if task.id in finished:
            continue
        if command.allowance.is_used_up_by(spent):
            ended, found = _OUT_OF_BUDGET, Invalid(_OUT_OF_BUDGET.detail)
            break
        if task.id not in begun:
            tell(ev.SubtaskStarted(at.unit, task.id, at.attempt))
            begun.append(task.id)
        part = _on_task(command, task, is_first=not reports, spent=spent)
        question = await to_thread.run_sync(_question, shop, part, lane)
        told = await ask(shop.desk, question, tell)
        ended, found, spent = told.ended, told.found, spent.and_(told.spent)
        if not isinstance(found, Report):
            if ended.ending not in ENDED_WELL:
                break
            finished.append(task.id)
            found = _joined(reports) if reports else found
            continue
        reports.append(found)
        is_done = found.status == "completed" and found.needs_clarification is None
        found = _joined(reports)
        if not is_done:
            break
        tell(ev.SubtaskCompleted(at.unit, task.id, at.attempt))
        finished.append(task.id)
    return Carried(Answer(ended, found, spent), tuple(begun), tuple(finished))


def _on_task(command: StartTurn, task: Task, *, is_first: bool, spent: Spent) -> StartTurn:
    """Returns a turn on one task of a unit; only the first goes on in a session that there is."""
    unit = replace(command.at.assigned, tasks=(task.id,), pieces=(task,))
    part = replace(command, at=replace(command.at, assigned=unit), allowance=command.allowance.without(spent))
    return part if is_first else replace(part, session=None, before=None, is_again=False, is_answer=False)


def _joined(reports: Sequence[Report]) -> Report:
    """Returns the reports of tasks as one: the last says how it ended, all of them what was done."""
    return replace(
        reports[-1],
        summary="\n".join(report.summary for report in reports if report.summary),
        subtasks_completed=tuple(task for report in reports for task in report.subtasks_completed),
    )


def _question(shop: Workshop, command: StartTurn, lane: Lane) -> Question[Report]:
    at, texts, chronicle = command.at, shop.desk.texts, shop.recorder.catch_up()
    retry = shop.retry(at, chronicle, command.feedback)
    return Question(
        role=Role.DEVELOPER,
        at=at,
        lane=lane,
        to_go_on=_news(texts, command, retry),
        in_full=developer_prompt(
            texts,
            shop.assignment(at, chronicle),
            retry=retry,
            answers=command.answers,
            start=_starting_point(command, retry),
        ),
        schema=REPORT_SCHEMA,
        read=read_report,
        session=command.session,
        before=command.before,
        allowance=command.allowance,
    )


def _starting_point(command: StartTurn, retry: Retry | None) -> StartingPoint:
    if command.start == command.at.base:
        return StartingPoint.BASE
    if retry is not None and retry.commit == command.start:
        return StartingPoint.LAST_ATTEMPT
    return StartingPoint.CUT_OFF if command.is_again else StartingPoint.BEGUN


def _news(texts: Texts, command: StartTurn, retry: Retry | None) -> str:
    """Returns what a session is told that knows the rest."""
    if command.is_answer:
        return answer_prompt(texts, command.answers[-1], retry)
    if command.is_again or retry is None:
        return resumption_prompt(texts)
    return continuation_prompt(texts, retry, granted=command.at.granted)
