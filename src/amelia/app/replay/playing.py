"""A recorded run, played once more: the same plan, base, settings, answers and wishes, and no agent.

- It is a run like any other, in a repository of its own: every replay has one made when it begins, and could
  not be played in another. Deliveries are no part of it.
- Tests, rules, git and the machine are the real ones, so what comes out differently was changed by the code.
- The process that begins a replay directs it to its end: whoever only resumes it finds the score without
  somebody who follows it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from amelia.app.people import standing
from amelia.app.plans import compile_with
from amelia.app.replay.comparison import Result, differences, result_of
from amelia.app.replay.refusals import play_refusals, read_refusals
from amelia.app.replay.score import Cue, Key, Reached, Resumed, Turn, answered, playable, reached, read_score
from amelia.app.replay.scripts import Table, UnplayableError, acts_between, script_text, turn_table
from amelia.app.runs import Driven, NewRun, begin_in, drive_run
from amelia.app.workshops import open_store
from amelia.model.events import Event, RunStarted
from amelia.model.git import CommitId, TreeId
from amelia.model.journal import Recorded, since_start
from amelia.model.plan import UnitId
from amelia.model.settings import PlanSettings, RunSettings
from amelia.model.state import RunState
from amelia.plan.compile import CompiledPlan
from amelia.record.journal import SqliteJournal, leave_request, read_journal
from amelia.record.runs import RunDirectory, new_run
from amelia.run.loop import Watcher
from amelia.run.requests import fits
from amelia.schedule.decide import is_over
from amelia.schedule.machine import evolve, fold
from amelia.system.git import Repository, check_git
from amelia.system.git_commands import tree_of
from amelia.workspace.removal import remove
from amelia.workspace.replica import make_replica
from amelia.workspace.source import open_source

_LONGEST_PAUSE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Everything it takes to play a run again, and what it came to.

    `make_base` makes a repository in a new directory, with the base checked out. `repository` is that of the
    run, or the directory it was saved in. `fixed_by_hand` is the unit before whose repair the
    replay ends, if a person did some work.
    """

    compiled: CompiledPlan
    plan_path: Path
    data: bytes
    settings: RunSettings
    make_base: Callable[[Path], object]
    repository: str
    score: Sequence[Cue]
    turns: Sequence[Table]
    expected: Result
    refusals: Mapping[str, str] = field(default_factory=dict[str, str])
    fixed_by_hand: UnitId | None = None


@dataclass(frozen=True, slots=True)
class Playing:
    """A replay that has begun, and its run."""

    replay: Replay
    directory: RunDirectory

    def differences(self) -> list[str]:
        """Returns what is not as it was, in sentences."""
        past = read_journal(self.directory.journal)
        where = repository_of(self.directory, facts_of(past))
        return differences(self.replay.expected, result_of(past, lambda commit: tree_of(where, commit)))


def replay_of(directory: RunDirectory) -> Replay:
    """Returns a run as it can be played again."""
    run, past = standing(directory), read_journal(directory.journal)
    if run.outcome is None:
        raise UnplayableError(
            f"run {directory.run} has not come to an end; there is nothing to compare a replay with",
            hint=f"let it go on first: amelia resume {directory.run}",
        )
    facts = run.facts
    where = repository_of(directory, facts)
    past, fixed = playable(past)
    score = read_score(past)
    data = directory.plan.read_bytes()
    return Replay(
        compiled=_as_it_was(facts, data),
        plan_path=Path(facts.plan_path),
        data=data,
        settings=_settings(facts),
        make_base=lambda place: _copy_base(directory, facts, place),
        repository=facts.replay_of or facts.repository,
        score=score,
        turns=_tables(where, score, is_paced=facts.policy.parallel_workers > 1),
        expected=result_of(past, lambda commit: tree_of(where, commit)),
        refusals=read_refusals(past),
        fixed_by_hand=fixed,
    )


def _copy_base(directory: RunDirectory, facts: RunStarted, place: Path) -> None:
    source, store = open_source(Path(facts.repository)), directory.store
    borrowed = [store / "objects"] if store.exists() else []
    make_replica(source, place, base=facts.base, objects=borrowed)


def facts_of(past: Sequence[Recorded]) -> RunStarted:
    """Returns what a run started with."""
    facts = since_start(past)[0].event
    assert isinstance(facts, RunStarted)
    return facts


def repository_of(directory: RunDirectory, facts: RunStarted) -> Repository:
    """Returns where the work of a run is: in its store or, once that was cleared away, with the user."""
    store = open_store(directory, facts)
    return store.repository if store.git_dir.exists() else store.source.repository


def _as_it_was(facts: RunStarted, data: bytes) -> CompiledPlan:
    """Returns the plan with the units that it had, whatever the settings of plans are by now."""
    compiled = compile_with(data, PlanSettings(), mode=facts.mode)
    return replace(compiled, units=facts.units, milestones=facts.milestones)


def _settings(facts: RunStarted) -> RunSettings:
    return RunSettings(
        budget=facts.budget,
        parallel_workers=facts.policy.parallel_workers,
        policies={facts.mode: facts.policy},
        verify=facts.verify,
        clocks=facts.clocks,
        commit_record=False,  # units are compared; a record tells of another run
    )


def _tables(where: Repository, score: Iterable[Cue], *, is_paced: bool) -> list[Table]:
    """Returns the script; units that were worked on at the same time take their time, to end in order."""
    turns = [cue for cue in score if isinstance(cue, Turn)]
    longest = max((turn.seconds for turn in turns), default=0.0)
    pace = min(1.0, _LONGEST_PAUSE / longest) if is_paced and longest else 0.0
    return [
        turn_table(turn, _acts(where, turn.start, turn.tree), pause=round(turn.seconds * pace, 3))
        for turn in turns
    ]


def _acts(where: Repository, start: CommitId | None, tree: TreeId | None) -> list[Table]:
    return acts_between(where, start, tree) if start is not None and tree is not None else []


def begin_replay(replay: Replay, *, home: Path) -> Playing:
    """Makes a new run of what was recorded, with a repository of its own."""
    check_git()
    directory = new_run(home, replay.plan_path.name, datetime.now(UTC))
    try:
        replay.make_base(directory.replica)
        play_refusals(directory.replica / ".git" / "hooks", replay.refusals)
        directory.script.write_text(script_text(replay.turns), encoding="utf-8")
        new = NewRun(
            compiled=replay.compiled,
            plan_path=replay.plan_path,
            data=replay.data,
            settings=replay.settings.with_agents(driver="script", script=str(directory.script)),
            repository=directory.replica,
            replay_of=replay.repository,
        )
        source = open_source(new.repository)
        begin_in(directory, new, source=source, base=source.head)
    except BaseException:
        remove(directory.path, within=directory.path)
        raise
    return Playing(replay, directory)


async def drive_replay(playing: Playing, watcher: Watcher) -> Driven:
    """Plays everything that was recorded."""
    director = _Director(playing, watcher)
    while True:
        with SqliteJournal(playing.directory.journal) as journal:
            driven = await drive_run(playing.directory, journal, director)
        is_final = driven.run.is_final
        if is_final or driven.stopped_by is not None or not director.goes_on(driven.run):
            return driven


class _Director:
    """Looks on, hands agents their next turn, and leaves people's wishes when their time has come."""

    _run: RunState

    def __init__(self, playing: Playing, watcher: Watcher) -> None:
        self._watcher = watcher
        self._journal = playing.directory.journal
        self._script = playing.directory.script
        self._score = list(playing.replay.score)
        self._turns = list(playing.replay.turns)

    def begin(self, past: Sequence[Recorded]) -> None:
        """Takes in what happened before it came."""
        self._run = fold(recorded.event for recorded in past)
        self._watcher.begin(past)

    def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
        """Follows the score as far as it was played."""
        for one in recorded:
            self._follow(one.event)
        self._leave_wish(run)
        self._watcher.show(recorded, run)

    def tick(self) -> None:
        """Lets time pass."""
        self._watcher.tick()

    def goes_on(self, run: RunState) -> bool:
        """Says whether a person let the run go on where it has stopped now."""
        if not self._score or not isinstance(self._score[0], Resumed):
            return False
        del self._score[0]
        self._leave_wish(run)
        return True

    def _follow(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._run = fold([event])
            return
        if (key := answered(self._run, event)) is not None:
            self._take(next((cue for cue in self._score if isinstance(cue, Turn) and cue.key == key), None))
            self._turn_page(key)
        self._take(reached(event))
        self._run = evolve(self._run, event)

    def _take(self, cue: Turn | Reached | None) -> None:
        """Takes the first such cue out of the score; a run that went another way may have none."""
        if cue is not None and cue in self._score:
            self._score.remove(cue)

    def _turn_page(self, key: Key) -> None:
        """Lets the next turn under the same name be the first that fits, if there is one."""
        same = [turn for turn in self._turns if (turn["role"], turn["unit"], turn["attempt"]) == key]
        if len(same) > 1:
            self._turns.remove(same[0])
            fresh = self._script.with_suffix(".new")
            fresh.write_text(script_text(self._turns), encoding="utf-8")
            fresh.replace(self._script)  # at once: another agent may be reading

    def _leave_wish(self, run: RunState) -> None:
        """Leaves the next wish once all is there that was when it came; one at a time."""
        while self._score and not isinstance(wish := self._score[0], Turn | Reached | Resumed):
            is_due = fits(run, wish)
            if not is_due and not is_over(run):
                return
            del self._score[0]
            if is_due:
                leave_request(self._journal, wish)
                return
