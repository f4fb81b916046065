"""Runs that once hung, left something running, or stood where none of the offered exits led on."""

import signal
import time
from pathlib import Path

import pytest

from stories import APPROVED, FILES, SETTINGS, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

ONCE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\n\n[modes.tasks]\nattempts = 1\n"


def test_the_same_plan_started_three_times_at_once_is_one_run(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    command = stage.put(tasks("One"), writes("1", "a.txt"), APPROVED)
    with stage.untouched():
        ended = [each.wait() for each in [stage.start(*command) for _ in range(3)]]
    assert sorted(done.code for done in ended) == [0, 2, 2]
    for done in ended:
        if done.code:
            assert "this plan" in done.err
            assert "--again" in done.err
    assert stage.subjects() == ["Task 1: One"]
    later = stage.amelia(*command)  # what was completed can be run once more
    assert (later.code, len(stage.names)) == (0, 2)


def test_an_agent_is_not_ended_because_amelia_was_stopped_for_longer_than_its_silence(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": f"{ONCE}\n[clocks]\nsilence_minutes = 0.05\n"})
    talking = [{"run": f"touch '{tmp_path}/talking'"}, *([{"sleep": 0.2}, {"say": "on and on"}] * 20)]
    turn = develops("1", *talking, {"write": "a.txt", "text": "a\n"})
    command = stage.put(tasks("One"), turn, APPROVED)
    run = stage.start(*command)
    run.until((tmp_path / "talking").exists, "the agent talks")
    run.send(signal.SIGSTOP)
    time.sleep(7)
    run.send(signal.SIGCONT)
    done = run.wait()
    assert (done.code, done.outcome) == (0, "completed")
    assert len(done.of_type("attempt_ended")) <= 1


def test_titles_and_files_that_the_locale_cannot_write_land_as_they_are(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    turns = (develops("1", {"write": "größe.txt", "text": "名\n"}), APPROVED)
    done = stage.run(tasks("Grüße an 名前 é", goal="Größe"), *turns, env=env)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert stage.subjects() == ["Task 1: Grüße an 名前 é"]
    assert "größe.txt" in stage.repo.git("ls-tree", "-rz", "--name-only", stage.branch).split("\0")
    for command in ("status", "log", "report", "diff"):
        assert stage.amelia(command, stage.name, *(["1"] if command == "diff" else []), env=env).code == 0
