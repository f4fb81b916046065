"""What can be done about whatever waits for a person is said in one place, and there is always something."""

from dataclasses import replace

import pytest

from amelia.model.agents import Allowance, Spent
from amelia.model.evidence import Problem, ProblemCode, TestEdits
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import UnitId
from amelia.model.state import Branch
from amelia.show.run.standing import exits_of, exits_of_run, raised
from runs import chain


@pytest.mark.parametrize("reason", [Reason.BRANCH_MOVED, Reason.BROKEN])
def test_a_run_without_its_record_can_be_resumed_or_given_up(reason: Reason) -> None:
    run = replace(chain(1).run, branch=Branch.UNRECORDED, outcome=Outcome(Result.HALTED, reason))
    assert [way.command for way in exits_of_run(run)] == ["amelia resume demo", "amelia abort demo"]


def test_what_is_used_up_is_raised_to_twice_of_it() -> None:
    spent = Spent(cost=3.0, unpriced=10)
    ways = raised("demo", Allowance(cost=2.0, tokens=100), spent)
    assert [way.command for way in ways] == ["amelia resume demo --max-cost 6"]
    ways = raised("demo", Allowance(cost=5.0, tokens=10), spent, whose="-unit")
    assert [way.command for way in ways] == ["amelia resume demo --max-unit-tokens 20"]


@pytest.mark.parametrize("granted", [(), ("tests",)])
def test_a_unit_that_weakened_tests_can_try_again_with_a_grant(granted: tuple[str, ...]) -> None:
    one, edits = UnitId("1"), TestEdits(others=("tests/a.py", "tests/b c.py"))
    weak = Problem(ProblemCode.WEAKENED_TESTS, "weaker", "tests/a.py")
    story = chain(1).start("1").write("1").verify("1", passed=False, problems=(weak,), edits=edits).park("1")
    ways = exits_of(replace(story.run, granted={one: granted}), one, {})
    found = [way for way in ways if "--grant" in way.command]
    offered = "amelia retry demo 1 --grant tests/a.py --grant 'tests/b c.py'"
    assert [way.command for way in found] == ([] if granted else [offered])
    assert all(way.effect == "try again, and let it change tests/a.py, tests/b c.py" for way in found)
