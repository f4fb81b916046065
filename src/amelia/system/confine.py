"""Raises the wall around the process that calls it, and around everything that process becomes or starts.

Part of the supervisor (`python -I -S`, standard library only), called in the child between fork and exec.
The order matters: a namespace of its own first, so that mounts stay inside; then mounts that hide files;
then capabilities, which would open what mounts hide; Landlock last, which also forbids to mount anything.

Rules
- Whatever cannot be raised raises `ConfineError` with the step that failed: a program that was to have a wall
  is never started without it.
- Landlock names inodes: a rule that allows a directory allows everything below it, through any mount of it.
- Landlock knows no exception below an allowed directory. What must stay readable only there gets a read-only
  mount; what must not be read at all gets an empty one.
"""

from __future__ import annotations

import _ctypes
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WRITES, HIDES, SHOWS, FIXES, TEMPORARY, OFFLINE, ALONE, LANDLOCK, LAYERED, LAYERS = b"whsftonlcd"
"""The first byte of an entry: a path that may be written, is hidden, is shown inside a hidden one, or is kept
as it is, the directory that takes the place of /tmp, no network, namespaces, the version of Landlock, and a
directory that gets a layer, followed by the options of that."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CAPSET = {"x86_64": 126, "aarch64": 91, "riscv64": 91}
_PATH_BENEATH = 1
_READING = 0b1101  # execute, read a file, read a directory: not handled
_OF_FILES = 1 << 1 | 1 << 14  # write and truncate are all that can be allowed for what is not a directory
_NODES = 1 << 6 | 1 << 11  # devices: nobody makes them
_RIGHTS = ((1, 13), (2, 14), (3, 15))  # from this version on, so many rights are known
_SCOPES_SINCE, _SCOPES = 6, 0b11  # abstract sockets and signals stay inside

_NEWNS, _NEWUSER, _NEWNET = 0x20000, 0x10000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_NO_NEW_PRIVS, _CAPBSET_DROP = 38, 24
_KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 29, 31)
"""The capabilities that root keeps: those of a container, without reading past mounts and making devices."""

_LIBC = _ctypes.dlopen(None, 0)  # pyright: ignore[reportArgumentType]


class ConfineError(OSError):
    """A part of the wall could not be raised."""


def confine(entries: list[bytes]) -> None:
    """Raises the wall that the entries of an order describe."""
    wall: dict[int, list[bytes]] = {}
    for entry in entries:
        wall.setdefault(entry[0], []).append(entry[1:])
    if ALONE in wall:
        _enter_namespaces(is_offline=OFFLINE in wall)
        _arrange_mounts(wall)
    _call("prctl", "no new privileges", _NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.geteuid() == 0:
        _drop_capabilities()
    if LANDLOCK in wall:
        _restrict_writing(int(wall[LANDLOCK][0]), wall.get(WRITES, []))


def landlock_version() -> int:
    """Returns the version of Landlock that the kernel has; 0 if it has none."""
    return max(0, _call("syscall", None, _CREATE_RULESET, None, 0, 1))


def _call(name: str, step: str | None, *arguments: int | bytes | None) -> int:
    """Calls a function of the C library; the step says what failed if it returns less than zero."""
    result = _ctypes.call_function(_ctypes.dlsym(_LIBC, name), arguments)
    if step is not None and result < 0:
        raise ConfineError(0, f"{step} cannot be had")
    return result


def _enter_namespaces(*, is_offline: bool) -> None:
    """Leaves the mounts, and the network, of the others; an ordinary user needs a user namespace for it."""
    user, group = os.geteuid(), os.getegid()
    wanted = _NEWNS | (_NEWNET if is_offline else 0)
    if user != 0 or _call("unshare", None, wanted) < 0:
        _call("unshare", "a namespace", wanted | _NEWUSER)
        _write("/proc/self/setgroups", b"deny")
        # The same ids as outside: as somebody else, git, ssh and package managers behave differently.
        _write("/proc/self/uid_map", b"%d %d 1" % (user, user))
        _write("/proc/self/gid_map", b"%d %d 1" % (group, group))
    if is_offline:
        _raise_loopback()
    _mount(None, b"/", None, _REC | _PRIVATE)


def _write(path: str, text: bytes) -> None:
    # Not by way of `open`, which may have to import a codec from where we cannot read any more.
    handle = os.open(path, os.O_WRONLY)
    os.write(handle, text)
    os.close(handle)


def _raise_loopback() -> None:
    """Gives a new network its only interface: tests talk to themselves."""
    handle = _call("socket", "a socket", 2, 2 | 0o2000000, 0)
    up = b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, "little") + bytes(22)  # IFF_UP | IFF_RUNNING
    _call("ioctl", "the loopback interface", handle, 0x8914, up)
    os.close(handle)


def _mount(  # noqa: PLR0917 - the parameters of the system call
    what: bytes | None, where: bytes, kind: bytes | None, flags: int, options: bytes | None = None
) -> None:
    _call("mount", f"a mount on {os.fsdecode(where)}", what, where, kind, flags, options)


def _arrange_mounts(wall: dict[int, list[bytes]]) -> None:
    """Hides, shows and fixes files; what lies inside something else comes after it."""
    hidden = sorted(wall.get(HIDES, []), key=len)
    shown = {path: os.open(path, os.O_PATH) for path in sorted(wall.get(SHOWS, []), key=len)}
    for path, options in zip(wall.get(LAYERED, []), wall.get(LAYERS, []), strict=True):
        _put_layer(path, options)
    for path in wall.get(TEMPORARY, []):
        _mount(path, b"/tmp", None, _BIND)
    for path in hidden:
        inside = {other: handle for other, handle in shown.items() if _is_below(other, path)}
        _hide(path, inside)
    for path in wall.get(FIXES, []):
        _fix(path)
    for handle in shown.values():
        os.close(handle)


def _is_below(path: bytes, folder: bytes) -> bool:
    return path.startswith(folder.rstrip(b"/") + b"/")


def _hide(path: bytes, inside: dict[bytes, int]) -> None:
    """Puts something empty over a path; what is shown inside gets its place there again."""
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - see above
    except FileNotFoundError:
        return
    if not is_folder:
        _mount(b"/dev/null", path, None, _BIND)
        return
    flags = _NOSUID | _NODEV
    _mount(b"tmpfs", path, b"tmpfs", flags, b"size=1m,mode=755" if inside else b"size=4k,mode=000")
    for other, handle in inside.items():
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.makedirs(other, exist_ok=True)  # noqa: PTH103 - see above
        else:
            os.makedirs(os.path.dirname(other), exist_ok=True)  # noqa: PTH103, PTH120 - see above
            os.close(os.open(other, os.O_CREAT | os.O_WRONLY))
        _mount(b"/proc/self/fd/%d" % handle, other, None, _BIND | _REC)
    _mount(None, path, None, _REMOUNT | _RDONLY | flags)


def _put_layer(path: bytes, options: bytes) -> None:
    """Lets what is written to a directory go elsewhere; where no layer can be had, it stays as it is."""
    try:
        _mount(b"overlay", path, b"overlay", _NOSUID | _NODEV, options)
    except ConfineError:
        _fix(path)


def _fix(path: bytes) -> None:
    """Makes a path inside something writable stay as it is."""
    _mount(path, path, None, _BIND)
    # What a mount forbids already, an ordinary user cannot allow again.
    kept = os.statvfs(path).f_flag & 0b1110
    _mount(None, path, None, _REMOUNT | _BIND | _RDONLY | kept)


def _drop_capabilities() -> None:
    """Takes from root what would see through the wall: other processes' memory, mounts, devices."""
    for number in range(64):
        if number not in _KEPT and _call("prctl", None, _CAPBSET_DROP, number, 0, 0, 0) < 0:
            break  # the kernel knows no more of them
    kept = sum(1 << number for number in _KEPT) & _permitted()
    words = ((kept & 0xFFFFFFFF).to_bytes(4, "little") * 2 + bytes(4)) + (kept >> 32).to_bytes(
        4, "little"
    ) * 3
    header = (0x20080522).to_bytes(4, "little") + bytes(4)
    _call("syscall", "fewer capabilities", _CAPSET[os.uname().machine], header, words)


def _permitted() -> int:
    """Returns the capabilities that this process has, of which it can keep some."""
    handle = os.open("/proc/self/status", os.O_RDONLY)
    status = os.read(handle, 65536)
    os.close(handle)
    found = status.partition(b"CapPrm:")[2].split(None, 1)
    return int(found[0], 16) if found else 0


def _restrict_writing(version: int, paths: Iterable[bytes]) -> None:
    """Forbids to write anything but what lies below some paths; reading is not restricted."""
    rights = next((number for since, number in reversed(_RIGHTS) if version >= since), 13)
    handled = ((1 << rights) - 1) & ~_READING
    scopes = _SCOPES if version >= _SCOPES_SINCE else 0
    attributes = handled.to_bytes(8, "little") + bytes(8) + scopes.to_bytes(8, "little")
    size = 8 if version < 4 else 16 if version < _SCOPES_SINCE else 24  # noqa: PLR2004 - versions of the struct
    rules = _call("syscall", "Landlock", _CREATE_RULESET, attributes, size, 0)
    for path in paths:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # nothing is there that could be written
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        allowed = handled & ~_NODES if is_folder else handled & _OF_FILES
        rule = allowed.to_bytes(8, "little") + handle.to_bytes(4, "little")
        _call("syscall", f"a rule for {os.fsdecode(path)}", _ADD_RULE, rules, _PATH_BENEATH, rule, 0)
        os.close(handle)
    _call("syscall", "Landlock", _RESTRICT_SELF, rules, 0)
    os.close(rules)
