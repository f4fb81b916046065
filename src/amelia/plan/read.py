"""A plan file becomes tasks: the dialects are asked in turn, the likeliest reading wins and says so.

Zero tasks is never success: prose without tasks is one task, and what cannot be read is an error.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from amelia.model.diagnostics import Diagnostic, error, info, warning
from amelia.model.plan import Plan, Task, TaskId, TaskStatus
from amelia.plan import facts
from amelia.plan.assemble import assemble
from amelia.plan.dialects import bold, checklists, frontmatter, gsd, headings, lists, prd, tables, taskmaster
from amelia.plan.fences import Fences, are_suspicious, pair_fences
from amelia.plan.labels import Kind, read_label, read_loose_label
from amelia.plan.markdown import Code, Document, parse, read_front_matter
from amelia.plan.outline import Entry, Outline, read_outline
from amelia.plan.preamble import product_in, tracker_in
from amelia.plan.ranges import Ranges
from amelia.plan.reading import Place, Reading
from amelia.plan.records import scalar, text_of
from amelia.plan.source import decode
from amelia.plan.unread import unread_tasks

_GLUED = re.compile(r"#{1,6}(?=[^#\s])")
_SHOWN = 60
_Find = Callable[[Outline], Sequence[Place]]


@dataclass(frozen=True, slots=True)
class _Shape:
    """A way to write tasks in Markdown: what the output calls it, what a message calls it, how to find it."""

    format: str
    name: str
    find: _Find


# In the order of trust: what calls itself a task first, what could be a chapter last. The number is how
# many places make a plan of that shape.
_SHAPES: tuple[tuple[_Shape, int], ...] = (
    (_Shape("headings", "task headings", headings.worded), 1),
    (_Shape("headings", "headings with boxes", headings.boxed), 1),
    (_Shape("checklist", "check boxes with ids", checklists.labelled), 2),
    (_Shape("bold", "bold task lines", bold.worded), 1),
    (_Shape("headings", "task headings without numbers", headings.unnumbered), 2),
    (_Shape("headings", "story headings", headings.stories), 2),
    (_Shape("headings", "headings with ids", headings.coded), 2),
    (_Shape("headings", "numbered headings under tasks", headings.numbered_tasks), 2),
    (_Shape("bold", "bold lines with ids", bold.coded), 2),
    (_Shape("table", "table rows", tables.rows), 2),
    (_Shape("list", "numbered items under tasks", lists.numbered), 2),
    (_Shape("bold", "bold numbered lines", bold.numbered), 2),
    (_Shape("headings", "step headings", headings.steps), 2),
    (_Shape("headings", "numbered headings", headings.described), 2),
    (_Shape("list", "list items with boxes", lists.stepped), 2),
    (_Shape("checklist", "check boxes", checklists.plain), 1),
    (_Shape("headings", "headings under tasks", headings.named_tasks), 2),
    (_Shape("headings", "numbered headings", headings.numbered), 2),
    (_Shape("headings", "phase headings", headings.phases), 2),
    (_Shape("bold", "bold phases", bold.groups), 2),
    (_Shape("list", "list items", lists.plan), 2),
)
_WHOLE = (1, "the whole text")
# Front matter with a status and one of these makes the file one task, as in CCPM and backlog.md.
_ONE_TASK = frozenset({"depends_on", "dependencies"})
# Shapes that resolve two levels by themselves, and what the other level would be.
_RIVALS: Mapping[_Find, _Shape] = {
    headings.worded: _Shape("headings", "outer task headings", headings.worded_parents),
    checklists.labelled: _Shape("checklist", "all boxes of the column", checklists.labelled_flat),
}
# From here on a shape is a guess, and another one may be meant.
_WEAK = next(index for index, (shape, _) in enumerate(_SHAPES) if shape.find is bold.numbered)
# From here on shapes are groups of tasks where there are tasks, and no rival to them.
_COARSE = next(index for index, (shape, _) in enumerate(_SHAPES) if shape.find is headings.phases)
# Shapes that also occur inside phases; they count only if most phases have them.
_INNER = frozenset({lists.numbered, bold.numbered, headings.steps, headings.numbered, headings.described})


def read_plan(data: bytes) -> tuple[Plan, Sequence[Diagnostic]]:
    """Reads a plan from the bytes of its file, never raising."""
    source = decode(data)
    if not source.text:
        return Plan(source.text, source.hash, "none", "", ()), source.diagnostics
    reading = _read_json(source.text) if source.text.lstrip()[:1] in {"{", "["} else None
    front: Mapping[str, Any] = {}
    above: Sequence[str] = ()
    if reading is None:
        document = parse(source.text)
        front, body_line = read_front_matter(document.lines)
        reading = _read_markdown(document, front, body_line)
        first = min((task.line for task in reading.tasks), default=1)
        above = document.prose[body_line - 1 : None if reading.format == "single" else first - 1]
    plan = Plan(
        source.text,
        source.hash,
        reading.format,
        reading.goal,
        reading.tasks,
        descriptions=reading.descriptions,
        product=product_in(front, above),
        tracker=tracker_in(front),
    )
    return plan, (*source.diagnostics, *reading.diagnostics)


def _read_json(text: str) -> Reading | None:
    """Reads a JSON plan; None means that the text is no JSON after all, such as "[WIP] my plan"."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        return None if text.lstrip()[0] == "[" else _unknown(f"This is not valid JSON: {problem}.")
    return (
        taskmaster.read(data, text) or prd.read(data, text) or _unknown("This JSON holds no list of tasks.")
    )


def _unknown(message: str) -> Reading:
    hint = "A plan in JSON is task-master's tasks.json, or a prd.json with userStories."
    return Reading("none", (), "", (error("unknown-json", message, line=1, hint=hint),))


def _read_markdown(document: Document, front: Mapping[str, Any], body_line: int) -> Reading:
    text = document.text
    mended = [
        number for number, line in enumerate(document.lines, start=1) if line[0] == "#" and _lacks_space(line)
    ]
    parsed = partial(parse, text, mended=mended)
    if body_line > 1 or mended:
        document = parsed(hidden=[(1, body_line - 1)])
    if reading := frontmatter.read(front, document):
        return reading
    fences = pair_fences(document.lines, is_task=_is_task_line) if _needs_pairing(document) else None
    if "<task" in text and (found := gsd.read(document, hidden=fences.ranges if fences else (), front=front)):
        return _with_headings(found, document)
    strict = _choose(read_outline(document), front)
    if wrapper := _wrapper(document):
        inner = _choose(read_outline(parsed(hidden=[(1, body_line - 1), *wrapper])), front)
        if strict.format == "single" or len(inner.tasks) > len(strict.tasks):
            return _unwrapped(strict, inner, wrapper[0][0])
    if fences is None or not _hides_tasks(document, fences):
        return strict
    meant = _choose(read_outline(parsed(hidden=[(1, body_line - 1), *fences.ranges])), front)
    return _repaired(strict, meant, fences)


def _needs_pairing(document: Document) -> bool:
    return "<task" in document.text or are_suspicious(document)


def _lacks_space(line: str) -> bool:
    """Tells whether a line such as `###Task 3: Title` is meant as a heading; `#todo` is not."""
    marks = _GLUED.match(line)
    if marks is None:
        return False
    text = line[marks.end() :].strip()
    label = read_label(text)
    if marks[0] == "#":
        return label is not None and bool(label.word) and label.separated
    label = label or read_loose_label(text)
    return label is not None and (bool(label.word) or label.separated)


def _with_headings(found: Reading, document: Document) -> Reading:
    """Adds what is to be said of headings that look like tasks to a reading that is not made of headings."""
    places = [Place(task.line, task.end_line, task.id, task.title, called="task") for task in found.tasks]
    unread = unread_tasks(read_outline(document), places)
    return replace(found, diagnostics=(*found.diagnostics, *unread))


def _choose(outline: Outline, front: Mapping[str, Any]) -> Reading:
    """Chooses a reading, and says which headings lack a space."""
    reading = _chosen(outline, front)
    mended = outline.document.mended
    notes = [_unspaced(entry) for entry in outline.entries if entry.line in mended] if mended else []
    return replace(reading, diagnostics=(*notes, *reading.diagnostics))


def _unspaced(entry: Entry) -> Diagnostic:
    return warning(
        "unspaced-heading",
        f"'{entry.heading.text[:_SHOWN]}' lacks a space behind its marks; read as a heading all the same.",
        line=entry.line,
        hint="Put a space behind the `#` marks.",
    )


def _chosen(outline: Outline, front: Mapping[str, Any]) -> Reading:
    """Asks the dialects in the order of trust and takes the first that finds enough."""
    is_one_task = scalar(front.get("status")) and text_of(front, "name", "title")
    if is_one_task and not front.keys().isdisjoint(_ONE_TASK) and not headings.worded(outline):
        return _single(outline, front)
    for position, (shape, least) in enumerate(_SHAPES):
        places = shape.find(outline)
        if len(places) < least or (shape.find in _INNER and not headings.cover_phases(outline, places)):
            continue
        boxes = _boxes_outside(outline, places) if shape.format == "headings" else []
        if len(boxes) > len(places) and shape.find is not headings.boxed:
            note = _two_readings((len(boxes), "check boxes"), (len(places), shape.name), boxes[0].line)
            return assemble(outline, boxes, name="checklist", diagnostics=[note])
        return assemble(outline, places, name=shape.format, diagnostics=_doubts(outline, position, places))
    reading, items = _single(outline, front), lists.possible(outline)
    doubts = [_two_readings(_WHOLE, (len(items), "list items"), items[0].line)] if items else []
    return replace(reading, diagnostics=(*reading.diagnostics, *doubts))


def _doubts(outline: Outline, position: int, places: Sequence[Place]) -> Sequence[Diagnostic]:
    """Says what the other defensible reading is, where there is one."""
    shape, _ = _SHAPES[position]
    if shape.find is lists.plan:
        return [_two_readings((len(places), shape.name), _WHOLE, places[0].line)]
    rivals = [_RIVALS[shape.find]] if shape.find in _RIVALS else []
    if position >= _WEAK:
        rivals = [
            other for other, least in _SHAPES[position + 1 : _COARSE] if len(other.find(outline)) >= least
        ]
    for rival in rivals:
        count = len(rival.find(outline))
        if count not in {0, len(places)}:
            return [_two_readings((len(places), shape.name), (count, rival.name), places[0].line)]
    return ()


def _boxes_outside(outline: Outline, places: Sequence[Place]) -> list[Place]:
    """Returns the boxes with ids that stand in none of the places; those inside are steps."""
    inside = Ranges((place.line, place.end_line) for place in places)
    if all(item.box is None or item.line in inside for item in outline.document.items):
        return []
    return [box for box in checklists.labelled(outline) if box.line not in inside]


def _two_readings(taken: tuple[int, str], other: tuple[int, str], line: int) -> Diagnostic:
    count = f"{taken[0]} task" if taken[0] == 1 else f"{taken[0]} tasks"
    return info(
        "two-readings",
        f"Read as {count} ({taken[1]}); the other reading would be {other[0]} ({other[1]}).",
        line=line,
        hint="Write `### Task <id>: <title>` headings to leave no doubt.",
    )


def _single(outline: Outline, front: Mapping[str, Any]) -> Reading:
    """Makes the whole plan one task."""
    document = outline.document
    title = text_of(front, "name", "title") or outline.title or document.text.strip().splitlines()[0]
    task = Task(
        id=TaskId("plan"),
        title=" ".join(title.split()),
        line=1,
        end_line=len(document.lines),
        section=document.text,
        status=TaskStatus.COMPLETED if facts.is_done(scalar(front.get("status"))) else TaskStatus.PENDING,
    )
    note = warning(
        "single-task",
        "No tasks were found in this plan; the whole of it is one task.",
        line=1,
        hint="Write `### Task 1: <title>` headings to have it carried out step by step.",
    )
    return Reading("single", (task,), task.title, (note,))


def _wrapper(document: Document) -> Sequence[tuple[int, int]]:
    """Returns the lines of the marks of a fence around the whole plan, a slip of pasting."""
    first = document.blocks[0] if document.blocks else None
    if not isinstance(first, Code) or first.info.casefold() not in {"", "md", "markdown"} or not first.fence:
        return ()
    marks = [(first.line, first.line)]
    return [*marks, (first.end_line, first.end_line)] if first.closed else marks


def _unwrapped(strict: Reading, inner: Reading, line: int) -> Reading:
    note = warning(
        "plan-in-fence",
        f"The plan stands inside a code fence; read as {len(inner.tasks)} tasks, "
        f"taken literally there would be {len(strict.tasks)}.",
        line=line,
        hint="Remove the fence around the plan.",
    )
    return replace(inner, diagnostics=(note, *inner.diagnostics))


def _is_task_line(line: str) -> bool:
    """Tells whether a line in code looks like the heading of a task; `# 1. …` is a comment."""
    label = read_label(line.lstrip("#").strip())
    if label is None:
        return False
    return label.kind is Kind.TASK or (
        line.startswith("##") and label.separated and label.kind in {Kind.CODE, Kind.NUMBER}
    )


def _hides_tasks(document: Document, fences: Fences) -> bool:
    """Tells whether the strict and the meant reading of fences differ where it matters."""
    strict = {(block.line, block.end_line) for block in document.code if block.fence}
    differing = strict ^ set(fences.ranges)
    return any(
        line.startswith("#") and _is_task_line(line)
        for first, last in differing
        for line in document.lines[first - 1 : last]
    )


def _repaired(strict: Reading, meant: Reading, fences: Fences) -> Reading:
    """Chooses between the strict reading and the one with fences as meant, and says so."""
    ids = [task.id for task in meant.tasks]
    if len(set(ids)) < len(ids) and len({task.id for task in strict.tasks}) == len(strict.tasks):
        return strict
    counts = f"read as {len(meant.tasks)} tasks, taken literally there would be {len(strict.tasks)}"
    unclosed = [
        warning(
            "unclosed-fence",
            f"The code fence opened at line {line} is never closed; {counts}.",
            line=line,
            hint="Close it with the same number of backticks.",
        )
        for line in fences.unclosed
    ]
    nested = [
        warning(
            "nested-fence",
            f"The code fence opened at line {line} holds fences as long as itself; {counts}.",
            line=line,
            hint="Open and close it with one backtick more.",
        )
        for line in fences.nested
    ]
    return replace(meant, diagnostics=(*unclosed, *nested, *meant.diagnostics))
