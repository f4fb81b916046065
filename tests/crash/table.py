"""The whole sweep as one command: every point, every moment; writes what came of it as a table.

python -m crash.table [--jobs N]
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from crash.sweep import (
    MOMENTS,
    Reference,
    Verdict,
    any_points,
    every_hanging,
    every_point,
    play_all,
    record_reference,
)
from crash.witness import Kind

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "crash-sweep.md"
DOUBLE_KILLS = 30
DOUBLE_RESUMES = 15
COLUMNS = (
    ("not resumed", (Kind.RESUME,)),
    ("repeated finished steps", (Kind.REPEATED,)),
    ("lost, doubled or changed commits", (Kind.COMMITS, Kind.HISTORY)),
    ("orphans", (Kind.ORPHAN,)),
    ("left over, checkout touched", (Kind.LEFT, Kind.CHECKOUT)),
)
HEAD = """\
# Killed at every point

Made by `scripts/crash-sweep`. A run of five units (two side by side, one sent back by the reviewer, one red, one merged onto a tip that had moved) goes through {points} points: every append to the journal, every git command, every start of an agent or a check, every file of its record that is written or shown to an agent. It is killed with SIGKILL before, during and after each of them, in a new place every time, resumed at once with `amelia resume` (with `amelia run`, if it had not begun), and compared with the run that nobody killed. *During* a git command: git goes on alone. *During* an append: written, not committed.

The same: final tree, one commit for each unit with the same patch, one commit with the record (but for ids and what turns that were paid again cost), the history of every unit in the journal (attempts, verdicts, retries), the kept attempts, worktrees; the two units that run side by side may land in either order. Never: a step again that had finished, an agent's turn that the journal does not know, a process or a lock left behind, a byte of the user's checkout changed.

"""


def main() -> int:
    """Runs the sweep and returns 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Kills a run at every point of its life.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many runs at a time")
    jobs: int = parser.parse_args().jobs
    began = time.monotonic()
    directory = Path(tempfile.mkdtemp(prefix="crash-sweep-"))
    reference = record_reference(directory / "reference")
    cases = [
        *every_point(reference),
        *every_hanging(),
        *any_points(reference, DOUBLE_KILLS, kills=2),
        *any_points(reference, DOUBLE_RESUMES, rivals=2),
    ]
    verdicts: list[Verdict] = []
    for verdict in play_all(cases, directory, reference, jobs=jobs):
        verdicts.append(verdict)
        _tell(verdict, f"{len(verdicts)}/{len(cases)}")
    took = f"{(time.monotonic() - began) / 60:.0f} minutes, {jobs} runs at a time on {os.cpu_count()} cores"
    PAGE.write_text(_page(reference, verdicts, took=took), encoding="utf-8")
    bad = [verdict for verdict in verdicts if verdict.faults]
    if not bad:
        shutil.rmtree(directory)
    return 1 if bad else 0


def _tell(verdict: Verdict, progress: str) -> None:
    is_news = bool(verdict.faults) or not verdict.is_reached
    sys.stdout.write(f"{progress} {verdict}\n" if is_news else f"{progress}\r")
    sys.stdout.flush()


def _page(reference: Reference, verdicts: Sequence[Verdict], *, took: str) -> str:
    names = [name for name, _ in COLUMNS]
    lines = [
        f"| killed around | kills | {' | '.join(names)} | seconds (median) |",
        f"|---|{'---|' * (len(names) + 2)}",
        *(_row(name, group) for name, group in _groups(verdicts)),
        _row("**all**", verdicts),
    ]
    missed = [str(verdict.case) for verdict in verdicts if not verdict.is_reached]
    notes = [f"Moments: {', '.join(MOMENTS)}. The whole sweep took {took}."]
    if missed:
        notes.append(
            f"Not reached, since the order of parallel work varies, and compared all the same: {'; '.join(missed)}."
        )
    return HEAD.format(points=len(reference.points)) + "\n".join(lines) + "\n\n" + "\n\n".join(notes) + "\n"


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
        return f"while a hanging {verdict.case.hanging} is under way"
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
