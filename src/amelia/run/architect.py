"""The architect's turn: a goal becomes a version of a plan.

The architect reads the base tree in a lane of its own and changes nothing there. Its answer is data: it is
written down in Amelia's grammar, read back and compiled like any plan. What is wrong with it is told by the
event of the version, which comes after the version is on disk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from anyio import to_thread

from amelia.context.architect import Commission, Revision, architect_prompt
from amelia.judge.answers import Invalid
from amelia.judge.plans import PLAN_SCHEMA, PlannedWork, read_planned
from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.agents import Ending, Role
from amelia.model.commands import Place
from amelia.model.errors import ConfigError, JournalError
from amelia.model.outcome import Reason
from amelia.model.plan import Unit
from amelia.model.proposal import AwaitArchitect, DraftCommand, WritePlan
from amelia.plan.approval import Aim, judge_plan
from amelia.plan.product import LARGEST, NAME, open_criteria, read_criteria, touched
from amelia.plan.write import in_phases, misread, write_plan
from amelia.record.runs import RunDirectory
from amelia.record.versions import read_version, write_version
from amelia.run.asking import Answer, Desk, Question, Tell, ask
from amelia.run.faults import for_person
from amelia.run.waiting import wait_out, wait_until
from amelia.system.git_contents import blob_size, read_blob
from amelia.system.git_places import Lane, Purpose, Store
from amelia.workspace.lanes import prepare

_LANE = 1
_LONGEST = 4000
_LONGEST_PLAN = 200_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Studio:
    """What the architect of a run works with."""

    facts: dr.RunProposed
    desk: Desk
    store: Store
    now: Callable[[], datetime]

    @property
    def lane(self) -> Lane:
        """The worktree in which the architect reads."""
        return Lane(self.store, _LANE, Purpose.WORK)

    def aim(self) -> Aim:
        """Returns what the plan is for: the goal, the issue behind it, and the product's page."""
        issue = self.desk.directory.issue
        text = issue.read_text(encoding="utf-8") if self.facts.issue is not None else ""
        return Aim(self.product(), self.facts.goal, text)

    def product(self) -> bytes | None:
        """Returns what the repository says of its product, if it does; too much of it is refused."""
        where, base = self.store.repository, self.facts.base
        if (size := blob_size(where, base, NAME) or 0) > LARGEST:
            raise ConfigError(
                f"{NAME} at {base[:12]}: {size:,} bytes are too much for a product's page, "
                f"which may have {LARGEST:,}",
                hint="keep the acceptance criteria in it, commit that, and start again",
            )
        return read_blob(where, base, NAME)


class StudioSteps:
    """The steps of a draft."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    async def perform(self, command: DraftCommand, tell: Tell) -> tuple[ev.Event, ...]:
        """Carries a command out and returns what happened."""
        match command:
            case WritePlan():
                return await _write(self._studio, command, tell)
            case AwaitArchitect(until=until, rests=rests):
                await wait_out(until, now=self._studio.now(), rests=rests)
                return (ev.UnitRested(dr.DRAFT),)
            case _:
                assert_never(command)


async def _write(studio: Studio, command: WritePlan, tell: Tell) -> tuple[ev.Event, ...]:
    base = studio.facts.base
    await to_thread.run_sync(lambda: prepare(studio.lane, tree=base, base=base))
    question = await to_thread.run_sync(lambda: _question(studio, command))
    answer = await ask(studio.desk, question, tell)
    return (await to_thread.run_sync(lambda: _outcome(studio, command, answer)),)


def _question(studio: Studio, command: WritePlan) -> Question[PlannedWork]:
    facts = studio.facts
    unit = Unit(dr.DRAFT, facts.goal, tasks=(), depends_on=(), group=1)
    return Question(
        role=Role.ARCHITECT,
        at=Place(unit, lane=_LANE, attempt=command.version, base=facts.base),
        lane=studio.lane,
        in_full=_prompt(studio, command),
        schema=PLAN_SCHEMA,
        read=read_planned,
        allowance=command.allowance,
    )


def _prompt(studio: Studio, command: WritePlan) -> str:
    directory, old = studio.desk.directory, command.old
    aim = studio.aim()
    criteria = read_criteria(aim.product) if aim.product is not None else ()
    return architect_prompt(
        studio.desk.texts,
        Commission(
            goal=studio.facts.goal,
            mode=studio.facts.mode,
            issue=aim.more,
            criteria=[str(one) for one in touched(criteria, aim.goal, aim.more)],
            others=[str(one) for one in open_criteria(criteria)],
        ),
        Revision(
            plan=_shown(directory, old) if old is not None else "",
            problems=old.problems if old is not None else (),
            feedback=command.feedback,
            failure=command.failure,
        ),
    )


def _shown(directory: RunDirectory, version: dr.PlanDrafted) -> str:
    """Returns a version as the architect sees it; one that was tampered with is not shown to anybody."""
    try:
        return read_version(directory, version).decode("utf-8", errors="replace")[:_LONGEST_PLAN]
    except JournalError:
        return ""


def _outcome(studio: Studio, command: WritePlan, answer: Answer[PlannedWork]) -> ev.Event:
    """Returns what became of the turn; nothing the architect could not help counts against it."""
    ended = answer.ended
    detail = (ended.detail or ended.text)[:_LONGEST]
    match ended.ending:
        case Ending.LIMITED:
            return ev.AnswerDelayed(dr.DRAFT, command.version, wait_until(ended.until, studio.now()))
        case Ending.OUT_OF_BUDGET if command.allowance.is_used_up_by(answer.spent):
            return dr.DraftFailed(Reason.BUDGET, detail or "The architect used up what it may use.")
        case _:
            if (fault := for_person(ended)) is not None:
                return dr.DraftFailed(fault.reason, fault.detail)
    if isinstance(answer.found, Invalid):
        return dr.ArchitectFailed(command.version, answer.found.detail[:_LONGEST])
    return _drafted(studio, command.version, answer.found)


def _drafted(studio: Studio, version: int, work: PlannedWork) -> dr.PlanDrafted:
    """Writes a version down, and tells what is wrong with it."""
    tasks = in_phases(work.tasks)
    text = write_plan(work.goal or " ".join(studio.facts.goal.split()), tasks)
    data = text.encode("utf-8", errors="replace")
    settings = studio.facts.settings.plan
    verdict = judge_plan(data, settings=settings, mode=studio.facts.mode, aim=studio.aim())
    return dr.PlanDrafted(
        version=version,
        hash=write_version(studio.desk.directory, version, data),
        author=dr.Author.ARCHITECT,
        errors=(*verdict.errors, *(problem[:_LONGEST] for problem in misread(tasks, text)[:10])),
        gaps=verdict.gaps,
    )
