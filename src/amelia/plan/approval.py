"""What stands between a plan and its approval: errors, which forbid to run it, and what it leaves open."""

from collections.abc import Iterator
from dataclasses import dataclass

from amelia.model.diagnostics import Severity
from amelia.model.plan import Mode
from amelia.model.settings import PlanSettings
from amelia.plan.compile import CompiledPlan, compile_plan
from amelia.plan.product import gaps, read_criteria
from amelia.plan.read import read_plan

_MOST = 30
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Verdict:
    """A plan as it would run, what forbids that, and which criteria of the product it leaves open."""

    compiled: CompiledPlan
    errors: tuple[str, ...]
    gaps: tuple[str, ...]


def judge_plan(
    data: bytes, *, settings: PlanSettings, mode: Mode | None, product: bytes | None = None
) -> Verdict:
    """Returns what is to be said of the text of a plan before a person approves it."""
    plan, diagnostics = read_plan(data)
    compiled = compile_plan(plan, diagnostics, settings=settings, mode=mode)
    criteria = read_criteria(product) if product is not None else ()
    left = tuple(gap[:_LONGEST] for gap in gaps(criteria, compiled.plan.tasks))
    return Verdict(compiled, tuple(_errors(compiled))[:_MOST], left[:_MOST])


def _errors(compiled: CompiledPlan) -> Iterator[str]:
    for found in compiled.diagnostics:
        if found.severity is Severity.ERROR:
            where = f"line {found.line}: " if found.line else ""
            hint = f" ({found.hint})" if found.hint else ""
            yield f"{where}{found.code}: {found.message}{hint}"[:_LONGEST]
    if compiled.can_run and not compiled.units:
        yield "nothing-left: every task of the plan is done or left out"
