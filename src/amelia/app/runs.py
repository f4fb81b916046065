"""Plans become runs, and runs are driven.

What can be known beforehand stops a run before it exists: no repository, no way to run the tests that its
plan asks for, commits that cannot be signed, a plan that is being run already.
"""

import hashlib
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
from anyio import to_thread

from amelia.app.agents import choose_agents
from amelia.app.finish import deliver, heard, is_deliverable
from amelia.app.proofs import refuse_unproved
from amelia.app.walls import Walls, check_wall
from amelia.app.workshops import find_tests, keep_work, open_store, open_workshop
from amelia.context.places import make_execution_dir_name
from amelia.land.commit import check_signing
from amelia.model.errors import AmeliaError
from amelia.model.events import RunStarted
from amelia.model.facts import RecordPlace
from amelia.model.git import CommitId
from amelia.model.journal import Journal
from amelia.model.plan import TaskStatus, Unit
from amelia.model.settings import RunSettings
from amelia.model.state import RunState
from amelia.plan.compile import CompiledPlan
from amelia.plan.graph import footprint
from amelia.record.journal import JournalBusyError, SqliteJournal, is_driven, read_journal
from amelia.record.prompts import keep_texts, own_texts
from amelia.record.runs import RunDirectory, all_runs, claim, new_run, started, starting, unborn_runs
from amelia.run.accounting import unaccounted
from amelia.run.loop import RUN, Coordinator, Watcher
from amelia.run.recover import recover
from amelia.run.steps import WorkshopSteps
from amelia.run.workshop import Workshop
from amelia.schedule.machine import fold
from amelia.system.git import check_git
from amelia.system.git_commands import names_in
from amelia.system.git_places import Lane, Purpose, Source, Store
from amelia.system.regular import read_regular
from amelia.workspace.discard import discard
from amelia.workspace.lanes import prepare
from amelia.workspace.source import open_source, refuse_pipes, resolve, uncommitted
from amelia.workspace.store import make_store


class SecondRunError(AmeliaError):
    """The plan is being run already."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run that is to be: of which plan, from which base, with which settings.

    `plan_path` is None for a plan that is in no file; the run keeps its text in any case. `replay_of` is the
    repository of the run that is played again, if this is a replay.
    """

    compiled: CompiledPlan
    plan_path: Path | None
    data: bytes
    settings: RunSettings
    repository: Path
    base: str | None = None
    tracker_id: str | None = None
    is_again: bool = False
    replay_of: str | None = None


@dataclass(frozen=True, slots=True)
class Driven:
    """How far a run was driven, which signal stopped it, and what went wrong in showing it, if any did.

    `was_final` says that there was nothing left to drive, so nobody was shown anything.
    """

    run: RunState
    stopped_by: signal.Signals | None = None
    watcher_problem: Exception | None = None
    was_final: bool = False


def begin_run(new: NewRun, *, home: Path) -> RunDirectory:
    """Makes a run of a plan that can run: its directory, its store, and the first event of its journal."""
    check_git()
    check_wall(new.settings.wall)
    source = open_source(new.repository)
    refuse_pipes(source)
    base = resolve(source, new.base) if new.base is not None else source.head
    with ExitStack() as held:
        if not new.is_again:
            _claim_start(held, new, home=home, source=source)
            _refuse_second_run(new, home=home, source=source)
        new = replace(new, settings=replace(new.settings, agents=anyio.run(choose_agents, new.settings)))
        directory = new_directory(home, source, name=new.plan_path.name if new.plan_path else "")
        begin_in(directory, new, source=source, base=base)
    return directory


def _claim_start(held: ExitStack, new: NewRun, *, home: Path, source: Source) -> None:
    """Keeps others from starting the same plan until its run can be found; refuses where others do that."""
    try:
        held.enter_context(starting(home, f"{source.top}\0{new.compiled.plan.hash}"))
    except BlockingIOError as problem:
        raise SecondRunError(
            "another process is starting a run of this plan at this moment",
            hint="see it: amelia status; or start another: --again",
        ) from problem


def begin_in(directory: RunDirectory, new: NewRun, *, source: Source, base: CommitId | None) -> None:
    """Makes a run in a directory that was made for it."""
    with beginning(directory, source) as journal:
        journal.append([prepare_run(new, directory, source=source, base=base)])


def new_directory(home: Path, source: Source, *, name: str) -> RunDirectory:
    """Makes the directory of a new run; what is left of runs that never began goes first."""
    _clear_unborn(home, source)
    return new_run(home, name, datetime.now(UTC))


@contextmanager
def beginning(directory: RunDirectory, source: Source) -> Generator[SqliteJournal]:
    """Gives the journal of a new run for its first event; a run that gets none leaves nothing behind."""
    try:
        # The lock tells others that this run is being made and is not a leftover.
        with SqliteJournal(directory.journal) as journal:
            yield journal
            claim(directory)
    except BaseException:
        discard(source, run=directory.run, directory=directory.path)
        raise


def _clear_unborn(home: Path, source: Source) -> None:
    """Removes runs that were killed before their first event, with what they pinned in this repository."""
    for directory in unborn_runs(home):
        if not is_driven(directory.journal):
            discard(source, run=directory.run, directory=directory.path)


async def drive_run(directory: RunDirectory, journal: Journal, watcher: Watcher) -> Driven:
    """Takes a run as far as it goes, from wherever it stands, for whoever holds its journal."""
    past = journal.read()
    run = fold(recorded.event for recorded in past)
    check_wall(run.facts.wall)
    shop = open_workshop(directory, run.facts, past, is_going_on=not run.is_final)
    if run.is_final:
        run = heard(journal, run)
    driven = Driven(run, was_final=run.is_final and not is_deliverable(run))
    if is_deliverable(run):
        watcher.begin(journal.read())
    while not driven.run.is_final:
        await recover(shop)
        found = await to_thread.run_sync(unaccounted, past, run.facts.agents, directory.agents)
        steps = WorkshopSteps(shop)
        coordinator = Coordinator(RUN, journal, steps=steps, watcher=watcher, at_rest=lambda: _put_away(shop))
        run = await coordinator.drive(past, driven.run, found=found)
        driven = Driven(run, coordinator.stopped_by, coordinator.watcher_problem)
        # Whoever leaves a wish while the work is put away relies on us to see it.
        await to_thread.run_sync(_put_away, shop)
        if driven.run.is_paused or driven.stopped_by or not journal.requests():
            break
        past = journal.read()
    if driven.run.is_final:
        await to_thread.run_sync(lambda: keep_work(shop, is_final=True))
        driven = replace(driven, run=await deliver(directory, journal, driven.run, watcher=watcher))
    return driven


def _put_away(shop: Workshop) -> None:
    """Keeps what there is of a run that stops, or waits, and writes its record."""
    keep_work(shop, is_final=False)
    shop.recorder.close()


def prepare_run(new: NewRun, directory: RunDirectory, *, source: Source, base: CommitId | None) -> RunStarted:
    """Makes everything that a run needs, and returns the event with which it starts."""
    compiled, settings = new.compiled, new.settings
    directory.plan.write_bytes(new.data)
    keep_texts(directory, own_texts(settings.prompts))
    store, start = make_store(source, directory.path, run=directory.run, base=base)
    check_signing(store)
    lane = Lane(store, 1, Purpose.CHECK)
    prepare(lane, tree=start, base=start)
    walls = Walls(settings=settings.wall, directory=directory, repository=source.top)
    command = find_tests(walls, lane, units=compiled.units, settings=settings.verify)
    refuse_unproved(walls, lane, start, units=compiled.units, command=command, settings=settings.verify)
    return RunStarted(
        run=directory.run,
        plan_hash=compiled.plan.hash,
        plan_path=str((new.plan_path or directory.plan).absolute()),
        goal=compiled.plan.goal,
        mode=compiled.mode,
        policy=settings.policies[compiled.mode],
        base=start,
        units=compiled.units,
        tasks=tuple(task.id for task in compiled.plan.tasks if task.status is not TaskStatus.SKIPPED),
        done_before=tuple(task.id for task in compiled.plan.tasks if task.status is TaskStatus.COMPLETED),
        milestones=compiled.milestones,
        footprints={unit.id: footprint_of(unit) for unit in compiled.units},
        agents={role.value: agent for role, agent in settings.agents.items()},
        budget=settings.budget,
        clocks=settings.clocks,
        wall=settings.wall,
        test_command=command,
        verify=settings.verify,
        repository=str(source.top),
        onto=source.branch,
        finish=settings.finish,
        record=_record_place(new, store, start, home=directory.path.parent.parent),
        replay_of=new.replay_of,
    )


def _record_place(new: NewRun, store: Store, base: CommitId, *, home: Path) -> RecordPlace:
    """Returns where the execution directory of a run is to be; no other run of the repository is there."""
    parent = new.settings.artifacts_dir.strip("/")
    others = (found[1] for directory in all_runs(home) if (found := started(directory)) is not None)
    taken = {
        other.record_place.path.rpartition("/")[2]
        for other in others
        if other.repository == str(store.source.top)
    }
    name = make_execution_dir_name(
        datetime.now(UTC).date(),
        tracker=new.tracker_id,
        goal=new.compiled.plan.goal,
        taken=taken | names_in(store.repository, base, parent),
    )
    return RecordPlace(f"{parent}/{name}", is_committed=new.settings.commit_record)


def footprint_of(unit: Unit) -> tuple[str, ...]:
    """Returns what a unit may touch; nothing if one of its tasks does not say."""
    each = [footprint(piece) for piece in unit.pieces]
    return tuple(sorted(frozenset[str]().union(*each))) if all(each) else ()


def _refuse_second_run(new: NewRun, *, home: Path, source: Source) -> None:
    for directory in all_runs(home):
        found = started(directory)
        if found is None or found[1].repository != str(source.top):
            continue
        if found[1].plan_hash != new.compiled.plan.hash:
            continue
        run = fold(recorded.event for recorded in read_journal(directory.journal))
        if run.outcome is None or not run.outcome.is_final:
            raise SecondRunError(
                f"run {directory.run} of this plan is {run.outcome or 'not finished'}",
                hint=f"see what it waits for: amelia status {directory.run}; or start another: --again",
            )


def notices(directory: RunDirectory) -> list[str]:
    """Returns what is worth knowing about a run that is about to go; nothing if another process drives it."""
    found = started(directory)
    # A lane is looked at that is the driver's.
    with suppress(JournalBusyError), SqliteJournal(directory.journal):
        return [] if found is None else list(notices_of(directory, found[1]))
    return []


def notices_of(directory: RunDirectory, facts: RunStarted) -> Iterator[str]:
    """Yields what is worth knowing about a run, for whoever holds its journal."""
    source = open_source(Path(facts.repository))
    if source.head is None:
        yield "the repository has no commits; the run starts from an empty one"
    elif count := uncommitted(source):
        files = "1 uncommitted file is" if count == 1 else f"{count} uncommitted files are"
        yield f"{files} not part of the run, which starts from {facts.base[:12]}"
    lane = Lane(open_store(directory, facts), 1, Purpose.CHECK)
    if empty := prepare(lane, tree=facts.base, base=facts.base).empty_submodules:
        yield f"submodules without content stay empty: {', '.join(empty)} (git submodule update --init)"
    if facts.test_command is None:
        yield "no way to run tests was found: nothing will be executed, only files and scope are checked"
    elif facts.test_command.others:
        others = ", ".join(facts.test_command.others)
        yield f"tests run with {' '.join(facts.test_command.argv)}; {others} would be possible too"


def plan_has_changed(facts: RunStarted) -> bool:
    """Says whether the plan on disk is not the one that the run was started with."""
    try:
        data = read_regular(Path(facts.plan_path))
    except OSError:
        return True
    return hashlib.sha256(data).hexdigest() != facts.plan_hash
