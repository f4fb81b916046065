"""Runs that once hung, left something running, or stood where none of the offered exits led on."""

import os
import shutil
import signal
import subprocess  # noqa: TID251 - `rm` removes what Python cannot
import time
from pathlib import Path

import pytest

from repositories import executable
from stories import APPROVED, FILES, SETTINGS, Done, Stage, develops, make_stage, sleepers, tasks, writes

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


DEEP = """python3 -c "
import os
for _ in range({levels}):
    os.mkdir('{name}'); os.chdir('{name}')
open('file', 'w').close()
" """
NESTED = "for n in $(seq 30); do mkdir deeper && cd deeper && git init -q . && echo $n > file; done"
UNKEPT = [
    ("mkdir .GIT; echo x > .GIT/file", ".GIT"),
    ("mkdir 'git~1'; echo x > 'git~1/file'", "git~1"),
    ("echo '*.txt working-tree-encoding=UTF-16' > .gitattributes; echo x > x.txt", "BOM"),
    ("rm .gitignore; mkfifo .gitignore", ".gitignore is a named pipe"),
    ("mkdir sub; mkfifo sub/.gitattributes; echo x > sub/x", "sub/.gitattributes is a named pipe"),
    (DEEP.format(levels=60, name="d" * 100), "could not open directory"),
]


def clear(path: Path) -> None:
    """Removes what pytest cannot."""
    for command in (["chattr", "-R", "-f", "-i", str(path)], ["rm", "-rf", str(path)]):
        subprocess.run(command, check=False, capture_output=True)


def test_what_git_will_not_keep_fails_its_attempt_and_the_next_one_has_a_new_worktree(tmp_path: Path) -> None:
    attempts = len(UNKEPT) + 1
    settings = f"{SETTINGS}\n[modes.tasks]\nattempts = {attempts}\n"
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    bad = [develops("1", {"run": script}, attempt=number) for number, (script, _) in enumerate(UNKEPT, 1)]
    frozen = "touch broken frozen; mkdir ice; touch ice/cube; chattr +i frozen ice/cube ice; true"
    last = develops("1", {"run": frozen}, attempt=attempts)
    done = stage.run(tasks("One", "Two"), *bad, last, options=["--mode", "tasks"])
    try:
        assert (done.code, done.outcome) == (1, "halted(verify_limit)"), done
        good = develops("1", {"run": NESTED}, {"write": "a.txt", "text": "a\n"})
        stage.play(good, APPROVED)
        assert stage.amelia("skip", stage.name, "2").code == 0
        assert stage.amelia("retry", stage.name, "1").code == 0
        assert stage.amelia("resume", stage.name).code == 0
        assert stage.subjects() == ["Task 1: One"]
        for number, (_, why) in enumerate(UNKEPT, 2):
            assert why in stage.prompt("1", number)
        assert "deeper/" * 30 + "file" in stage.files()
        assert "a.txt" in stage.files()
        assert stage.amelia("gc", "--all").code == 0
        assert stage.amelia("status").code == 0
    finally:
        clear(tmp_path)


def test_what_is_no_regular_file_is_refused_at_once_wherever_a_file_is_wanted(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    plan = tmp_path / "plan.md"
    plan.write_text(tasks("One"))
    for make in (os.mkfifo, Path.mkdir):
        odd = tmp_path / f"odd-{make.__name__}"
        make(odd)
        for command in (
            ("run", odd),
            ("check", odd),
            ("run", "--issue", odd),
            ("plan", "draft", "--issue", odd),
        ):
            refused = quickly(stage, *command)
            assert refused.code in {2, 3}, refused
            assert str(odd) in refused.err
    for name in (".gitignore", "sub/.gitattributes", "amelia.toml"):
        place = stage.repo.path / name
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        refused = quickly(stage, "run", plan, "--no-input", "--script", stage.play())
        assert (refused.code, f"{name}" in refused.err) == (3, True), refused
        assert "named pipe" in refused.err
        place.unlink()


def quickly(stage: Stage, *command: str | Path) -> Done:
    """Runs a command that must not wait for anything."""
    started = stage.start(*command)
    try:
        started.process.wait(60)
    finally:
        started.kill()
    return started.wait()


def test_a_store_or_a_worktree_that_was_deleted_is_made_again_from_the_refs(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})
    bad = develops("2", {"write": "broken", "text": "x\n"})
    done = stage.run(tasks("One", "Two"), writes("1", "a.txt"), bad, APPROVED, options=["--mode", "tasks"])
    assert done.outcome == "halted(verify_limit)"
    for gone in ("store.git", "lanes"):
        shutil.rmtree(stage.directory / gone)
    stage.play(writes("2", "b.txt"), APPROVED)
    assert stage.amelia("retry", stage.name, "2").code == 0
    assert stage.amelia("resume", stage.name).code == 0
    assert stage.files() == sorted([*FILES, "a.txt", "b.txt"])


def test_a_unit_whose_work_went_with_the_store_begins_again(tmp_path: Path) -> None:
    slow = f"test ! -e '{tmp_path}/slow' || sleep 600\n"
    stage = make_stage(tmp_path, {**FILES, "check.sh": slow, "amelia.toml": ONCE})
    turn = develops("1", {"write": "a.txt", "text": "a\n"}, {"run": f"touch '{tmp_path}/slow'"})
    run = stage.start(*stage.put(tasks("One"), turn, APPROVED))
    run.until(lambda: '"step": "verify"' in run.out.read_text(), "the work is being verified")
    run.kill()
    shutil.rmtree(stage.directory / "store.git")
    (tmp_path / "slow").unlink()
    stage.play(writes("1", "a.txt"), APPROVED)
    stopped = stage.amelia("resume", stage.name, "--json")
    assert (stopped.code, stopped.outcome) == (1, "halted(work_lost)")
    assert stage.amelia("retry", stage.name, "1").code == 0
    assert stage.amelia("resume", stage.name).code == 0
    assert stage.files() == sorted([*FILES, "a.txt"])
