"""Scripts: what is a script, what is wrong with one, and which turn is played."""

from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.script.driver import ScriptDriver, check_script
from amelia.drive.script.player import ScriptError, find_turn, read_script
from amelia.model.errors import ConfigError

WHOLE = """
[[turn]]
role = "developer"
unit = "1"
attempt = 1
do = [
  {write="src/a.py", text="x", mode="755"}, {write="b", text="AAE=", base64=true}, {write="l", link="b"},
  {append="a", text="y"}, {delete="x"}, {run="true"}, {sleep=0.2}, {sleep=1}, {say="hi"},
  {raw="not json"}, {hang=true}, {exit=3}, {limit="2026-11-15T12:00:00Z"},
]
report = {status="completed", nested={a=[1, 2.5, true]}}
usage = {input=1, output=2, cost=0.1}

[[turn]]
attempt = "*"
"""


def test_a_whole_script_is_read() -> None:
    assert len(read_script(WHOLE.encode())) == 2


def test_an_empty_script_has_no_turns() -> None:
    assert read_script(b"") == []


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("[[turn", "not TOML"),
        ("turns = 1", "unknown key `turns`"),
        ("turn = 1", r"\[\[turn\]\]"),
        ("turn = [1]", "turn 1: a turn must be a table"),
        ("[[turn]]\nrole = 1", "turn 1: `role` must be str"),
        ("[[turn]]\n[[turn]]\nrolle = 'x'", "turn 2: unknown key `rolle`"),
        ("[[turn]]\nattempt = 'x'", "turn 1: `attempt` must be a number"),
        ("[[turn]]\nattempt = true", "turn 1: `attempt` must be int or str"),
        ("[[turn]]\ndo = {}", "turn 1: `do` must be list"),
        ("[[turn]]\ndo = ['x']", "turn 1: an act must be a table"),
        ("[[turn]]\ndo = [{}]", "turn 1: an act is one of .* not nothing"),
        ("[[turn]]\ndo = [{wriet='a'}]", "turn 1: an act is one of .* not wriet"),
        ("[[turn]]\ndo = [{write='a', delete='b'}]", "turn 1: an act is one of"),
        ("[[turn]]\ndo = [{delete='a', text='b'}]", "turn 1: unknown key `text`"),
        ("[[turn]]\ndo = [{sleep='1'}]", "turn 1: `sleep` must be int or float"),
        ("[[turn]]\ndo = [{exit=true}]", "turn 1: `exit` must be int"),
        ("[[turn]]\ndo = [{write='a', mode='9'}]", "turn 1: `write`: invalid literal"),
        ("[[turn]]\ndo = [{write='a', text='?', base64=true}]", "turn 1: `write`: "),
        ("[[turn]]\nreport = {at=2026-11-15}", "turn 1: `report` cannot be written as JSON"),
        ("[[turn]]\nreport = {n=nan}", "turn 1: `report` cannot be written as JSON"),
        ("[[turn]]\nusage = {inputs=1}", "turn 1: unknown key `inputs`"),
        ("[[turn]]\nusage = {input=1.5}", "turn 1: `input` must be int"),
        ("x = " + "[" * 5000, "not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_the_turn(script: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        read_script(script.encode())


@given(st.binary())
def test_reading_raises_nothing_else(data: bytes) -> None:
    with suppress(ScriptError):
        read_script(data)


@pytest.mark.parametrize(
    ("role", "unit", "attempt", "mark"),
    [
        ("developer", "1", 1, "first"),
        ("developer", "1", 2, "any attempt"),
        ("reviewer", "1", 1, "reviewer"),
        ("reviewer", "9", 7, "reviewer"),
        ("evaluator", "1", 1, None),
    ],
)
def test_the_first_turn_that_fits_is_played(role: str, unit: str, attempt: int, mark: str | None) -> None:
    turns = read_script(
        b"""
        [[turn]]
        role = "developer"
        unit = "1"
        attempt = 1
        report = {mark="first"}
        [[turn]]
        role = "developer"
        unit = "*"
        attempt = "*"
        report = {mark="any attempt"}
        [[turn]]
        role = "reviewer"
        report = {mark="reviewer"}
        [[turn]]
        role = "reviewer"
        attempt = 7
        report = {mark="never"}
        """
    )
    turn = find_turn(turns, role=role, unit=unit, attempt=attempt)
    assert (turn and turn["report"]) == (mark and {"mark": mark})


def test_a_script_is_checked_before_a_run(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(WHOLE)
    check_script(path)
    info = anyio.run(ScriptDriver(path).probe)
    assert Path(info.program).exists()
    assert info.version
    assert ScriptDriver(path).name == "script"


@pytest.mark.parametrize("text", [None, "[[turn]]\nx = 1"])
def test_a_wrong_script_is_a_wrong_setting(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "script.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=r"script\.toml") as caught:
        check_script(path)
    assert caught.value.hint
