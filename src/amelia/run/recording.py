"""The execution directory of a run: written from the journal, shown to agents, never read back.

- The master copy is the run's own. What agents do to the copy in their lane changes nothing but that copy,
  and is undone before the next of them looks.
- What was written is not written again: a unit costs as much as it has news, whatever came before it. What
  is missing is made again, from the journal.
- The state is written when a unit begins, stops or lands, and when the run does: not for every step of it.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

from amelia.context import chronicle as ch
from amelia.context.execution_state import execution_state
from amelia.context.places import unit_directory
from amelia.context.report import Evidence, report_of, report_page
from amelia.context.summary import Change, generate_phase_summary, review_feedback
from amelia.judge.receipts import changed_by_unit, red_as_wanted, told
from amelia.judge.trusted import is_test_code
from amelia.model.events import Event, RunStarted
from amelia.model.evidence import Receipt
from amelia.model.git import CommitId
from amelia.model.journal import Recorded
from amelia.model.outcome import Outcome, Result
from amelia.model.plan import UnitId
from amelia.model.standing import RunStanding, UnitStatus
from amelia.model.state import RunState
from amelia.record.execution import put, read_execution_state, write_execution_state
from amelia.record.journal import read_journal
from amelia.record.runs import RunDirectory
from amelia.schedule.machine import begin, evolve, fold
from amelia.schedule.standing import run_standing
from amelia.system.git_commands import changed_by, changed_paths
from amelia.system.git_places import Lane, Store
from amelia.workspace.guest import Shown, exclude, put_in, take_out

PLAN, STATE, REPORT = "plan.md", "execution-state.json", "report.md"
_HOW = {"A": "added", "D": "deleted", "M": "modified", "T": "changed its type"}


class Recorder:
    """Keeps the execution directory of one run. Lanes ask for it at the same time."""

    def __init__(
        self,
        directory: RunDirectory,
        store: Store,
        facts: RunStarted,
        *,
        seen: Callable[[str], Receipt | None],
        past: Sequence[Recorded] = (),
        is_run: bool = True,
    ) -> None:
        """Knows the past as far as the journal was read before; the rest it reads itself.

        The journal of a review on its own is no whole run: it has a plan to show, but no state.
        """
        self._directory = directory
        self._store = store
        self._path = facts.record_place.path
        self._seen = seen
        self._guard = threading.Lock()
        self._chronicle = ch.opened(facts)
        self._run = begin(facts)
        self._is_run = is_run
        self._past = past
        self._read = 0
        self._finished: tuple[ch.Chronicle, RunState] | None = None
        self._versions: dict[str, int] = {}
        self._shown: dict[int, Shown] = {}

    def catch_up(self) -> ch.Chronicle:
        """Writes down what happened since the last time, and returns all that did."""
        with self._guard:
            is_first = self._read == 0
            news = [
                *self._past,
                *read_journal(self._directory.journal, after=self._read or len(self._past)),
            ]
            self._past = ()
            if news:
                self._read = news[-1].seq
                before = self._run
                events = [recorded.event for recorded in news]
                self._chronicle = ch.told(self._chronicle, events)
                if self._is_run:
                    self._run = fold(events) if is_first else reduce(evolve, events, before)
                self._write_all(None if is_first else _units_of(events), before)
            return self._chronicle

    def conclude(self) -> list[str]:
        """Writes the record as it is when everything went well, and returns the names of its files."""
        self.catch_up()
        self._finish(replace(self._run, outcome=Outcome(Result.COMPLETED)))
        return list(self._versions)

    def close(self) -> None:
        """Writes the state and the report of a run that is over, or stops."""
        self.catch_up()
        self._finish(self._run)

    def show_in(self, lane: Lane) -> None:
        """Puts a copy of the directory into a lane, for an agent to read."""
        with self._guard:
            shown = self._shown.setdefault(lane.number, Shown())
            put_in(lane, self._path, master=self.master, versions=self._versions, shown=shown)

    def hide_from(self, lane: Lane) -> None:
        """Takes the copy out of a lane, before its files are kept."""
        take_out(lane, self._path)

    @property
    def master(self) -> Path:
        """The master copy."""
        return self._directory.record

    def _write_all(self, news: set[UnitId] | None, before: RunState) -> None:
        """Writes what there is to say about units that have news; the first time about all of them."""
        now = self._chronicle
        if news is None:
            exclude(self._store.git_dir, self._path)
            self._write(PLAN, self._directory.plan.read_bytes)
        units = now.chapters.keys() if news is None else news & now.chapters.keys()
        for unit in units:
            self._write_unit(now.chapters[unit])
        standing = run_standing(self._run)
        if self._is_run and (news is None or _words(run_standing(before)) != _words(standing)):
            self._write_state(standing)

    def _finish(self, run: RunState) -> None:
        """Writes the state and the report, unless they say this already."""
        with self._guard:
            chronicle, standing = self._chronicle, run_standing(run)
            if (chronicle, run) == self._finished:
                return
            self._write_state(standing)
            evidence = evidence_of(chronicle, self._store, self._seen)
            put(self.master / REPORT, report_page(report_of(chronicle, standing, evidence)))
            self._versions[REPORT] = self._read
            self._finished = chronicle, run

    def _write_state(self, standing: RunStanding) -> None:
        state = execution_state(self._chronicle, standing)
        if STATE in self._versions or read_execution_state(self.master / STATE) != state:
            write_execution_state(self.master / STATE, state)
        self._versions[STATE] = self._read

    def _write_unit(self, chapter: ch.Chapter) -> None:
        mode = self._chronicle.facts.mode
        where = unit_directory(chapter.unit.id, mode)
        if chapter.landing is not None:
            self._write(f"{where}/summary.md", lambda: self._summary(chapter))
        if chapter.objections:
            name, count = f"{where}/review-feedback.md", len(chapter.objections)
            if self._versions.get(name) != count:
                put(self.master / name, review_feedback(chapter, mode=mode))
                self._versions[name] = count

    def _write(self, name: str, make: Callable[[], str | bytes]) -> None:
        """Writes a file that does not change any more, unless it is there."""
        if name not in self._versions:
            if not (self.master / name).is_file():
                put(self.master / name, make())
            self._versions[name] = 1

    def _summary(self, chapter: ch.Chapter) -> str:
        assert chapter.landing is not None
        return generate_phase_summary(
            chapter,
            mode=self._chronicle.facts.mode,
            changes=changes_of(self._store, chapter.landing.base, chapter.landing.commit),
            receipts=receipts_of(chapter.proof, self._seen),
            notes=notes_of(chapter.proof),
        )


def changes_of(store: Store, base: CommitId, commit: CommitId) -> list[Change]:
    """Returns the files that differ between two commits of a run."""
    changed = changed_paths(store.repository, base, commit)
    return [Change(path, _HOW.get(letter, letter), is_test_code(path)) for letter, path in changed]


def evidence_of(
    chronicle: ch.Chronicle, store: Store, seen: Callable[[str], Receipt | None]
) -> dict[UnitId, Evidence]:
    """Returns what is known of the units that landed, besides the journal.

    Their files are those in the user's repository, which outlives the store: none are known if somebody
    deleted the branch, and git cleared it away.
    """
    landed = {
        unit: (chapter.landing.commit, chapter.proof)
        for unit, chapter in chronicle.chapters.items()
        if chapter.landing is not None
    }
    files = changed_by(store.source.repository, (commit for commit, _ in landed.values()))
    return {
        unit: Evidence(files.get(commit), tuple(receipts_of(proof, seen)), notes_of(proof))
        for unit, (commit, proof) in landed.items()
    }


def receipts_of(proof: ch.Proof | None, seen: Callable[[str], Receipt | None]) -> Sequence[str]:
    """Returns, in a line each, what proves a tree."""
    if proof is None:
        return ["nothing"]
    if proof.tree is None:
        return ["nothing was executed: there is no test command"]
    receipt = seen(proof.tree)
    what = told(receipt, red=proof.red) if receipt is not None else _without_receipt(proof)
    digest = f", receipt {proof.digest}" if proof.digest is not None else ""
    return [f"{what} (tree {proof.tree}{digest})"]


def notes_of(proof: ch.Proof | None) -> tuple[str, ...]:
    """Returns, in a line each, notes about work that was proved: of tests that it changed, and of checks."""
    if proof is None:
        return ()
    changed = (changed_by_unit(proof.changed),) if proof.changed else ()
    return (*changed, *proof.notes)


def _without_receipt(proof: ch.Proof) -> str:
    return red_as_wanted(proof.red) if proof.red else "the tests passed"


def _words(standing: RunStanding) -> tuple[str, list[tuple[UnitId, UnitStatus]]]:
    """Returns the status of a run and of its units: if it is another one, the state is written anew."""
    return standing.status, [(unit, each.status) for unit, each in standing.units.items()]


def _units_of(events: Iterable[Event]) -> set[UnitId]:
    return {unit for event in events if (unit := getattr(event, "unit", None)) is not None}
