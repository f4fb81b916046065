"""One login in two places: renewed inside, renewed outside, and by both at the same time."""

import fcntl
import json
import os
import subprocess  # noqa: TID251 - two programs that renew a token
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from amelia.drive.logins import Login, in_step

PROGRAM = """
import fcntl, json, os, sys, time
mine, provider, times = sys.argv[1], sys.argv[2], int(sys.argv[3])

def renew():
    with open(provider, "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        current = int(held.read())
        if json.load(open(mine))["oauth"]["refresh"] != current:
            return False  # somebody else has renewed it: the old one is worthless
        held.seek(0)
        held.write(str(current + 1))
        held.flush()
        with open(mine + ".new", "w") as file:
            json.dump({"oauth": {"refresh": current + 1, "by": sys.argv[4]}}, file)
        os.replace(mine + ".new", mine)
        # The other one hears of it before it is asked again: that takes a moment.
        time.sleep(0.8)
        return True

for _ in range(times):
    deadline = time.monotonic() + 20
    while not renew():
        assert time.monotonic() < deadline, "logged out"
        time.sleep(0.05)
"""


def login(tmp_path: Path, text: str | None = None) -> Login:
    for folder in ("home", "run/config"):
        (tmp_path / folder).mkdir(parents=True)
    if text is not None:
        (tmp_path / "home/login.json").write_text(text)
    return Login(tmp_path / "home/login.json", tmp_path / "run/config/login.json", tmp_path / "run/login")


def test_a_token_that_two_programs_renew_logs_nobody_out(tmp_path: Path) -> None:
    shared = login(tmp_path, json.dumps({"oauth": {"refresh": 0, "by": "nobody"}}))
    provider = tmp_path / "provider"
    provider.write_text("0")
    with in_step(shared):
        programs = [
            subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(provider), "3", path.parent.name])
            for path in (shared.users, shared.inside)
        ]
        assert [program.wait(60) for program in programs] == [0, 0]
    assert not shared.inside.exists(), "no copy of a login is left"
    assert not shared.common.exists()
    assert json.loads(shared.users.read_text())["oauth"]["refresh"] == 6


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_token_reaches_the_other_file_while_a_turn_goes_on(tmp_path: Path, *, is_inside: bool) -> None:
    shared = login(tmp_path, '{"token": "old"}')
    one, other = (shared.inside, shared.users) if is_inside else (shared.users, shared.inside)
    with in_step(shared):
        one.write_text('{"token": "new"}')
        deadline = time.monotonic() + 10
        while other.read_text() != '{"token": "new"}':
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert (shared.users.stat().st_mode & 0o777) in {0o600, 0o644}


def test_a_token_that_was_renewed_in_a_turn_that_was_cut_off_is_not_lost(tmp_path: Path) -> None:
    shared = login(tmp_path, '{"token": "old"}')
    shared.step()
    shared.inside.write_text('{"token": "new"}')
    shared.step()
    assert shared.users.read_text() == '{"token": "new"}'


@pytest.mark.parametrize("text", ["", "no login", "[]", '{"other": 1}', "x" * 2_000_000])
def test_what_is_no_login_does_not_take_the_place_of_the_users(tmp_path: Path, text: str) -> None:
    shared = login(tmp_path, '{"token": "old"}')
    shared.step()
    shared.inside.write_text(text)
    shared.step()
    assert shared.users.read_text() == '{"token": "old"}'
    assert shared.inside.read_text() == '{"token": "old"}'


def test_a_link_that_an_agent_makes_is_not_followed(tmp_path: Path) -> None:
    shared = login(tmp_path, '{"token": "old"}')
    shared.step()
    (tmp_path / "secret").write_text('{"token": "secret"}')
    shared.inside.unlink()
    shared.inside.symlink_to(tmp_path / "secret")
    shared.step()
    assert shared.users.read_text() == '{"token": "old"}'
    assert (tmp_path / "secret").read_text() == '{"token": "secret"}'
    assert not shared.inside.is_symlink()


def test_who_has_no_login_gets_none(tmp_path: Path) -> None:
    shared = login(tmp_path)
    shared.inside.write_text('{"token": "made up"}')
    with in_step(shared):
        pass
    assert not shared.users.exists()


KEPT: dict[str, Any] = {
    "oauth": {"access": "a", "refresh": "r", "until": 5, "account": None, "scopes": ["x"]},
    "key": None,
}


@pytest.mark.parametrize(
    "changed",
    [
        {**KEPT, "more": 1},
        {"oauth": KEPT["oauth"]},
        {**KEPT, "key": "of somebody"},
        {**KEPT, "oauth": "text"},
        {**KEPT, "oauth": {**KEPT["oauth"], "access": ""}},
        {**KEPT, "oauth": {**KEPT["oauth"], "access": 7}},
        {**KEPT, "oauth": {**KEPT["oauth"], "until": True}},
        {**KEPT, "oauth": {**KEPT["oauth"], "scopes": {}}},
        {**KEPT, "oauth": {"access": "a"}},
        {**KEPT, "oauth": {**KEPT["oauth"], "access": "a" * 70_000}},
    ],
)
def test_a_login_of_another_shape_is_not_taken_over(tmp_path: Path, changed: Any) -> None:
    shared = login(tmp_path, json.dumps(KEPT))
    shared.step()
    shared.inside.write_text(json.dumps(changed))
    shared.step()
    assert json.loads(shared.users.read_text()) == KEPT
    assert json.loads(shared.inside.read_text()) == KEPT


def test_a_renewed_login_may_tell_more_in_its_tables(tmp_path: Path) -> None:
    shared = login(tmp_path, json.dumps(KEPT))
    shared.step()
    renewed = {**KEPT, "oauth": {**KEPT["oauth"], "access": "b", "until": 2.5, "account": "me", "more": 1}}
    shared.inside.write_text(json.dumps(renewed))
    shared.step()
    assert json.loads(shared.users.read_text()) == renewed


@pytest.mark.parametrize("kind", ["directory", "pipe", "link to a directory", "link to nothing"])
def test_what_is_no_file_in_place_of_a_login_harms_nobody(tmp_path: Path, kind: str) -> None:
    shared = login(tmp_path, '{"token": "old"}')
    shared.step()
    shared.inside.unlink()
    match kind:
        case "directory":
            (shared.inside / "inner").mkdir(parents=True)
        case "pipe":
            os.mkfifo(shared.inside)
        case _:
            shared.inside.symlink_to(tmp_path if kind.endswith("directory") else tmp_path / "nothing")
    handles = len(list(Path("/proc/self/fd").iterdir()))
    with in_step(shared):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
    assert shared.users.read_text() == '{"token": "old"}'
    assert [path.name for path in shared.inside.parent.iterdir() if path != shared.inside] == []


def test_a_lock_that_somebody_holds_does_not_stop_a_turn(tmp_path: Path) -> None:
    shared = login(tmp_path, '{"token": "old"}')
    shared.step()
    holder = os.open(shared.users.parent, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    began = time.monotonic()
    shared.inside.write_text('{"token": "new"}')
    assert not shared.step()
    assert time.monotonic() - began < 5
    assert shared.users.read_text() == '{"token": "old"}'
    os.close(holder)
    assert shared.step()
    assert shared.users.read_text() == '{"token": "new"}'
