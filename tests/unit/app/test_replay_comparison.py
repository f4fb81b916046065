"""What two runs of the same plan came to, compared."""

from dataclasses import replace

from amelia.app.replay.comparison import UNDER_WAY, Result, Standing, differences, result_of
from amelia.model import events as ev
from amelia.model.git import CommitId, TreeId
from amelia.model.outcome import Reason
from amelia.model.outcome import Result as Ended
from amelia.model.plan import UnitId
from runs import Story, chain, commit, started, unit

A, B = UnitId("a"), UnitId("b")
BOTH = Result(
    "completed",
    {A: Standing("landed", 1, TreeId("t1")), B: Standing("landed", 2, TreeId("t2"))},
    (A, B),
)


def tree(of: CommitId) -> TreeId:
    return TreeId(f"tree of {of}")


def test_a_run_is_told_by_outcome_units_attempts_and_trees() -> None:
    told = chain(4).whole("1").start("2").fail("2").tell(ev.UnitSkipped(UnitId("3"), satisfies=False))
    told.end(Ended.HALTED, Reason.VERIFY_LIMIT)
    assert result_of(told.records, tree) == Result(
        "halted(verify_limit)",
        {
            UnitId("1"): Standing("landed", 1, tree(commit("1"))),
            UnitId("2"): Standing("parked (verify_limit)", 1),
            UnitId("3"): Standing("skipped"),
            UnitId("4"): Standing("waiting"),
        },
        (UnitId("1"),),
    )


def test_a_run_that_goes_on_has_no_outcome() -> None:
    found = result_of(Story(started(unit("1"))).start("1").records, tree)
    assert found == Result(None, {UnitId("1"): Standing(UNDER_WAY)})


def test_what_is_the_same_has_no_differences() -> None:
    assert differences(BOTH, BOTH) == []


def test_every_difference_is_a_sentence() -> None:
    seen = Result(
        "halted(no_changes)", {A: Standing("landed", 3, TreeId("t9")), UnitId("c"): Standing("waiting")}, (A,)
    )
    assert differences(BOTH, seen) == [
        "the outcome is halted(no_changes) instead of completed",
        "c: was not there before",
        "a: 3 turns instead of 1",
        "b: is not there any more",
        "a landed: the tree is t9 instead of t1",
    ]


def test_a_unit_that_did_not_land_is_said_to_stand_elsewhere() -> None:
    seen = replace(BOTH, units={**BOTH.units, B: Standing("parked (no_progress)", 2)}, landed=(A,))
    assert differences(BOTH, seen) == ["b: parked (no_progress) instead of landed"]


def test_trees_are_compared_where_the_same_units_had_landed() -> None:
    other = {A: Standing("landed", 1, TreeId("t2")), B: Standing("landed", 2, TreeId("t5"))}
    turned = Result("completed", other, (B, A))
    assert differences(BOTH, turned) == []
    wrong = replace(turned, units={**other, A: Standing("landed", 1, TreeId("t7"))})
    assert differences(BOTH, wrong) == ["a, b landed: the tree is t7 instead of t2"]


def test_of_a_run_that_was_cut_off_only_what_was_certain_is_compared() -> None:
    expected = Result(None, {A: Standing(UNDER_WAY, 1), B: Standing("waiting")})
    seen = Result("completed", {A: Standing("landed", 4, TreeId("t")), B: Standing("waiting")}, (A,))
    assert differences(expected, seen) == []
