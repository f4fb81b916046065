"""Items in a list of tasks that are no tasks: `- fix the login` beside `- [ ] add a logout`.

An item looks like a task if tasks stand beside it in its list, on its level. It has to be one, to hold tasks
or to stand inside one; any other is named, since its text reaches nobody: with an error, or with a warning
where it says itself that it is a remark, a field or done.
"""

from collections.abc import Iterator, Sequence

from amelia.model.diagnostics import Diagnostic, error, warning
from amelia.plan.fields import read_fields
from amelia.plan.labels import clean_title, read_label
from amelia.plan.markdown import Document, Item
from amelia.plan.outline import is_aside
from amelia.plan.ranges import Ranges, any_within
from amelia.plan.reading import Place

_SHOWN = 60
_MARKS = ("~~", "✅", "✔", "☑", "✓")


def items_beside(document: Document, places: Sequence[Place]) -> Iterator[Diagnostic]:
    """Yields a finding for every item of a list of tasks that is none and holds none."""
    own = {place.line for place in places}
    if not any(item.line in own for item in document.items):  # a plain bullet that is a task has no others
        return
    lines = sorted(own)
    inside = Ranges((place.line, place.end_line) for place in places)
    groups = {place.id.rpartition(".")[0] for place in places}
    for items in _lists(document):
        tasks = [item for item in items if item.line in own]
        for item in items if tasks else ():
            label = read_label(item.text)
            is_group = label is not None and label.id in groups
            holds = any_within(lines, item.line, item.end_line)
            if item.text and item.line not in inside and not holds and not is_group:
                yield _beside(item, lacks_box=item.box is None and tasks[0].box is not None)


def _lists(document: Document) -> Sequence[Sequence[Item]]:
    """Returns the items of each list, those around a list not among them; only blank lines stand between."""
    lists: list[list[Item]] = []
    around: list[list[Item]] = []  # the list of every depth, down to the item before
    for item in document.every_item:
        del around[item.depth + 1 :]
        before = around.pop() if len(around) > item.depth else []
        if not before or any(map(str.strip, document.lines[before[-1].end_line : item.line - 1])):
            lists.append(before := [])
        before.append(item)
        around.append(before)
    return lists


def _beside(item: Item, *, lacks_box: bool) -> Diagnostic:
    first = item.text.partition("\n")[0]
    text = clean_title(first)[:_SHOWN]
    lacks = "a box" if lacks_box else "an id or a box as the tasks have"
    give = "a box, `- [ ] …`" if lacks_box else "what the tasks beside it have"
    make, code = (warning, "maybe-task") if _is_remark(first) else (error, "unread-task")
    return make(
        code,
        f"'{text}' stands in a list of tasks without {lacks}; its text reaches nobody.",
        line=item.line,
        hint=f"Give it {give}, or indent it below the task it belongs to.",
    )


def _is_remark(text: str) -> bool:
    """Tells whether an item says that it is no task: `Note: …`, `Depends on: …`, `~~dropped~~`, `✅ done`."""
    head, colon, _ = clean_title(text).partition(":")
    return text.startswith(_MARKS) or bool(read_fields(text)) or (bool(colon) and is_aside(head))
