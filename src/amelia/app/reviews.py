"""Reviews what is in a checkout, with the same reviewer and evaluator as a run, and no run.

A review has a directory under `reviews/`, laid out like that of a run whose one unit a person has done: its
journal tells who was asked and what they answered. Its clone and worktrees go when it ends, and so do its
refs; the rest stays until `amelia gc`.
"""

import hashlib
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

import anyio

from amelia.app.agents import choose_agents
from amelia.app.walls import Walls, check_wall, wall_gaps
from amelia.app.workshops import find_tests, open_workshop
from amelia.land.publish import publish_attempts
from amelia.model import events as ev
from amelia.model.agents import Allowance, Role, Spent
from amelia.model.commands import EvaluateFindings, Place, ReviewWork
from amelia.model.errors import AmeliaError, ConfigError
from amelia.model.evidence import TestCommand
from amelia.model.findings import Disposition, Finding, Ruling
from amelia.model.git import CommitId, Stamp, ref_component
from amelia.model.plan import Mode, Task, TaskId, Unit
from amelia.model.settings import RunSettings
from amelia.record.journal import SqliteJournal
from amelia.record.prompts import keep_texts, own_texts
from amelia.record.runs import REVIEW_UNIT, RunDirectory, new_review
from amelia.run.checks import account
from amelia.run.reviews import evaluate_findings, review_work
from amelia.run.waiting import wait_out
from amelia.run.workshop import Workshop
from amelia.schedule.budget import least_of
from amelia.system.git_checkout import merge_base
from amelia.system.git_commands import delete_refs, list_paths, tree_of
from amelia.system.git_places import Lane, Purpose, Source, Store
from amelia.system.wall import find_kernel
from amelia.workspace.capture import Captured, capture, refuse_conflicts
from amelia.workspace.lanes import prepare
from amelia.workspace.removal import remove
from amelia.workspace.source import open_source, resolve
from amelia.workspace.store import make_store

Progress = Callable[[str], None]
_UNIT = REVIEW_UNIT
_SECTION = """\
These changes belong to no plan. Judge them by themselves: are they right and complete, do tests cover them,
do they break or leave behind anything?
"""
_LEFT = frozenset({Disposition.IMPLEMENT, Disposition.CLARIFY})


class ReviewUnavailableError(AmeliaError):
    """No valid review came."""


@dataclass(frozen=True, slots=True, eq=False)
class Review:
    """What is reviewed: everything between two commits of a store of its own."""

    directory: RunDirectory
    source: Source
    store: Store
    base: CommitId
    captured: Captured
    journal: SqliteJournal

    @property
    def is_empty(self) -> bool:
        """Says whether there is nothing to review."""
        return tree_of(self.store.repository, self.base) == self.captured.tree

    @property
    def snapshot_ref(self) -> str:
        """The ref that keeps what was reviewed in the user's repository, if a run is to start from it."""
        return f"refs/amelia/{ref_component(self.directory.run)}/snapshot"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of a review: what the checks said, and every finding with its ruling, if it has one."""

    checks: str
    approved: bool
    findings: tuple[tuple[Finding, Ruling | None], ...] = ()

    @property
    def left(self) -> tuple[Finding, ...]:
        """The findings that somebody has to do something about."""
        if self.approved:
            return ()
        return tuple(
            found for found, ruling in self.findings if ruling is None or ruling.disposition in _LEFT
        )

    @property
    def to_implement(self) -> tuple[Finding, ...]:
        """Those of them that can be implemented without an answer of a person."""
        rulings = (ruling for _, ruling in self.findings if ruling is not None)
        asked = {ruling.finding for ruling in rulings if ruling.disposition is Disposition.CLARIFY}
        return tuple(finding for finding in self.left if finding.id not in asked)


@contextmanager
def open_review(repository: Path, *, base: str | None, home: Path) -> Generator[Review]:
    """Takes a checkout as it is, for the length of a block; with a base, everything since then as well."""
    source = open_source(repository)
    refuse_conflicts(source)
    since = None if base is None else resolve(source, base)
    now = datetime.now(UTC)
    directory = new_review(home, now)
    is_kept = False
    try:
        # The lock on the journal tells others that this review is under way.
        with SqliteJournal(directory.journal) as journal:
            store, head = make_store(source, directory.path, run=directory.run, base=source.head)
            captured = capture(store, head, stamp=Stamp(source.identity, now))
            start = head if since is None else merge_base(source.repository, since, head) or since
            review = Review(directory, source, store, start, captured, journal)
            is_kept = not review.is_empty
            yield review
    finally:
        delete_refs(source.repository, f"refs/amelia/{ref_component(directory.run)}/")
        for place in (directory.lanes, directory.store, directory.checks) if is_kept else (directory.path,):
            remove(place, within=directory.path)


def judge_review(review: Review, settings: RunSettings, tell: Progress) -> Judgement:
    """Has the checks executed, the changes reviewed, and the findings of a rejection ruled."""
    check_wall(settings.wall)
    for gap in wall_gaps(settings.wall, find_kernel()):
        tell(f"wall: {gap}")
    agents = anyio.run(choose_agents, settings)
    unit = _unit()
    review.directory.plan.write_text(_SECTION, encoding="utf-8")
    keep_texts(review.directory, own_texts(settings.prompts))
    facts = ev.RunStarted(
        run=review.directory.run,
        plan_hash=hashlib.sha256(_SECTION.encode()).hexdigest(),
        plan_path=str(review.directory.plan),
        goal=unit.title,
        mode=Mode.SINGLE,
        policy=settings.policies[Mode.SINGLE],
        base=review.base,
        units=(unit,),
        footprints={},
        agents={role.value: agent for role, agent in agents.items()},
        budget=settings.budget,
        clocks=settings.clocks,
        wall=settings.wall,
        test_command=_tests(review, settings, tell),
        verify=settings.verify,
        repository=str(review.source.top),
    )
    review.journal.append([facts, ev.UnitStarted(_UNIT, 1, review.base)])
    shop = open_workshop(review.directory, facts, is_run=False)
    return anyio.run(_Asking(review, shop, tell).judge)


def keep_snapshot(review: Review) -> CommitId:
    """Puts what was reviewed into the user's repository, for a run to start from, and returns it."""
    commit = review.captured.commit
    publish_attempts(review.store, {review.snapshot_ref: commit})
    return commit


def files_of(review: Review) -> frozenset[str]:
    """Returns the files that there are in what was reviewed."""
    return frozenset(list_paths(review.store.repository, review.captured.tree))


@dataclass(frozen=True, slots=True, eq=False)
class _Asking:
    """A review under way: what is reviewed, where agents are asked, and where their answers are kept."""

    review: Review
    shop: Workshop
    tell: Progress

    @property
    def at(self) -> Place:
        return Place(self.shop.facts.units[0], lane=1, attempt=1, base=self.review.base)

    @property
    def work(self) -> ev.Work:
        return ev.Work(self.review.captured.commit, self.review.captured.tree)

    async def judge(self) -> Judgement:
        checks = await account(self.shop, self.at, self.work.tree)
        self.tell(f"checks: {checks.partition(chr(10))[0]}")
        reviewed = await self._reviewed()
        if reviewed.approved:
            return Judgement(checks, approved=True, findings=tuple((one, None) for one in reviewed.findings))
        rulings = await self._ruled(reviewed.findings)
        found = tuple((one, rulings.get(one.id)) for one in reviewed.findings)
        judgement = Judgement(checks, approved=False, findings=found)
        return judgement if judgement.left else Judgement(checks, approved=True, findings=found)

    async def _reviewed(self) -> ev.AttemptReviewed:
        detail = ""
        for _ in range(self.shop.facts.policy.review_tries):
            self.tell(f"the reviewer ({self.shop.desk.settings['reviewer'].driver}) reads")
            event = await self._asked(Role.REVIEWER, self._review)
            if isinstance(event, ev.AttemptReviewed):
                return event
            detail = _why_not(event)
            if not isinstance(event, ev.ReviewFailed):
                break
        raise ReviewUnavailableError(
            f"no review: {detail}", hint=f"what was said is in {self.review.directory.path / 'transcripts'}"
        )

    async def _ruled(self, findings: tuple[Finding, ...]) -> dict[str, Ruling]:
        self.tell(f"the evaluator rules what was found ({len(findings)})")
        event = await self._asked(Role.EVALUATOR, lambda: self._evaluate(findings))
        rulings = event.rulings if isinstance(event, ev.FindingsEvaluated) else ()
        return {ruling.finding: ruling for ruling in rulings}

    async def _asked(self, role: Role, ask: Callable[[], Awaitable[tuple[ev.Event, ...]]]) -> ev.Event:
        """Returns what came of a question, once the limits that the agent reached are waited out.

        As often in a row as in a run; then the limit is what came of it.
        """
        rests = 0
        while True:
            (event,) = await ask()
            self._record(event)
            if not isinstance(event, ev.AnswerDelayed) or rests >= self.shop.facts.policy.rests:
                return event
            rests += 1
            self.tell(
                f"the {role} reached its usage limit; asked again at {event.until} "
                "(to stop waiting: Ctrl+C, and `amelia review` once more after that)"
            )
            await wait_out(event.until, now=self.shop.now(), rests=rests)

    def _review(self) -> Awaitable[tuple[ev.Event, ...]]:
        command = ReviewWork(self.at, self.work, None, open_findings=(), allowance=self._left())
        return review_work(self.shop, command, self._record)

    def _evaluate(self, findings: tuple[Finding, ...]) -> Awaitable[tuple[ev.Event, ...]]:
        command = EvaluateFindings(self.at, self.work, findings, allowance=self._left())
        return evaluate_findings(self.shop, command, self._record)

    def _left(self) -> Allowance:
        """Returns what the next turn may use: the budget without what the turns before it used."""
        told = (recorded.event for recorded in self.review.journal.read())
        usages = (event.usage for event in told if isinstance(event, ev.UsageReported))
        spent, budget = reduce(Spent.plus, usages, Spent()), self.shop.facts.budget
        return least_of(budget.unit.without(spent), budget.run.without(spent))

    def _record(self, event: ev.Event) -> None:
        self.review.journal.append([event])


def _why_not(event: ev.Event) -> str:
    match event:
        case ev.AnswerDelayed(until=until):
            return f"the agent reached its usage limit again and again, now until {until}"
        case ev.UnitHeld():
            return "the budget of a unit is used up"
        case _:
            return str(getattr(event, "detail", event))


def _unit() -> Unit:
    title = "changes that a person made"
    task = Task(id=TaskId(_UNIT), title=title, section=_SECTION)
    return Unit(_UNIT, title, (task.id,), (), 1, (task,))


def _tests(review: Review, settings: RunSettings, tell: Progress) -> TestCommand | None:
    """Returns how the tree is tested; where it cannot be, that is said, and the review goes on without."""
    lane = Lane(review.store, 1, Purpose.CHECK)
    prepare(lane, tree=review.captured.tree, base=review.base)
    walls = Walls(settings=settings.wall, directory=review.directory, repository=review.source.top)
    try:
        return find_tests(walls, lane, units=(), settings=settings.verify)
    except ConfigError as problem:
        tell(f"nothing is executed: {problem}")
        return None
