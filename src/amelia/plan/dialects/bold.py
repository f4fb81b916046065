"""Tasks that are bold paragraphs: `**Task 1: …**`, `**T1 — …**`, `**1. …**`."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from amelia.plan.labels import Kind, Label, read_label
from amelia.plan.markdown import Paragraph
from amelia.plan.outline import Outline
from amelia.plan.reading import Place

_BOLD = re.compile(r"^(?:[^\w\s*]{1,3}\s*)?\*\*(?P<bold>[^*\n]+(?:\*(?!\*)[^*\n]*)*)\*\*(?P<rest>[^\n]*)")


def worded(outline: Outline) -> Sequence[Place]:
    """Finds bold paragraphs that call themselves tasks."""
    return _find(outline, frozenset({Kind.TASK, Kind.SUBTASK}))


def coded(outline: Outline) -> Sequence[Place]:
    """Finds bold paragraphs that start with an id of letters and digits."""
    return _find(outline, frozenset({Kind.CODE}))


def numbered(outline: Outline) -> Sequence[Place]:
    """Finds bold paragraphs that start with a number."""
    return _find(outline, frozenset({Kind.NUMBER}))


def groups(outline: Outline) -> Sequence[Place]:
    """Finds bold paragraphs called phase, step or story, the coarsest units a plan may have."""
    return _find(outline, frozenset({Kind.PHASE, Kind.STEP, Kind.STORY, Kind.MILESTONE}))


def _find(outline: Outline, kinds: frozenset[Kind]) -> Sequence[Place]:
    found: list[tuple[Paragraph, Label]] = []
    for block in outline.document.blocks:
        if isinstance(block, Paragraph) and (match := _BOLD.match(block.text)):
            label = read_label(match["bold"])
            if label is not None and not label.title:  # "**Task 1:** Title"
                label = read_label(match["bold"] + match["rest"])
            if label is not None and label.kind in kinds:
                found.append((block, label))
    stops = sorted([entry.line for entry in outline.entries] + [block.line for block, _ in found])
    stops.append(len(outline.document.lines) + 1)
    return [
        Place(
            block.line,
            stops[bisect_right(stops, block.line)] - 1,
            label.id,
            label.title,
            done=label.done,
            called=label.called,
        )
        for block, label in found
    ]
