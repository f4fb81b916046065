"""What a run left behind, and how that differs from what it leaves when nothing interrupts it.

Commits, the final tree, the history of every unit and of the draft, the versions of the plan, kept attempts
and worktrees have to be the same; the two units that run side by side may land in either order. Steps that
were under way may start again, steps that had finished may not. The record is there once, and says the same
but for ids, and for turns that were paid again.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.errors import AmeliaError
from amelia.model.outcome import Outcome, Result
from amelia.record.codec import plain, type_name
from amelia.record.journal import is_driven, read_journal
from amelia.schedule.machine import fold
from crash.story import Place

# Beside the ref of an attempt lies what a turn of it that was cut off had written.
CUT_OFF = re.compile(r"refs/amelia/RUN/[^/]+/\d+-\w+")
# What no two records have in common: ids and digests, also those that git shortens, and turns that were paid.
IDS = re.compile(r"\b[0-9a-f]{7,64}\b")
PAID = re.compile(r"nobody reported: \d+")
SIDE_BY_SIDE = ("phase-2", "phase-3")
ROLES = {
    "architect": "draft",
    "developer": ev.Step.DRIVE,
    "reviewer": ev.Step.REVIEW,
    "evaluator": ev.Step.EVALUATE,
}
FINISHES: Mapping[type, ev.Step] = {
    ev.AttemptEnded: ev.Step.DRIVE,
    ev.AttemptVerified: ev.Step.VERIFY,
    ev.AttemptReviewed: ev.Step.REVIEW,
    ev.FindingsEvaluated: ev.Step.EVALUATE,
    ev.UnitLanded: ev.Step.LAND,
    ev.LandingRefused: ev.Step.LAND,
}
# What an event says beside its type, if that does not depend on chance or time.
TELLING = ("attempt", "task", "passed", "approved", "ending", "cause", "lane", "reason", "version", "hash")
# What the run keeps of what it was told to do.
TEXTS = ("plan.md", "issue.md", "plans/*")

_Step: TypeAlias = tuple[str, int, str]


class Kind(StrEnum):
    """What can be wrong after a kill."""

    RESUME = "not resumed"
    REPEATED = "repeated finished step"
    COMMITS = "lost, doubled or changed commit"
    HISTORY = "other history"
    ORPHAN = "orphaned process"
    LEFT = "left over"
    CHECKOUT = "user's checkout touched"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it is without the kill."""

    kind: Kind
    detail: str


@dataclass(frozen=True, slots=True)
class Witness:
    """Everything about a finished run that a kill may not change."""

    outcome: Outcome | None
    files: str
    commits: tuple[tuple[str, ...], ...]
    histories: Mapping[str, Sequence[str]]
    refs: Mapping[str, str]
    worktrees: frozenset[str]
    texts: Mapping[str, str]
    runs: int


def testify(place: Place) -> Witness:
    """Returns what a run left behind."""
    directory = place.run
    assert directory is not None, place.said
    happened = [recorded.event for recorded in read_journal(directory.journal)]
    branch = f"refs/heads/amelia/{directory.run}"
    return Witness(
        outcome=fold(happened).outcome,
        files=_files(place, branch),
        commits=tuple(_commits(place, f"HEAD..{branch}")),
        histories=_histories(happened),
        refs=_refs(place, directory.run),
        worktrees=frozenset(
            path.relative_to(directory.path).as_posix()
            for pattern in ("*", "lanes/*/*", "store.git/lanes/*")
            for path in directory.path.glob(pattern)
        ),
        texts={
            path.relative_to(directory.path).as_posix(): _digest(path.read_text())
            for pattern in TEXTS
            for path in directory.path.glob(pattern)
        },
        runs=len(list((place.home / "runs").iterdir())),
    )


def faults(place: Place, reference: Witness, *, checkout: Mapping[str, str]) -> Iterator[Fault]:
    """Yields what is wrong with a run that was killed and resumed."""
    yield from (Fault(Kind.ORPHAN, one) for one in living(place))
    if place.checkout != checkout:
        yield Fault(Kind.CHECKOUT, str(set(place.checkout.items()) ^ set(checkout.items())))
    if place.run is None:
        yield Fault(Kind.RESUME, "the run never began")
        return
    try:
        yield from _differences(testify(place), reference)
        yield from _in_the_journal(place)
    except AmeliaError as problem:
        yield Fault(Kind.HISTORY, str(problem))
    yield from _locks(place)


def living(place: Place) -> Iterator[str]:
    """Yields the processes that have to do with a place."""
    mark = os.fsencode(place.path)
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with suppress(OSError):
            line = (process / "cmdline").read_bytes()
            told = line + (process / "environ").read_bytes() + os.fsencode((process / "cwd").readlink())
            if mark in told:
                yield f"{process.name} {os.fsdecode(line.replace(bytes(1), b' '))}"


def _differences(found: Witness, wanted: Witness) -> Iterator[Fault]:
    if found.outcome != Outcome(Result.COMPLETED):
        yield Fault(Kind.RESUME, f"the run is {found.outcome}")
    if found.files != wanted.files or sorted(found.commits) != sorted(wanted.commits):
        yield Fault(Kind.COMMITS, f"{found.files} {found.commits}")
    elif _order(found) != _order(wanted):
        yield Fault(Kind.COMMITS, f"in another order: {found.commits}")
    for unit, history in wanted.histories.items():
        if found.histories.get(unit) != history:
            yield Fault(Kind.HISTORY, f"{unit}: {found.histories.get(unit)} instead of {history}")
    if found.texts != wanted.texts:
        yield Fault(Kind.HISTORY, f"other texts: {sorted(found.texts.items() ^ wanted.texts.items())}")
    for ref, tree in wanted.refs.items():
        if found.refs.get(ref) != tree:
            yield Fault(Kind.COMMITS, f"{ref}: {found.refs.get(ref)} instead of {tree}")
    yield from (Fault(Kind.LEFT, left) for left in _left(found, wanted))


def _left(found: Witness, wanted: Witness) -> Iterator[str]:
    for ref in found.refs.keys() - wanted.refs.keys():
        if not CUT_OFF.fullmatch(ref):
            yield ref
    if found.runs != wanted.runs:
        yield f"{found.runs} directories of runs"
    if found.worktrees != wanted.worktrees:
        yield f"{sorted(found.worktrees ^ wanted.worktrees)}"


def _order(witness: Witness) -> list[str]:
    return ["side by side" if unit in SIDE_BY_SIDE else unit for unit, *_ in witness.commits]


def _in_the_journal(place: Place) -> Iterator[Fault]:
    """Yields steps that were carried out again although they had finished, and steps that broke."""
    assert place.run is not None
    if is_driven(place.run.journal):
        yield Fault(Kind.LEFT, "the lock on the journal")
    finished: set[_Step] = set()
    begun: Counter[_Step] = Counter()
    for recorded in read_journal(place.run.journal):
        if isinstance(recorded.event, ev.StepBroke):
            yield Fault(Kind.HISTORY, str(recorded.event))
        if (key := _begins(recorded.event)) is not None:
            begun[key] += 1
            if key in finished:
                yield Fault(Kind.REPEATED, f"{key} at {recorded.seq}")
        if (key := _finishes(recorded.event)) is not None:
            if key in finished:
                yield Fault(Kind.REPEATED, f"{key} is finished twice")
            finished.add(key)
    for turn, count in Counter(place.turns).items():
        role, unit, attempt = turn.split()
        if count > begun[unit, int(attempt), ROLES[role]]:
            yield Fault(Kind.REPEATED, f"{count} turns of {turn}, not all of them in the journal")


def _begins(event: ev.Event) -> _Step | None:
    match event:
        case ev.StepStarted(unit, attempt, step):
            return (unit, attempt, step)
        case dr.DraftStarted(version):
            return (dr.DRAFT, version, ROLES["architect"])
        case _:
            return None


def _finishes(event: ev.Event) -> _Step | None:
    if isinstance(event, dr.PlanDrafted):
        return (dr.DRAFT, event.version, ROLES["architect"])
    if type(event) in FINISHES:
        fact = plain(event)
        return (fact["unit"], fact["attempt"], FINISHES[type(event)])
    return None


def _locks(place: Place) -> Iterator[Fault]:
    assert place.run is not None
    for where in (place.run.store, place.repo.path / ".git"):
        yield from (Fault(Kind.LEFT, str(lock)) for lock in where.rglob("*.lock"))


def _commits(place: Place, revisions: str) -> Iterator[tuple[str, ...]]:
    """Yields the unit, the attempt and the digest of the patch of every commit, the first one first."""
    keys = (f"%(trailers:key=Amelia-{key},valueonly,separator=)" for key in ("Unit", "Attempt"))
    listed = place.repo.git("log", "--reverse", f"--format=%H {' '.join(keys)}", revisions, check=False)
    for line in listed.splitlines():
        commit, *marks = line.split()
        patch = place.repo.git("diff-tree", "-p", commit).partition("\n")[2]
        yield (*(marks or ("record",)), _digest(patch if marks else _masked(place, patch)))


def _masked(place: Place, patch: str) -> str:
    """Returns the patch of a record without what is different in every run."""
    assert place.run is not None
    named = patch.replace(place.run.run, "RUN")
    return PAID.sub("PAID", IDS.sub("ID", named))


def _files(place: Place, revision: str) -> str:
    """Returns a digest of the files of a revision, except for the record."""
    listed = place.repo.git("ls-tree", "-r", revision, check=False).splitlines()
    return _digest("\n".join(line for line in listed if "\tdocs/amelia/" not in line))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# A turn that was cut off is made again, in a session of its own, and pays again.
_OF_A_TURN = (dr.DraftStarted, ev.StepStarted, ev.SessionOpened, ev.UsageReported)


def _histories(happened: Sequence[ev.Event]) -> dict[str, list[str]]:
    """Returns what happened to every unit and to the draft, in words that are the same in every run."""
    histories: dict[str, list[str]] = {}
    for event in happened:
        fact = plain(event)
        unit = dr.DRAFT if isinstance(event, dr.DraftEvent | ev.RunStarted) else fact.get("unit")
        if unit is not None and not isinstance(event, _OF_A_TURN):
            told = [f"{key}={fact[key]}" for key in TELLING if key in fact]
            histories.setdefault(unit, []).append(" ".join([type_name(type(event)), *told]))
    return histories


def _refs(place: Place, run: str) -> dict[str, str]:
    """Returns the files of all refs that are ours, as the user sees them; the run is called RUN."""
    ours = ("refs/amelia/", "refs/heads/amelia/")
    found = place.repo.git("for-each-ref", "--format=%(refname)", *ours).splitlines()
    return {ref.replace(run, "RUN"): _files(place, ref) for ref in found}
