"""Runs that once hung, left something running, or stood where none of the offered exits led on."""

import signal
import time
from pathlib import Path

import pytest

from repositories import executable
from stories import APPROVED, FILES, SETTINGS, develops, make_stage, sleepers, tasks, writes

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


HANGS = """\
test -e '{room}/calm' && exit 0
touch '{room}/hangs'
setsid sh -c "sleep {token}; echo late > '{room}/late'" </dev/null >/dev/null 2>&1 &
sleep {token}
"""


@pytest.mark.parametrize("kind", ["hook", "gpg"])
def test_a_hook_or_a_gpg_that_hangs_ends_with_amelia_however_that_ends(tmp_path: Path, kind: str) -> None:
    stage, token = make_stage(tmp_path), f"3600.{time.monotonic_ns()}"
    hangs = HANGS.format(room=tmp_path, token=token)
    if kind == "hook":
        stage.repo.hook("pre-commit", hangs)
    else:
        (tmp_path / "calm").touch()  # at first, when it is asked whether it works
        hangs = hangs.replace("&& exit 0", '&& { printf "\\n[GNUPG:] SIG_CREATED \\n" >&2; echo x; exit 0; }')
        gpg = executable(tmp_path / "gpg", f"cat > /dev/null\n{hangs}")
        stage.repo.git("config", "commit.gpgSign", "true")
        stage.repo.git("config", "gpg.program", str(gpg))
    turn = develops("1", {"write": "a.txt", "text": "a\n"}, {"run": f"rm -f '{tmp_path}/calm'"})
    command = stage.put(tasks("One"), turn, APPROVED)
    for signals in ([signal.SIGKILL], [signal.SIGTERM, signal.SIGTERM]):
        (tmp_path / "hangs").unlink(missing_ok=True)
        run = stage.start(*command)
        run.until((tmp_path / "hangs").exists, "it hangs")
        for number in signals:
            run.send(number)
            time.sleep(0.5)
        run.process.wait(20)
        deadline = time.monotonic() + 20
        while sleepers(token) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert sleepers(token) == []
        command = ("resume", stage.name, "--json")
    (tmp_path / "calm").touch()
    stage.play(writes("1", "a.txt"), APPROVED)
    done = stage.amelia(*command)
    assert (done.code, done.outcome) == (0, "completed")
    assert stage.files() == sorted([*FILES, "a.txt"])
    assert not (tmp_path / "late").exists()
