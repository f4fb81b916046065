"""The table of the wall: what each role can do where, tried for real, as root and as an ordinary user."""

import json
import os
import shutil
import socket
import subprocess  # noqa: TID251 - programs behind a wall are what is tested
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from amelia.system.wall import find_kernel

HERE = Path(__file__).parent
KERNEL = find_kernel()
AS_SOMEBODY = (
    *("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups"),
    # The interpreter of the tests may lie where only root can read.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
PEOPLE = {"root": (), "somebody": AS_SOMEBODY} if os.geteuid() == 0 else {"somebody": ()}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not KERNEL.landlock, reason="this kernel has no Landlock"),
    pytest.mark.skipif(not KERNEL.has_namespaces, reason="this kernel gives us no namespaces"),
]
AGENTS = ("developer", "reviewer", "evaluator", "architect")
ROLES = (*AGENTS, "setup", "tests", "hook")
NOBODY: tuple[str, ...] = ()
OF_CHECKS = ("setup", "tests")
TABLE = (
    # operation, path, who may
    ("write", "RUN/lanes/1/work/file", ("developer", "hook")),
    ("create", "RUN/lanes/1/work/new-{role}", ("developer", "hook")),
    ("write", "RUN/lanes/1/check/file", OF_CHECKS),
    ("create", "RUN/lanes/1/check/new-{role}", OF_CHECKS),
    ("write", "RUN/store.git/lanes/1-work/file", ()),
    ("write", "RUN/store.git/lanes/1-work-hook/file", ("hook",)),
    ("create", "RUN/store.git/objects/new-{role}", ()),
    ("read", "RUN/store.git/objects/file", ROLES),
    ("write", "RUN/lanes/2/work/file", NOBODY),
    ("read", "RUN/lanes/2/work/file", NOBODY),
    ("read", "RUN/journal.db", NOBODY),
    ("write", "RUN/journal.db", NOBODY),
    ("list", "{top}/state/runs/other", NOBODY),
    ("mkdir", "{top}/state/runs/new-{role}", NOBODY),
    ("read", "{top}/checkout/main.py", ROLES),
    ("write", "{top}/checkout/main.py", NOBODY),
    ("create", "{top}/checkout/new-{role}", NOBODY),
    ("read", "{top}/checkout/.env", NOBODY),
    ("read", "{top}/checkout/.env.example", ROLES),
    ("read", "{top}/checkout/services/api/.env.local", NOBODY),
    ("write", "{top}/home/.gitconfig", NOBODY),
    ("create", "{top}/home/.bashrc-{role}", NOBODY),
    ("write", "{top}/home/.claude/settings.json", NOBODY),
    ("read", "{top}/home/.claude/settings.json", ROLES),
    ("read", "{top}/home/.ssh/id", NOBODY),
    ("read", "{top}/home/.aws/credentials", NOBODY),
    ("read", "{top}/home/.netrc", NOBODY),
    ("read", "{top}/home/.config/gh/hosts.yml", NOBODY),
    ("read", "{top}/home/.claude/.credentials.json", AGENTS),  # all of which are Claude
    ("read", "{top}/home/.codex/auth.json", NOBODY),
    ("read", "{top}/home/.bash_history", NOBODY),
    ("read", "{top}/home/.config/rclone/rclone.conf", NOBODY),
    ("read", "{top}/checkout/.envrc", NOBODY),
    ("read", "{top}/checkout/a/b/c/d/prod.env", NOBODY),
    ("read", "{top}/home/.npm/package", ROLES),
    ("write", "{top}/home/.npm/package", ("developer", "hook", *OF_CHECKS)),  # into a layer of its own
    ("create", "/tmp/new-{role}", ROLES),  # noqa: S108 - which is its own
    ("write", "/dev/null", ROLES),
    ("terminal", "", ROLES),
    ("loopback", "", ROLES),
)
FILES = (
    "checkout/pre-commit",
    "checkout/package.json",
    "checkout/main.py",
    "checkout/.env",
    "checkout/.env.example",
    "checkout/services/api/.env.local",
    "home/.gitconfig",
    "home/.claude/settings.json",
    "home/.ssh/id",
    "home/.aws/credentials",
    "home/.netrc",
    "home/.config/gh/hosts.yml",
    "home/.claude/.credentials.json",
    "home/.codex/auth.json",
    "home/.bash_history",
    "home/.config/rclone/rclone.conf",
    "checkout/.envrc",
    "checkout/a/b/c/d/prod.env",
    "home/.npm/package",
)


@pytest.fixture(params=PEOPLE)
def ground(request: pytest.FixtureRequest) -> Iterator[tuple[Path, tuple[str, ...]]]:
    top = Path(tempfile.mkdtemp(prefix="amelia-wall-", dir="/var/tmp"))
    for name in FILES:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    (top / "checkout/pre-commit").chmod(0o755)
    if os.geteuid() == 0 and request.param != "root":
        for path in (top, *top.rglob("*")):
            shutil.chown(path, 4242, 4242)
    yield top, PEOPLE[request.param]
    with suppress(OSError):
        shutil.rmtree(top)


def tries(
    ground: tuple[Path, tuple[str, ...]], attempts: dict[str, list[tuple[str, str]]], **more: str
) -> dict[str, list[str]]:
    top, who = ground
    order = json.dumps({"top": str(top), "attempts": attempts, **more})
    environment = {"HOME": str(top / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        [*who, sys.executable, str(HERE / "roles.py"), order],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_role_can_do_what_the_table_says_and_nothing_else(ground: tuple[Path, tuple[str, ...]]) -> None:
    top = ground[0]
    attempts = {role: [(what, path.format(top=top, role=role)) for what, path, _ in TABLE] for role in ROLES}
    found = tries(ground, attempts)
    wrong = [
        (role, what, path, answer)
        for role in ROLES
        for (what, path, who), answer in zip(TABLE, found[role], strict=True)
        if answer != ("allowed" if role in who else "denied")
    ]
    assert wrong == []
    assert (top / "home/.npm/package").read_text() == "x"


def test_caches_stay_with_a_role_and_tests_have_fresh_ones(ground: tuple[Path, tuple[str, ...]]) -> None:
    cache = str(ground[0] / "home/.npm")
    again = [("create", f"{cache}/new")]
    attempts = {"developer": again, "setup": again, "tests": [("read", f"{cache}/package"), *again]}
    found = tries(ground, attempts, times="2")
    assert found["developer"] == ["denied"]  # for it is there already
    assert found["setup"] == ["denied"]
    assert found["tests"] == ["allowed", "denied"]  # since they see what the setup has put there
    assert tries(ground, {"tests": again}, times="2") == {"tests": ["allowed"]}


@pytest.mark.skipif(not KERNEL.has_networks, reason="this kernel gives us no network namespaces")
def test_only_tests_are_without_a_network_if_the_user_wants_none(
    ground: tuple[Path, tuple[str, ...]],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        attempts = {role: [("connect", str(server.getsockname()[1]))] for role in ROLES}
        found = tries(ground, attempts, network="none")
    assert {role for role, answers in found.items() if answers == ["denied"]} == {"tests"}
