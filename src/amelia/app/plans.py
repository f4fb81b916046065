"""Texts and settings become compiled plans."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from amelia.model.plan import Mode
from amelia.model.settings import PlanSettings
from amelia.plan.compile import CompiledPlan, compile_plan
from amelia.plan.product import LARGEST, product_findings
from amelia.plan.read import read_plan
from amelia.system.regular import read_regular


def compile_with(
    data: bytes, settings: PlanSettings, *, mode: Mode | None = None, near: Path | None = None
) -> CompiledPlan:
    """Reads and compiles a plan with given settings; the page of its product is looked for `near`."""
    with _no_collecting():
        plan, diagnostics = read_plan(data)
        if plan.product is not None and near is not None:
            diagnostics = [*diagnostics, *product_findings(plan, _page(plan.product, near))]
        return compile_plan(plan, diagnostics, settings=settings, mode=mode)


def _page(path: str, near: Path) -> bytes | None:
    """Returns a file of a directory, or of the repository it lies in; too large a page is none."""
    tops = [place for place in (near, *near.parents) if (place / ".git").exists()][:1]
    page = next((place / path for place in (near, *tops) if (place / path).is_file()), None)
    if page is None:
        return None
    data = read_regular(page, LARGEST + 1)
    return data if len(data) <= LARGEST else None


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
