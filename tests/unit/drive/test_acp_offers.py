"""Which mode of an agent a turn is taken in."""

from typing import Any

import pytest

from amelia.drive.acp.offers import mode_to_read_in, mode_to_write_in

Table = dict[str, Any]
ADDRESS = "https://agentclientprotocol.com/protocol/session-modes"


def modes(*names: str, current: str = "", **more: Any) -> Table:
    return {"modes": {"currentModeId": current, "availableModes": [{"id": name} for name in names], **more}}


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (("code", "plan", "read-only"), "read-only"),
        ((f"{ADDRESS}#agent", f"{ADDRESS}#plan"), f"{ADDRESS}#plan"),
        (("build", "mode/read-only"), "mode/read-only"),
        (("build", "vendor:Read_Only"), "vendor:Read_Only"),
        (("auto", "approve", "smart_approve", "chat"), "approve"),
        (("always-approve", "always-ask", "llm-approve"), "always-ask"),
        (("auto", "approve", "plan"), "plan"),
        (("always-approve", "smart_approve", "planner", "code#", "task"), None),
        ((), None),
    ],
)
def test_a_turn_that_may_not_write_gets_the_strictest_mode_whatever_its_id_looks_like(
    offered: tuple[str, ...], chosen: str | None
) -> None:
    assert mode_to_read_in(modes(*offered)) == chosen


def test_a_mode_goes_by_its_name_too() -> None:
    offered = {
        "modes": {"availableModes": [{"id": "m1", "name": "Build"}, {"id": "m2", "name": "Read Only"}]}
    }
    assert mode_to_read_in(offered) == "m2"


@pytest.mark.parametrize(
    ("current", "offered", "chosen"),
    [
        ("x#plan", ("x#plan", "x#agent"), "x#agent"),
        ("m/read-only", ("m/read-only",), None),
        ("plan", ("ask", "code"), "code"),  # a mode that is not offered any more
        ("approve", ("auto", "approve"), None),  # whoever may write is asked, and allowed
        ("always-ask", ("always-approve", "always-ask"), None),
        ("code", ("code", "plan"), None),
    ],
)
def test_who_may_write_leaves_only_a_mode_that_forbids_it(
    current: str, offered: tuple[str, ...], chosen: str | None
) -> None:
    assert mode_to_write_in(modes(*offered, current=current)) == chosen
