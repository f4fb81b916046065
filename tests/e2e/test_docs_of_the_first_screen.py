"""The first screen of README leads from the demo to the reader's own repository, and what it shows is true."""

import re
import shlex
from pathlib import Path

import pytest

from amelia.judge.detect import find_command
from amelia.model.evidence import VerifySettings
from amelia.show.cli import group
from programs import with_claude
from stories import Stage, make_stage, tasks

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCREEN = "\n".join(README.splitlines()[:40])


def commands(block: str) -> dict[str, str]:
    """Returns the lines of a block, each with its comment."""
    lines = (line.partition("#") for line in block.splitlines())
    return {command.strip(): comment.strip() for command, _, comment in lines}


def test_the_first_block_has_a_command_for_users_and_one_for_the_tests() -> None:
    (install, users), (check, tests) = commands(SHELL.findall(README)[0]).items()
    assert install == "python3 -m pip install . && amelia demo"
    assert users.startswith("to use Amelia: ")
    assert check == "scripts/check"
    assert (REPOSITORY / check).is_file()
    assert tests.startswith("to change Amelia: ")
    assert "tests" in tests


def test_the_first_screen_leads_to_the_readers_own_repository() -> None:
    shown = list(commands(SHELL.findall(SCREEN)[1]))
    assert [line.split()[:2] for line in shown][:2] == [["cd", shown[0].split()[1]], ["amelia", "doctor"]]
    assert any(line.startswith("amelia run ") for line in shown)
    for question in ("**Which agent?**", "**What is checked?**", "**The first run.**"):
        assert question in SCREEN
    assert "docs/guides/first-run.md" in SCREEN
    assert "docs/guides/agents.md" in SCREEN


@pytest.mark.slow
def test_its_commands_can_be_followed(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    (stage.room / "plan.md").write_text(tasks("One"))
    _, *shown = commands(SHELL.findall(SCREEN)[1])
    told = [follow(stage, *shlex.split(line)[1:]) for line in shown]
    assert told[0].startswith("ok ")
    assert "claude would take: " in told[0]
    assert "tests       sh check.sh" in told[0]
    assert any("this plan can run" in text for text in told)


def follow(stage: Stage, name: str, *arguments: str) -> str:
    """Does what a line says, but for a run: of that, there has to be such a command."""
    if name == "run":
        assert name in group.list_commands(None)  # type: ignore[arg-type]
        return ""
    where = [str(stage.room / word) if word.endswith(".md") else word for word in arguments]
    done = stage.amelia(name, *where, env=with_claude(stage.room / "few"))
    assert done.code == 0, done
    return done.out


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pytest.ini": ""}, "pytest"),
        ({"test_a.py": "import unittest\n"}, "unittest"),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, "node --test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"go.mod": ""}, "go test"),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"Makefile": "test:\n"}, "make test"),
    ],
)
def test_the_ways_to_test_that_it_names_are_found(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = find_command(tmp_path, VerifySettings())
    assert found is not None
    assert command in " ".join(found.argv)
    assert f"`{command}`" in SCREEN
