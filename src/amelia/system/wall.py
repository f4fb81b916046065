"""The wall around programs that are not ours: what they may write, and what is hidden from them.

A `Wall` of the model only describes; the supervisor raises it in the program's own process (`confine`). What
can be raised depends on the kernel: Landlock limits writing, signals and abstract sockets; namespaces hide
files, put layers over directories, give a private /tmp and take the network away. Both are found out once, by
trying.
"""

import os
import subprocess  # noqa: TID251 - a probe that ends at once
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amelia.model.walls import Layer, Wall
from amelia.system import confine

DEVICES = tuple(
    f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
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


def entries_of(wall: Wall, kernel: Kernel) -> tuple[str, ...]:
    """Returns a wall as the supervisor reads it; empty where the kernel can raise nothing of it."""
    return tuple(_entries(wall, kernel))


def _entries(wall: Wall, kernel: Kernel) -> Iterator[str]:
    temporary = (wall.temporary,) if wall.temporary else ()
    layers = [layer for layer in wall.layers if Path(layer.place).is_dir()] if kernel.has_namespaces else []
    places = (_settled(layer.place) for layer in layers)
    writes = [*_real((*wall.writes, *temporary)), *places, *filter(os.path.lexists, DEVICES)]
    if kernel.landlock:
        yield f"{chr(confine.LANDLOCK)}{kernel.landlock}"
        yield from _of_kind(confine.WRITES, writes)
    if not kernel.has_namespaces:
        return
    yield chr(confine.ALONE)
    for layer in layers:
        yield f"{chr(confine.LAYERED)}{_settled(layer.place)}"
        yield f"{chr(confine.LAYERS)}{_options(layer)}"
    # Not as it was once: the user may have put a link there since.
    hides = _real(wall.hides)
    yield from _of_kind(confine.HIDES, hides)
    shows = [path for path in (*writes, *_real(wall.shows)) if any(_is_below(path, top) for top in hides)]
    yield from _of_kind(confine.SHOWS, dict.fromkeys(shows))
    yield from _of_kind(confine.FIXES, _real(wall.fixes))
    if wall.replaces_tmp:
        yield from _of_kind(confine.TEMPORARY, _real(temporary))
    if wall.is_offline and kernel.has_networks:
        yield chr(confine.OFFLINE)


def _options(layer: Layer) -> str:
    """Returns the options by which a layer is mounted; a cache need not be on disk when its program ends."""
    lower = ":".join(_escaped(path, ":") for path in (*layer.over, layer.place))
    upper, work = _escaped(layer.upper), _escaped(layer.work)
    return f"volatile,userxattr,lowerdir={lower},upperdir={upper},workdir={work}"


def _escaped(path: str, more: str = "") -> str:
    return "".join(f"\\{each}" if each in f"\\,{more}" else each for each in path)


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


def _real(paths: Iterable[str]) -> list[str]:
    """Returns the paths that are there, without links on the way to them."""
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.lexists(path)))


@cache
def _settled(path: str) -> str:
    """Returns a path of the user's without links on the way; nobody behind a wall can change that."""
    return os.path.realpath(path)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _of_kind(kind: int, paths: Iterable[str]) -> Iterator[str]:
    return (f"{chr(kind)}{path}" for path in paths)
