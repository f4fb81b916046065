"""A compiled plan for people: units as a tree with type, size and dependencies of tasks, then findings."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import click

from amelia.model.diagnostics import Diagnostic, Severity
from amelia.model.plan import Level, Mode, Task, TaskStatus, Unit
from amelia.plan.compile import CompiledPlan
from amelia.plan.graph import DONE
from amelia.show.cli.text import fit, printable, width

_LEVEL_COLOURS = {Level.LOW: "green", Level.MEDIUM: "yellow", Level.HIGH: "red", Level.CRITICAL: "red"}
_SEVERITY_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_MOST_ALIKE = 5
_WIDE = 120
_SIZE_COLUMNS = len("13.0 critical")
_FIXED_COLUMNS = 40  # branch, type, size, and some room for what a task waits for


def draw_plan(compiled: CompiledPlan, *, name: str) -> None:
    """Prints a plan as a tree, then what was found in it."""
    unicode = _speaks_unicode()
    columns = shutil.get_terminal_size((_WIDE, 24)).columns if sys.stdout.isatty() else _WIDE
    for line in (*_head(compiled, name), *_tree(compiled, columns), *_findings(compiled.diagnostics, name)):
        click.echo(line if unicode else _ascii(line))


def _head(compiled: CompiledPlan, name: str) -> Iterator[str]:
    tasks = compiled.plan.tasks
    done = sum(task.status is TaskStatus.COMPLETED for task in tasks)
    finished = f" ({done} done)" if done else ""
    yield click.style(
        f"{name}: {_count(len(tasks), 'task')}{finished}, {_count(len(compiled.units), 'unit')}", bold=True
    )
    if compiled.plan.goal:
        yield f"goal  {printable(compiled.plan.goal)}"
    yield f"mode  {compiled.mode}: {compiled.mode_reason}"
    yield ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the tree: a task below a unit or a phase, and what it waits for."""

    task: Task
    needs: Sequence[str]
    is_last: bool


def _tree(compiled: CompiledPlan, columns: int) -> Iterator[str]:
    branches = list(_branches(compiled))
    rows = [row for _, row in branches if row is not None]
    ids = max((width(row.task.id) for row in rows), default=0)
    titles = max((width(printable(row.task.title)) for row in rows), default=0) + 2
    titles = max(20, min(titles, columns - ids - _FIXED_COLUMNS))
    for heading, row in branches:
        yield heading if row is None else _line(row, ids=ids, titles=titles)
    yield ""


def _branches(compiled: CompiledPlan) -> Iterator[tuple[str, _Row | None]]:
    """Yields the headings and rows of the tree from top to bottom."""
    done = [task for task in compiled.plan.tasks if task.status in DONE]
    if done:
        yield click.style("done or left out", dim=True), None
        yield from (("", row) for row in _rows(done))
    if not compiled.units:
        yield from (
            ("", row) for row in _rows([task for task in compiled.plan.tasks if task.status not in DONE])
        )
    elif compiled.mode in {Mode.PHASED, Mode.SINGLE}:
        for unit in compiled.units:
            yield _unit_line(unit), None
            yield from (("", row) for row in _rows(unit.pieces))
    else:
        for phase, group in groupby(compiled.units, key=lambda unit: unit.pieces[0].phase):
            if phase is not None:
                yield click.style(printable(phase), bold=True), None
            units = list(group)
            for unit in units:
                # in `tasks` mode every unit waits for the one before it: no need to say so on every line
                needs = unit.pieces[0].depends_on if compiled.mode is Mode.TASKS else unit.depends_on
                yield "", _Row(unit.pieces[0], needs, is_last=unit is units[-1])


def _rows(tasks: Sequence[Task]) -> Iterator[_Row]:
    return (_Row(task, task.depends_on, is_last=task is tasks[-1]) for task in tasks)


def _unit_line(unit: Unit) -> str:
    after = f"  after {', '.join(unit.depends_on)}" if unit.depends_on else ""
    title = "" if unit.title == unit.pieces[0].title else f"  {printable(unit.title)}"
    return click.style(unit.id, bold=True) + title + click.style(after, dim=True)


def _line(row: _Row, *, ids: int, titles: int) -> str:
    task, complexity = row.task, row.task.complexity
    mark = {TaskStatus.COMPLETED: "✓ ", TaskStatus.SKIPPED: "- "}.get(task.status, "")
    size = f"{complexity.total:4.1f} {complexity.level}"
    cells = [
        "└─" if row.is_last else "├─",
        click.style(fit(task.id, ids), fg="cyan"),
        click.style(f"{task.type or '':<8}", dim=True),
        fit(mark + printable(task.title), titles),
        click.style(fit(size, _SIZE_COLUMNS) if row.needs else size, fg=_LEVEL_COLOURS[complexity.level]),
    ]
    if row.needs:
        cells.append(click.style(printable(f"← {', '.join(row.needs)}"), dim=True))
    return " ".join(cells)


def _findings(diagnostics: Sequence[Diagnostic], name: str) -> Iterator[str]:
    """Draws the findings, worst first; of many alike only the first few, with how many more there are."""
    seen: Counter[str] = Counter()
    for severity in Severity:
        for found in diagnostics:
            if found.severity is not severity:
                continue
            seen[found.code] += 1
            if seen[found.code] <= _MOST_ALIKE:
                yield from _finding(found, name)
    for code, count in seen.items():
        if count > _MOST_ALIKE:
            yield click.style(f"… and {count - _MOST_ALIKE} more of {code} (--json lists all)", dim=True)
    totals = Counter(found.severity for found in diagnostics)
    verdict = ", ".join(_count(totals[severity], severity) for severity in Severity if totals[severity])
    if totals[Severity.ERROR]:
        yield click.style(f"{verdict}: this plan cannot run as it is", fg="red", bold=True)
    else:
        yield click.style(f"this plan can run{f' ({verdict})' if verdict else ''}", fg="green", bold=True)


def _finding(found: Diagnostic, name: str) -> Iterator[str]:
    where = f"{name}:{found.line}" if found.line else name
    label = click.style(f"{found.severity}[{found.code}]", fg=_SEVERITY_COLOURS[found.severity], bold=True)
    yield f"{where}: {label} {printable(found.message)}"
    if found.hint:
        yield click.style(f"    hint: {printable(found.hint)}", dim=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == Severity.INFO else f"{number} {noun}s"


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").casefold().replace("-", "").startswith("utf")


def _ascii(line: str) -> str:
    for fancy, simple in (
        ("├─", "|-"),
        ("└─", "`-"),
        ("←", "<-"),
        ("→", "->"),
        ("✓", "x"),
        ("…", "..."),
        ("—", "-"),
    ):
        line = line.replace(fancy, simple)
    return line.encode(sys.stdout.encoding or "ascii", "replace").decode(sys.stdout.encoding or "ascii")
