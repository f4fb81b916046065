"""The developer's turn: the workspace as it has to be, the agent, and a snapshot of whatever it left.

The snapshot is taken after every turn, however it ended, and is kept under the attempt's ref before anything
else happens to the worktree.
"""

from collections.abc import Iterator, Sequence

from anyio import to_thread

from amelia.judge.answers import Report
from amelia.judge.clarification import question_of
from amelia.model import events as ev
from amelia.model.agents import Allowance, Ending
from amelia.model.commands import StartTurn
from amelia.model.git import Snapshot
from amelia.model.plan import Mode
from amelia.run.asking import ENDED_WELL, Answer, Tell
from amelia.run.faults import broken_step
from amelia.run.sessions import Carried, carry_out
from amelia.run.waiting import wait_until
from amelia.run.workshop import NotKeptError, Workshop
from amelia.system.denials import denial_note
from amelia.system.git_places import Lane, Purpose
from amelia.workspace.diff import changes
from amelia.workspace.unkept import Unkept

_LONGEST = 20_000
PROMISE = "<promise>DONE</promise>"
"""How an agent declares its work to be done; it is noted, and proves nothing."""


async def start_turn(shop: Workshop, command: StartTurn, tell: Tell) -> tuple[ev.Event, ...]:
    """Carries out a developer's turn."""
    at = command.at
    lane = shop.lane(at, Purpose.WORK)
    unkept = Unkept(at.base, shop.ref(at))
    chronicle = await to_thread.run_sync(shop.recorder.catch_up)
    retry = shop.retry(at, chronicle, command.feedback)
    await to_thread.run_sync(lambda: shop.open_lane(lane, start=command.start, unkept=unkept, retry=retry))
    await to_thread.run_sync(shop.show_record, lane)
    carried = await carry_out(shop, command, lane, tell=tell)
    answer, ended = carried.answer, carried.answer.ended
    kept = await to_thread.run_sync(_keep, shop, command, lane)
    if (broke := broken_step(at, ev.Step.DRIVE, ended)) is not None:
        return (broke,)
    if isinstance(kept, str):
        return (*_undone(shop, command, carried), await to_thread.run_sync(_unkept, shop, command, kept))
    ending, summary = _verdict(answer, command.allowance)
    report = answer.found if isinstance(answer.found, Report) else None
    question = question_of(report.needs_clarification, shop.now()) if report is not None else None
    return (
        *(() if question else _subtasks(shop, command, ending=ending, carried=carried)),
        ev.AttemptEnded(
            unit=at.unit,
            attempt=at.attempt,
            ending=ending,
            work=kept.work,
            summary=_noted(summary, ending, ended.denied),
            denied=ended.denied,
            refused=_refused(kept),
            session=ended.session,
            until=wait_until(ended.until, shop.now()) if ending is Ending.LIMITED else None,
            question=question,
            finished=carried.finished,
            promised=PROMISE in ended.text or (report is not None and PROMISE in report.summary),
            reported=report is not None or ending is not Ending.OK,
            progressed=await to_thread.run_sync(lambda: bool(changes(shop.store, command.start, kept.tree))),
        ),
    )


def _keep(shop: Workshop, command: StartTurn, lane: Lane) -> Snapshot | str:
    """Returns what is kept of a turn; where git cannot keep it, why, and the lane is made anew."""
    try:
        return shop.keep(command.at, lane, shop.ref(command.at))
    except NotKeptError as problem:
        place = shop.put_aside(lane)
        return f"Git cannot keep what was left in the worktree:\n{problem.detail}\nThe files are in {place}."


def _undone(shop: Workshop, command: StartTurn, carried: Carried) -> Iterator[ev.SubtaskFailed]:
    """Yields the tasks of a phase that began, and are as good as not begun."""
    for task in carried.begun if shop.facts.mode is Mode.PHASED else ():
        if task not in carried.finished:
            yield ev.SubtaskFailed(command.at.unit, task, command.at.attempt)


def _unkept(shop: Workshop, command: StartTurn, why: str) -> ev.AttemptEnded:
    """Returns the end of a turn of which nothing could be kept: the next one begins where it began."""
    again = "Do the work again, without files that git does not take."
    return ev.AttemptEnded(
        unit=command.at.unit,
        attempt=command.at.attempt,
        ending=Ending.FAILED,
        work=shop.keep_start(command.at, command.start),
        summary=f"{why}\n{again}"[:_LONGEST],
        progressed=False,
    )


def _noted(summary: str, ending: Ending, denied: Sequence[str]) -> str:
    """Returns a summary, with what the wall denied if that may be why the turn did not end well."""
    note = "" if ending is Ending.OK else denial_note(denied)
    return f"{summary[:_LONGEST]}\n{note}".strip() if note else summary[:_LONGEST]


def _verdict(answer: Answer[Report], allowance: Allowance) -> tuple[Ending, str]:
    """Returns how the turn counts, and what the next one is told if it was not good enough."""
    ended, report = answer.ended, answer.found
    if isinstance(report, Report):
        return _reported(report)
    if ended.ending in ENDED_WELL:
        return (
            Ending.OK,
            f"The agent gave no report.\n{ended.text}".strip(),
        )  # the checks and the review decide
    ending = ended.ending
    if ending is Ending.OUT_OF_BUDGET and not allowance.is_used_up_by(answer.spent):
        ending = Ending.FAILED  # a bound of the agent's own; another turn would find the same
    opening = "" if ending is Ending.LIMITED else f"The turn ended badly: {ending}."
    return ending, "\n".join(part for part in (opening, ended.detail, ended.text) if part)


def _reported(report: Report) -> tuple[Ending, str]:
    if report.status == "completed":
        return Ending.OK, report.summary
    left = ", ".join(report.subtasks_failed)
    parts = (
        f"The work was reported as {report.status}.",
        report.summary,
        report.error_context or "",
        f"Left to do: {left}" if left else "",
    )
    return Ending.FAILED, "\n".join(part for part in parts if part)


def _refused(kept: Snapshot) -> str | None:
    if kept.refused is not None:
        return f"The {kept.refused.hook} hook refuses this work:\n{kept.refused.output}"[:_LONGEST]
    if kept.unsaved:
        return f"Files were changed inside submodules, which cannot land: {', '.join(kept.unsaved)}"
    return None


def _subtasks(
    shop: Workshop, command: StartTurn, *, ending: Ending, carried: Carried
) -> Iterator[ev.SubtaskCompleted | ev.SubtaskFailed]:
    """Yields what became of the tasks of a phase that began, as reported.

    A turn that was cut off, or ended well without a report, leaves that open.
    """
    if shop.facts.mode is not Mode.PHASED or ending in {Ending.LIMITED, Ending.OUT_OF_BUDGET}:
        return
    at, report = command.at, carried.answer.found
    if ending is Ending.OK and not isinstance(report, Report):
        return
    for task in at.assigned.tasks:
        if task in carried.finished or task not in carried.begun:
            continue  # told when its session ended, or it never had one
        is_done = isinstance(report, Report) and (
            task in report.subtasks_completed or (ending is Ending.OK and task not in report.subtasks_failed)
        )
        kind = ev.SubtaskCompleted if is_done else ev.SubtaskFailed
        yield kind(at.unit, task, at.attempt)
