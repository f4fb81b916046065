import pytest

from amelia.model.agents import Usage


@pytest.mark.parametrize(
    ("before", "used"),
    [
        (None, Usage(100, 20, 0.3)),
        (Usage(90, 15, 0.1), Usage(10, 5, 0.2)),
        (Usage(90, 15), Usage(10, 5)),
        (Usage(90, 15, 0.4), Usage(10, 5, 0.0)),
        (Usage(101, 15, 0.1), Usage(100, 20, 0.3)),
        (Usage(90, 21, 0.1), Usage(100, 20, 0.3)),
    ],
)
def test_what_was_used_since_is_the_difference_unless_a_count_began_anew(
    before: Usage | None, used: Usage
) -> None:
    assert Usage(100, 20, 0.3).since(before) == used


def test_a_cost_that_is_not_known_has_no_difference() -> None:
    assert Usage(100, 20).since(Usage(90, 15, 0.1)) == Usage(10, 5)


@pytest.mark.parametrize(
    ("known", "more"),
    [
        (None, Usage(100, 20, 0.3)),
        (Usage(0, 0, 0.0), Usage(100, 20, 0.3)),
        (Usage(60, 15, 0.1), Usage(40, 5, 0.2)),
        (Usage(200, 15, 0.1), Usage(0, 5, 0.2)),
        (Usage(60, 30, 0.5), Usage(40, 0, 0.0)),
        (Usage(60, 15), Usage(40, 5)),
    ],
)
def test_what_is_beyond_a_known_count_is_never_less_than_nothing(known: Usage | None, more: Usage) -> None:
    assert Usage(100, 20, 0.3).beyond(known) == more
