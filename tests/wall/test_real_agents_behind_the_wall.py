"""Claude Code and Codex land a plan behind the wall, and reach nothing else."""

from collections.abc import Iterator

import pytest

from amelia.system.wall import find_kernel
from modelserver.steps import Answer, ToolCall
from real.desks import APPROVED, REJECTED, REPORTED, RULED, Desk, open_desk
from tracing import Trace, trace

__all__ = ["trace"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_kernel().landlock, reason="this kernel has no Landlock"),
]
STRICT = {"AMELIA_WALL__WRITES": ""}


@pytest.fixture
def desk(trace: Trace) -> Iterator[Desk]:
    with open_desk(trace) as desk:
        yield desk


def shell(name: str, command: str) -> ToolCall:
    if name == "claude":
        return ToolCall("Bash", {"command": command, "description": "try"})
    return ToolCall("exec_command", {"cmd": command})


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_real_agent_lands_a_plan_behind_the_wall(desk: Desk, name: str) -> None:
    agent = desk.hire(name)
    room = desk.stage.room
    (room / ".gitconfig").write_text("[user]\n\tname = Somebody\n")
    script = (
        f"echo x >> {room}/.gitconfig; echo x > {room}/.claude/settings.json; git config --global a.b c; "
        "git config --global a.b > said.txt; touch $TMPDIR/x && echo temporary >> said.txt"
    )
    done = desk.run(
        desk.plan("Greet"),
        Answer(text="I greet.", tools=[agent.write("hello.txt", "hello")]),
        Answer(tools=[shell(name, script)]),
        REPORTED,
        REJECTED,
        RULED,
        Answer(tools=[agent.edit("hello.txt", "hello", "goodbye")]),
        REPORTED,
        APPROVED,
        **STRICT,
    )
    assert (done.code, done.outcome) == (0, "completed"), done
    stage = desk.stage
    assert stage.show("hello.txt") == "goodbye"
    assert stage.show("said.txt").split() == ["c", "temporary"]
    assert (room / ".gitconfig").read_text() == "[user]\n\tname = Somebody\n"
    assert not (room / ".claude").exists()
    assert not (room / ".codex").exists()
    assert done.of_type("session_replaced") == []
