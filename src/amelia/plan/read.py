"""A plan file becomes tasks: the dialects are asked in turn, the likeliest reading wins and says so.

Zero tasks is never success: prose without tasks is one task, and what cannot be read is an error.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from amelia.model.diagnostics import Diagnostic, error, info, warning
from amelia.model.plan import Plan, Task, TaskId, TaskStatus
from amelia.plan import facts
from amelia.plan.assemble import Place, assemble
from amelia.plan.dialects import bold, checklists, frontmatter, gsd, headings, lists, prd, tables, taskmaster
from amelia.plan.fences import Fences, pair_fences
from amelia.plan.labels import Kind, read_label
from amelia.plan.markdown import Document, parse, read_front_matter
from amelia.plan.outline import Outline, read_outline
from amelia.plan.reading import Reading
from amelia.plan.source import decode

_Finder = Callable[[Outline], Sequence[Place]]

# In the order of trust: what calls itself a task first, what could be a chapter last. The number is how
# many places make a plan of that shape.
_FINDERS: tuple[tuple[str, _Finder, int], ...] = (
    ("headings", headings.worded, 1),
    ("headings", headings.boxed, 1),
    ("checklist", checklists.labelled, 2),
    ("bold", bold.worded, 1),
    ("headings", headings.stories, 2),
    ("headings", headings.coded, 2),
    ("headings", headings.numbered_tasks, 2),
    ("table", tables.rows, 2),
    ("list", lists.numbered, 2),
    ("bold", bold.coded, 2),
    ("headings", headings.steps, 2),
    ("checklist", checklists.plain, 1),
    ("headings", headings.named_tasks, 2),
    ("headings", headings.numbered, 2),
    ("headings", headings.phases, 2),
)


def read_plan(data: bytes) -> tuple[Plan, Sequence[Diagnostic]]:
    """Reads a plan from the bytes of its file, never raising."""
    source = decode(data)
    if not source.text:
        return Plan(source.text, source.hash, "none", "", ()), source.diagnostics
    reading = _read_json(source.text) if source.text.lstrip()[:1] in {"{", "["} else None
    reading = reading or _read_markdown(source.text)
    plan = Plan(source.text, source.hash, reading.format, reading.goal, reading.tasks)
    return plan, (*source.diagnostics, *reading.diagnostics)


def _read_json(text: str) -> Reading | None:
    """Reads a JSON plan; None means that the text is no JSON after all, such as "[WIP] my plan"."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        return None if text.lstrip()[0] == "[" else _unknown(f"this is not valid JSON: {problem}")
    return taskmaster.read(data, text) or prd.read(data, text) or _unknown("this JSON holds no list of tasks")


def _unknown(message: str) -> Reading:
    hint = "a plan in JSON is task-master's tasks.json or a prd.json with userStories"
    return Reading("none", (), "", (error("unknown-json", message, line=1, hint=hint),))


def _read_markdown(text: str) -> Reading:
    document = parse(text)
    front, body_line = read_front_matter(document.lines)
    if body_line > 1:
        document = parse(text, hidden=[(1, body_line - 1)])
    if reading := frontmatter.read(front, document):
        return reading
    fences = pair_fences(document.lines, is_task=_is_task_line)
    if "<task" in text and (
        found := gsd.read(document, hidden=fences.ranges, goal=str(front.get("phase") or ""))
    ):
        return found
    strict = _choose(read_outline(document), front)
    if not _hides_tasks(document, fences):
        return strict
    meant = _choose(read_outline(parse(text, hidden=[(1, body_line - 1), *fences.ranges])), front)
    return _repaired(strict, meant, fences)


def _choose(outline: Outline, front: Mapping[str, Any]) -> Reading:
    """Asks the dialects in the order of trust and takes the first that finds enough."""
    if "status" in front and ("name" in front or "title" in front) and "plan" not in front:
        return _single(outline, front)
    for name, find, least in _FINDERS:
        places = find(outline)
        if len(places) < least:
            continue
        if name == "headings" and find is not headings.boxed:
            boxes = _outside(places, checklists.labelled(outline))
            if len(boxes) > len(places):
                note = _two_readings(len(boxes), "check boxes", len(places), "headings", boxes[0].line)
                return assemble(outline, boxes, format="checklist", diagnostics=[note])
        return assemble(outline, places, format=name)
    return _single(outline, front)


def _outside(places: Sequence[Place], boxes: Sequence[Place]) -> Sequence[Place]:
    """Returns the boxes that stand in none of the places; those inside are steps."""
    inside = (
        {line for place in places for line in range(place.line, place.end_line + 1)} if boxes else set[int]()
    )
    return [box for box in boxes if box.line not in inside]


def _two_readings(taken: int, what: str, other: int, other_what: str, line: int) -> Diagnostic:  # noqa: PLR0913, PLR0917
    return info(
        "two-readings",
        f"read as {taken} tasks ({what}); {other} tasks ({other_what}) would be the other reading",
        line=line,
        hint="write `### Task <id>: <title>` headings to leave no doubt",
    )


def _single(outline: Outline, front: Mapping[str, Any]) -> Reading:
    """Makes the whole plan one task."""
    document = outline.document
    named = front.get("name") or front.get("title")
    title = str(named or outline.title or document.text.strip().splitlines()[0])
    task = Task(
        id=TaskId("plan"),
        title=" ".join(title.split()),
        line=1,
        end_line=len(document.lines),
        section=document.text,
        status=TaskStatus.COMPLETED if facts.is_done(str(front.get("status", ""))) else TaskStatus.PENDING,
    )
    note = info(
        "single-task",
        "no tasks were found in this plan; the whole of it is one task",
        line=1,
        hint="write `### Task 1: <title>` headings to have it carried out step by step",
    )
    return Reading("single", (task,), task.title, (note,))


def _is_task_line(line: str) -> bool:
    label = read_label(line.lstrip("#").strip())
    return label is not None and label.kind is Kind.TASK


def _hides_tasks(document: Document, fences: Fences) -> bool:
    """Tells whether the strict and the meant reading of fences differ where it matters."""
    strict = {
        line for block in document.code if block.fence for line in range(block.line, block.end_line + 1)
    }
    meant = {line for first, last in fences.ranges for line in range(first, last + 1)}
    return any(
        document.lines[line - 1].lstrip().startswith("#") and _is_task_line(document.lines[line - 1].strip())
        for line in strict ^ meant
    )


def _repaired(strict: Reading, meant: Reading, fences: Fences) -> Reading:
    """Chooses between the strict reading and the one with fences as meant, and says so."""
    ids = [task.id for task in meant.tasks]
    if len(set(ids)) < len(ids) and len({task.id for task in strict.tasks}) == len(strict.tasks):
        return strict
    lines = fences.unclosed or [first for first, _ in fences.ranges[:1]]
    notes = tuple(
        warning(
            "unclosed-fence",
            f"the code fence opened at line {line} is never closed; read as {len(meant.tasks)} tasks, "
            f"taken literally there would be {len(strict.tasks)}",
            line=line,
            hint="close the fence with the same number of backticks, or open it with more",
        )
        for line in lines
    )
    return replace(meant, diagnostics=(*notes, *meant.diagnostics))
