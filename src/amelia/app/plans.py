"""Texts and settings become compiled plans."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

from amelia.model.plan import Mode
from amelia.model.settings import PlanSettings
from amelia.plan.compile import CompiledPlan, compile_plan
from amelia.plan.read import read_plan


def compile_with(data: bytes, settings: PlanSettings, *, mode: Mode | None = None) -> CompiledPlan:
    """Reads and compiles a plan with given settings."""
    with _no_collecting():
        plan, diagnostics = read_plan(data)
        return compile_plan(plan, diagnostics, settings=settings, mode=mode)


@contextmanager
def _no_collecting() -> Generator[None]:
    """Holds the cycle collector back while many objects are made that all stay.

    It would walk them again and again, for a fifth of the time of a large plan, and find nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
