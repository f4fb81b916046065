"""A plan as read becomes a plan that can run: references resolved, sizes known, units in order.

Compiling never raises on what an author may write: every problem is a diagnostic, and a plan whose tasks
cannot be put in order has no units. The tasks of the result are those that were read, with resolved declared
dependencies and their complexity; what was derived stands in the units.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from amelia.model.diagnostics import Diagnostic, Severity, warning
from amelia.model.plan import Milestone, Mode, Plan, Unit
from amelia.model.settings import PlanSettings
from amelia.plan.check import UNORDERABLE, check_shared_files, check_tasks
from amelia.plan.graph import DONE, derive_milestones
from amelia.plan.phases import compute_phases
from amelia.plan.references import resolve_references
from amelia.plan.size import score, soft_limits
from amelia.plan.tdd import validate_tdd_ordering
from amelia.plan.units import Built, build_units, choose_mode

_BADNESS = {severity: number for number, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """A plan with everything that was worked out about it."""

    plan: Plan
    mode: Mode
    mode_reason: str
    units: tuple[Unit, ...]
    milestones: tuple[Milestone, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def can_run(self) -> bool:
        """Says whether nothing forbids to run the plan; one that is finished runs, and has nothing to do."""
        return bool(self.plan.tasks) and all(
            found.severity is not Severity.ERROR for found in self.diagnostics
        )


def compile_plan(
    plan: Plan, diagnostics: Sequence[Diagnostic], *, settings: PlanSettings, mode: Mode | None
) -> CompiledPlan:
    """Returns the plan compiled for the mode asked for, or for the one that fits, with all diagnostics."""
    plan = _prepared(plan, settings)
    tasks = plan.tasks
    problems = check_tasks(tasks)
    chosen, reason = choose_mode(plan, settings=settings, requested=mode)
    is_orderable = all(problem.code not in UNORDERABLE for problem in problems)
    built = build_units(chosen, plan, settings=settings) if is_orderable else Built((), tasks)
    phases = compute_phases(tasks, {})[0] if is_orderable and any(task.phase for task in tasks) else ()
    found = [
        *diagnostics,
        *problems,
        *(d for task in tasks if task.status not in DONE for d in soft_limits(task, settings.limits)),
        *validate_tdd_ordering(tasks, settings.tdd, phases=phases),
        *built.diagnostics,
        *check_shared_files(built.units),
        *_nothing_left(plan),
    ]
    milestones = derive_milestones(built.tasks, plan.descriptions)
    return CompiledPlan(plan, chosen, reason, built.units, milestones, _sorted(found))


def _prepared(plan: Plan, settings: PlanSettings) -> Plan:
    needs = resolve_references(plan.tasks)
    tasks = tuple(
        replace(task, depends_on=need, complexity=score(task, settings.limits))
        for task, need in zip(plan.tasks, needs, strict=True)
    )
    return replace(plan, tasks=tasks)


def _nothing_left(plan: Plan) -> list[Diagnostic]:
    if not plan.tasks or any(task.status not in DONE for task in plan.tasks):
        return []
    return [
        warning(
            "nothing-left",
            "Every task of the plan is completed or skipped.",
            hint="Set a task back to pending to run it again.",
        )
    ]


def _sorted(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Puts each finding once, by line and then by severity; those about no line come first."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda d: (d.line or 0, _BADNESS[d.severity])))
