"""What every step of a run works with: its store and lanes, its agents, its verifier, its plan.

What an agent, or a test that it wrote, left of a lane is no obstacle: access that it took away is taken back.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from amelia.context.chronicle import Chronicle
from amelia.context.places import Places
from amelia.context.prompts import Assignment, Finished, OtherPiece
from amelia.context.retries import Retry
from amelia.judge.verify import Verifier
from amelia.land.message import trailers, unit_message
from amelia.model.commands import Place
from amelia.model.errors import GitError
from amelia.model.events import RunStarted
from amelia.model.git import CommitId, NotTaken, Snapshot, Stamp, TreeId, Work, attempt_ref
from amelia.model.plan import Unit, UnitId
from amelia.model.walls import Wall
from amelia.run.asking import Desk
from amelia.run.recording import Recorder
from amelia.system.git_commands import commit_tree, find_commit, tree_of, untracked
from amelia.system.git_places import Lane, Purpose, Store
from amelia.workspace.aside import set_aside
from amelia.workspace.generated import exclude_generated, find_generated, left_out
from amelia.workspace.lanes import prepare
from amelia.workspace.pipes import find_pipes, remove_pipes
from amelia.workspace.removal import open_up
from amelia.workspace.snapshot import keep, snapshot
from amelia.workspace.standalone import Written
from amelia.workspace.store import is_whole
from amelia.workspace.unkept import Unkept, mark, unkept_in, unmark

T = TypeVar("T")
_LEFT = "What a turn that was cut off had left\n"


@dataclass(frozen=True, slots=True)
class _Generated:
    """The generated files in a lane: those that were there before a unit, and those that are there now."""

    unit: UnitId
    before: frozenset[str] = frozenset()
    found: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, eq=False)
class Workshop:
    """Everything the steps of one run share; what it says does not change while the run goes on."""

    facts: RunStarted
    desk: Desk
    store: Store
    verifier: Verifier
    recorder: Recorder
    now: Callable[[], datetime]
    wall_of_hooks: Callable[[Lane], Wall | None] = lambda lane: None  # noqa: ARG005 - none by default
    _trees: dict[CommitId, TreeId] = field(default_factory=dict[CommitId, TreeId])
    _held: dict[int, TreeId] = field(default_factory=dict[int, TreeId])
    _written: dict[Path, Written] = field(default_factory=dict[Path, Written])
    _generated: dict[int, _Generated] = field(default_factory=dict[int, _Generated])

    def lane(self, at: Place, purpose: Purpose) -> Lane:
        """Returns the worktree in which a step works."""
        return Lane(self.store, at.lane, purpose)

    def check_out(self, number: int, *, tree: TreeId, base: CommitId) -> Lane:
        """Puts a tree into a lane's place for checks.

        Ignored files that could speak for the tree stay only where the setup command is known to make them.
        """
        lane = Lane(self.store, number, Purpose.CHECK)
        keeps = self.facts.verify.setup is not None
        self._fill(
            lane, lambda written: prepare(lane, tree=tree, base=base, keeps_ignored=keeps, written=written)
        )
        return lane

    def show_work(self, lane: Lane, *, tree: TreeId, base: CommitId) -> None:
        """Fills a lane for somebody who reads the work, and may read the record."""
        is_held = self._held.pop(lane.number, None) == tree
        # Hooks, the tests of the work and other agents had their turn since it was kept; a look costs half.
        is_filled = is_held and not _with_access(lane, lambda: _strays(lane))
        self._fill(
            lane,
            lambda written: prepare(
                lane, tree=tree, base=base, is_filled=is_filled and lane.index.exists(), written=written
            ),
        )
        self.show_record(lane)

    def show_record(self, lane: Lane) -> None:
        """Puts the record into a lane, for an agent to read."""
        _with_access(lane, lambda: self.recorder.show_in(lane))

    def stamp(self) -> Stamp:
        """Returns who commits, and when: now."""
        return Stamp(self.store.source.identity, self.now())

    def message(self, at: Place) -> str:
        """Returns the text of the unit's commit."""
        marks = trailers(run=self.facts.run, at=at)
        return unit_message(at.assigned, mode=self.facts.mode, goal=self.facts.goal, marks=marks)

    def ref(self, at: Place) -> str:
        """Returns the ref under which the work of a turn is kept, or that of the person who came after it."""
        ref = attempt_ref(self.facts.run, at.unit, at.attempt)
        return f"{ref}-fix" if at.by_person else ref

    def open_lane(self, lane: Lane, *, start: CommitId, unkept: Unkept, retry: Retry | None = None) -> None:
        """Fills a lane for somebody to work in; what was left there is kept before.

        An attempt that comes after another one finds that under its ref.
        """
        self.keep_leftover(lane)
        self._held.pop(lane.number, None)
        refs = {retry.ref: retry.commit} if retry is not None and retry.ref and retry.commit else {}
        self._fill(
            lane, lambda written: prepare(lane, tree=start, base=unkept.base, refs=refs, written=written)
        )
        mark(lane, unkept)

    def _fill(self, lane: Lane, fill: Callable[[Written], object]) -> None:
        """Fills a lane; where nothing helps against what is there, that is put aside, and the lane is new."""
        try:
            _with_access(lane, lambda: fill(self._written_in(lane)))
        except (OSError, GitError, RecursionError):
            if self.put_aside(lane) is None:
                raise
            fill(self._written_in(lane))

    def put_aside(self, lane: Lane) -> Path | None:
        """Puts the files of a lane aside, which is then made anew; returns where they are."""
        self._held.pop(lane.number, None)
        self._written.pop(lane.directory, None)
        return set_aside(lane)

    def keep_leftover(self, lane: Lane) -> None:
        """Keeps what a turn that was cut off, or a person, left in a lane."""
        left = unkept_in(lane)
        if left is not None:
            # As it was left, without hooks: they have no say about what is not to land.
            what = replace(left, ref=f"{left.ref}-interrupted")
            try:
                self._keep(lane, what, message=_LEFT)
            except NotKeptError:
                self.put_aside(lane)  # as it is: git has no room for it, and others need the lane

    def keep(self, at: Place, lane: Lane, ref: str) -> Snapshot:
        """Keeps the files of a lane as the commit that an attempt, or a person, made of a unit."""
        return self._keep(lane, Unkept(at.base, ref), message=self.message(at), unit=at.assigned)

    def keep_start(self, at: Place, start: CommitId) -> Work:
        """Keeps the files with which a turn began as what it left."""
        tree, message = self.tree(start), self.message(at)
        where = self.store.repository
        commit = commit_tree(where, tree, parents=(at.base,), message=message, stamp=self.stamp())
        keep(self.store, self.ref(at), commit)
        self._trees[commit] = tree
        return Work(commit, tree)

    def _keep(self, lane: Lane, what: Unkept, *, message: str, unit: Unit | None = None) -> Snapshot:
        """Keeps the files of a lane; hooks have a say about the work of a unit only."""
        for path, kind in find_pipes(lane.directory):  # before git looks at anything
            raise NotKeptError(lane, f"{path} is {kind}, which git cannot read")
        _with_access(lane, lambda: self.recorder.hide_from(lane))
        self._exclude_generated(lane, unit)
        kept = snapshot(
            lane,
            base=what.base,
            message=message,
            stamp=self.stamp(),
            ref=what.ref,
            with_hooks=unit is not None,
            wall=self.wall_of_hooks(lane) if unit is not None else None,
        )
        if isinstance(kept, NotTaken):
            raise NotKeptError(lane, kept.detail)
        unmark(lane)
        self._trees[kept.commit] = kept.tree
        if not kept.absorbed and not kept.unsaved:
            self._held[lane.number] = kept.tree
        return replace(kept, left_out=self._left_out(lane, unit)) if unit else kept

    def _left_out(self, lane: Lane, unit: Unit) -> tuple[str, ...]:
        """Returns the generated files that are no part of a unit's work, without those of units before it."""
        found = left_out(lane.repository, self.store.source)
        last = self._generated.get(lane.number, _Generated(unit.id))
        before = last.before if last.unit == unit.id else last.found
        self._generated[lane.number] = _Generated(unit.id, before, frozenset(found))
        return tuple(path for path in found if path not in before)

    def _exclude_generated(self, lane: Lane, unit: Unit | None) -> None:
        """Lets git leave out what tools generated in a lane, but for what units of the run declare."""
        units = (*self.facts.units, *([unit] if unit is not None else []))
        declared = {path for each in units for piece in each.pieces for path in piece.files}
        found = _with_access(lane, lambda: find_generated(lane.repository, declared=declared))
        exclude_generated(self.store, self.facts.base, declared=declared, found=found)

    def _written_in(self, lane: Lane) -> Written:
        return self._written.setdefault(lane.directory, Written())

    def lost(self, commit: CommitId) -> CommitId | None:
        """Returns a commit that is not in the store, which itself is there."""
        where = self.store.repository
        is_there = is_whole(self.store) and find_commit(where, self.facts.base) is not None
        return commit if is_there and find_commit(where, commit) is None else None

    def tree(self, commit: CommitId) -> TreeId:
        """Returns the tree of a commit; git need not be asked about those that were made here."""
        if commit not in self._trees:
            self._trees[commit] = tree_of(self.store.repository, commit)
        return self._trees[commit]

    def assignment(self, at: Place, chronicle: Chronicle) -> Assignment:
        """Returns what an agent is told about a unit."""
        chapters = chronicle.chapters
        needs = [(unit, chapters[unit].landing) for unit in at.assigned.depends_on if unit in chapters]
        return Assignment(
            unit=at.assigned,
            mode=self.facts.mode,
            goal=self.facts.goal,
            places=Places(self.facts.record_place.path, self.facts.mode),
            progress=at.progress,
            needs=tuple(Finished(unit, landing.commit) for unit, landing in needs if landing is not None),
            landed=chronicle.landed,
            red_tasks=at.red_tasks,
            others=tuple(_other_pieces(at.assigned, chronicle)),
            granted=at.granted,
        )

    def retry(self, at: Place, chronicle: Chronicle, feedback: str) -> Retry | None:
        """Returns what an attempt is told about the one before it; None if there is nothing to say."""
        if not feedback:
            return None
        chapter = chronicle.chapters[at.unit]
        earlier = [tried for tried in chapter.tried if tried.turn < at.attempt]
        last = earlier[-1] if earlier else None
        return Retry(
            attempt=at.attempt,
            errors=feedback,
            cause=chapter.cause,
            ref=attempt_ref(self.facts.run, at.unit, last.turn) if last is not None else None,
            commit=last.commit if last is not None else None,
        )


class NotKeptError(GitError):
    """The files of a lane are such that git cannot keep them; `detail` says why."""

    def __init__(self, lane: Lane, detail: str) -> None:
        super().__init__(
            f"{lane.directory}: what was left there cannot be kept: {detail}",
            hint="mend the files there, and say it again; nothing there was changed",
        )
        self.detail = detail


def _with_access(lane: Lane, act: Callable[[], T]) -> T:
    """Does something in a lane, if need be once more after everything there is open to us again."""
    try:
        return act()
    except (PermissionError, GitError):  # git does not tell them apart
        open_up(lane.directory, within=lane.store.directory)
        return act()


def _other_pieces(unit: Unit, chronicle: Chronicle) -> Iterator[OtherPiece]:
    """Yields the other pieces of what a unit is a piece of, in the order of the run."""
    for other in chronicle.facts.units if unit.piece_of is not None else ():
        if other.piece_of == unit.piece_of and other.id != unit.id:
            yield OtherPiece(other, chronicle.chapters[other.id].landing is not None)


def _strays(lane: Lane) -> list[str]:
    """Returns what of a lane is not as its index has it."""
    return remove_pipes(lane.directory) or untracked(
        lane.repository, "--modified", "--deleted", "--directory"
    )
