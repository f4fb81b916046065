"""What a dialect makes of a plan: the tasks it found, and what it wants to say about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from amelia.model.diagnostics import Diagnostic
from amelia.model.plan import Task


@dataclass(frozen=True, slots=True)
class Reading:
    """The tasks of a plan in document order, with dependencies as the author wrote them."""

    format: str
    tasks: tuple[Task, ...]
    goal: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
