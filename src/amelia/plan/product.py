"""The acceptance criteria of a product, which of them a goal touches, and which tasks take care of them.

- A criterion that is ticked or struck through is done, and asked of nobody.
- A goal is asked for the criteria it names by their ids; if it names none, for those that share a word with
  it; or for all, if it speaks of the product as a whole.
- Every criterion stands in the criteria of at most one task, by its id or word for word.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amelia.model.diagnostics import Diagnostic, warning
from amelia.model.plan import Plan, Task
from amelia.plan.fields import FieldIndex
from amelia.plan.markdown import TICKS, parse
from amelia.plan.source import decode

LARGEST = 1_000_000
"""How many bytes the page of a product may have."""

NAME = "PRODUCT.md"
"""The page of a product, at the top of its repository."""

_MARKS = re.compile(r"[*_`~]+")
_BOX = re.compile(r"[\s>]*(?:[-*+•]|\d+[.)])\s+\[(?P<box>.)\]")
_ID = re.compile(r"\[?(?P<id>[A-Za-z]{1,12}[-_ ]?\d{1,6}(?:\.\d{1,4}){0,3})\]?\s*[:.)—–-]+\s+(?=\S)")
_NAMED = re.compile(r"(?<![\w.-])[A-Za-z]{1,12}[-_ ]?\d{1,6}(?:\.\d{1,4}){0,3}(?![\w-])")
_LETTERS = re.compile(r"\d.*")
_LONGEST = 500
_LONGEST_GOAL = 20_000
_MOST = 300
_WHOLE = re.compile(
    r"\bproduct\.md\b|\b(?:all|every|each|whole|entire|complete)\b[^.\n]{0,40}\b(?:criteri|product)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_STEM = 5
_COMMON = 3  # a word in more than every third criterion is common
_FEW = 6  # so few criteria have no common words
_IDLE = frozenset(
    """
    the and for with that this from into when then than can could must should will shall are was has
    have had not all any each every new add make write create implement build support show use uses
    using user users page pages file files there their its his her who which what where how one our your
    you let get set also only own more most some such very work works thing way after before about over
    under between without
    """.split()
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One acceptance criterion of a product; one that its author gave no id is numbered."""

    id: str
    text: str
    is_done: bool = False

    def __str__(self) -> str:
        return f"{self.id}: {self.text}"


def read_criteria(data: bytes) -> tuple[Criterion, ...]:
    """Returns the acceptance criteria of a product's page, in order, as many as can be looked after."""
    document = parse(decode(data).text)
    found = dict[str, bool]()
    for line, text in FieldIndex(document).listed("criteria"):
        found.setdefault(text, _is_done(document.lines[line - 1], text))
    return tuple(_numbered(list(found.items())[:_MOST]))


def _is_done(line: str, text: str) -> bool:
    box = _BOX.match(line)
    return (box is not None and box["box"] in TICKS) or text.lstrip().startswith(("~~", "✅", "✔", "☑"))


def _numbered(found: Sequence[tuple[str, bool]]) -> Iterator[Criterion]:
    taken: set[str] = set()
    for number, (raw, is_done) in enumerate(found, start=1):
        text = " ".join(_MARKS.sub("", raw).split()).lstrip("✅✔☑️ ")[:_LONGEST]
        named = _ID.match(text)
        name = named["id"] if named else f"AC-{number}"
        while name.casefold() in taken:
            name = f"{name}-{number}"
        taken.add(name.casefold())
        yield Criterion(name, text[named.end() :] if named else text, is_done)


def open_criteria(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Returns the criteria that are not done yet."""
    return tuple(criterion for criterion in criteria if not criterion.is_done)


def touched(criteria: Sequence[Criterion], goal: str, more: str = "") -> tuple[Criterion, ...]:
    """Returns the open criteria that a goal touches; `more` is the text behind it, looked through for ids."""
    left = open_criteria(criteria)
    said = f"{goal}\n{more}"[:_LONGEST_GOAL].casefold()
    if named := [criterion for criterion in left if _names(said, criterion.id)]:
        return tuple(named)
    if _WHOLE.search(goal[:_LONGEST_GOAL]):
        return left
    wanted = _stems(goal[:_LONGEST_GOAL]) - _common(left)
    return tuple(criterion for criterion in left if not wanted.isdisjoint(_stems(criterion.text)))


def _common(criteria: Sequence[Criterion]) -> set[str]:
    """Returns the words that stand in so many criteria that they say nothing about any of them."""
    counts = Counter(stem for criterion in criteria for stem in _stems(criterion.text))
    is_large = len(criteria) >= _FEW
    return {stem for stem, count in counts.items() if is_large and count * _COMMON > len(criteria)}


def _stems(text: str) -> set[str]:
    """Returns the words of a text without their endings; of writing without spaces, all pairs of signs."""
    folded = text.casefold()
    words = {word for word in _WORD.findall(folded) if word not in _IDLE}
    pairs = {run[at : at + 2] for run in _UNSPACED.findall(folded) for at in range(len(run) - 1)}
    return {word.rstrip("s")[:_STEM] for word in words} | pairs


def gaps(
    asked: Sequence[Criterion], tasks: Sequence[Task], known: Sequence[Criterion] | None = None
) -> Iterator[str]:
    """Yields which criteria that are asked for no task takes care of, and which known ones several do."""
    missing = {criterion.id for criterion in asked}
    for criterion in asked if known is None else known:
        carers = [task.id for task in tasks if _cares(task, criterion)]
        if not carers and criterion.id in missing:
            yield f"No task has the product's criterion {criterion}"
        elif len(carers) > 1:
            yield f"Tasks {', '.join(carers)} all have the product's criterion {criterion}"


def product_findings(plan: Plan, page: bytes | None) -> list[Diagnostic]:
    """Returns what a plan leaves open of the product's page; None is a page that is not there."""
    if page is None:
        message = f"The plan refers to {plan.product}, which is not there."
        return [warning("no-product", message, line=1, hint="Write the path from the top of the repository.")]
    criteria = read_criteria(page)
    asked = touched(criteria, plan.goal)
    hint = "Name each criterion in the acceptance criteria of one task, by its id."
    left = [
        warning("product-criterion", f"{gap}.", line=1, hint=hint)
        for gap in gaps(asked, plan.tasks, known=open_criteria(criteria))
    ]
    return [*left, *_unknown(plan, criteria)]


def _unknown(plan: Plan, criteria: Sequence[Criterion]) -> Iterator[Diagnostic]:
    """Yields a warning for every id in the criteria of a task that the product could have and has not."""
    ids = {criterion.id.casefold() for criterion in criteria}
    letters = {_LETTERS.sub("", criterion) for criterion in ids}
    for task in plan.tasks:
        said = " ".join(_MARKS.sub("", criterion) for criterion in task.acceptance_criteria)
        for name in dict.fromkeys(_NAMED.findall(said)):
            if name.casefold() not in ids and _LETTERS.sub("", name.casefold()) in letters:
                message = f"Task '{task.id}' names {name}, which {plan.product} does not have."
                yield warning("unknown-criterion", message, line=task.line, hint="Write an id that it has.")


def _cares(task: Task, criterion: Criterion) -> bool:
    return any(_says(said, criterion) for said in task.acceptance_criteria)


def _says(said: str, criterion: Criterion) -> bool:
    plain = " ".join(_MARKS.sub("", said).split()).casefold()
    return _names(plain, criterion.id) or plain.strip(" .") == criterion.text.casefold().strip(" .")


def _names(folded: str, criterion: str) -> bool:
    """Tells whether a case-folded text names a criterion by its id."""
    return re.search(rf"(?<![\w.-]){re.escape(criterion.casefold())}(?![\w-]|\.\d)", folded) is not None
