"""What a piece of a split task is told: a title that says which part it is, and a section of its own.

A piece keeps what the task's section says, without the files and criteria that belong to other pieces; all of
its own are named in it. Text that describes the whole task stays, and a note says how to read it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from amelia.model.plan import Task
from amelia.plan import facts
from amelia.plan.fields import Field, FieldIndex
from amelia.plan.markdown import Document, parse
from amelia.plan.paths import Layer, folder, is_test, layer_of, normal_path

NOTE = (
    "This is one piece of a larger task. Where the text describes all of it, "
    "only what concerns the files and criteria named here belongs to this piece."
)
_TITLE = 80
_SCOPE = 40
_FEW = 2
_INDENT = re.compile(r"[ \t]*")


def shortened(text: str, width: int = _TITLE) -> str:
    """Returns the text, cut with an ellipsis where it is wider than allowed."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def piece_titles(task: Task, pieces: Sequence[Task]) -> list[str]:
    """Returns a title for each piece: the title of the task, the piece's number, and what it is about."""
    titles: list[str] = []
    for number, piece in enumerate(pieces, start=1):
        scope = shortened(_scope(piece, pieces, task), _SCOPE)
        mark = f" ({number}/{len(pieces)})" + (f": {scope}" if scope else "")
        titles.append(shortened(task.title, _TITLE - len(mark)) + mark)
    return titles


def own_sections(task: Task, pieces: Sequence[Task]) -> list[str]:
    """Returns a section for each piece of a task: what is its own, and what is said of all of them."""
    document = parse(task.section)
    entries = list(FieldIndex(document).entries())
    return [_Narrowed(task, piece, document).section(entries) for piece in pieces]


def _scope(piece: Task, pieces: Sequence[Task], whole: Task) -> str:
    """Returns what a piece is about: a layer, a directory or files that no other piece has, or criteria."""
    others = [other for other in pieces if other is not piece]
    files = _bodies(piece)
    layers = {layer_of(path) for path in files}
    elsewhere = {layer_of(path) or Layer.BUSINESS for other in others for path in _bodies(other)}
    if len(layers) == 1 and (layer := layers.pop()) is not None and layer not in elsewhere:
        return f"{layer} layer"
    folders = {folder(path) for path in files}
    taken = {folder(path) for other in others for path in _bodies(other)}
    if len(folders) == 1 and len(files) > 1 and folders.isdisjoint({*taken, ""}):
        return f"{folders.pop()}/"
    if files:
        names = [path.rpartition("/")[2] for path in files]
        return ", ".join(names) if len(names) <= _FEW else f"{names[0]} … {names[-1]}"
    return _criteria(piece, whole)


def _bodies(task: Task) -> list[str]:
    """Returns the files of a task without its tests, or its tests if there is nothing else."""
    files = list(dict.fromkeys(map(normal_path, task.files)))
    return [path for path in files if not is_test(path)] or files


def _criteria(piece: Task, whole: Task) -> str:
    own = list(piece.acceptance_criteria)
    numbers = [n for n, text in enumerate(whole.acceptance_criteria, start=1) if text in own]
    if not numbers:
        return ""
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return f"criterion {first}"
    is_range = last - first + 1 == len(numbers)
    return f"criteria {first}–{last}" if is_range else f"criteria {', '.join(map(str, numbers))}"


@dataclass(slots=True)
class _Narrowed:
    """The section of a task on its way to that of one piece."""

    task: Task
    piece: Task
    document: Document
    gone: set[int] = field(default_factory=set[int])
    instead: dict[int, str] = field(default_factory=dict[int, str])

    def section(self, entries: Iterable[tuple[Field, Sequence[tuple[int, str]]]]) -> str:
        """Returns the lines that are the piece's, and what of its own they do not name."""
        for found, values in entries:
            for number, text in values:
                self._look_at(found, number, text)
            if values and found.line != values[0][0] and self.gone.issuperset(n for n, _ in values):
                self.gone.add(found.line)
        numbered = enumerate(self.document.lines, start=1)
        kept = "".join(self.instead.get(n, line) for n, line in numbered if n not in self.gone)
        kept = kept.removeprefix(f"{NOTE}\n\n").rstrip("\r\n")
        return "\n".join((f"{NOTE}\n", kept, *self._missing(kept))) + "\n"

    def _look_at(self, found: Field, number: int, text: str) -> None:
        """Takes a value out that belongs to other pieces, or of several in a line those that do."""
        if found.name == "criteria":
            if text in self.task.acceptance_criteria and text not in self.piece.acceptance_criteria:
                self._drop(found, number, text)
            return
        named = list(dict.fromkeys(map(normal_path, facts.paths(text))))
        own = set(map(normal_path, self.piece.files))
        theirs = set(map(normal_path, self.task.files)) - own
        if theirs.isdisjoint(named):
            return
        if mine := [path for path in named if path in own]:
            is_mixed = found.name == "files"
            named = [f"{self._role(path)} `{path}`" if is_mixed else f"`{path}`" for path in mine]
            self._put(number, text, ", ".join(named))
        else:
            self._drop(found, number, text)

    def _role(self, path: str) -> str:
        roles = {"create": self.piece.files_to_create, "test": self.piece.test_files}
        return next((role for role, paths in roles.items() if path in map(normal_path, paths)), "modify")

    def _put(self, number: int, text: str, instead: str) -> None:
        line = self.instead.get(number, self.document.lines[number - 1])
        self.instead[number] = line.replace(text, instead, 1)

    def _drop(self, found: Field, number: int, text: str) -> None:
        """Drops a line and what is indented below it; on a line that says more, only the value."""
        line = self.document.lines[number - 1]
        if number == found.line and "|" in line:
            self._put(number, text, "none")
            return
        self.gone.add(number)
        for below, other in enumerate(self.document.lines[number:], start=number + 1):
            if not other.strip() or _indent(other) <= _indent(line):
                return
            self.gone.add(below)

    def _missing(self, text: str) -> Iterator[str]:
        """Yields lines with the piece's files and criteria that its text does not name."""
        paths = [path for path in self.piece.files if path not in text]
        criteria = [criterion for criterion in self.piece.acceptance_criteria if criterion not in text]
        if paths or criteria:
            yield ""
        if paths:
            yield "- Files:"
            yield from (f"  - {self._role(normal_path(path))}: `{path}`" for path in paths)
        if criteria:
            yield "- Acceptance criteria:"
            yield from (f"  - {criterion}" for criterion in criteria)


def _indent(line: str) -> int:
    found = _INDENT.match(line)
    assert found is not None
    return len(found[0].expandtabs(4))
