"""What other programs see of the caller's environment, and what counts as one process."""

import os
import sys

import pytest

from amelia.system.environment import clean_environment
from amelia.system.process import is_alive, process_start_time
from amelia.system.secrets import looks_secret

HOSTILE = {
    "VIRTUAL_ENV": "/venv",
    "PYTHONPATH": "/evil",
    "PYTHONHOME": "/evil",
    "GIT_DIR": "/evil/.git",
    "GIT_WORK_TREE": "/evil",
    "OPENAI_API_KEY": "sk-1",
    "GITHUB_TOKEN": "t",
    "AWS_SECRET_ACCESS_KEY": "s",
    "SSH_AUTH_SOCK": "/agent",
    "XDG_SECRET_THING": "s",
    "LC_TOKEN": "t",
    "LD_PRELOAD": "/evil.so",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in os.environ:
        monkeypatch.delenv(name)
    return monkeypatch


def test_nothing_that_could_redirect_a_program_or_is_a_key_is_passed_on(
    environment: pytest.MonkeyPatch,
) -> None:
    for name, value in HOSTILE.items():
        environment.setenv(name, value)
    assert clean_environment({}) == {}


def test_what_every_program_needs_is_passed_on(environment: pytest.MonkeyPatch) -> None:
    needed = {"HOME": "/h", "LANG": "C", "LC_ALL": "C", "XDG_CONFIG_HOME": "/c", "TZ": "UTC", "TERM": "x"}
    for name, value in needed.items():
        environment.setenv(name, value)
    assert clean_environment({}) == needed


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("/venv/bin:/usr/bin", "/usr/bin"),
        ("/usr/bin:/venv/bin/:/bin", "/usr/bin:/bin"),
        ("/venv/binary:/venv", "/venv/binary:/venv"),
    ],
)
def test_the_callers_virtual_environment_is_not_on_the_path(
    environment: pytest.MonkeyPatch, path: str, cleaned: str
) -> None:
    environment.setenv("VIRTUAL_ENV", "/venv")
    environment.setenv("PATH", path)
    assert clean_environment({})["PATH"] == cleaned


def test_without_a_virtual_environment_the_path_stays(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("PATH", "/venv/bin:/usr/bin")
    assert clean_environment({}) == {"PATH": "/venv/bin:/usr/bin"}


def test_what_is_given_on_purpose_wins(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HOME", "/h")
    assert clean_environment({"HOME": "/other", "API_KEY": "k"}) == {"HOME": "/other", "API_KEY": "k"}


@pytest.mark.parametrize("name", ["API_KEY", "gh_token", "DB_PASSWORD", "CLIENT_SECRET", "BASIC_AUTH"])
def test_names_of_keys_are_known(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["HOME", "GIT_AUTHOR_NAME", "LANG"])
def test_other_names_are_not_taken_for_keys(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_an_id_alone_is_not_a_process() -> None:
    started = process_start_time(os.getpid())
    assert started is not None
    assert is_alive(os.getpid(), started)
    assert not is_alive(os.getpid(), started + 1)
    assert process_start_time(2**22 + 1) is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_zombie_does_not_live() -> None:
    child = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert process_start_time(child) is None
    os.waitpid(child, 0)
