"""What a dialect finds in a plan, and what becomes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from amelia.model.diagnostics import Diagnostic
from amelia.model.plan import Task
from amelia.plan.markdown import Heading


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task stands; an empty `id` is numbered by position, `called` is what its label is called by.

    `dropped` tasks are left out, by a mark of their own or by the heading `below` which they stand.
    """

    line: int
    end_line: int
    id: str
    title: str
    done: bool | None = None
    dropped: bool = False
    below: Heading | None = None
    parallel: bool = False
    boxes_are_steps: bool = True
    needs: tuple[str, ...] = ()
    separated: bool = True
    called: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The tasks of a plan in document order, with dependencies as the author wrote them."""

    format: str
    tasks: tuple[Task, ...]
    goal: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
