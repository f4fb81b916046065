"""Runs the fuzzer for a moment over the plan fixtures, so that it stays usable and finds the shallow bugs."""

import importlib.util
import shutil
import subprocess  # noqa: TID251 - a crash of the fuzzer must not be one of the tests
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this platform"
)
def test_no_mutation_of_a_fixture_makes_the_reader_raise(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, path in enumerate(sorted(HERE.parent.glob("fixtures/plans/*/*.md"))):
        shutil.copy(path, corpus / f"{number}.md")
    done = subprocess.run(
        [
            sys.executable,
            str(HERE / "fuzz_read_plan.py"),
            "-max_total_time=15",
            "-max_len=4000",
            "-timeout=10",
            str(corpus),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "DONE" in done.stderr or "Done" in done.stderr
