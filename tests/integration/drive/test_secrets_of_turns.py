"""What an agent was given in confidence is taken out of all it writes."""

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from amelia.drive.plain import read_plain_line
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import Role, Said, TurnSpec

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TELLS = (
    """echo "{\\"type\\": \\"say\\", \\"text\\": \\"$OURS $OUR_TOKEN $OPEN\\"}"; echo "$OURS" >&2; exit 1"""
)


async def test_a_secret_is_taken_out_whatever_its_variable_is_called(tmp_path: Path) -> None:
    spec = TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="Do it.",
        cwd=str(tmp_path),
        transcript=str(tmp_path / "turn.jsonl"),
        state=str(tmp_path),
    )
    given = {"OURS": "a made-up secret", "OUR_TOKEN": "a made-up token", "OPEN": "for everybody"}
    program = Program(["sh", "-c", TELLS], agent_environment(spec, given), read_plain_line)
    program = replace(program, secrets=(given["OURS"],))
    async with aclosing(ProgramTurn(spec, program).events()) as events:
        said, ended = [event async for event in events]
    assert said == Said("[redacted] [redacted] for everybody")
    assert given["OURS"] not in str(ended)
    assert given["OURS"] not in (tmp_path / "turn.jsonl").read_text()
