"""The wall around programs that are not ours, described: what they may write, and what is hidden from them.

Paths are plain texts here; `system.wall` makes of a description what the kernel can raise of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class WallMode(StrEnum):
    """Whether programs of agents, setups, tests and hooks get a wall."""

    ON = "on"  # where the kernel can raise one; where it cannot, that is said
    OFF = "off"
    REQUIRED = "required"  # nothing starts without one


class Network(StrEnum):
    """What tests and reviewers reach of the network."""

    FULL = "full"
    NONE = "none"  # but for a loopback of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class WallSettings:
    """What a user says of the wall: more that may be written, and more that is hidden."""

    mode: WallMode = WallMode.ON
    writes: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    network: Network = Network.FULL


NO_WALL = WallSettings(mode=WallMode.OFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A directory that is shown as it is, while what is written there goes elsewhere.

    `over` are directories whose files come before those of the directory itself, the first of them first.
    """

    place: str
    upper: str
    work: str
    over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """The paths that one program may write and see.

    `writes` are files and directories with everything below them; nothing else can be written. `hides` are
    empty for the program, but for what it may write there and what `shows` names; `fixes` are files inside
    `writes` that stay as they are; what is written to `layers` goes elsewhere. `temporary` is its directory
    for temporary files, which takes the place of /tmp if it `replaces_tmp`. Missing paths are left out.
    `variables` are set for the program, over all others. `home` holds what is its own: configuration,
    temporary files, prompts.
    """

    writes: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    temporary: str | None = None
    replaces_tmp: bool = True
    is_offline: bool = False
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    home: str = ""
