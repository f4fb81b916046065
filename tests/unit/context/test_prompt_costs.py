"""What prompts cost stays within its goals, and the page about it says what is measured."""

import subprocess  # noqa: TID251 - the benchmark is a program
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.rows("R11", "R30")
@pytest.mark.slow
def test_no_prompt_outgrows_its_goals_and_the_page_tells_the_numbers_of_today() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/context.py"), "--check"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr.strip() == ""
    assert done.returncode == 0
    page = ROOT / "docs/benchmarks/context.md"
    assert page.read_text(encoding="utf-8") == done.stdout, "python benchmarks/context.py --write"
