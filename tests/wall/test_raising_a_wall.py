"""A wall, raised for real: what a program behind it can do, as root and as an ordinary user."""

import json
import os
import shutil
import socket
import subprocess  # noqa: TID251 - a program behind a wall is what is tested
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from amelia.system.wall import find_kernel

HERE = Path(__file__).parent
KERNEL = find_kernel()
AS_SOMEBODY = (
    *("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups"),
    # The interpreter of the tests may lie where only root can read.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
# One that everybody can read: behind a wall, an ordinary user has not even the capability above.
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
PEOPLE = {"root": (), "somebody": AS_SOMEBODY} if os.geteuid() == 0 else {"somebody": ()}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not KERNEL.landlock, reason="this kernel has no Landlock"),
]
hides = pytest.mark.skipif(not KERNEL.has_namespaces, reason="this kernel gives us no namespaces")


@dataclass(frozen=True)
class Ground:
    """A home with secrets, a checkout, and Amelia's home with a lane in it; nothing of it lies below /tmp."""

    top: Path
    who: tuple[str, ...]
    wall: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def work(self) -> Path:
        return self.top / "amelia/runs/r/lanes/1/work"

    def tries(self, *attempts: tuple[str, object], **more: Any) -> list[str]:
        argv = [PYTHON, str(HERE / "attempts.py"), json.dumps([(o, str(p)) for o, p in attempts])]
        answers = json.loads(self.starts(argv, **more).stdout)
        return [answer.partition(":")[0] for answer in answers]

    def starts(self, argv: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        wall = {"writes": [str(self.work)], "temporary": str(self.top / "tmp"), **more}
        order = json.dumps({"wall": wall, "argv": argv, "cwd": str(self.work)})
        command = [*self.who, sys.executable, str(HERE / "behind.py"), order]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(params=PEOPLE)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    top = Path(tempfile.mkdtemp(prefix="amelia-wall-", dir="/var/tmp"))
    files = {
        "home/.ssh/id": "secret",
        "home/.netrc": "secret",
        "home/.gitconfig": "[user]",
        "checkout/main.py": "code",
        "amelia/runs/r/journal.db": "journal",
        "amelia/runs/r/store/object": "object",
        "amelia/runs/r/lanes/1/work/code.py": "code",
        "amelia/runs/r/lanes/1/work/settings": "settings",
        "tmp/.keep": "",
    }
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    if os.geteuid() == 0 and request.param != "root":
        for path in (top, *top.rglob("*")):
            shutil.chown(path, 4242, 4242)
    yield Ground(top, PEOPLE[request.param])
    with suppress(OSError):
        shutil.rmtree(top)


def test_only_the_worktree_and_the_temporary_directory_can_be_written(ground: Ground) -> None:
    work, top = ground.work, ground.top
    inside = [
        ("write", work / "code.py"),
        ("create", work / "new"),
        ("mkdir", work / "folder"),
        ("symlink", work / "link"),
        ("truncate", work / "code.py"),
        ("remove", work / "new"),
        ("create", top / "tmp/new"),
        ("write", "/dev/null"),
        ("create", "/dev/shm/amelia-wall-test"),  # noqa: S108
        ("remove", "/dev/shm/amelia-wall-test"),  # noqa: S108
        ("terminal", ""),
        ("loopback", ""),
    ]
    outside = [
        ("write", top / "checkout/main.py"),
        ("create", top / "checkout/new"),
        ("mkdir", top / "checkout/folder"),
        ("remove", top / "checkout/main.py"),
        ("truncate", top / "checkout/main.py"),
        ("write", top / "home/.gitconfig"),
        ("symlink", top / "home/link"),
        ("take", top / "checkout/main.py"),
        ("link", top / "checkout/main.py"),
        ("write", top / "amelia/runs/r/journal.db"),
        ("create", top / "amelia/runs/r/lanes/2"),
        ("create", "/var/tmp/amelia-wall-test"),  # noqa: S108
        ("device", work / "disk"),
    ]
    assert ground.tries(*inside) == ["allowed"] * len(inside)
    assert ground.tries(*outside) == ["denied"] * len(outside)
    assert ground.tries(("read", top / "checkout/main.py")) == ["allowed"]


def test_processes_outside_can_be_neither_signalled_nor_looked_into(ground: Ground) -> None:
    me = os.getpid()
    assert ground.tries(("signal", me), ("look into", me)) == ["denied", "denied"]


@hides
def test_what_is_hidden_is_empty_but_for_what_is_shown_in_it(ground: Ground) -> None:
    top = ground.top
    hidden = [str(top / "home/.ssh"), str(top / "home/.netrc"), str(top / "amelia"), str(top / "home/.none")]
    shown = [str(top / "amelia/runs/r/store")]
    attempts = [
        ("list", top / "home/.ssh"),
        ("read", top / "home/.ssh/id"),
        ("read", top / "home/.netrc"),
        ("read", top / "amelia/runs/r/journal.db"),
        ("write", top / "amelia/runs/r/store/object"),
        ("create", top / "amelia/runs/r/store/new"),
    ]
    still = [
        ("read", top / "amelia/runs/r/store/object"),
        ("read", ground.work / "code.py"),
        ("create", ground.work / "new"),
        ("read", top / "home/.gitconfig"),
    ]
    assert ground.tries(*attempts, hides=hidden, shows=shown) == ["denied"] * len(attempts)
    assert ground.tries(*still, hides=hidden, shows=shown) == ["allowed"] * len(still)


@hides
def test_a_hidden_place_cannot_be_opened_from_inside(ground: Ground) -> None:
    place = ground.top / "home/.ssh"
    namespace = ["unshare", "--user", "--map-root-user", "--mount"]
    for argv in (["umount", str(place)], ["unshare", "--mount", "true"], [*namespace, "umount", str(place)]):
        assert ground.starts(argv, hides=[str(place)]).returncode != 0


@hides
def test_a_fixed_file_in_the_worktree_stays_as_it_is(ground: Ground) -> None:
    fixed = [str(ground.work / "settings")]
    attempts = [(what, ground.work / "settings") for what in ("write", "truncate", "remove")]
    assert ground.tries(*attempts, fixes=fixed) == ["denied"] * 3
    assert ground.tries(("write", ground.work / "code.py"), fixes=fixed) == ["allowed"]


@hides
def test_the_place_of_tmp_is_a_directory_of_its_own(ground: Ground) -> None:
    assert ground.tries(("create", "/tmp/amelia-wall-test")) == ["allowed"]  # noqa: S108
    assert (ground.top / "tmp/amelia-wall-test").exists()
    assert not Path("/tmp/amelia-wall-test").exists()  # noqa: S108


@pytest.mark.skipif(not KERNEL.has_networks, reason="this kernel gives us no network namespaces")
def test_without_a_network_there_is_loopback_of_its_own_and_nothing_else(ground: Ground) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ground.tries(("connect", port)) == ["allowed"]
        assert ground.tries(("connect", port), ("loopback", ""), is_offline=True) == ["denied", "allowed"]


@pytest.mark.skipif(KERNEL.landlock < 6, reason="scopes came with version 6 of Landlock")
def test_abstract_sockets_of_others_are_out_of_reach(ground: Ground) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0amelia-{os.getpid()}")
        server.listen()
        assert ground.tries(("abstract", f"amelia-{os.getpid()}")) == ["denied"]


def test_git_works_in_a_worktree_behind_the_wall(ground: Ground) -> None:
    script = "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log --oneline"
    assert ground.starts(["sh", "-c", script]).stdout.endswith("x\n")


@hides
def test_a_program_is_not_started_if_its_wall_cannot_be_raised(ground: Ground) -> None:
    # A file cannot take the place of a directory.
    done = ground.starts(["touch", "started"], temporary=str(ground.work / "code.py"))
    assert done.returncode == 127
    assert "cannot be had" in done.stdout
    assert not (ground.work / "started").exists()


@hides
def test_what_is_written_to_a_layer_goes_elsewhere(ground: Ground) -> None:
    cache, upper, work = (ground.top / name for name in ("cache, warm", "upper", "layer-work"))
    for folder in (cache, upper, work):
        folder.mkdir()
    (cache / "wheel").write_text("wheel")
    if os.geteuid() == 0 and ground.who:
        for path in (cache, upper, work, cache / "wheel"):
            shutil.chown(path, 4242, 4242)
    layer = {"place": str(cache), "upper": str(upper), "work": str(work)}
    attempts = [("read", cache / "wheel"), ("write", cache / "wheel"), ("create", cache / "new")]
    assert ground.tries(*attempts, layers=[layer]) == ["allowed"] * 3
    assert (cache / "wheel").read_text() == "wheel"
    assert not (cache / "new").exists()
    assert (upper / "wheel").read_text() == "wheelx"
    assert ground.tries(("create", cache / "new")) == ["denied"]


@hides
def test_a_directory_whose_layer_cannot_be_had_stays_as_it_is(ground: Ground) -> None:
    layer = {"place": str(ground.top / "checkout"), "upper": str(ground.top / "none"), "work": "/none"}
    attempts = [("read", ground.top / "checkout/main.py"), ("write", ground.top / "checkout/main.py")]
    assert ground.tries(*attempts, layers=[layer]) == ["allowed", "denied"]
