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
from amelia.run.reviews import evaluate_findings, review_work
from amelia.run.turns import start_turn
from amelia.run.waiting import wait_out
from amelia.run.workshop import Workshop


class WorkshopSteps:
    """The steps of a run in its workshop."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def perform(self, command: cmd.AnyStep, tell: Tell) -> tuple[ev.Event, ...]:
        """Carries a command out and returns what happened."""
        try:
            return await self._perform(command, tell)
        except (GitError, OSError):
            if isinstance(command, cmd.VerifyBranch | cmd.CommitRecord | cmd.Rest):
                raise
            lost = await to_thread.run_sync(self._shop.lost, _needed(command))
            if lost is None:
                raise
            return (ev.StepBroke(command.at.unit, command.step, _lost_text(lost), Reason.WORK_LOST),)

    async def _perform(self, command: cmd.AnyStep, tell: Tell) -> tuple[ev.Event, ...]:
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
            case cmd.Rest():
                return await self._rest(command)
            case _:
                assert_never(command)

    async def _rest(self, command: cmd.Rest) -> tuple[ev.Event, ...]:
        await wait_out(command.until, now=self._shop.now(), rests=command.rests)
        return (ev.UnitRested(command.at.unit),)


_OnWork: TypeAlias = cmd.StartTurn | cmd.VerifyWork | cmd.ReviewWork | cmd.EvaluateFindings | cmd.LandWork


def _needed(command: _OnWork) -> CommitId:
    """Returns the commit that a step goes on with."""
    return command.start if isinstance(command, cmd.StartTurn) else command.work.commit


def _lost_text(commit: CommitId) -> str:
    return (
        f"the commit {commit[:12]} that was to go on is gone: the run's own repository was deleted or "
        "damaged, and yours does not have it; the unit can only begin again, or be skipped"
    )
