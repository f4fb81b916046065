"""Tasks that are headings: `### Task 3: …`, `## T-01 — …`, `#### 1.2 …`, `### [ ] …`, at any level.

Each function looks for one shape and returns the places it found, none if the document is not of that
shape. Which shape counts is decided by the reader.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from amelia.plan import words
from amelia.plan.labels import Kind, Label, clean_title
from amelia.plan.markdown import TICKS, Heading
from amelia.plan.outline import GROUPS, Entry, Outline, is_aside, is_finished, is_task_section
from amelia.plan.ranges import any_within
from amelia.plan.reading import Place

_BOX = re.compile(r"^\W{0,4}\[([ xX√✓✔✅~/!>-]?)\]\s")
_PARALLEL = "[P]"
_DROPPED = re.compile(
    r"^\W*~~|[\[(](?:deferred|removed|dropped|cancell?ed|superseded|obsolete|rejected|skipped)\b",
    re.IGNORECASE,
)
# Decisions, requirements, criteria, risks and priorities carry such ids too; they are not work.
_NOT_WORK = re.compile(r"(?:(?:ADR|TD|FR|NFR|AC|REQ|KD|SC|RISK|OQ)[-_.]?\d|P\d(?:\.5)?$)")


def worded(outline: Outline) -> Sequence[Place]:
    """Finds headings that call themselves tasks."""
    entries = _called_tasks(outline)
    if any(entry.kind is Kind.TASK for entry in entries):
        inside = _containers(outline, entries)
        entries = [e for e in entries if e.kind is Kind.TASK or not any(i in inside for i in e.ancestors)]
    return _places(outline, _leaves(outline, entries))


def worded_parents(outline: Outline) -> Sequence[Place]:
    """Finds the outermost headings that call themselves tasks, where such headings are nested."""
    entries = [entry for entry in _called_tasks(outline) if entry.kind is Kind.TASK]
    outermost = _outermost(outline, entries)
    return _places(outline, outermost) if len(outermost) < len(entries) else ()


def _called_tasks(outline: Outline) -> list[Entry]:
    """Returns the headings that call themselves tasks or parts of tasks, also those with unusual ids."""
    entries = [entry for entry in outline.entries if entry.kind in {Kind.TASK, Kind.SUBTASK}]
    return _with_loose(outline, _without_title(outline, entries))


def unnumbered(outline: Outline) -> Sequence[Place]:
    """Finds headings of one level that call themselves tasks and have unusual ids, or none."""
    found = [entry for entry in outline.loose if entry.label and _is_loose_task(entry.label)]
    tasks = [entry for entry in found if entry.kind is Kind.TASK and entry.level > 1]
    inside = _containers(outline, tasks)
    outer = [entry for entry in tasks if not any(index in inside for index in entry.ancestors)]
    return _places(outline, [entry for entry in outer if entry.level == outer[0].level])


def boxed(outline: Outline) -> Sequence[Place]:
    """Finds headings with a check box in them."""
    entries = [entry for entry in outline.entries if _BOX.match(entry.heading.text)]
    return _places(outline, _outermost(outline, entries))


def coded(outline: Outline) -> Sequence[Place]:
    """Finds headings with ids of letters and digits: T1, T-01, US-001, A1."""
    entries = _without_title(outline, [entry for entry in outline.entries if entry.kind is Kind.CODE])
    entries = [entry for entry in entries if entry.label and not _NOT_WORK.match(entry.label.id)]
    levels = Counter(entry.level for entry in entries)
    if not levels:
        return ()
    level = max(levels, key=lambda one: (levels[one], -one))
    chosen = [entry for entry in entries if entry.level == level and entry.label and entry.label.title]
    return _places(outline, chosen)


def stories(outline: Outline) -> Sequence[Place]:
    """Finds headings called story, pull request, feature and the like, with a number."""
    entries = _without_title(outline, [entry for entry in outline.entries if entry.kind is Kind.STORY])
    return _places(outline, _outermost(outline, _with_loose(outline, entries)))


def numbered_tasks(outline: Outline) -> Sequence[Place]:
    """Finds the numbered headings below a heading that announces tasks."""
    return _places(
        outline, _leaves(outline, list(_below_task_section(outline, lambda e: e.kind is Kind.NUMBER)))
    )


def named_tasks(outline: Outline) -> Sequence[Place]:
    """Finds the headings without any number directly below a heading that announces tasks."""
    entries = list(_below_task_section(outline, lambda e: e.label is None and not is_aside(e.heading.text)))
    levels = [entry.level for entry in entries]
    return _places(outline, [entry for entry in entries if entry.level == min(levels)])


def numbered(outline: Outline) -> Sequence[Place]:
    """Finds numbered headings that are work, not the chapters of a document."""
    entries = _without_title(outline, [entry for entry in outline.entries if entry.kind is Kind.NUMBER])
    entries = [
        entry
        for entry in entries
        if not _is_chapter(entry)
        and not _in_aside(outline, entry)
        and not any(above.kind is Kind.NUMBER and _is_chapter(above) for above in outline.above(entry))
    ]
    phased = [entry for entry in entries if any(above.kind in GROUPS for above in outline.above(entry))]
    return _places(outline, _leaves(outline, phased or entries))


def described(outline: Outline) -> Sequence[Place]:
    """Finds numbered headings whose boxes are steps: most of what stands below them is not boxes."""
    places = numbered(outline)
    inside = [line for place in places for line in range(place.line + 1, place.end_line + 1)]
    boxes = {item.line for item in outline.document.items if item.box is not None}
    text = sum(bool(outline.document.lines[line - 1].strip()) for line in inside)
    return places if text > 2 * sum(line in boxes for line in inside) else ()


def steps(outline: Outline) -> Sequence[Place]:
    """Finds step headings."""
    entries = _without_title(outline, [entry for entry in outline.entries if entry.kind is Kind.STEP])
    return _places(outline, _outermost(outline, _with_loose(outline, entries)))


def phases(outline: Outline) -> Sequence[Place]:
    """Finds phase and milestone headings, the coarsest units a plan may have."""
    entries = _without_title(outline, [entry for entry in outline.entries if entry.kind in GROUPS])
    return _places(outline, _leaves(outline, _with_loose(outline, entries)))


def cover_phases(outline: Outline, places: Sequence[Place]) -> bool:
    """Tells whether places stand in most phases of a plan; a level that only some phases have is no level."""
    groups = [entry for entry in outline.entries if entry.kind in GROUPS]
    lines = [place.line for place in places]
    filled = sum(any_within(lines, entry.line, entry.end_line) for entry in groups)
    return len(groups) < 2 or filled * 2 > len(groups)  # noqa: PLR2004 - one phase has no others to agree with


def _places(outline: Outline, entries: Iterable[Entry]) -> Sequence[Place]:
    chosen = list(entries)
    deferred = _deferred(outline, chosen)
    places: list[Place] = []
    for index, entry in enumerate(chosen):
        following = chosen[index + 1].line - 1 if index + 1 < len(chosen) else entry.end_line
        label = entry.label
        text = entry.heading.text
        box = _BOX.match(text)
        is_marked = _DROPPED.search(text) is not None
        done = (box[1] in TICKS) if box else (label.done if label else None)
        title = (label.title if label else clean_title(text)).replace(_PARALLEL, "").strip()
        places.append(
            Place(
                entry.line,
                min(entry.end_line, following),
                label.id if label else "",
                title,
                done=True if done is None and _is_finished(outline, entry) else done,
                dropped=not done and (entry.line in deferred or is_marked),
                below=None if done or is_marked else deferred.get(entry.line),
                separated=label is not None and label.separated,
                parallel=_PARALLEL in text,
                called=label.called if label else "",
            )
        )
    return places


def _without_title(outline: Outline, entries: list[Entry]) -> list[Entry]:
    """Drops the document's title, where it looks like a task and others stand below it."""
    first = outline.entries[0] if outline.entries else None
    if (
        first in entries
        and first.level == 1
        and len(entries) > 1
        and all(entry.level > 1 for entry in entries[1:])
    ):
        return entries[1:]
    return entries


def _with_loose(outline: Outline, entries: list[Entry]) -> list[Entry]:
    """Adds the headings beside others that have their word, and an unusual id or none."""
    if not entries:
        return entries
    called = {entry.label.called for entry in entries if entry.label}
    levels = {entry.level for entry in entries}
    parents = {entry.ancestors[-1:] for entry in entries}
    above = {outline.entries[index].line for entry in entries for index in entry.ancestors}
    beside = [
        entry
        for entry in outline.loose
        if entry.level in levels
        and entry.label
        and entry.label.called in called
        and _is_loose_task(entry.label)
        and entry.line not in above
        and (entry.ancestors[-1:] in parents or _holds_work(outline, entry))
    ]
    return sorted([*entries, *beside], key=lambda entry: entry.line) if beside else entries


def _holds_work(outline: Outline, entry: Entry) -> bool:
    """Tells whether the heading above an entry is a phase, or announces tasks."""
    parent = next(iter(outline.above(entry)), None)
    return parent is not None and (parent.kind in GROUPS or is_task_section(parent.heading.text))


def _is_loose_task(label: Label) -> bool:
    return label.separated and label.id.casefold() not in words.MENTIONS


def _containers(outline: Outline, entries: Iterable[Entry]) -> set[int]:
    chosen = {entry.line for entry in entries}
    return {index for index, entry in enumerate(outline.entries) if entry.line in chosen}


def _leaves(outline: Outline, entries: list[Entry]) -> list[Entry]:
    """Leaves out the entries that are only the heading of their parts.

    `Task 1` over `Task 1.1` is one, and so is an entry over several others with no text of its own;
    `Task 3` over `Task 4` is not, there somebody took the wrong level.
    """
    parents = {entry.line: entry for entry in entries}
    children: dict[int, list[Entry]] = {}
    for entry in entries:
        for line in (outline.entries[index].line for index in entry.ancestors):
            if line in parents:
                children.setdefault(line, []).append(entry)
    containers = {
        line
        for line, inside in children.items()
        if any(_is_part(entry, parents[line]) for entry in inside)
        or (len(inside) > 1 and outline.is_empty(parents[line]))
    }
    return [entry for entry in entries if entry.line not in containers]


def _is_part(entry: Entry, parent: Entry) -> bool:
    mine, theirs = entry.label, parent.label
    return mine is None or theirs is None or (mine.id != theirs.id and mine.id.startswith(theirs.id))


def _outermost(outline: Outline, entries: list[Entry]) -> list[Entry]:
    inside = _containers(outline, entries)
    return [entry for entry in entries if not any(index in inside for index in entry.ancestors)]


def _below_task_section(outline: Outline, wanted: Callable[[Entry], bool]) -> Iterable[Entry]:
    for entry in outline.entries:
        if wanted(entry) and any(
            is_task_section(above.heading.text) and above.level > 1 for above in outline.above(entry)
        ):
            yield entry


def _deferred(outline: Outline, entries: Sequence[Entry]) -> Mapping[int, Heading]:
    """Returns the headings of deferred work by the lines of entries below, unless all entries stand there."""
    found = {entry.line: heading for entry in entries if (heading := outline.deferring(entry.line))}
    return found if len(found) < len(entries) else {}


def _is_finished(outline: Outline, entry: Entry) -> bool:
    return any(is_finished(above.heading.text) for above in outline.above(entry) if above.level > 1)


def _in_aside(outline: Outline, entry: Entry) -> bool:
    return any(
        is_aside(above.heading.text)
        for above in outline.above(entry)
        if above.level > 1 and above.label is None
    )


def _is_chapter(entry: Entry) -> bool:
    title = entry.label.title if entry.label else ""
    first = title.split()[:2]
    return any(word.casefold().strip(",:.") in words.CHAPTERS for word in first)
