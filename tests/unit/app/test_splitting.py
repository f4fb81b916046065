"""A unit that a person writes down in pieces: what the pieces take over from the whole."""

from dataclasses import replace

import pytest

from amelia.app.people import RefusedError
from amelia.app.splitting import split_by_hand
from amelia.model.plan import TaskId, TaskType, UnitId
from amelia.schedule.red import closed_by
from runs import Story, started, task, unit

TWO = UnitId("2")


def parked() -> Story:
    """Tells of a test that landed red, and of its implementation that waits for a person."""
    implements = replace(task("2", TaskType.IMPL), depends_on=(TaskId("1"),))
    story = Story(started(unit("1", task("1", TaskType.TEST)), unit("2", implements, after="1")))
    story.start("1").write("1").verify("1", red=("test_vat",)).review("1").land("1")
    return story.start("2").fail("2")


@pytest.mark.parametrize(
    "text",
    [
        "### Task 2a: First\nA.\n\n### Task 2b: Second\nB.\n",
        "### Task 2a: First\n- type: impl\n- depends on: 1\n\n### Task 2b: Second\n- type: impl\n",
        "### Task 2a: First\n- depends on: Task 1\n\n### Task 2b: Second\n- depends on: 2a\n",
    ],
)
def test_pieces_of_an_implementation_are_held_to_its_tests(text: str) -> None:
    story = parked()
    split = split_by_hand(story.run, TWO, text.encode())
    assert [piece.type for each in split.pieces for piece in each.pieces] == [TaskType.IMPL] * 2
    story.tell(split)
    first, second = (each.id for each in split.pieces)
    assert story.run.implementers[UnitId("1")] == {first, second}
    assert closed_by(story.run, second) == ()
    story.whole(first)
    assert closed_by(story.run, second) == ("1",)


def test_a_piece_may_be_of_another_type() -> None:
    text = b"### Task 2a: First\n- type: docs\n\n### Task 2b: Second\nB.\n"
    split = split_by_hand(parked().run, TWO, text)
    assert [piece.type for each in split.pieces for piece in each.pieces] == [TaskType.DOCS, TaskType.IMPL]


def test_what_nobody_knows_cannot_be_needed() -> None:
    with pytest.raises(RefusedError, match="which does not exist"):
        split_by_hand(parked().run, TWO, b"### Task 2a: A\n- depends on: 9\n\n### Task 2b: B\nB.\n")
