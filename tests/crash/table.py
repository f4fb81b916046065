"""The whole sweep as one command: every point, every moment; writes what came of it as tables.

python -m crash.table [--jobs N] [--only run|draft]
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from crash.house import HOUSE
from crash.shed import SHED
from crash.story import Story
from crash.sweep import (
    MOMENTS,
    Verdict,
    any_points,
    every_hanging,
    every_point,
    play_all,
    record_reference,
)
from crash.witness import Kind

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "crash-sweep.md"
COLUMNS = (
    ("not resumed", (Kind.RESUME,)),
    ("repeated finished steps", (Kind.REPEATED,)),
    ("lost, doubled or changed commits", (Kind.COMMITS, Kind.HISTORY)),
    ("orphans", (Kind.ORPHAN,)),
    ("left over, checkout touched", (Kind.LEFT, Kind.CHECKOUT)),
)
HEAD = """\
# Killed at every point

Made by `scripts/crash-sweep`. Two stories are killed with SIGKILL before, during and after each point they go through: every append to the journal, every git command, every start of an agent or a check, every file of its record or its draft that is written or shown to an agent. Each time in a new place, resumed at once with `amelia resume` (with `amelia run`, if the run had not begun), and compared with the run that nobody killed. *During* a git command: git goes on alone. *During* an append: written, not committed.

The same: final tree, one commit for each unit with the same patch, one commit with the record (but for ids and what turns that were paid again cost), the history of every unit and of the draft in the journal (attempts, verdicts, retries, versions of the plan), the texts of the plan, the kept attempts, worktrees; units that run side by side may land in either order. Never: a step again that had finished, an agent's turn that the journal does not know, a process or a lock left behind, a byte of the user's checkout changed.
"""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A story of the page, what is said of it, and how often it is killed by chance."""

    title: str
    story: Story
    about: str
    double_kills: int
    double_resumes: int


CHAPTERS = {
    "run": Chapter(
        "A run",
        HOUSE,
        "Five units: two side by side, one sent back by the reviewer, one red, one merged onto a tip that had moved. {points} points.",
        double_kills=30,
        double_resumes=15,
    ),
    "draft": Chapter(
        "A draft",
        SHED,
        "An issue becomes a plan (`amelia run GOAL --issue FILE --yes`), whose first version cannot run, and its run begins. {points} points, up to the start of the first unit; after them the run goes on to its end.",
        double_kills=10,
        double_resumes=5,
    ),
}


def main() -> int:
    """Runs the sweep and returns 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Kills runs at every point of their life.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many runs at a time")
    parser.add_argument("--only", choices=CHAPTERS, help="one story, and its part of the page")
    given = parser.parse_args()
    jobs: int = given.jobs
    only: str | None = given.only
    directory = Path(tempfile.mkdtemp(prefix="crash-sweep-"))
    is_bad = False
    for name in CHAPTERS if only is None else (only,):
        chapter = CHAPTERS[name]
        text, bad = _sweep(chapter, directory / name, jobs=jobs)
        page = _with_section(PAGE.read_text(encoding="utf-8"), chapter.title, text)
        PAGE.write_text(page, encoding="utf-8")
        is_bad = is_bad or bad
    if not is_bad:
        shutil.rmtree(directory)
    return 1 if is_bad else 0


def _sweep(chapter: Chapter, directory: Path, *, jobs: int) -> tuple[str, bool]:
    """Kills a story wherever it can be; returns what the page says of that, and whether anything is wrong."""
    began = time.monotonic()
    reference = record_reference(directory / "reference", chapter.story)
    cases = [
        *every_point(reference),
        *every_hanging(reference),
        *any_points(reference, chapter.double_kills, kills=2),
        *any_points(reference, chapter.double_resumes, rivals=2),
    ]
    verdicts: list[Verdict] = []
    for verdict in play_all(cases, directory, reference, jobs=jobs):
        verdicts.append(verdict)
        _tell(verdict, f"{len(verdicts)}/{len(cases)}")
    took = f"{(time.monotonic() - began) / 60:.0f} minutes, {jobs} runs at a time on {os.cpu_count()} cores"
    about = chapter.about.format(points=len(reference.points))
    return f"{about}\n\n{_table(verdicts, took=took)}", any(verdict.faults for verdict in verdicts)


def _with_section(page: str, title: str, text: str) -> str:
    """Returns the page with what is said of one story as it is now."""
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    sections[title] = f"\n{text}"
    titles = [chapter.title for chapter in CHAPTERS.values() if chapter.title in sections]
    return HEAD + "".join(f"\n## {each}\n{sections[each].rstrip()}\n" for each in titles)


def _tell(verdict: Verdict, progress: str) -> None:
    is_news = bool(verdict.faults) or not verdict.is_reached
    sys.stdout.write(f"{progress} {verdict}\n" if is_news else f"{progress}\r")
    sys.stdout.flush()


def _table(verdicts: Sequence[Verdict], *, took: str) -> str:
    names = [name for name, _ in COLUMNS]
    lines = [
        f"| killed around | kills | {' | '.join(names)} | seconds (median) |",
        f"|---|{'---|' * (len(names) + 2)}",
        *(_row(name, group) for name, group in _groups(verdicts)),
        _row("**all**", verdicts),
    ]
    missed = [str(verdict.case) for verdict in verdicts if not verdict.is_reached]
    notes = [f"Moments: {', '.join(MOMENTS)}. This took {took}."]
    if missed:
        notes.append(
            f"Not reached, since the order of parallel work varies, and compared all the same: {'; '.join(missed)}."
        )
    return "\n".join(lines) + "\n\n" + "\n\n".join(notes) + "\n"


def _groups(verdicts: Sequence[Verdict]) -> Iterable[tuple[str, list[Verdict]]]:
    """Yields the verdicts by what the run died at."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(_group(verdict), []).append(verdict)
    return sorted(groups.items(), key=lambda group: (not group[0].startswith("journal"), group[0]))


def _group(verdict: Verdict) -> str:
    if verdict.case.rivals > 1:
        return "two processes resume at once"
    if verdict.case.hanging is not None:
        return f"while a hanging {verdict.case.hanging.name} is under way"
    if len(verdict.case.points) > 1:
        return "the resumption is killed too"
    if not verdict.died_at:
        return "not reached"
    kind, *tags = verdict.died_at[0].split()
    return f"{kind}: {', '.join(dict.fromkeys(tags))}"


def _row(name: str, verdicts: Sequence[Verdict]) -> str:
    kills = sum(len(verdict.died_at) for verdict in verdicts)
    counts = (
        sum(any(fault.kind in kinds for fault in verdict.faults) for verdict in verdicts)
        for _, kinds in COLUMNS
    )
    middle = median(verdict.seconds for verdict in verdicts)
    return f"| {name} | {kills} | {' | '.join(map(str, counts))} | {middle:.1f} |"


if __name__ == "__main__":
    sys.exit(main())
