"""Tasks that are the items of a list: below a heading that announces tasks, or where a list is the plan."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from amelia.plan.fields import read_fields
from amelia.plan.labels import Kind, Label, clean_title, read_label
from amelia.plan.markdown import Code, Item, Paragraph
from amelia.plan.outline import Outline, announces_work, is_aside, is_deferred, is_task_section
from amelia.plan.ranges import Ranges, any_within
from amelia.plan.reading import Place

_LABELS = frozenset({Kind.TASK, Kind.SUBTASK, Kind.CODE})
_BULLETS_PER_PARAGRAPH = 3  # bullets below much prose are remarks; numbers are an order


@dataclass(frozen=True, slots=True)
class _List:
    """One list of a document: its outermost items, and the text that leads to it."""

    items: Sequence[Item]
    lead: str

    @property
    def is_numbered(self) -> bool:
        """Tells whether the items have numbers."""
        return self.items[0].number is not None


def numbered(outline: Outline) -> Sequence[Place]:
    """Finds the outermost numbered items in sections called tasks."""
    sections = Ranges(
        (entry.line, entry.end_line)
        for entry in outline.entries
        if entry.level > 1 and is_task_section(entry.heading.text)
    )
    return _places(
        item
        for item in outline.document.items
        if item.number and item.depth == 0 and item.box is None and item.line in sections
    )


def stepped(outline: Outline) -> Sequence[Place]:
    """Finds the items of lists whose steps have boxes, where all boxes are such steps."""
    boxes = [item for item in outline.document.items if item.box is not None]
    if not boxes or any(item.depth == 0 for item in boxes):
        return ()
    lines = [item.line for item in boxes]
    lists = [
        each for each in _lists(outline) if any_within(lines, each.items[0].line, each.items[-1].end_line)
    ]
    return _places(chain.from_iterable(each.items for each in lists))


def plan(outline: Outline) -> Sequence[Place]:
    """Finds the items of the lists that are the plan: labelled or announced as work, or most of the text."""
    lists = _lists(outline)
    labelled = [each for each in lists if _is_labelled(each)]
    announced = [each for each in lists if _is_announced(outline, each)]
    chosen = labelled or announced or [each for each in lists if _is_most(outline, each, among=lists)]
    return _places(chain.from_iterable(each.items for each in chosen))


def possible(outline: Outline) -> Sequence[Place]:
    """Finds the items of all lists that might hold work."""
    return _places(chain.from_iterable(each.items for each in _lists(outline)))


def _places(items: Iterable[Item]) -> Sequence[Place]:
    found = [(item, _label(item)) for item in items]
    ids = Counter(label.id if label else item.number for item, label in found)
    return [
        _place(item, label, is_unique=ids[label.id if label else item.number] == 1) for item, label in found
    ]


def _place(item: Item, label: Label | None, *, is_unique: bool) -> Place:
    place = Place(item.line, item.end_line, item.number or "", clean_title(_first_line(item)))
    if label is not None:
        place = replace(place, id=label.id, title=label.title, done=label.done, called=label.called)
    return place if is_unique or label is not None else replace(place, id="")  # "1." before every item


def _label(item: Item) -> Label | None:
    """Returns the label of an item that calls itself a task or has an id of letters and digits."""
    label = read_label(_first_line(item))
    is_label = label is not None and label.separated and label.title and label.kind in _LABELS
    return label if is_label else None


def _first_line(item: Item) -> str:
    return item.text.partition("\n")[0]


def _lists(outline: Outline) -> Sequence[_List]:
    """Returns the lists of a document that may hold work, in order."""
    found: list[list[Item]] = []
    for item in outline.document.bullets:
        if found and _continues(outline, found[-1][-1], item):
            found[-1].append(item)
        else:
            found.append([item])
    lists = [_List(items, _lead(outline, items[0].line)) for items in found]
    return [each for each in lists if _may_be_work(outline, each)]


def _continues(outline: Outline, before: Item, item: Item) -> bool:
    between = outline.document.lines[before.end_line : item.line - 1]
    return (before.number is None) == (item.number is None) and not any(line.strip() for line in between)


def _lead(outline: Outline, line: int) -> str:
    """Returns the line before a list if it leads to it: `What to do:`."""
    before = (text.strip() for text in reversed(outline.document.lines[: line - 1]))
    last = next(filter(None, before), "")
    return last if _is_lead(last) else ""


def _may_be_work(outline: Outline, each: _List) -> bool:
    is_beside = any(
        is_aside(entry.heading.text) or is_deferred(entry.heading.text)
        for entry in outline.above_line(each.items[0].line)
        if entry.level > 1
    )
    return (
        len(each.items) > 1
        and not is_beside
        and not is_aside(each.lead)
        and not read_fields(each.lead)
        and not any(item.box is not None or not item.text for item in each.items)
        and not any(read_fields(_first_line(item)) for item in each.items)
    )


def _is_labelled(each: _List) -> bool:
    return 2 * sum(_label(item) is not None for item in each.items) > len(each.items)


def _is_announced(outline: Outline, each: _List) -> bool:
    above = next(iter(outline.above_line(each.items[0].line)), None)
    return announces_work(each.lead) or (
        above is not None and above.level > 1 and announces_work(above.heading.text)
    )


def _is_most(outline: Outline, each: _List, *, among: Sequence[_List]) -> bool:
    """Tells whether a list is most of the text, and the only one of its kind."""
    if len([other for other in among if other.is_numbered >= each.is_numbered]) > 1:
        return False
    document = outline.document
    inside = Ranges((item.line, item.end_line) for item in each.items)
    others = [item for item in document.bullets if item.line not in inside]
    prose = [
        block
        for block in document.blocks
        if isinstance(block, Paragraph | Code) and block.line not in inside and not _leads(block)
    ]
    weight = 1 if each.is_numbered else _BULLETS_PER_PARAGRAPH
    return weight * (len(prose) + len(others)) <= len(each.items)


def _leads(block: Paragraph | Code) -> bool:
    return isinstance(block, Paragraph) and _is_lead(block.text)


def _is_lead(text: str) -> bool:
    return text.rstrip("*_ ").endswith((":", "：")) and not text.startswith("#")
