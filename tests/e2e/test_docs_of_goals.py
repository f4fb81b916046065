"""The guide from a goal to a branch can be followed, command by command."""

import os
import re
import subprocess  # noqa: TID251 - documents show commands; they are run
import sys
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs/guides/goal.md").read_text(encoding="utf-8")
SHELL = re.compile(
    r"^(?:<!-- exits (?P<code>\d+) -->\n)?```sh\n(?P<text>.*?)\n```$", re.MULTILINE | re.DOTALL
)


def script() -> str:
    """Returns all commands of the guide; a block that says how it exits has to exit so."""
    blocks = SHELL.finditer(GUIDE)
    return "\n".join(
        f"{found['text']} || test $? = {found['code']}" if found["code"] else found["text"]
        for found in blocks
    )


@pytest.mark.slow
def test_the_guide_can_be_followed(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-e", "-c", script()],
        cwd=tmp_path,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "AMELIA_HOME": str(tmp_path / "state"),
            "LANG": "C.UTF-8",
        },
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "+++ version 2 (architect)" in done.stdout
    assert "+### Task 1: Write tests for greet" in done.stdout
    assert "version 3, by you" in done.stdout
    assert "Is the greeting friendly or formal?" in done.stdout
    assert "2 is answered" in done.stdout
    assert re.search(r"completed · 2 of 2 done", done.stdout)
    assert re.search(r"^[0-9a-f]{7} Phase 2: Greeting$", done.stdout, re.MULTILINE)
    assert re.search(r"^[0-9a-f]{7} Record of greet-people-by-name-", done.stdout, re.MULTILINE)
    assert "is taken back by" in done.stdout
    assert "nothing to commit, working tree clean" in done.stdout
