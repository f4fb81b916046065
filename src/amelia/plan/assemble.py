"""Places in a document become tasks: their exact section, fields, group, status and unique ids.

Every Markdown dialect only finds the places; what is the same for all of them is done here, once.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from amelia.model.diagnostics import Diagnostic, Severity, error, info
from amelia.model.plan import Task, TaskId, TaskStatus
from amelia.plan import words
from amelia.plan.beside import items_beside
from amelia.plan.between import headings_between
from amelia.plan.facts import is_usual_id, needs_nothing
from amelia.plan.fields import read_fields
from amelia.plan.labels import clean_title
from amelia.plan.markdown import TICKS, Document
from amelia.plan.mentions import distinct
from amelia.plan.outline import Outline
from amelia.plan.reading import Place, Reading
from amelia.plan.slips import find_slips
from amelia.plan.unread import unread_tasks

_PHASES = re.compile(
    r"phases?\s*\d{1,4}(?:\s*(?:,|&|\+|\band\b)+\s*(?:phases?\s*)?\d{1,4}){0,50}[\s.]*", re.IGNORECASE
)
_SHOWN = 60
_COUNT = re.compile(r"\d+")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def assemble(
    outline: Outline, places: Sequence[Place], *, name: str, diagnostics: Sequence[Diagnostic] = ()
) -> Reading:
    """Turns places into a reading, in document order."""
    unread = _lost(outline, places)
    dropped = [place for place in places if place.dropped]
    places, notes = distinct(outline, [place for place in places if not place.dropped])
    ids = list(_ids(places))
    unusual = {task_id.casefold(): task_id for task_id in ids if not is_usual_id(task_id)}
    tasks = [
        _task(outline, place, task_id, unusual=unusual) for place, task_id in zip(places, ids, strict=True)
    ]
    tasks = _with_phases(outline, _with_statements(outline, tasks))
    tasks, renumbered = _unique(outline, tasks)
    outside = list(_outside(tasks))
    tasks = _without_prose(tasks, dropped={place.id for place in dropped})
    notes = [
        *diagnostics,
        *notes,
        *renumbered,
        *map(_left_out, dropped),
        *outside,
        *unread,
        *find_slips(outline.document.prose, tasks),
    ]
    if not tasks:
        notes.append(error("nothing-to-do", "Every task is struck through or marked as deferred.", line=1))
    goal = outline.goal(places[0].line if places else 1)
    return Reading(name, tuple(tasks), goal, tuple(notes), outline.milestones())


def _lost(outline: Outline, places: Sequence[Place]) -> Sequence[Diagnostic]:
    """Returns what is to be said of text that is in no task; an error about a line says all of it."""
    found = [
        *unread_tasks(outline, places),
        *headings_between(outline, places),
        *items_beside(outline.document, places),
    ]
    wrong = {each.line for each in found if each.severity is Severity.ERROR}
    lost = {each.line: each for each in found if each.severity is Severity.ERROR or each.line not in wrong}
    return sorted(lost.values(), key=lambda each: each.line or 0)


def _ids(places: Sequence[Place]) -> Iterator[str]:
    """Yields the ids of places; those without one are numbered by position, past the ids in use."""
    taken = {place.id for place in places}
    for number, place in enumerate(places, start=1):
        if place.id:
            yield place.id
            continue
        free = next(text for text in map(str, count(number)) if text not in taken)
        taken.add(free)
        yield free


def _task(outline: Outline, place: Place, task_id: str, *, unusual: Mapping[str, str]) -> Task:
    document = outline.document
    end_line = document.last_text_line(place.line, place.end_line)
    phase, milestone = outline.group_at(place.line)
    said: dict[str, Any] = {"phase": phase, "milestone": milestone}
    said |= outline.fields.describe(task_id, (place.line, end_line), unusual)
    if place.needs:
        said["depends_on"] = tuple(dict.fromkeys((*place.needs, *said["depends_on"])))
    ticks = document.ticks(place.line, end_line) if place.boxes_are_steps else ()
    said["status"] = _status(place, said.get("status"), ticks)
    return Task(
        id=TaskId(task_id),
        title=place.title or _title(document, place.line, end_line),
        line=place.line,
        end_line=end_line,
        section=document.slice(place.line, end_line),
        parallel=place.parallel,
        **said,
    )


def _title(document: Document, line: int, end_line: int) -> str:
    """Finds a title for a task whose heading is only an id: its first sentence, or the heading."""
    below = (text.strip() for text in document.prose[line:end_line])
    said = next((text for text in below if text[:1].isalnum() or text.startswith(("**", "`"))), "")
    return clean_title(said if said and not read_fields(said) else document.lines[line - 1].strip("# \r\n"))


def _status(place: Place, stated: TaskStatus | None, ticks: Sequence[str]) -> TaskStatus:
    """Decides a status: open boxes outrank a tick in the heading, which may be decoration."""
    has_open = any(not tick.strip() for tick in ticks)
    all_done = bool(ticks) and TICKS.issuperset(ticks)
    if has_open or place.done is False:
        return TaskStatus.PENDING
    if all_done or place.done:
        return TaskStatus.COMPLETED
    return stated or TaskStatus.PENDING


def _unique(outline: Outline, tasks: list[Task]) -> tuple[list[Task], list[Diagnostic]]:
    """Gives tasks whose numbering starts again in every part ids of their own; other duplicates stay."""
    if len({task.id for task in tasks}) == len(tasks):
        return tasks, []
    homes = [task.phase or outline.home(task.line) for task in tasks]
    own = {(home, task.id) for home, task in zip(homes, tasks, strict=True)}
    firsts = {home: task.id for home, task in reversed(list(zip(homes, tasks, strict=True)))}
    if len(own) < len(tasks) or len(set(firsts.values())) > 1:
        return tasks, []
    number = {home: index for index, home in enumerate(dict.fromkeys(homes), start=1)}
    everywhere: dict[str, list[str | int]] = {}
    for home, task in zip(homes, tasks, strict=True):
        everywhere.setdefault(task.id, []).append(home)

    def rename(home: str | int, need: TaskId) -> TaskId:
        if _PHASES.fullmatch(need):
            return need
        last = need.split()[-1]
        places = [home] if (home, last) in own else everywhere.get(last, [])
        return TaskId(f"p{number[places[0]]}-{last}") if len(places) == 1 else need

    renamed = [
        replace(
            task, id=rename(home, task.id), depends_on=tuple(rename(home, need) for need in task.depends_on)
        )
        for home, task in zip(homes, tasks, strict=True)
    ]
    message = f"Task numbers start again in every part; the {len(tasks)} tasks get ids like {renamed[0].id}."
    return renamed, [
        info("renumbered", message, line=tasks[0].line, hint="Number tasks through the whole plan.")
    ]


def _without_prose(tasks: list[Task], *, dropped: Collection[str]) -> list[Task]:
    """Drops dependencies on tasks that are left out, and on things that are no tasks of this plan."""
    known = _known_prefixes(tasks)

    def is_meant(need: str) -> bool:
        return need.rsplit(maxsplit=1)[-1] not in dropped and not _is_foreign(need, known)

    return [
        task
        if all(map(is_meant, task.depends_on))
        else replace(task, depends_on=tuple(filter(is_meant, task.depends_on)))
        for task in tasks
    ]


def _outside(tasks: list[Task]) -> Iterator[Diagnostic]:
    """Yields a note for every dependency that lies outside the plan."""
    known = _known_prefixes(tasks)
    for task in tasks:
        for need in task.depends_on:
            if _is_foreign(need, known):
                message = f"Task '{task.id}' depends on '{need}', which is no task of this plan."
                yield info(
                    "outside-dependency", message, line=task.line, hint="See to it before the plan runs."
                )


def _known_prefixes(tasks: list[Task]) -> frozenset[str]:
    return frozenset(_prefix(task.id) for task in tasks) | words.TASKS


def _is_foreign(need: str, known: frozenset[str]) -> bool:
    """Tells "lodash" and "SPEC-7", which lie outside the plan, from "T7", which may be a slip."""
    prefix = _prefix(need)
    return " " not in need and len(prefix) > 1 and prefix not in known


def _prefix(task_id: str) -> str:
    """Returns the letters an id starts with; all ids of nothing but letters have the same prefix."""
    letters = task_id[: len(task_id) - len(task_id.lstrip(_LETTERS))]
    return "words" if letters == task_id else letters.casefold()


def _left_out(place: Place) -> Diagnostic:
    name, heading = place.id or place.title, place.below
    if heading is None:
        message = f"{name} is struck through or marked as deferred, and left out."
        return info("left-out", message, line=place.line, hint="Remove the mark to have it carried out.")
    return info(
        "left-out",
        f"{name} stands below the heading '{heading.text[:_SHOWN]}' (line {heading.line}), and is left out.",
        line=place.line,
        hint="Move it below another heading, or change that one, to have it carried out.",
    )


def _with_phases(outline: Outline, tasks: list[Task]) -> list[Task]:
    """Hands on what a phase says it depends on, to those of its tasks that say nothing themselves."""
    said = {phase: _phase_needs(values) for phase, values in outline.phase_needs(tasks).items()}
    if not said:
        return tasks
    return [
        replace(task, **said[phase])
        if (phase := outline.group_at(task.line)[0]) in said and not task.depends_on and not task.independent
        else task
        for task in tasks
    ]


def _phase_needs(values: Sequence[str]) -> dict[str, Any]:
    """Returns what a phase declares, nothing or phases; whatever is less clear leaves it where it is."""
    if all(map(needs_nothing, values)):
        return {"independent": True}
    if all(_PHASES.fullmatch(value.strip()) for value in values):
        return {"depends_on": tuple(TaskId(f"Phase {n}") for value in values for n in _COUNT.findall(value))}
    return {}


def _with_statements(outline: Outline, tasks: list[Task]) -> list[Task]:
    """Adds dependencies that the plan states outside the task they are about."""
    said: dict[str, list[str]] = {}
    for subject, needs in outline.fields.stated_elsewhere(tasks):
        said.setdefault(subject, []).extend(needs)
    if not said:
        return tasks
    return [
        replace(
            task,
            depends_on=tuple(dict.fromkeys((*task.depends_on, *map(TaskId, said[task.id])))),
            independent=False,
        )
        if task.id in said
        else task
        for task in tasks
    ]
