"""Facts, events and states are values: nobody changes one in place."""

import ast
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import amelia.model
from amelia.model.plan import UnitId
from runs import chain

MODULES = sorted(Path(amelia.model.__path__[0]).glob("*.py"))


@pytest.mark.rows("R18")
def test_every_class_of_the_model_that_holds_data_is_frozen() -> None:
    classes = [
        (path.name, node.name, ast.unparse(decorator))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if "dataclass" in ast.unparse(decorator)
    ]
    assert len(classes) > 50
    assert [each for each in classes if "frozen=True" not in each[2]] == []


@pytest.mark.rows("R18", "R31")
def test_an_event_gives_a_new_state_and_leaves_the_old_one() -> None:
    story = chain(1)
    before = story.run
    waiting = before.units[UnitId("1")]
    after = story.start("1").run
    assert after is not before
    assert before.units[UnitId("1")] == waiting != after.units[UnitId("1")]
    with pytest.raises(FrozenInstanceError):
        before.tip = after.tip  # pyright: ignore[reportAttributeAccessIssue]
