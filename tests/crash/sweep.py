"""Kills a run at given points, resumes it, and says what is wrong afterwards."""

import itertools
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from crash.story import Hanging, Place, Story, make_place, wait
from crash.witness import Fault, Kind, Witness, faults, testify

MOMENTS = ("before", "during", "after")
ALL_TAGS = ("journal", "git", "process", "file")
INSTANT = frozenset({"process", "moved"})


@dataclass(frozen=True, slots=True)
class Point:
    """The n-th point that carries a tag, and a moment of it; `launch` says what these are."""

    tag: str
    count: int
    moment: str

    def __str__(self) -> str:
        return f"{self.moment} {self.tag} {self.count}"


@dataclass(frozen=True, slots=True)
class Case:
    """Where a run is killed, and where its resumption is; at the end one process resumes it, or more do."""

    points: tuple[Point, ...]
    rivals: int = 1
    hanging: Hanging | None = None

    def __str__(self) -> str:
        rivals = f", {self.rivals} resume" if self.rivals > 1 else ""
        hanging = f", with a hanging {self.hanging.name}" if self.hanging else ""
        return ", then ".join(map(str, self.points)) + rivals + hanging


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a case: what it died at, what is wrong, how long it took, and where it can be looked at."""

    case: Case
    died_at: tuple[str, ...]
    faults: tuple[Fault, ...]
    seconds: float
    place: Path

    @property
    def is_reached(self) -> bool:
        """Whether the run was killed as often as the case says."""
        return len(self.died_at) == len(self.case.points)

    def __str__(self) -> str:
        reached = "" if self.is_reached else " (not reached)"
        wrong = "; ".join(f"{fault.kind}: {fault.detail}" for fault in self.faults)
        return f"{self.case}{reached}: {wrong or 'fine'} [{self.place}]"


@dataclass(frozen=True, slots=True)
class Reference:
    """A run that nothing interrupted: where it was, what it left, and the points it can be killed at."""

    place: Place
    witness: Witness
    points: Sequence[Sequence[str]]

    def counts(self) -> Counter[str]:
        """Returns how many points carry each tag."""
        return Counter(itertools.chain.from_iterable(set(tags) for tags in self.points))


def record_reference(directory: Path, story: Story) -> Reference:
    """Plays a story once, in peace."""
    place = make_place(directory, story)
    checkout = place.checkout
    code = place.start()
    assert code == 0, place.said
    ends = (n for n, tags in enumerate(place.points, start=1) if story.last in tags)
    reference = Reference(place, testify(place), place.points[: next(ends, None)])
    wrong = list(faults(place, reference.witness, checkout=checkout))
    assert not wrong, wrong
    return reference


def play(case: Case, directory: Path, reference: Reference) -> Verdict:
    """Plays a case in a directory of its own, which stays if something is wrong."""
    began = time.monotonic()
    place = make_place(directory, reference.place.story, hanging=case.hanging)
    checkout = place.checkout
    died_at: list[str] = []
    for point in case.points:
        if place.start(at=(point.tag, str(point.count), point.moment)) != -signal.SIGKILL:
            break
        died_at.append(_what_was(place, point))
    place.once.touch()  # who did not come to hang before the kill, on a slow machine, does not after it
    wrong = list(_resume(place, case.rivals))
    wrong += faults(place, reference.witness, checkout=checkout)
    if not wrong:
        place.remove()
    return Verdict(case, tuple(died_at), tuple(wrong), time.monotonic() - began, directory)


def play_all(
    cases: Sequence[Case], directory: Path, reference: Reference, *, jobs: int = 2
) -> Iterator[Verdict]:
    """Plays cases, some at a time, and yields the verdicts in order."""

    def play_numbered(number: int) -> Verdict:
        return play(cases[number], directory / f"case-{number}", reference)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(play_numbered, range(len(cases)))


def every_point(reference: Reference) -> list[Case]:
    """Returns every point that the reference went through, at every moment."""
    return [
        Case((Point(tag, count, moment),))
        for tag in ALL_TAGS
        for count, tags in enumerate((one for one in reference.points if tag in one), start=1)
        for moment in MOMENTS
        if moment != "during" or INSTANT.isdisjoint(tags)
    ]


def every_kind(reference: Reference, *, kills: int = 3, is_once: bool = False) -> list[Case]:
    """Returns each git verb and each type of event, before and after, with some kills to a run.

    If each `is_once` only, before and after take turns. Events that are written together are lost together, so a type that another point brings with it needs no
    point of its own.
    """
    counts = reference.counts()
    covered: set[str] = set(ALL_TAGS)
    wanted: list[tuple[int, str, str]] = []
    moments = itertools.cycle([("before",), ("after",)] if is_once else [("before", "after")])
    for tag in sorted(counts, key=lambda one: (counts[one], one)):
        if tag in covered:
            continue
        places = [place for place, tags in enumerate(reference.points) if tag in tags]
        middle = places[(len(places) - 1) // 2]
        covered.update(reference.points[middle])
        wanted += [(middle, tag, moment) for moment in next(moments)]
    wanted.sort()
    size = -(-len(wanted) // kills)
    return [Case(tuple(_chain(reference, wanted[first::size]))) for first in range(size)]


def every_hanging(reference: Reference) -> list[Case]:
    """Returns points beside which an agent or a check is under way that does not end by itself."""
    return [
        Case((Point(tag, count, moment),), hanging=hanging)
        for hanging in reference.place.story.hanging
        for tag, count in hanging.points
        for moment in MOMENTS
    ]


def any_points(reference: Reference, number: int, *, kills: int = 1, rivals: int = 1) -> list[Case]:
    """Returns cases at points that are picked by chance, the same every time."""
    chance = Random(number * 100 + kills * 10 + rivals)  # noqa: S311 - nothing secret
    return [Case(tuple(_points(chance, reference, kills=kills)), rivals=rivals) for _ in range(number)]


def _chain(reference: Reference, wanted: Sequence[tuple[int, str, str]]) -> Iterator[Point]:
    """Yields points one after the other, each counted from where the run was killed before."""
    start = 0
    for place, tag, moment in wanted:
        between = reference.points[start : place + 1]
        yield Point(tag, sum(tag in tags for tags in between), moment)
        start = place + (moment == "after")


def _points(chance: Random, reference: Reference, *, kills: int) -> Iterator[Point]:
    """Yields points that lie behind each other, the first of them in a run that has begun."""
    birth = next(n for n, tags in enumerate(reference.points) if "journal" in tags)
    asked = [n for n, tags in enumerate(reference.points) if "git" in tags]
    # The last few questions come after the end of a run.
    first, end = sum(n < birth for n in asked) + 1, len(asked) - 5
    for kill in range(kills):
        count = chance.randint(first, end - (end - first) // 3 * (kills - kill - 1))
        yield Point("git", count, chance.choice(MOMENTS))
        first, end = 1, max(end - count, 2)


def _resume(place: Place, rivals: int) -> Iterator[Fault]:
    """Goes on with a run at once, in one process or in several at the same time."""
    command = place.command()
    processes = [place.launch(*command) for _ in range(rivals)]
    for code in map(wait, processes):
        if code != 0:
            how = "hangs" if code is None else f"ends with {code}"
            yield Fault(Kind.RESUME, f"{' '.join(command)} {how}: {place.said[-400:]}")


def _what_was(place: Place, point: Point) -> str:
    reached = [tags for tags in place.points if point.tag in tags]
    return " ".join(reached[point.count - 1])
