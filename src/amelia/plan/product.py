"""The acceptance criteria of a product, and which tasks of a plan take care of them.

Every criterion is to stand in the criteria of exactly one task, by its id or word for word.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amelia.model.plan import Task
from amelia.plan.fields import FieldIndex
from amelia.plan.markdown import parse
from amelia.plan.source import decode

LARGEST = 1_000_000
"""How many bytes the page of a product may have."""

_MARKS = re.compile(r"[*_`~]+")
_ID = re.compile(r"\[?(?P<id>[A-Za-z]{1,12}[-_ ]?\d{1,6}(?:\.\d{1,4}){0,3})\]?\s*[:.)—–-]+\s+(?=\S)")
_LONGEST = 500
_MOST = 300


@dataclass(frozen=True, slots=True)
class Criterion:
    """One acceptance criterion of a product; one that its author gave no id is numbered."""

    id: str
    text: str

    def __str__(self) -> str:
        return f"{self.id}: {self.text}"


def read_criteria(data: bytes) -> tuple[Criterion, ...]:
    """Returns the acceptance criteria of a product's page, in order, as many as can be looked after."""
    document = parse(decode(data).text)
    found = FieldIndex(document).describe("", (1, len(document.lines)))["acceptance_criteria"]
    return tuple(_numbered(found[:_MOST]))


def _numbered(texts: Sequence[str]) -> Iterator[Criterion]:
    taken: set[str] = set()
    for number, raw in enumerate(texts, start=1):
        text = " ".join(_MARKS.sub("", raw).split())[:_LONGEST]
        named = _ID.match(text)
        name = named["id"] if named else f"AC-{number}"
        while name.casefold() in taken:
            name = f"{name}-{number}"
        taken.add(name.casefold())
        yield Criterion(name, text[named.end() :] if named else text)


def gaps(criteria: Sequence[Criterion], tasks: Sequence[Task]) -> Iterator[str]:
    """Yields which criteria no task takes care of, and which more than one does."""
    for criterion in criteria:
        carers = [task.id for task in tasks if _cares(task, criterion)]
        if not carers:
            yield f"No task has the product's criterion {criterion}"
        elif len(carers) > 1:
            yield f"Tasks {', '.join(carers)} all have the product's criterion {criterion}"


def _cares(task: Task, criterion: Criterion) -> bool:
    return any(_says(said, criterion) for said in task.acceptance_criteria)


def _says(said: str, criterion: Criterion) -> bool:
    plain = " ".join(_MARKS.sub("", said).split()).casefold()
    named = re.search(rf"(?<![\w.-]){re.escape(criterion.id.casefold())}(?![\w-]|\.\d)", plain)
    return named is not None or plain.strip(" .") == criterion.text.casefold().strip(" .")
