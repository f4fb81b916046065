"""Carries out the commands of the machine, each by the module that knows how."""

from typing import TypeAlias, assert_never

from anyio import to_thread

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.errors import GitError
from amelia.model.git import CommitId
from amelia.model.outcome import Reason
from amelia.run.asking import Tell
from amelia.run.checks import verify_branch, verify_work
from amelia.run.closing import commit_record
from amelia.run.landing import land_work
from amelia.run.no_room import has_failed, room_places, without_room
from amelia.run.reviews import evaluate_findings, review_work
from amelia.run.turns import start_turn
from amelia.run.waiting import wait_out
from amelia.run.workshop import Workshop
from amelia.system.room import RoomWatch, is_out_of_room, tightest

_OnWork: TypeAlias = cmd.StartTurn | cmd.VerifyWork | cmd.ReviewWork | cmd.EvaluateFindings | cmd.LandWork
_OnBranch: TypeAlias = cmd.VerifyBranch | cmd.CommitRecord


class WorkshopSteps:
    """The steps of a run in its workshop."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def perform(self, command: cmd.AnyStep, tell: Tell) -> tuple[ev.Event, ...]:
        """Carries a command out and returns what happened.

        What fails on a full disk, whoever filled it, is charged to nobody: the step goes on when the run is
        resumed.
        """
        if isinstance(command, cmd.Rest):
            return await self._rest(command)
        with RoomWatch(room_places(self._shop.store)) as room:
            if room.full is not None:
                return (without_room(command, room.full),)
            try:
                happened = await self._with_what_is_left(command, tell)
            except Exception as problem:
                if room.full is None and not is_out_of_room(problem):
                    raise
                return (without_room(command, room.full or tightest(room_places(self._shop.store))),)
            if room.full is not None and any(map(has_failed, happened)):
                return (without_room(command, room.full),)
        return happened

    async def _with_what_is_left(self, command: _OnWork | _OnBranch, tell: Tell) -> tuple[ev.Event, ...]:
        """Carries a command out; one that fails because the work it goes on with is gone says so."""
        try:
            return await self._carry_out(command, tell)
        except (GitError, OSError):
            if isinstance(command, cmd.VerifyBranch | cmd.CommitRecord):
                raise
            lost = await to_thread.run_sync(self._shop.lost, _needed(command))
            if lost is None:
                raise
            return (ev.StepBroke(command.at.unit, command.step, _lost_text(lost), Reason.WORK_LOST),)

    async def _carry_out(self, command: _OnWork | _OnBranch, tell: Tell) -> tuple[ev.Event, ...]:
        match command:
            case cmd.StartTurn():
                return await start_turn(self._shop, command, tell)
            case cmd.VerifyWork():
                return await verify_work(self._shop, command)
            case cmd.ReviewWork():
                return await review_work(self._shop, command, tell)
            case cmd.EvaluateFindings():
                return await evaluate_findings(self._shop, command, tell)
            case cmd.LandWork():
                return await land_work(self._shop, command)
            case cmd.VerifyBranch():
                return await verify_branch(self._shop, command)
            case cmd.CommitRecord():
                return await commit_record(self._shop, command)
            case _:
                assert_never(command)

    async def _rest(self, command: cmd.Rest) -> tuple[ev.Event, ...]:
        await wait_out(command.until, now=self._shop.now(), rests=command.rests)
        return (ev.UnitRested(command.at.unit),)


def _needed(command: _OnWork) -> CommitId:
    """Returns the commit that a step goes on with."""
    return command.start if isinstance(command, cmd.StartTurn) else command.work.commit


def _lost_text(commit: CommitId) -> str:
    return (
        f"the commit {commit[:12]} that was to go on is gone: the run's own repository was deleted or "
        "damaged, and yours does not have it; the unit can only begin again, or be skipped"
    )
