"""The developer's turn: the workspace as it has to be, the agent, and a snapshot of whatever it left.

The snapshot is taken after every turn, however it ended, and is kept under the attempt's ref before anything
else happens to the worktree.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
from anyio import to_thread

from amelia.context.prompts import continuation_prompt, developer_prompt
from amelia.model import events as ev
from amelia.model.agents import Ending, Role, SessionId, TurnEnded
from amelia.model.commands import StartTurn
from amelia.model.errors import ConfigError
from amelia.model.git import Snapshot
from amelia.model.plan import Mode
from amelia.run.waiting import wait_until
from amelia.run.workshop import Workshop
from amelia.system.git_places import Purpose
from amelia.workspace.diff import changes
from amelia.workspace.unkept import Unkept

_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class _Report:
    """What a developer says of its own work; proof it is not."""

    status: Literal["completed", "partial", "failed"]
    summary: str = ""
    subtasks_completed: tuple[str, ...] = ()
    subtasks_failed: tuple[str, ...] = ()
    error_context: str | None = None


async def start_turn(shop: Workshop, command: StartTurn) -> tuple[ev.Event, ...]:
    """Carries out a developer's turn."""
    lane = shop.lane(command.at, Purpose.WORK)
    unkept = Unkept(command.at.base, shop.ref(command.at))
    await to_thread.run_sync(lambda: shop.open_lane(lane, start=command.start, unkept=unkept))
    ended = await shop.take_turn(
        Role.DEVELOPER,
        command.at,
        prompt=_prompt(shop, command),
        lane=lane,
        session=command.session or SessionId(str(uuid.uuid4())),
        resume=command.session is not None,
    )
    if ended.ending is Ending.AUTH:
        raise ConfigError(
            f"the agent is not let in: {ended.detail or ended.text}",
            hint="mend its login or key, then run `amelia resume`",
        )
    kept = await to_thread.run_sync(lambda: shop.keep(command.at, lane, shop.ref(command.at)))
    report = _read_report(ended)
    ending, summary = _verdict(ended, report)
    if ending is Ending.NO_REPORT and await to_thread.run_sync(lambda: _is_untouched(shop, command, kept)):
        ending = Ending.OK  # nothing said and nothing done: verification says so
    return (
        *_subtasks(shop, command, ending=ending, report=report),
        ev.AttemptEnded(
            unit=command.at.unit,
            attempt=command.at.attempt,
            ending=ending,
            work=ev.Work(kept.commit, kept.tree),
            summary=summary[:_LONGEST],
            refused=_refused(kept),
            session=ended.session,
            until=wait_until(ended.until, shop.now()) if ended.ending is Ending.LIMITED else None,
            tokens=ended.usage.tokens if ended.usage else None,
            cost=ended.usage.cost if ended.usage else None,
        ),
    )


def _prompt(shop: Workshop, command: StartTurn) -> str:
    if command.session is not None:
        return continuation_prompt(command.feedback)
    assignment = shop.assignment(command.at.unit)
    return developer_prompt(assignment, attempt=command.at.attempt, feedback=command.feedback)


def _read_report(ended: TurnEnded) -> _Report | None:
    try:
        return msgspec.convert(ended.report, _Report) if ended.ending is Ending.OK else None
    except msgspec.ValidationError:
        return None


def _verdict(ended: TurnEnded, report: _Report | None) -> tuple[Ending, str]:
    """Returns how the turn counts, and what the next one is told if it was not good enough."""
    if ended.ending is not Ending.OK:
        parts = (f"The agent's turn ended badly: {ended.ending}.", ended.detail, ended.text)
        return ended.ending, "\n".join(part for part in parts if part)
    if report is None:
        return Ending.NO_REPORT, "The report is missing, or not the JSON that was asked for."
    if report.status == "completed":
        return Ending.OK, report.summary
    left = ", ".join(report.subtasks_failed)
    parts = (
        f"The agent reports its work as {report.status}.",
        report.summary,
        report.error_context or "",
        f"Left to do: {left}" if left else "",
    )
    return Ending.FAILED, "\n".join(part for part in parts if part)


def _is_untouched(shop: Workshop, command: StartTurn, kept: Snapshot) -> bool:
    return not changes(shop.store, command.at.base, kept.tree)


def _refused(kept: Snapshot) -> str | None:
    if kept.refused is not None:
        return f"The {kept.refused.hook} hook refuses this work:\n{kept.refused.output}"[:_LONGEST]
    if kept.unsaved:
        return f"Files were changed inside submodules, which cannot land: {', '.join(kept.unsaved)}"
    return None


def _subtasks(
    shop: Workshop, command: StartTurn, *, ending: Ending, report: _Report | None
) -> Iterator[ev.SubtaskCompleted | ev.SubtaskFailed]:
    """Yields what became of the tasks of a phase, as reported; a limit leaves that open."""
    if shop.facts.mode is not Mode.PHASED or ending is Ending.LIMITED:
        return
    at = command.at
    for task in shop.units[at.unit].tasks:
        is_done = report is not None and (
            task in report.subtasks_completed or (ending is Ending.OK and task not in report.subtasks_failed)
        )
        kind = ev.SubtaskCompleted if is_done else ev.SubtaskFailed
        yield kind(at.unit, task, at.attempt)
