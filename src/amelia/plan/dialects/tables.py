"""Tasks that are rows of a table with an id and a title: `| ID | Task | Depends on | Status |`."""

from collections.abc import Sequence
from dataclasses import dataclass

from amelia.model.plan import TaskStatus
from amelia.plan import facts, words
from amelia.plan.labels import clean_id, clean_title
from amelia.plan.markdown import Row
from amelia.plan.outline import Outline
from amelia.plan.reading import Place

_ID = frozenset({"id", "#", "no", "no.", "nr", "nr.", "number", "task id", "编号", "номер", "№", "番号"})
_TITLE = (
    frozenset(
        {"task", "title", "story", "work item", "item", "name", "description", "work", "subject", "what"}
    )
    | words.TASKS
)
_NEEDS = frozenset(words.FIELDS["needs"].split("|")) | {"deps"}
_STATUS = frozenset(words.FIELDS["status"].split("|"))


@dataclass(frozen=True, slots=True)
class _Columns:
    id: int
    title: int
    needs: int | None
    status: int | None


def rows(outline: Outline) -> Sequence[Place]:
    """Finds the rows of the tables that have an id and a title column."""
    places: list[Place] = []
    seen: set[str] = set()
    columns: _Columns | None = None
    for block in outline.document.blocks:
        if not isinstance(block, Row):
            continue
        if block.head:
            columns = _columns(block.cells)
            continue
        if columns is None or len(block.cells) <= max(columns.id, columns.title):
            continue
        place = _place(block, columns)
        if place.id and place.title and place.id not in seen:
            seen.add(place.id)
            places.append(place)
    return places


def _columns(cells: Sequence[str]) -> _Columns | None:
    names = [clean_title(cell).casefold() for cell in cells]
    identifier = next((index for index, name in enumerate(names) if name in _ID), None)
    title = next((index for index, name in enumerate(names) if name in _TITLE and index != identifier), None)
    needs = next((index for index, name in enumerate(names) if name in _NEEDS), None)
    status = next((index for index, name in enumerate(names) if name in _STATUS), None)
    if identifier is None or title is None or (needs is None and status is None):
        return None
    return _Columns(identifier, title, needs, status)


def _place(row: Row, columns: _Columns) -> Place:
    def cell(index: int | None) -> str:
        return row.cells[index] if index is not None and index < len(row.cells) else ""

    status = facts.status(cell(columns.status))
    return Place(
        row.line,
        row.end_line,
        clean_id(clean_title(cell(columns.id)).strip("`")),
        clean_title(cell(columns.title)),
        done=status is TaskStatus.COMPLETED if columns.status is not None else None,
        dropped=status is TaskStatus.SKIPPED,
        needs=tuple(facts.references(cell(columns.needs))),
    )
