"""Steps without a world: every command goes well at once, but for those that a test takes into its hands."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.findings import Disposition, Ruling
from amelia.model.git import CommitId, TreeId
from amelia.model.records import RecordCommitted

Performance: TypeAlias = Callable[[cmd.AnyStep], Awaitable[Sequence[ev.Event]]]


class ScriptedSteps:
    """Carries commands out as told by name (`1/verify`, `branch`, `record`), and all others well."""

    def __init__(self, script: Mapping[str, Performance] | None = None) -> None:
        self._script = script or {}

    async def perform(self, command: cmd.AnyStep, tell: Callable[[ev.Event], None]) -> Sequence[ev.Event]:  # noqa: ARG002 - none of its steps has more to tell
        """Carries a command out and returns what happened."""
        scripted = self._script.get(step_name(command))
        return good_end(command) if scripted is None else await scripted(command)


def step_name(command: cmd.AnyStep) -> str:
    """Returns what a script calls a command: its unit and step."""
    match command:
        case cmd.VerifyBranch():
            return "branch"
        case cmd.CommitRecord():
            return "record"
        case _:
            return f"{command.at.unit}/{command.step}"


def good_end(command: cmd.AnyStep) -> tuple[ev.Event, ...]:
    """Returns what happens when a command goes well."""
    if isinstance(command, cmd.VerifyBranch):
        return (ev.BranchVerified(passed=True),)
    if isinstance(command, cmd.CommitRecord):
        return (RecordCommitted(CommitId(f"record on {command.tip}")),)
    unit, attempt = command.at.unit, command.at.attempt
    match command:
        case cmd.StartTurn():
            work = ev.Work(CommitId(f"{unit}.{attempt}"), TreeId(f"tree of {unit}.{attempt}"))
            return (ev.AttemptEnded(unit=unit, attempt=attempt, ending=Ending.OK, work=work),)
        case cmd.VerifyWork():
            return (ev.AttemptVerified(unit=unit, attempt=attempt, passed=True),)
        case cmd.ReviewWork():
            return (ev.AttemptReviewed(unit=unit, attempt=attempt, approved=True),)
        case cmd.EvaluateFindings(findings=findings):
            rulings = tuple(Ruling(finding.id, Disposition.REJECT) for finding in findings)
            return (ev.FindingsEvaluated(unit=unit, attempt=attempt, rulings=rulings),)
        case cmd.LandWork(work=work):
            return (ev.UnitLanded(unit, attempt, work.commit),)
        case cmd.Rest():
            return (ev.UnitRested(unit),)
        case _:
            assert_never(command)
