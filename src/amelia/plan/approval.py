"""What stands between a plan and its approval: errors, which forbid to run it, and what it leaves open."""

from collections.abc import Iterator
from dataclasses import dataclass

from amelia.model.diagnostics import Severity
from amelia.model.plan import Mode
from amelia.model.settings import PlanSettings
from amelia.plan.compile import CompiledPlan, compile_plan
from amelia.plan.product import gaps, open_criteria, read_criteria, touched
from amelia.plan.read import read_plan

_MOST = 30
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Verdict:
    """A plan as it would run, what forbids that, and which criteria of the product it leaves open."""

    compiled: CompiledPlan
    errors: tuple[str, ...]
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a plan is for: the criteria of the product, the goal, and the text behind it."""

    product: bytes | None = None
    goal: str = ""
    more: str = ""


def judge_plan(data: bytes, *, settings: PlanSettings, mode: Mode | None, aim: Aim | None = None) -> Verdict:
    """Returns what is to be said of the text of a plan before a person approves it."""
    plan, diagnostics = read_plan(data)
    compiled = compile_plan(plan, diagnostics, settings=settings, mode=mode)
    left = tuple(gap[:_LONGEST] for gap in _gaps(compiled, aim))
    return Verdict(compiled, tuple(_errors(compiled))[:_MOST], left[:_MOST])


def _gaps(compiled: CompiledPlan, aim: Aim | None) -> Iterator[str]:
    if aim is None or aim.product is None:
        return iter(())
    criteria = read_criteria(aim.product)
    asked = touched(criteria, aim.goal, aim.more)
    return gaps(asked, compiled.plan.tasks, known=open_criteria(criteria))


def _errors(compiled: CompiledPlan) -> Iterator[str]:
    for found in compiled.diagnostics:
        if found.severity is Severity.ERROR:
            where = f"line {found.line}: " if found.line else ""
            hint = f" ({found.hint})" if found.hint else ""
            yield f"{where}{found.code}: {found.message}{hint}"[:_LONGEST]
    if compiled.can_run and not compiled.units:
        yield "nothing-left: every task of the plan is done or left out"
