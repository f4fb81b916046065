"""Which changes a unit had any business making.

Protected paths are refused whatever the plan says. What no task declared is reported, and refused only where
a person asked for it; a unit whose tasks declare nothing has no scope to leave.
"""

from collections.abc import Iterable, Iterator

from amelia.judge.globs import covered
from amelia.model.evidence import Change, ChangeStatus, Note, NoteCode, Problem, ProblemCode
from amelia.plan.declared import as_pattern

PROTECTED = ("amelia.toml", ".project-config.json", "docs/amelia/**", ".venv/**", "venv/**")
"""What no agent may change: the settings and the programs its tests run with, and the records of runs."""


def protected_paths(changes: Iterable[Change], configured: Iterable[str]) -> Iterator[Problem]:
    """Finds changes to paths that are not an agent's to change."""
    # Some file systems take `AMELIA.toml` for the same file.
    patterns = tuple(pattern.casefold() for pattern in (*PROTECTED, *configured))
    for change in changes:
        if covered(change.path.casefold(), patterns):
            message = f"{change.path} is protected and was {_past(change)}. Put it back as it was."
            yield Problem(ProblemCode.PROTECTED_PATH, message, change.path)


def undeclared(
    changes: Iterable[Change], declared: tuple[str, ...], *, enforce: bool
) -> Iterator[Problem | Note]:
    """Finds changes to files that no task of the unit declares."""
    if not declared:
        return
    patterns = tuple(map(as_pattern, declared))
    for change in changes:
        if covered(change.path, patterns):
            continue
        message = f"{change.path} was {_past(change)}, and no task of this unit declares it."
        if enforce:
            yield Problem(ProblemCode.OUT_OF_SCOPE, message, change.path)
        else:
            yield Note(NoteCode.OUT_OF_SCOPE, message, change.path)


def unknown_submodules(changes: Iterable[Change]) -> Iterator[Problem]:
    """Finds submodules that were moved to a commit nobody else can get."""
    for change in changes:
        if change.is_submodule and not change.submodule_known:
            message = (
                f"The submodule {change.path} points to a commit that its repository does not have. "
                "Publish the commit there first, or put the submodule back."
            )
            yield Problem(ProblemCode.UNKNOWN_SUBMODULE, message, change.path)


def _past(change: Change) -> str:
    return "changed in kind" if change.status is ChangeStatus.TYPE else str(change.status)
