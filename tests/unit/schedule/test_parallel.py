"""How many units can be under way at the same time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.model.plan import UnitId
from amelia.schedule.parallel import Footprints, most_side_by_side
from runs import unit

A, B, C = ("a.py",), ("b.py",), ("c.py",)


def feet(**files: tuple[str, ...]) -> Footprints:
    return {UnitId(name.strip("_")): paths for name, paths in files.items()}


def test_nothing_to_do_is_nothing_side_by_side() -> None:
    assert most_side_by_side([], {}) == 0


def test_a_chain_is_one_after_the_other() -> None:
    chain = [unit("1"), unit("2", after="1"), unit("3", after="2")]
    assert most_side_by_side(chain, feet(_1=A, _2=B, _3=C)) == 1


@pytest.mark.parametrize(
    ("footprints", "most"),
    [(feet(_1=A, _2=B), 2), (feet(_1=A, _2=A), 1), (feet(_1=A), 1), (feet(_2=A), 1), ({}, 1)],
)
def test_units_meet_only_if_they_declare_files_and_share_none(footprints: Footprints, most: int) -> None:
    assert most_side_by_side([unit("1"), unit("2")], footprints) == most


def test_a_unit_that_comes_later_in_one_branch_may_meet_one_of_another() -> None:
    units = [unit("1"), unit("2"), unit("3", after="1")]
    assert most_side_by_side(units, feet(_1=A, _2=A, _3=B)) == 2


def test_two_that_meet_only_if_one_takes_long_count() -> None:
    units = [unit("1"), unit("2"), unit("3", after="1"), unit("4", after="3")]
    assert most_side_by_side(units, feet(_1=A, _2=("a.py", "b.py"), _3=B, _4=C)) == 2


def test_what_is_needed_and_is_no_unit_is_not_waited_for() -> None:
    assert most_side_by_side([unit("1", after="0"), unit("2", after="0")], feet(_1=A, _2=B)) == 2


def test_units_that_wait_for_themselves_come_to_an_end() -> None:
    assert most_side_by_side([unit("1"), unit("2", after="2")], feet(_1=A, _2=A)) == 1


@given(st.integers(1, 40))
def test_independent_units_are_all_side_by_side(count: int) -> None:
    units = [unit(str(number)) for number in range(count)]
    footprints = {one.id: (f"{one.id}.py",) for one in units}
    assert most_side_by_side(units, footprints) == count
