"""Where a setup is configured, nothing but what it made survives from check to check."""

from pathlib import Path

import pytest

from stories import APPROVED, develops, make_stage, tasks

SETTINGS = """\
[verify]
command = ["sh", "check.sh"]
setup = ["sh", "setup.sh"]

[modes.tasks]
attempts = 1
"""
FILES = {
    "amelia.toml": SETTINGS,
    ".gitignore": "build/\ntools/\n",
    "setup.sh": "mkdir tools && echo 'echo made' > tools/maker && echo x >> '{room}/setups'\n",
    "generate.sh": "mkdir -p build\nsh tools/maker > build/out\n",
    "check.sh": "sh generate.sh\ngrep -q made build/out\n",
}


def outcome(tmp_path: Path, path: str, text: str, **files: str) -> tuple[str, int]:
    setup = FILES["setup.sh"].format(room=tmp_path)
    stage = make_stage(tmp_path, {**FILES, **files, "setup.sh": setup})
    turn = develops("1", {"write": path, "text": text})
    done = stage.run(tasks("Change it"), turn, APPROVED, options=["--mode", "tasks"])
    return done.outcome, len((tmp_path / "setups").read_text().splitlines())


@pytest.mark.slow
def test_a_broken_generator_is_not_kept_green_by_a_stale_file(tmp_path: Path) -> None:
    assert outcome(tmp_path, "generate.sh", "mkdir -p build\n")[0] == "halted(verify_limit)"


@pytest.mark.slow
def test_a_generator_that_works_lands_and_the_setup_runs_once(tmp_path: Path) -> None:
    text = "mkdir build\nsh tools/maker | tee build/other > build/out\n"
    assert outcome(tmp_path, "generate.sh", text) == ("completed", 1)


@pytest.mark.slow
def test_the_second_run_of_a_failing_check_starts_as_clean_as_the_first(tmp_path: Path) -> None:
    check = "test ! -e new || test -e build/ran || { mkdir build; touch build/ran; exit 1; }\n"
    files = {"check.sh": check}
    assert outcome(tmp_path, "new", "", **files)[0] == "halted(verify_limit)"


@pytest.mark.slow
def test_a_tool_that_a_check_changed_is_made_anew(tmp_path: Path) -> None:
    check = "sh generate.sh\necho true > tools/maker\ngrep -q made build/out\n"
    files = {"check.sh": check}
    found, setups = outcome(tmp_path, "new", "", **files)
    assert (found, setups > 1) == ("completed", True)
