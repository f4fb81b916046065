"""The composition root: files and settings in, compiled plans out."""

from pathlib import Path

from amelia.config import load_settings
from amelia.model.plan import Mode
from amelia.plan.compile import CompiledPlan, compile_plan
from amelia.plan.read import read_plan


def check_plan(data: bytes, *, directory: Path, mode: Mode | None = None) -> CompiledPlan:
    """Reads and compiles a plan with the settings that hold in a directory."""
    settings = load_settings(directory)
    plan, diagnostics = read_plan(data)
    return compile_plan(plan, diagnostics, settings=settings, mode=mode)
