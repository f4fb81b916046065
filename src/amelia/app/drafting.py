"""Goals become runs: proposed, drafted by the architect, approved by a person, and begun in the same place.

A draft has the directory, the journal, the lock and the mailbox of the run it will be. Nothing is held while
it waits for a person. Whoever drives a draft whose plan is approved lets its run start and drives that, too,
in the same open journal: there is no moment between them in which somebody else could.
"""

import signal
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

import anyio
from anyio import to_thread

from amelia.app.agents import choose_agents
from amelia.app.people import RefusedError
from amelia.app.runs import NewRun, beginning, new_directory, prepare_run
from amelia.app.walls import Walls, check_wall
from amelia.app.workshops import RunAgents, store_of
from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.errors import AmeliaError
from amelia.model.journal import Journal
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode
from amelia.model.proposal import Draft, Proposed, Stopped
from amelia.model.settings import Settings
from amelia.plan.approval import Verdict, judge_plan
from amelia.plan.issue import Issue
from amelia.record.journal import SqliteJournal, read_journal
from amelia.record.prompts import keep_texts, kept_texts, own_texts
from amelia.record.runs import RunDirectory, started
from amelia.record.versions import digest, keep, read_version, write_version
from amelia.run.accounting import unaccounted
from amelia.run.architect import Studio, StudioSteps
from amelia.run.asking import Desk
from amelia.run.loop import DRAFT, Coordinator, Onlooker
from amelia.schedule.draft import evolve_draft, fold_draft, is_draft
from amelia.system.git import check_git
from amelia.system.process import end_stale
from amelia.workspace.source import open_source, refuse_pipes, resolve
from amelia.workspace.store import make_store

_LANE = 1
_LONGEST_DETAIL = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDraft:
    """A run that is to be, of which only the goal is known."""

    goal: str
    issue: Issue | None
    settings: Settings
    repository: Path
    base: str | None = None
    tracker_id: str | None = None
    mode: Mode | None = None
    is_hands_off: bool = False


@dataclass(frozen=True, slots=True)
class DrivenDraft:
    """How far a draft was driven, which signal stopped it, and what went wrong in showing it, if any did."""

    draft: Draft
    stopped_by: signal.Signals | None = None
    watcher_problem: Exception | None = None


def propose(new: NewDraft, *, home: Path) -> RunDirectory:
    """Makes a run of a goal: its directory, its store, and the first event of its journal."""
    check_git()
    check_wall(new.settings.run.wall)
    source = open_source(new.repository)
    refuse_pipes(source)
    base = resolve(source, new.base) if new.base is not None else source.head
    agents = anyio.run(choose_agents, new.settings.run)
    settings = replace(new.settings, run=replace(new.settings.run, agents=agents))
    # What looks like a path would be cut to its last part.
    directory = new_directory(home, source, name=new.goal.replace("/", " ").replace(".", " "))
    with beginning(directory, source) as journal:
        _, start = make_store(source, directory.path, run=directory.run, base=base)
        keep_texts(directory, own_texts(settings.run.prompts))
        issue = new.issue.text.encode("utf-8", errors="replace") if new.issue is not None else None
        if issue is not None:
            keep(directory.issue, issue)
        proposed = dr.RunProposed(
            run=directory.run,
            goal=new.goal,
            tracker_id=new.tracker_id or (new.issue.tracker_id if new.issue is not None else None),
            issue=digest(issue) if issue is not None else None,
            repository=str(source.top),
            base=start,
            mode=new.mode,
            settings=settings,
            is_hands_off=new.is_hands_off,
        )
        open_studio(directory, proposed).product()  # refused before anybody is asked, if it is too large
        journal.append([proposed])
    return directory


def draft_of(directory: RunDirectory) -> Draft | None:
    """Returns where the draft of a run stands; None if the run has started, or never was a draft."""
    if started(directory) is not None:
        return None  # what came after that need not be read
    events = [recorded.event for recorded in read_journal(directory.journal)]
    return fold_draft(events) if is_draft(events) else None


def waiting_draft(directory: RunDirectory) -> Draft:
    """Returns a draft that a person can do something about; the error says why there is none."""
    draft = draft_of(directory)
    if draft is None:
        raise RefusedError(
            f"run {directory.run} has its plan; it is not drafted any more",
            hint=f"see where it stands: amelia status {directory.run}",
        )
    if draft.outcome is not None and draft.outcome.is_final:
        raise RefusedError(f"run {directory.run} is {draft.outcome}; nothing can change that")
    return draft


def open_studio(directory: RunDirectory, facts: dr.RunProposed) -> Studio:
    """Returns what the architect of a run works with."""
    agents = {role.value: agent for role, agent in facts.settings.run.agents.items()}
    walls = Walls(
        settings=facts.settings.run.wall,
        directory=directory,
        repository=Path(facts.repository),
        agents=agents,
    )
    return Studio(
        facts=facts,
        desk=Desk(
            directory=directory,
            agents=RunAgents(agents, {}, directory.agents),
            settings=agents,
            clocks=facts.settings.run.clocks,
            texts=kept_texts(directory),
            wall_of=walls.of_agent,
        ),
        store=store_of(directory, facts.repository),
        now=lambda: datetime.now(UTC),
    )


async def drive_draft(directory: RunDirectory, journal: Journal, watcher: Onlooker[Draft]) -> DrivenDraft:
    """Takes a draft as far as it goes, from wherever it stands, for whoever holds its journal."""
    past = journal.read()
    events = [recorded.event for recorded in past]
    draft = fold_draft(events)
    is_waiting = draft.outcome is not None and not isinstance(draft.stage, Stopped)
    if not is_draft(events) or (is_waiting and not journal.requests()):
        return DrivenDraft(draft)
    await end_stale(directory.lock(_LANE))
    studio = open_studio(directory, draft.facts)
    coordinator = Coordinator(DRAFT, journal, steps=StudioSteps(studio), watcher=watcher)
    found = await to_thread.run_sync(unaccounted, past, studio.desk.settings, directory.agents)
    draft = await coordinator.drive(past, draft, found=found)
    return DrivenDraft(draft, coordinator.stopped_by, coordinator.watcher_problem)


def judged(directory: RunDirectory, draft: Draft, data: bytes) -> Verdict:
    """Returns what is to be said of a text as the plan of a draft."""
    facts = draft.facts
    aim = open_studio(directory, facts).aim()
    return judge_plan(data, settings=facts.settings.plan, mode=facts.mode, aim=aim)


def edit_plan(directory: RunDirectory, data: bytes, *, of: int) -> dr.PlanDrafted:
    """Makes a text that a person wrote from a version the newest version of a plan."""
    # Whoever writes a version is the journal's writer: nobody else can take the same number.
    with SqliteJournal(directory.journal) as journal:
        draft = waiting_draft(directory)
        if not isinstance(draft.stage, Proposed | Stopped):
            raise RefusedError(
                f"the plan of run {directory.run} does not wait for a person",
                hint=f"see where it stands: amelia plan show {directory.run}",
            )
        if draft.version != of:
            raise RefusedError(
                f"version {draft.version} of the plan of run {directory.run} was written meanwhile",
                hint=f"see what changed: amelia plan diff {directory.run}",
            )
        verdict = judged(directory, draft, data)
        version = draft.version + 1
        drafted = dr.PlanDrafted(
            version=version,
            hash=write_version(directory, version, data),
            author=dr.Author.PERSON,
            errors=verdict.errors,
            gaps=verdict.gaps,
        )
        reason = Reason.PLAN_ERRORS if verdict.errors else Reason.APPROVAL
        journal.append([drafted, ev.RunFinished(Outcome(Result.NEEDS_HUMAN, reason))])
    return drafted


def new_run_of(directory: RunDirectory, draft: Draft) -> NewRun:
    """Returns the run that a draft with a plan is going to be."""
    facts, newest = draft.facts, draft.newest
    assert newest is not None
    data = read_version(directory, newest)
    return NewRun(
        compiled=judged(directory, draft, data).compiled,
        plan_path=None,
        data=data,
        settings=replace(facts.settings.run, budget=draft.budget),
        repository=Path(facts.repository),
        base=facts.base,
        tracker_id=facts.tracker_id,
        is_again=True,
    )


def begin_approved(
    directory: RunDirectory, journal: Journal, draft: Draft, *, watcher: Onlooker[Draft]
) -> ev.RunStarted:
    """Lets the run of a draft that may begin start, in the journal in which the draft was driven."""
    try:
        new = new_run_of(directory, draft)
        source = open_source(new.repository)
        begun = prepare_run(new, directory, source=source, base=draft.facts.base)
    except AmeliaError as problem:
        detail = f"{problem}\n{problem.hint or ''}".strip()[:_LONGEST_DETAIL]
        stopped = ev.RunFinished(Outcome(Result.HALTED, Reason.BROKEN))
        recorded = journal.append([dr.DraftFailed(Reason.BROKEN, detail), stopped])
        watcher.show(recorded, reduce(evolve_draft, (one.event for one in recorded), draft))
        raise
    journal.append([begun])
    return begun
