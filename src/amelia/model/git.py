"""What is said about commits and trees: names of objects, and how git work can end.

- Ids are full hexadecimal object names; what is not resolved is a plain string.
- Paths are plain strings, relative to the top level; bytes that are no UTF-8 are kept as surrogates.
- Names of units are any text: as part of a ref they are encoded, each differently, always the same way.
- An expected failure is one of the values here, never an exception.
"""

import string
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import NewType, TypeAlias

CommitId = NewType("CommitId", str)
TreeId = NewType("TreeId", str)
Treeish: TypeAlias = TreeId | CommitId

_PLAIN = frozenset(string.ascii_letters + string.digits + "-_")
_LONGEST_COMPONENT = 200  # file systems allow 255 bytes, and git appends `.lock`
_MOST_LEFT_OUT = 50
_TAKEN = frozenset({"base", "tip", "undone"})


def branch_ref(run: str) -> str:
    """Returns the branch on which the work of a run lands."""
    return f"refs/heads/amelia/{ref_component(run)}"


def base_ref(run: str) -> str:
    """Returns the ref that keeps the commit a run started from."""
    return f"refs/amelia/{ref_component(run)}/base"


def tip_ref(run: str) -> str:
    """Returns the ref that keeps what landed until the branch names it."""
    return f"refs/amelia/{ref_component(run)}/tip"


def undone_ref(run: str) -> str:
    """Returns the ref that keeps what landed once it was taken back."""
    return f"refs/amelia/{ref_component(run)}/undone"


def attempt_ref(run: str, unit: str, attempt: int) -> str:
    """Returns the ref that keeps what an attempt left."""
    return f"refs/amelia/{ref_component(run)}/{ref_component(unit)}/{attempt}"


def ref_component(name: str) -> str:
    """Returns any text as one component of a ref; different texts as different ones."""
    encoded = "".join(
        character if _stands_for_itself(name, at) else _percent(character)
        for at, character in enumerate(name)
    )
    if encoded in _TAKEN:
        return _percent(encoded[0]) + encoded[1:]
    if not encoded or len(encoded) > _LONGEST_COMPONENT:
        # `%-` is never the start of an encoded character, so this meets no other name.
        return f"{encoded[:100]}%-{sha256(name.encode(errors='surrogatepass')).hexdigest()}"
    return encoded


def _stands_for_itself(name: str, at: int) -> bool:
    if name[at] == ".":  # `1.2` stays readable; `.a`, `a..b`, `a.` and `a.lock` are no names of refs
        around = name[max(at - 1, 0) : at], name[at + 1 : at + 2]
        return all(near and near in _PLAIN for near in around) and name[at:] != ".lock"
    return name[at] in _PLAIN


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode(errors="surrogatepass"))


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who commits, and when; with the same stamp the same content gets the same id."""

    identity: Identity
    when: datetime


@dataclass(frozen=True, slots=True)
class HookRefused:
    """A commit hook of the repository said no, or did not end in time, and what it printed."""

    hook: str
    output: str
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """What an attempt left behind: the snapshot, whose parent is the unit's base, and its tree.

    `left_out` are the first of the generated files that are no part of it, though nobody ignores them.
    """

    commit: CommitId
    tree: TreeId
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All files of a worktree as a commit on top of its base.

    `message` is the commit's text as the hooks left it; `refused` says that one of them does not accept it.
    `absorbed` are repositories made inside the worktree, whose files are part of the snapshot. `unsaved` are
    submodules with changes that no commit of theirs holds, so that the snapshot cannot either. `left_out` are
    generated files that are no part of it, though nobody ignores them.
    """

    commit: CommitId
    tree: TreeId
    message: str
    refused: HookRefused | None = None
    absorbed: tuple[str, ...] = ()
    unsaved: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def work(self) -> Work:
        """The snapshot as it is told of."""
        return Work(self.commit, self.tree, self.left_out[:_MOST_LEFT_OUT])


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A worktree of which no snapshot can be made: files that cannot be read, or that git refuses."""

    detail: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A worktree that holds exactly a tree, but for submodules whose content the user's repository lacks."""

    empty_submodules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """A difference as text, cut where it got too long."""

    text: str
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """The tree that holds both sides."""

    tree: TreeId


@dataclass(frozen=True, slots=True)
class Conflict:
    """Both sides changed the same places; `text` is git's account of them."""

    paths: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Published:
    """The branch of the run is at the commit."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Somebody else moved or deleted the branch of the run; `found` is where it is now."""

    found: CommitId | None


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """The user has the branch of the run checked out; moving it would make that worktree look changed."""

    path: str


Merging: TypeAlias = Merged | Conflict
Publication: TypeAlias = Published | Moved | CheckedOut
