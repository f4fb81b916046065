"""One login in two places: renewed inside, renewed outside, and by both at the same time."""

import json
import subprocess  # noqa: TID251 - two programs that renew a token
import sys
import time
from pathlib import Path

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
