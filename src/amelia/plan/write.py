"""Tasks become a plan in Amelia's own grammar.

What is written reads back the same: descriptions that would be misread (a heading, a field, a dependency in a
sentence) are put between fences, and what differs all the same is told.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from amelia.model.plan import Priority, Task
from amelia.plan.read import read_plan

_TILDES = re.compile("~+")
_LABEL = re.compile(r"phase\s+\S+\s*[:.—–-]+\s*(?=\S)", re.IGNORECASE)
_SAME = (
    "title",
    "type",
    "phase",
    "depends_on",
    "independent",
    "files_to_create",
    "files_to_modify",
    "test_files",
    "acceptance_criteria",
    "user_story",
    "priority",
    "milestone",
    "waiver",
)


def write_plan(goal: str, tasks: Sequence[Task]) -> str:
    """Returns the text of a plan; a task's `implementation_notes` are its description."""
    ordered = in_phases(tasks)
    text = _text(goal, ordered, misleading=[task.id for task in ordered if _would_mislead(task)])
    return (
        text if not misread(ordered, text) else _text(goal, ordered, misleading=[task.id for task in ordered])
    )


def _would_mislead(task: Task) -> bool:
    """Says whether a task is read differently because of its description."""
    alone = replace(task, depends_on=(), phase=None)
    return bool(misread([alone], _text("", [alone], misleading=())))


def in_phases(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Returns tasks as they stand in a plan: by phase, in the order in which phases are first named."""
    labels = list(dict.fromkeys(task.phase for task in tasks if task.phase))
    order = {None: 0, **{label: number for number, label in enumerate(labels, start=1)}}
    return tuple(sorted(tasks, key=lambda task: order[task.phase]))


def phase_label(number: int, label: str) -> str:
    """Returns how a phase is called in a plan: `Phase 2: Code`, whatever number its author gave it."""
    return f"Phase {number}: {_LABEL.sub('', label, count=1)}"


def misread(tasks: Sequence[Task], text: str) -> list[str]:
    """Returns what a written plan does not say as it was meant."""
    found, _ = read_plan(text.encode())
    read = {task.id: task for task in found.tasks}
    labels = list(dict.fromkeys(task.phase for task in tasks if task.phase))
    problems = [f"There is no task {extra!r}, but one is read." for extra in read if _none(extra, tasks)]
    for task in tasks:
        if task.id not in read:
            problems.append(f"Task {task.id!r} cannot be written as `### Task {task.id}: {task.title}`.")
            continue
        for name in _SAME:
            meant, got = getattr(task, name), getattr(read[task.id], name)
            if name == "phase" and meant:
                meant = phase_label(labels.index(meant) + 1, meant)
            if meant != got:
                problems.append(f"Task {task.id}: {name} is read as {got!r}, not as {meant!r}.")
    return problems


def _none(task_id: str, tasks: Sequence[Task]) -> bool:
    return all(task.id != task_id for task in tasks)


def _text(goal: str, tasks: Sequence[Task], *, misleading: Collection[str]) -> str:
    lines = ["# Plan", "", f"**Goal:** {goal}", ""]
    phases: list[str] = []
    for task in tasks:
        if task.phase and task.phase not in phases:
            phases.append(task.phase)
            lines += [f"## {phase_label(len(phases), task.phase)}", ""]
        lines += [f"### Task {task.id}: {task.title}", "", *_fields(task), ""]
        if notes := task.implementation_notes.strip("\r\n"):
            lines += [fenced(notes) if task.id in misleading else notes, ""]
    return "\n".join(lines)


def _fields(task: Task) -> Iterator[str]:
    if task.type is not None:
        yield f"- Type: {task.type}"
    if task.depends_on or task.independent:
        yield f"- Depends on: {', '.join(task.depends_on) or 'none'}"
    if task.files:
        yield "- Files:"
    for word, paths in (
        ("Create", task.files_to_create),
        ("Modify", task.files_to_modify),
        ("Test", task.test_files),
    ):
        yield from (f"  - {word}: `{path}`" for path in paths)
    if task.acceptance_criteria:
        yield "- Acceptance criteria:"
        yield from (f"  - {criterion}" for criterion in task.acceptance_criteria)
    if task.user_story:
        yield f"- User story: {task.user_story}"
    if task.priority is not Priority.MEDIUM:
        yield f"- Priority: {task.priority}"
    if task.milestone:
        yield f"- Milestone: {task.milestone}"
    if task.waiver:
        yield f"- TDD waiver: {task.waiver}"


def fenced(text: str) -> str:
    """Returns text between fences, where it means nothing to whoever reads a plan."""
    longest = max(map(len, _TILDES.findall(text)), default=0)
    fence = "~" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
