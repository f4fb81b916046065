"""The wall around programs that are not ours: what they may write, and what is hidden from them.

A `Wall` only describes; the supervisor raises it in the program's own process (`confine`). What can be raised
depends on the kernel: Landlock limits writing, signals and abstract sockets; namespaces hide files, give a
private /tmp and take the network away. Both are found out once, by trying.
"""

import os
import subprocess  # noqa: TID251 - a probe that ends at once
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amelia.system import confine

DEVICES = tuple(
    Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
)
"""The devices and the shared memory that every program may write to."""

_PROBE = (
    "import sys; sys.path.append(sys.argv[1]); from confine import confine; "
    "confine([word.encode() for word in sys.argv[2:]])"
)
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Kernel:
    """The parts of a wall that the kernel can raise: the version of Landlock, and namespaces for us."""

    landlock: int = 0
    has_namespaces: bool = False
    has_networks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """What one program may write and see.

    `writes` are files and directories with everything below them; nothing else can be written. `hides` are
    empty for the program, but for what it may write there and what `shows` names; `fixes` are files inside
    `writes` that stay as they are. `temporary` takes the place of /tmp. Missing paths are left out.
    """

    kernel: Kernel
    writes: tuple[Path, ...] = ()
    hides: tuple[Path, ...] = ()
    shows: tuple[Path, ...] = ()
    fixes: tuple[Path, ...] = ()
    temporary: Path | None = None
    is_offline: bool = False

    @property
    def entries(self) -> tuple[str, ...]:
        """The wall as the supervisor reads it; empty where the kernel can raise nothing of it."""
        return tuple(self._entries())

    def _entries(self) -> Iterator[str]:
        writes = _real((*self.writes, *((self.temporary,) if self.temporary else ()), *DEVICES))
        if self.kernel.landlock:
            yield f"{chr(confine.LANDLOCK)}{self.kernel.landlock}"
            yield from _of_kind(confine.WRITES, writes)
        if not self.kernel.has_namespaces:
            return
        yield chr(confine.ALONE)
        hides = _real(self.hides)
        yield from _of_kind(confine.HIDES, hides)
        shows = [path for path in (*writes, *_real(self.shows)) if any(_is_below(path, top) for top in hides)]
        yield from _of_kind(confine.SHOWS, dict.fromkeys(shows))
        yield from _of_kind(confine.FIXES, _real(self.fixes))
        if self.temporary is not None:
            yield from _of_kind(confine.TEMPORARY, _real((self.temporary,)))
        if self.is_offline and self.kernel.has_networks:
            yield chr(confine.OFFLINE)


@cache
def find_kernel() -> Kernel:
    """Finds out what walls this kernel can raise for this user."""
    if sys.platform != "linux":
        return Kernel()
    has_networks = _can_raise(confine.ALONE, confine.OFFLINE)
    has_namespaces = has_networks or _can_raise(confine.ALONE)
    return Kernel(confine.landlock_version(), has_namespaces, has_networks)


def _can_raise(*kinds: int) -> bool:
    argv = [sys.executable, "-I", "-S", "-c", _PROBE, str(Path(confine.__file__).parent), *map(chr, kinds)]
    try:
        return subprocess.run(argv, capture_output=True, check=False, timeout=_PATIENCE).returncode == 0  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False


def _real(paths: Iterable[Path]) -> list[str]:
    """Returns the paths that are there, without links on the way to them."""
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.lexists(path)))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _of_kind(kind: int, paths: Iterable[str]) -> Iterator[str]:
    return (f"{chr(kind)}{path}" for path in paths)
