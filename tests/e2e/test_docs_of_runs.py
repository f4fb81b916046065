"""What the documents say of runs is true: the guide can be followed, the demo works, references are complete."""

import json
import os
import re
import subprocess  # noqa: TID251 - documents show commands; they are run
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from amelia.drive.script.driver import check_script
from amelia.model.outcome import Reason
from amelia.show.cli import group

REPOSITORY = Path(__file__).parents[2]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (REPOSITORY / "docs" / name).read_text(encoding="utf-8")


def run(script: str, where: Path) -> subprocess.CompletedProcess[str]:
    programs = Path(sys.executable).parent
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(where),
        "AMELIA_HOME": str(where / "state"),
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=where,
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


@pytest.mark.slow
def test_the_first_run_can_be_followed_step_by_step(tmp_path: Path) -> None:
    done = run("\n".join(SHELL.findall(page("guides/first-run.md"))), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "phase-2  turn 1  checks failed" in done.stdout
    assert "Phase 2: Implement greet" in done.stdout
    assert "nothing to commit, working tree clean" in done.stdout
    assert re.search(r"completed +2 of 2 landed", done.stdout)


@pytest.mark.slow
def test_the_demo_lands_five_phases_and_says_where_to_look(tmp_path: Path) -> None:
    done = run("amelia demo", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 of 5 done" in done.stdout
    assert "rejected: 1 finding" in done.stdout
    assert "moves are recorded" in done.stderr
    where = re.search(r"cd (\S+)\n +git log --stat (\S+)", done.stderr)
    assert where is not None
    log = run(f"cd {where[1]} && git log --format=%s {where[2]}", tmp_path).stdout.splitlines()
    record, last, *between, first = [line.partition(":")[0] for line in log]
    assert (first, last) == ("Start", "Phase 5")
    assert record.startswith("Record of ")
    assert sorted(between) == ["Phase 1", "Phase 2", "Phase 3", "Phase 4"]  # two at a time, as they are done


@pytest.mark.slow
def test_the_demo_can_be_told_as_events(tmp_path: Path) -> None:
    done = run("amelia demo --json", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert (kinds[0], kinds.count("phase_completed"), kinds[-1]) == ("run_started", 5, "run_finished")


def test_the_script_of_the_reference_can_be_played(tmp_path: Path) -> None:
    shown = page("reference/scripts.md").partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "script.toml").write_text(shown, encoding="utf-8")
    check_script(tmp_path / "script.toml")
    assert len(tomllib.loads(shown)["turn"]) == 4


def commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """Yields every command that can be typed, with all its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def test_every_command_and_every_reason_is_in_the_reference() -> None:
    text = page("reference/commands.md")
    for words, command in commands(group, "amelia"):
        assert f"`{words.removesuffix(' draft')}" in text
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in text, f"{words} {option}"
    for reason in Reason:
        assert f"`{reason}`" in text
