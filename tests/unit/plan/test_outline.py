"""Where things stand among the headings of a plan."""

from amelia.plan.markdown import parse
from amelia.plan.outline import read_outline


def test_what_stands_above_the_first_heading_has_no_home() -> None:
    outline = read_outline(parse("Some words.\n\n# A plan\n\nMore words.\n"))
    assert [outline.home(line) for line in (1, 5)] == [0, 3]
    assert not outline.is_announced(1)
