"""The player of scripts as the program it is."""

import json
import subprocess  # noqa: TID251 - the player is a program
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


class Played:
    """What came of one turn."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.code = done.returncode
        self.errors = done.stderr.decode()
        self.lines = done.stdout.decode().splitlines()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


def play(folder: Path, turn: str, *, header: str = "[[turn]]\n") -> Played:
    script = folder / "script.toml"
    script.write_text(header + turn, encoding="utf-8")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    arguments = ["--role=developer", "--unit=1", "--attempt=1", "--session=s1"]
    return Played(
        subprocess.run(
            [sys.executable, "-m", "amelia.drive.script.player", f"--script={script}", *arguments],
            cwd=work,
            input=b"prompt" * 100_000,
            capture_output=True,
            check=False,
            timeout=20,
        )
    )


def test_a_whole_turn_is_told_line_by_line(tmp_path: Path) -> None:
    played = play(
        tmp_path,
        """
        do = [{write="src/a.py", text="ä"}, {run="echo noise; cp src/a.py b; false"}, {say="done"}]
        report = {status="completed"}
        usage = {input=5, output=6}
        """,
    )
    assert played.code == 0
    assert played.messages == [
        {"type": "session", "session": "s1", "model": "script"},
        {"type": "tool", "state": "started", "name": "write", "detail": "src/a.py"},
        {"type": "tool", "state": "ended", "name": "write", "ok": True},
        {
            "type": "tool",
            "state": "started",
            "name": "run",
            "detail": "echo noise; cp src/a.py b; false",
        },
        {"type": "tool", "state": "ended", "name": "run", "ok": False},
        {"type": "say", "text": "done"},
        {"type": "result", "report": {"status": "completed"}},
        {"type": "usage", "input": 5, "output": 6},
    ]
    assert "noise" in played.errors
    assert (tmp_path / "work" / "b").read_text(encoding="utf-8") == "ä"


def test_files_of_every_kind_can_be_written(tmp_path: Path) -> None:
    played = play(
        tmp_path,
        """
        do = [
          {write="run.sh", text="#!/bin/sh", mode="755"}, {write="data", text="AP8=", base64=true},
          {write="link", link="data"}, {write="link", link="run.sh"}, {append="log", text="a"}, {append="log", text="b"},
          {write="../outside", text="x"},
        ]
        """,
    )
    work = tmp_path / "work"
    assert played.code == 0
    assert (work / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (work / "data").read_bytes() == b"\x00\xff"
    assert (work / "link").readlink() == Path("run.sh")
    assert (work / "log").read_text() == "ab"
    assert (tmp_path / "outside").read_text() == "x"


def test_files_folders_and_links_can_be_deleted(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "folder" / "inner").mkdir(parents=True)
    (work / "kept").mkdir()
    (work / "link").symlink_to("kept")
    (work / "file").write_text("")
    played = play(tmp_path, 'do = [{delete="folder"}, {delete="link"}, {delete="file"}, {delete="none"}]')
    assert [path.name for path in work.iterdir()] == ["kept"]
    assert [message["ok"] for message in played.messages if "ok" in message] == [True, True, True, False]
    assert "none" in played.errors


def test_garbage_is_printed_as_it_is(tmp_path: Path) -> None:
    assert play(tmp_path, 'do = [{raw="{not json ä"}, {sleep=0.01}, {hang=false}]').lines[1:] == [
        "{not json ä"
    ]


@pytest.mark.parametrize(("act", "code"), [("{exit=3}", 3), ("{exit=0}", 0)])
def test_an_exit_ends_the_turn_without_a_result(tmp_path: Path, act: str, code: int) -> None:
    played = play(tmp_path, f'do = [{act}, {{say="never"}}]\nreport = {{a=1}}')
    assert played.code == code
    assert [message["type"] for message in played.messages] == ["session"]


def test_a_limit_ends_the_turn_badly(tmp_path: Path) -> None:
    played = play(tmp_path, 'do = [{limit="2026-11-15T12:00:00Z"}]\nreport = {a=1}')
    assert played.code == 1
    assert played.messages[1:] == [{"type": "limit", "until": "2026-11-15T12:00:00Z"}]


def test_a_turn_that_is_not_in_the_script_does_nothing(tmp_path: Path) -> None:
    played = play(tmp_path, 'role = "reviewer"')
    assert played.code == 0
    assert [message["type"] for message in played.messages] == ["session"]


def test_a_wrong_script_does_nothing_and_says_why_in_one_line(tmp_path: Path) -> None:
    played = play(tmp_path, 'do = [{write="made"}, {dance=true}]')
    assert played.code == 2
    assert played.lines == []
    assert played.errors.startswith(f"{tmp_path}/script.toml: turn 1: an act is one of")
    assert played.errors.count("\n") == 1
    assert not (tmp_path / "work" / "made").exists()


def test_a_script_that_is_not_there_is_a_wrong_script(tmp_path: Path) -> None:
    arguments = ["--role=r", "--unit=1", "--attempt=1", "--session=s", "--resume"]
    done = subprocess.run(
        [sys.executable, "-m", "amelia.drive.script.player", f"--script={tmp_path}/none", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (2, f"{tmp_path}/none: No such file or directory\n")
