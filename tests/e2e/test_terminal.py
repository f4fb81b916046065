"""What others wrote is shown, and never obeyed by a terminal; whatever the locale can write is written."""

import json
import re
import subprocess  # noqa: TID251 - a person who pipes the program into another one
import sys
from pathlib import Path

import pytest

from stories import APPROVED, NOTHING, Env, Stage, develops, make_stage

pytestmark = pytest.mark.slow

EVIL = "a\x1b]0;owned\x07b\x9b31mc\x7fd\u202ee\u2066f\u200fg\x08h\rj"
RAW = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)
OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?(?:25|7)[lh]|\x1b\[[0-9]*[AHJK]|\r\x1b\[[0-9]+A|\r(?=\x1b)")
PLAN = f"# Goal {EVIL}\n\n### Task 1: Title {EVIL}\nDo it {EVIL}.\n- Files: create x{EVIL.split(chr(13), maxsplit=1)[0]}.txt\n"
UNENCODABLE = "# Größe\n\n### Task 1: Prüfe die Größe ✓ 日本 🎉\nMach es.\n"
BARE: Env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
LOCALES: dict[str, Env] = {
    "ascii": BARE,
    "C": {"LC_ALL": "C", "PYTHONIOENCODING": ""},
    "empty": {"LANG": "", "PYTHONIOENCODING": ""},
    "no mercy": {"LC_ALL": "C", "PYTHONIOENCODING": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def assert_safe(text: str, what: object) -> None:
    rest = OWN.sub("", text)
    found = RAW.search(rest) or re.search("\x1b", rest)
    assert not found, (what, found, rest[:2000])


def seen_at_terminal(stage: Stage, *arguments: str, answers: str = "") -> str:
    done = stage.at_terminal(*arguments, answers=answers, env={"TERM": "xterm"})
    assert_safe(done.out, arguments)
    return done.out


def piped(stage: Stage, *arguments: str, env: Env = NOTHING) -> str:
    """Returns what a pager is given."""
    done = subprocess.run(
        [sys.executable, "-m", "amelia", *arguments],
        cwd=stage.repo.path,
        env=stage.environ(env),
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert_safe(done.stdout.decode(), arguments)
    assert_safe(done.stderr.decode(), arguments)
    return done.stdout.decode()


def test_a_hostile_plan_is_shown_and_not_obeyed(stage: Stage) -> None:
    plan = stage.room / f"p{EVIL}.md"
    plan.write_text(PLAN)
    for more in (
        [],
        ["--json"],
        ["--graph", "mermaid"],
        ["--graph", "dot"],
        ["--section", "1"],
        ["--section", EVIL],
    ):
        assert "itle" in seen_at_terminal(stage, "check", str(plan), *more) or EVIL in more
        piped(stage, "check", str(plan), *more)
    assert json.loads(piped(stage, "check", str(plan), "--json"))["tasks"][0]["title"].startswith(
        "Title a\x1b]0;"
    )
    for words in (["check", EVIL], [EVIL], ["status", EVIL], ["run", f"--{EVIL}"], ["config", "show", EVIL]):
        seen_at_terminal(stage, *words)
        piped(stage, *words)
    assert "\x1b[" in seen_at_terminal(stage, "check", str(plan))  # our own colours


def test_a_hostile_agent_is_shown_and_not_obeyed(stage: Stage) -> None:
    name = EVIL.replace("\r", "")
    turn = develops(
        "1",
        {"write": f"x{name}.txt", "text": f"{EVIL}\n\ttabs\n"},
        report={"status": "completed", "summary": EVIL},
    )
    review = {"role": "reviewer", "report": {"approved": False, "comments": [{"text": EVIL, "file": EVIL}]}}
    stage.put(PLAN, turn, review, APPROVED)
    words = ("run", str(stage.room / "plan.md"), "--script", str(stage.room / "script.toml"))
    assert "Run this plan?" in seen_at_terminal(stage, *words, answers="n\n")
    seen_at_terminal(stage, *words, "--yes")
    for command in ("status", "log", "report", "diff", "inbox"):
        for more in ([stage.name], [stage.name, "--json"]) if command != "inbox" else ([], ["--json"]):
            seen_at_terminal(stage, command, *more)
            piped(stage, command, *more)
    for more in (["log", stage.name, "1"], ["diff", stage.name, "1"], ["plan", "show", stage.name]):
        seen_at_terminal(stage, *more)
    shown = piped(stage, "diff", stage.name, "1")
    assert "+\ttabs\n" in shown
    assert "\\u001b]0;owned\\u0007" in shown
    exact = stage.amelia("diff", stage.name, "1", "--raw").out
    assert f"+{EVIL}"[:20] in exact


def test_a_mistake_of_ours_is_told_and_not_obeyed(tmp_path: Path) -> None:
    program = """
import amelia.show.cli as cli
def fails(**_): raise ValueError("a\\x1b]0;owned\\x07")
cli.group.main = fails
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1
    assert "ValueError: a\\u001b]0;owned\\u0007" in done.stderr.decode()
    assert b"\x1b" not in done.stderr


@pytest.mark.parametrize("env", LOCALES.values(), ids=LOCALES)
def test_a_plan_that_the_locale_cannot_write_is_checked_run_and_shown(stage: Stage, env: Env) -> None:
    plan = stage.room / "plän.md"
    plan.write_text(UNENCODABLE)
    script = stage.play(develops("1", {"write": "größe-日本.txt", "text": "ü\n"}), APPROVED)
    for more in ([], ["--json"], ["--graph", "dot"], ["--section", "1"]):
        piped(stage, "check", str(plan), *more, env=env)
    assert "日本" in json.loads(piped(stage, "check", str(plan), "--json", env=env))["tasks"][0]["title"]
    out = piped(stage, "run", str(plan), "--script", str(script), env=env)
    assert "completed" in out, out
    for words in (
        ["status"],
        ["log"],
        ["report"],
        ["diff"],
        ["diff", "1"],
        ["status", "--json"],
        ["log", "--json"],
    ):
        shown = piped(stage, words[0], stage.name, *words[1:], env=env)
        assert shown
    piped(stage, "status", "ünbekannt", env=env)
    assert "größe-日本.txt" in stage.repo.git(
        "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", stage.branch
    )
