"""Tasks that are check boxes: spec-kit, Kiro, OpenSpec, BMAD stories and plain to-do lists.

Tasks are the outermost boxes; boxes inside them are their steps.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from amelia.plan import words
from amelia.plan.labels import Kind, Label, clean_title, read_label
from amelia.plan.markdown import TICKS, Item
from amelia.plan.outline import GROUPS, Entry, Outline, is_aside
from amelia.plan.ranges import Ranges
from amelia.plan.reading import Place

_PARALLEL = re.compile(r"[\[(]P[\])]")
_TAGS = re.compile(r"^(?:\s*(?:\[(?:P|US\d+|Story\s?\d+|[A-Z]{1,6}\d*)\]|\([PS]\)))+\s*")
_CRITERIA = re.compile(
    r"acceptance|criteria|done when|definition of done|validation checklist|sign-?off", re.IGNORECASE
)
_DROPPED = re.compile(r"^~~.*~~")
# "[abc1234]", "`abc1234`", or bare: the commit that did it is not part of the title
_COMMIT = re.compile(
    r"\s*(?:[—–-]\s*)?(?:[\[(`]+[0-9a-f]{7,40}[\])`]+|\s(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,10})\s*$"
)
_LONGEST_STATE = 30
_LONGEST = 1000  # no title is longer
_WORD_TASK = re.compile(r"^\W{0,4}(?:task|todo)\s*[:：]\s*", re.IGNORECASE)


def labelled(outline: Outline) -> Sequence[Place]:
    """Finds boxes that carry ids or the word task, where these are the rule in the document."""
    return _without_groups(outline, labelled_flat(outline))


def labelled_flat(outline: Outline) -> Sequence[Place]:
    """Finds the same boxes, with those that only head others in their column."""
    items = _outermost(outline, _is_criteria)
    labels = [_label(item) for item in items]
    strong = sum(label is not None and label.kind is not Kind.NUMBER for label in labels)
    found = sum(label is not None for label in labels)
    if found * 2 < len(items) and strong * 2 < found:
        return ()
    beside = {item.line for item in _outermost(outline, _is_beside)} if strong * 2 < found else set[int]()
    return _places(
        outline,
        [
            (item, label)
            for item, label in zip(items, labels, strict=True)
            if label is not None or item.line in beside
        ],
    )


def plain(outline: Outline) -> Sequence[Place]:
    """Finds boxes without ids, to be numbered by position."""
    return _places(outline, [(item, None) for item in _outermost(outline, _is_beside)])


def _places(outline: Outline, found: Sequence[tuple[Item, Label | None]]) -> Sequence[Place]:
    places = [_place(item, label) for item, label in found]
    deferring = [outline.deferring(place.line) for place in places]
    if all(deferring):
        return places
    return [
        replace(place, dropped=True, below=heading)
        if heading and not place.done and not place.dropped
        else place
        for place, heading in zip(places, deferring, strict=True)
    ]


def _outermost(outline: Outline, beside: Callable[[Entry], bool]) -> list[Item]:
    """Returns the boxes that stand in no other box, outside the sections that hold no work."""
    asides = Ranges(
        (entry.line, entry.end_line) for entry in outline.entries if entry.level > 1 and beside(entry)
    )
    items: list[Item] = []
    end = 0
    for item in outline.document.items:
        if item.box is None or item.line <= end or not item.text.strip():
            continue
        end = item.end_line
        is_legend = len(item.text) < _LONGEST_STATE and clean_title(item.text).casefold() in words.STATES
        if not is_legend and item.line not in asides:
            items.append(item)
    return items


def _is_criteria(entry: Entry) -> bool:
    return entry.label is None and _CRITERIA.search(entry.heading.text) is not None


def _is_beside(entry: Entry) -> bool:
    return entry.kind not in GROUPS and is_aside(entry.heading.text)


def _without_groups(outline: Outline, places: Sequence[Place]) -> Sequence[Place]:
    """Resolves boxes `2` and `2.1` in one column: an empty `2` is a heading, else `2.1` is a step of it."""
    kept: list[Place] = []
    index = 0
    while index < len(places):
        place = places[index]
        end = index + 1
        while place.id and end < len(places) and places[end].id.startswith(f"{place.id}."):
            end += 1
        is_empty = outline.document.last_text_line(place.line, place.end_line) == place.line
        if end == index + 1:
            kept.append(place)
        elif is_empty:
            kept.extend(places[index + 1 : end])
        else:
            kept.append(replace(place, end_line=places[end - 1].end_line))
        index = end
    return kept


def _label(item: Item) -> Label | None:
    text = _TAGS.sub("", item.text[:_LONGEST])  # "[P] T004a" as well as "T004a [P]"
    label = read_label(text)
    if item.number and (label is None or (label.id.isdigit() and not label.separated and not label.word)):
        # "1. [ ] Title", or "1. [ ] 3 retries"; in "1. [ ] Task 8: Title" the id is 8
        label = read_label(f"{item.number}. {text}")
    if label is None and _WORD_TASK.match(text):
        return Label(Kind.TASK, "", _WORD_TASK.sub("", clean_title(text)))
    if label is None or not label.title or label.kind in {Kind.PHASE, Kind.MILESTONE}:
        return None
    return label


def _place(item: Item, label: Label | None) -> Place:
    first = item.text[:_LONGEST].partition("\n")[0]
    title = label.title if label else clean_title(" ".join(item.text[:_LONGEST].split()))
    title = _COMMIT.sub("", _TAGS.sub("", title))
    return Place(
        item.line,
        item.end_line,
        label.id if label else "",
        clean_title(title),
        done=item.box in TICKS,
        dropped=item.box not in TICKS and _DROPPED.match(first) is not None,
        parallel=_PARALLEL.search(first) is not None,
        boxes_are_steps=False,
        called=label.called if label else "",
    )
