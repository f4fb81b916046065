"""A compiled plan for people: units as a tree with type, size and dependencies of tasks, then findings."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import click

from amelia.model.diagnostics import Diagnostic, Severity
from amelia.model.plan import DONE, Level, Mode, Task, TaskStatus, Unit, milestone_title
from amelia.plan.compile import CompiledPlan
from amelia.show.output import styled
from amelia.show.text import fit, printable, width

_LEVEL_COLOURS = {Level.LOW: "green", Level.MEDIUM: "yellow", Level.HIGH: "red", Level.CRITICAL: "red"}
_SEVERITY_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_MOST_ALIKE = 5
_WIDE = 120
_WIDEST_ID = 24
_SIZE_COLUMNS = len("13.0 critical")
_FIXED_COLUMNS = 32  # branch, size, and some room for what a task waits for


def draw_plan(compiled: CompiledPlan, *, name: str) -> None:
    """Prints a plan as a tree, then what was found in it."""
    unicode = _speaks_unicode()
    columns = shutil.get_terminal_size((_WIDE, 24)).columns if sys.stdout.isatty() else _WIDE
    tree = (*_head(compiled, name), *_tree(compiled, columns), *_milestones(compiled, columns))
    for line in (*tree, *_findings(compiled.diagnostics, name)):
        click.echo(line if unicode else _ascii(line))


def draw_errors(compiled: CompiledPlan, *, name: str) -> None:
    """Prints what forbids to run a plan, beside an output that does not say so."""
    for found in compiled.diagnostics:
        if found.severity is Severity.ERROR:
            for line in _finding(found, name):
                click.echo(line if _speaks_unicode() else _ascii(line), err=True)


def _head(compiled: CompiledPlan, name: str) -> Iterator[str]:
    tasks = compiled.plan.tasks
    done = sum(task.status is TaskStatus.COMPLETED for task in tasks)
    finished = f" ({done} done)" if done else ""
    counts = f"{_count(len(tasks), 'task')}{finished}, {_count(len(compiled.units), 'unit')}"
    yield styled(f"{name}: {counts}", "bold")
    if compiled.plan.goal:
        yield f"goal  {printable(compiled.plan.goal)}"
    if tasks:
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
    if not rows:
        return
    layout = _Layout(
        ids=min(_WIDEST_ID, max(2, *(width(printable(row.task.id)) for row in rows))),
        types=max(len(row.task.type or "") for row in rows),
        titles=max(len("task"), *(width(_shown_title(row.task)) for row in rows)) + 2,
    )
    titles = max(20, min(layout.titles, columns - layout.ids - layout.types - _FIXED_COLUMNS))
    layout = replace(layout, titles=titles)
    yield styled(layout.line("  ", "id", "type", "task", "size", "waits for"), "dim")
    for heading, row in branches:
        yield heading if row is None else _line(row, layout)
        if row is not None and row.task.user_story:
            indent = "   " if row.is_last else "│  "
            yield styled(f"{indent} {fit(printable(row.task.user_story), columns - 4).rstrip()}", "dim")
    yield ""


def _milestones(compiled: CompiledPlan, columns: int) -> Iterator[str]:
    """Yields the milestones with the tasks that are in them."""
    if not compiled.milestones:
        return
    yield styled("milestones", "bold")
    for stone in compiled.milestones:
        text = f"  {printable(milestone_title(stone))}: {printable(', '.join(stone.task_ids))}"
        yield fit(text, columns).rstrip()
    yield ""


def _branches(compiled: CompiledPlan) -> Iterator[tuple[str, _Row | None]]:
    """Yields the headings and rows of the tree from top to bottom."""
    done = [task for task in compiled.plan.tasks if task.status in DONE]
    left = [task for task in compiled.plan.tasks if task.status not in DONE]
    if done:
        yield styled("done or left out", "bold"), None
        yield from (("", row) for row in _rows(done))
    if compiled.units and compiled.mode is Mode.PHASED:
        for unit in compiled.units:
            yield _unit_line(unit), None
            yield from (("", row) for row in _rows(unit.pieces))
        return
    if done and left:
        yield styled("to do", "bold"), None
    if not compiled.units or compiled.mode is Mode.SINGLE:
        yield from (("", row) for row in _rows(left))
        return
    for phase, group in groupby(compiled.units, key=lambda unit: unit.pieces[0].phase):
        if phase is not None:
            yield styled(printable(phase), "bold"), None
        units = list(group)
        for unit in units:
            # in `tasks` mode every unit waits for the one before it: no need to say so on every line
            needs = unit.pieces[0].depends_on if compiled.mode is Mode.TASKS else unit.depends_on
            yield "", _Row(unit.pieces[0], needs, is_last=unit is units[-1])


def _rows(tasks: Sequence[Task]) -> Iterator[_Row]:
    return (_Row(task, task.depends_on, is_last=task is tasks[-1]) for task in tasks)


def _unit_line(unit: Unit) -> str:
    after = f"  after {', '.join(unit.depends_on)}" if unit.depends_on else ""
    label = f"  {printable(unit.title)}" if unit.pieces[0].phase else ""
    return styled(unit.id, "bold") + label + styled(after, "dim")


def _line(row: _Row, layout: "_Layout") -> str:
    task = row.task
    size = f"{task.complexity.total:4.1f} {task.complexity.level}"
    return layout.line(
        "└─" if row.is_last else "├─",
        task.id,
        task.type or "",
        _shown_title(task),
        size,
        printable(f"← {', '.join(row.needs)}") if row.needs else "",
        level=task.complexity.level,
    )


def _shown_title(task: Task) -> str:
    mark = {TaskStatus.COMPLETED: "✓ ", TaskStatus.SKIPPED: "- "}.get(task.status, "")
    return mark + printable(task.title)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How wide the columns of the tree are; the column of types is left out when no task has one."""

    ids: int
    types: int
    titles: int

    def line(self, branch: str, *cells: str, level: Level | None = None) -> str:
        identifier, kind, title, size, after = cells
        shown = [branch, styled(fit(printable(identifier), self.ids), "cyan")]
        if self.types:
            shown.append(styled(fit(kind, max(self.types, 4)), "dim"))
        shown.append(fit(title, self.titles))
        size = fit(size, _SIZE_COLUMNS) if after else size
        shown.append(styled(size, _LEVEL_COLOURS[level]) if level else size)
        return " ".join([*shown, styled(after, "dim")] if after else shown)


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
            yield styled(f"… and {count - _MOST_ALIKE} more of {code} (--json lists all)", "dim")
    totals = Counter(found.severity for found in diagnostics)
    verdict = ", ".join(_count(totals[severity], severity) for severity in Severity if totals[severity])
    if totals[Severity.ERROR]:
        yield styled(f"{verdict}: this plan cannot run as it is", "red", "bold")
    else:
        yield styled(f"this plan can run{f' ({verdict})' if verdict else ''}", "green", "bold")


def _finding(found: Diagnostic, name: str) -> Iterator[str]:
    where = f"{name}:{found.line}" if found.line else name
    label = styled(f"{found.severity}[{found.code}]", _SEVERITY_COLOURS[found.severity], "bold")
    yield f"{where}: {label} {printable(found.message)}"
    if found.hint:
        yield styled(f"    hint: {printable(found.hint)}", "dim")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == Severity.INFO else f"{number} {noun}s"


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").casefold().replace("-", "").startswith("utf")


def _ascii(line: str) -> str:
    for fancy, simple in (
        ("├─", "|-"),
        ("│", "|"),
        ("└─", "`-"),
        ("←", "<-"),
        ("→", "->"),
        ("✓", "x"),
        ("…", "..."),
        ("—", "-"),
    ):
        line = line.replace(fancy, simple)
    return line.encode(sys.stdout.encoding or "ascii", "replace").decode(sys.stdout.encoding or "ascii")
