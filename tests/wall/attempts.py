"""Tries operations on paths, one after the other, and prints for each whether it was allowed.

Runs behind a wall: `python attempts.py '[["write", "/path"], …]'`. Standard library only.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path


def write(path: str) -> None:
    with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - the plain way of most programs
        file.write("x")


def create(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def read(path: str) -> None:
    if not Path(path).read_bytes():
        raise PermissionError(f"{path} is empty")


def listed(path: str) -> None:
    if not os.listdir(path):  # noqa: PTH208 - a plain look
        raise PermissionError(f"{path} is empty")


def take(path: str) -> None:
    os.rename(path, os.path.basename(path))  # noqa: PTH104, PTH119 - the system call itself


def link(path: str) -> None:
    os.link(path, f"linked-{os.path.basename(path)}")  # noqa: PTH119


def signal_it(pid: str) -> None:
    os.kill(int(pid), signal.SIGURG)


def look_into(pid: str) -> None:
    read(f"/proc/{pid}/environ")


def connect(port: str) -> None:
    socket.create_connection(("127.0.0.1", int(port)), timeout=2).close()


def abstract(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"\0{name}")


def loopback(_: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=2).close()


def terminal(_: str) -> None:
    for end in os.openpty():
        os.close(end)


def device(path: str) -> None:
    os.mknod(path, 0o60600, os.makedev(8, 0))


OPERATIONS: dict[str, Callable[[str], None]] = {
    "write": write,
    "create": create,
    "mkdir": os.mkdir,
    "remove": os.unlink,
    "truncate": lambda path: os.truncate(path, 0),
    "symlink": lambda path: Path(path).symlink_to("target"),
    "read": read,
    "list": listed,
    "take": take,
    "link": link,
    "chmod": lambda path: Path(path).chmod(0o700),
    "signal": signal_it,
    "look into": look_into,
    "connect": connect,
    "abstract": abstract,
    "loopback": loopback,
    "terminal": terminal,
    "device": device,
}


def main() -> None:
    results: list[str] = []
    for operation, target in json.loads(sys.argv[1]):
        try:
            OPERATIONS[operation](target)
        except OSError as problem:
            results.append(f"denied: {problem.strerror or problem}")
        else:
            results.append("allowed")
    print(json.dumps(results))  # noqa: T201 - that is what it is for


if __name__ == "__main__":
    main()
