"""A coverage-guided fuzzer for the reader: `python tests/fuzz/fuzz_read_plan.py -runs=100000 CORPUS`."""

import sys

import atheris  # pyright: ignore[reportMissingTypeStubs]

with atheris.instrument_imports(include=["amelia"]):  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
    from amelia.model.settings import PlanSettings
    from amelia.plan.compile import compile_plan
    from amelia.plan.read import read_plan


def read_and_compile(data: bytes) -> None:
    plan, diagnostics = read_plan(data)
    compile_plan(plan, diagnostics, settings=PlanSettings(), mode=None)


atheris.Setup(sys.argv, read_and_compile)  # pyright: ignore[reportUnknownMemberType]
atheris.Fuzz()  # pyright: ignore[reportUnknownMemberType]
