import gc
from pathlib import Path

from amelia.app.plans import check_plan


def test_the_collector_is_left_as_it_was(tmp_path: Path) -> None:
    check_plan(b"### Task 1: A\n", directory=tmp_path)
    assert gc.isenabled()
    gc.disable()
    try:
        check_plan(b"### Task 1: A\n", directory=tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()
