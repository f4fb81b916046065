"""Tasks that are the items of a numbered list below a heading that announces tasks."""

from collections.abc import Sequence

from amelia.plan.labels import clean_title
from amelia.plan.outline import Outline, is_task_section
from amelia.plan.ranges import Ranges
from amelia.plan.reading import Place


def numbered(outline: Outline) -> Sequence[Place]:
    """Finds the outermost numbered items in sections called tasks."""
    sections = Ranges(
        (entry.line, entry.end_line)
        for entry in outline.entries
        if entry.level > 1 and is_task_section(entry.heading.text)
    )
    return [
        Place(item.line, item.end_line, item.number, clean_title(item.text.partition("\n")[0]))
        for item in outline.document.items
        if item.number and item.depth == 0 and item.box is None and item.line in sections
    ]
