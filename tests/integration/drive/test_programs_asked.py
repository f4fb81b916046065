"""Programs are found where Amelia was started, and asked in an empty folder."""

import os
import sys
from pathlib import Path

import pytest

from amelia.drive.programs import ask_program, find_program
from amelia.model.errors import ConfigError
from repositories import executable

SAYS = "#!/bin/sh\necho $OUR_NAME; ls -a; printf '\\377'\nexit 3\n"


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")


def found(*command: str, bundled: str | None = None) -> list[str]:
    return find_program(command, driver="any", install="run `get agent`", bundled=bundled)


def test_a_program_is_named_by_its_full_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = executable(tmp_path / "bin" / "agent", SAYS)
    assert found("agent", "--first") == [str(program), "--first"]
    monkeypatch.chdir(tmp_path)
    assert found("bin/agent") == [str(program)]


def test_a_program_may_be_inside_a_package_that_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "an_agent"
    program = executable(package / "own" / "agent", SAYS)
    (package / "__init__.py").write_text("raise RuntimeError('it is not to be imported')")
    with pytest.raises(ConfigError):
        found("agent", bundled="an_agent/own/agent")
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    assert found("agent", bundled="an_agent/own/agent") == [str(program)]
    with pytest.raises(ConfigError):
        found("agent", bundled="an_agent/nowhere/agent")
    on_the_path = executable(tmp_path / "bin" / "agent", SAYS)
    assert found("agent", bundled="an_agent/own/agent") == [str(on_the_path)]


def test_a_program_that_is_not_there_is_a_message_that_says_how_to_get_it() -> None:
    with pytest.raises(ConfigError, match="driver any: agent is not installed") as caught:
        found("agent")
    assert caught.value.hint == "run `get agent`, or give its path in `command`"


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_program_answers_in_an_empty_folder(tmp_path: Path) -> None:
    program = executable(tmp_path / "bin" / "agent", SAYS)
    answer = await ask_program([str(program)], {"OUR_NAME": "Ada"})
    assert answer.exit_code == 3
    assert answer.text == "Ada\n.\n..\noutput\n�"
    assert not os.environ.get("OUR_NAME")
