import gc

from amelia.app.plans import compile_with
from amelia.model.settings import PlanSettings


def test_the_collector_is_left_as_it_was() -> None:
    compile_with(b"### Task 1: A\n", PlanSettings())
    assert gc.isenabled()
    gc.disable()
    try:
        compile_with(b"### Task 1: A\n", PlanSettings())
        assert not gc.isenabled()
    finally:
        gc.enable()
