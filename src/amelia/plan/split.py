"""A task that is too hard becomes a chain of pieces that are not.

Every file and every criterion of the task is in exactly one piece, in its order, and the piece is told only
its own; the first piece waits for
what the task waited for, each next one for the piece before, and whoever waited for the task waits for the
last. A task is split only above the threshold, only if that can help, and never once it is done.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import count, product
from string import ascii_lowercase

from amelia.model.diagnostics import Diagnostic, error, info, warning
from amelia.model.plan import Complexity, Level, Task, TaskId
from amelia.model.settings import SizeLimits
from amelia.plan.graph import DONE
from amelia.plan.pieces import own_sections, piece_titles
from amelia.plan.seams import cut
from amelia.plan.size import score_piece

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SplitResult:
    """The tasks as they would run, which pieces each split task became, and what was noticed."""

    tasks: tuple[Task, ...]
    pieces_of: Mapping[TaskId, tuple[TaskId, ...]]
    diagnostics: tuple[Diagnostic, ...]


def split_task(
    task: Task, limits: SizeLimits, *, taken: AbstractSet[TaskId] = frozenset()
) -> tuple[Task, ...]:
    """Returns the pieces of a scored task, or the task alone if it is easy enough or cannot be split.

    Piece ids avoid those that are taken.
    """
    if not _is_too_hard(task.complexity, limits) or not limits.auto_split or task.status in DONE:
        return (task,)
    bare = replace(task, files_to_create=(), files_to_modify=(), test_files=(), acceptance_criteria=())
    if _is_too_hard(score_piece(bare, limits), limits):
        return (task,)
    pieces = _cut_until_easy(task, limits)
    return _chained(task, pieces, taken) if len(pieces) > 1 else (task,)


def divide(task: Task, limits: SizeLimits, *, taken: AbstractSet[TaskId] = frozenset()) -> tuple[Task, ...]:
    """Returns the pieces of a task, however easy it is; the task alone if it has no seam."""
    pieces = [replace(part, complexity=score_piece(part, limits)) for part in cut(task)]
    return _chained(task, pieces, taken) if len(pieces) > 1 else (task,)


def piece_ids(whole: str, taken: AbstractSet[str]) -> Iterator[str]:
    """Yields ids for the pieces of something, without those that are taken: `T1-a`, `T1-b` and so on."""
    return (name for suffix in _suffixes() if (name := f"{whole}-{suffix}") not in taken)


def split_all(tasks: Sequence[Task], limits: SizeLimits) -> SplitResult:
    """Returns the tasks with hard ones replaced by pieces, and dependants sent to the last piece."""
    taken = {task.id for task in tasks}  # pieces of two tasks cannot collide: their ids begin with the task's
    found: list[Task] = []
    pieces_of: dict[TaskId, tuple[TaskId, ...]] = {}
    diagnostics: list[Diagnostic] = []
    for task in tasks:
        pieces = split_task(task, limits, taken=taken)
        found.extend(pieces)
        if len(pieces) > 1:
            pieces_of[task.id] = tuple(piece.id for piece in pieces)
            diagnostics.append(_split_notice(task, pieces))
        if limits.auto_split and task.status not in DONE:
            diagnostics.extend(_still_too_hard(task, pieces, limits))
    return SplitResult(tuple(_redirected(found, pieces_of)), pieces_of, tuple(diagnostics))


def _is_too_hard(complexity: Complexity, limits: SizeLimits) -> bool:
    return complexity.total > limits.complexity_threshold


def _redirected(tasks: Sequence[Task], pieces_of: Mapping[TaskId, tuple[TaskId, ...]]) -> Iterator[Task]:
    """Lets dependants of a split task depend on its last piece."""
    for task in tasks:
        if any(need in pieces_of for need in task.depends_on):
            needs = (pieces_of[need][-1] if need in pieces_of else need for need in task.depends_on)
            yield replace(task, depends_on=tuple(needs))
        else:
            yield task


def _split_notice(task: Task, pieces: Sequence[Task]) -> Diagnostic:
    return info(
        "split",
        f"Task '{task.id}' scores {task.complexity.total:.4g} and is split into {_listed(pieces)}.",
        line=task.line,
        hint="Divide it yourself if you want other pieces, or set auto_split to false.",
    )


def _still_too_hard(task: Task, pieces: Sequence[Task], limits: SizeLimits) -> Iterator[Diagnostic]:
    """Says which pieces stay above the threshold; the hardest kind needs a person."""
    hard = [piece for piece in pieces if _is_too_hard(piece.complexity, limits)]
    critical = [piece for piece in hard if piece.complexity.level is Level.CRITICAL]
    if critical:
        yield error(
            "critical-unsplittable",
            f"Task {_listed(critical)} scores {critical[0].complexity.total:.4g} (CRITICAL: must decompose), "
            "cannot be split, and needs a person.",
            line=task.line,
            hint="Divide the task by hand: name its files and give each part its own acceptance criteria.",
        )
    elif hard:
        yield warning(
            "unsplittable",
            f"Task {_listed(hard)} scores {hard[0].complexity.total:.4g}, above the threshold of "
            f"{limits.complexity_threshold:g}, and cannot be split further.",
            line=task.line,
            hint="More files or acceptance criteria in the plan give the split something to divide by.",
        )


def _listed(tasks: Sequence[Task]) -> str:
    shown = ", ".join(f"'{task.id}'" for task in tasks[:_SHOWN])
    return shown if len(tasks) <= _SHOWN else f"{shown} and {len(tasks) - _SHOWN} more"


def _chained(task: Task, pieces: Sequence[Task], taken: AbstractSet[TaskId]) -> tuple[Task, ...]:
    """Names the pieces and lets each depend on the one before."""
    chain: list[Task] = []
    # a task that names itself is reported; it must not tie its first piece to its last
    needs = tuple(need for need in task.depends_on if need != task.id)
    titles, sections = piece_titles(task, pieces), own_sections(task, pieces)
    told = zip(pieces, titles, sections, strict=True)
    for (piece, title, section), name in zip(told, piece_ids(task.id, taken), strict=False):
        named = replace(
            piece,
            id=TaskId(name),
            title=title,
            section=section,
            depends_on=(chain[-1].id,) if chain else needs,
        )
        chain.append(named)
    return tuple(chain)


def _suffixes() -> Iterator[str]:
    """Counts in letters: a to z, aa, ab and so on."""
    return ("".join(letters) for length in count(1) for letters in product(ascii_lowercase, repeat=length))


def _cut_until_easy(task: Task, limits: SizeLimits) -> list[Task]:
    """Cuts the task, and what comes of it, until everything is easy enough or has no seam left."""
    waiting = [task]
    done: list[Task] = []
    while waiting:
        piece = waiting.pop()
        parts = cut(piece) if _is_too_hard(piece.complexity, limits) else []
        if parts:
            scored = [replace(part, complexity=score_piece(part, limits)) for part in parts]
            waiting.extend(reversed(scored))
        else:
            done.append(piece)
    return done
