"""Tells what differs between two trees, the same whatever the user's configuration says.

- A rename is a deletion and an addition: who judges a change must see both.
- Text for reviewers is bounded; what is cut is said to be cut.
"""

from collections.abc import Iterable, Sequence

from amelia.model.evidence import Change, ChangeStatus
from amelia.model.git import CommitId, Patch, Treeish
from amelia.system.git_commands import diff_text, list_paths, raw_changes
from amelia.system.git_contents import blob_size, read_blob, read_blobs
from amelia.system.git_places import Store
from amelia.workspace.submodules import is_known

_GITLINK = "160000"
_STATUS = {
    "A": ChangeStatus.ADDED,
    "D": ChangeStatus.DELETED,
    "M": ChangeStatus.MODIFIED,
    "T": ChangeStatus.TYPE,
}


def changes(store: Store, base: Treeish, tree: Treeish) -> tuple[Change, ...]:
    """Returns every path that differs, in git's order."""
    fields = raw_changes(store.repository, base, tree)
    raw: list[tuple[str, str]] = []
    while fields and fields[2 * len(raw)].startswith(":"):
        raw.append((fields[2 * len(raw)], fields[2 * len(raw) + 1]))
    counts = (line.split("\t", 2) for line in fields[2 * len(raw) :])
    lines = {path: (added, deleted) for added, deleted, path in counts}
    return tuple(_change(store, tree, record=record, path=path, lines=lines[path]) for record, path in raw)


def patch(
    store: Store,
    base: Treeish,
    tree: Treeish,
    *,
    limit: int,
    only: Sequence[str] = (),
    leaves_out: Sequence[str] = (),
) -> Patch:
    """Returns the difference as text of at most so many bytes, of some files or without some."""
    paths = [f":(top,literal){path}" for path in only]
    paths += [":(top)", *(f":(top,literal,exclude){path}" for path in leaves_out)] if leaves_out else []
    data = diff_text(store.repository, base, tree, limit=limit + 1, paths=paths)
    return Patch(data[:limit].decode(errors="replace"), is_truncated=len(data) > limit)


def file_at(store: Store, tree: Treeish, path: str) -> bytes | None:
    """Returns the content of a file in a tree, or nothing if there is no such file."""
    return read_blob(store.repository, tree, path)


def files_at(store: Store, tree: Treeish, paths: Iterable[str]) -> dict[str, bytes]:
    """Returns the contents of those files that a tree has."""
    return read_blobs(store.repository, tree, list(paths))


def file_size(store: Store, tree: Treeish, path: str) -> int | None:
    """Returns how many bytes a file in a tree has, or nothing if there is no such file."""
    return blob_size(store.repository, tree, path)


def paths_in(store: Store, tree: Treeish) -> tuple[str, ...]:
    """Returns the paths of all files in a tree."""
    return list_paths(store.repository, tree)


def _change(store: Store, tree: Treeish, *, record: str, path: str, lines: tuple[str, str]) -> Change:
    old_mode, mode, old, new, status = record.split(" ")
    is_submodule = mode == _GITLINK
    added, deleted = lines
    is_binary = added == "-"
    return Change(
        path=path,
        status=_STATUS[status],
        was="" if status == "A" else f"{old_mode.removeprefix(':')} {old}",
        added=0 if is_binary else int(added),
        deleted=0 if is_binary else int(deleted),
        is_binary=is_binary,
        is_submodule=is_submodule or record.startswith(f":{_GITLINK}"),
        submodule_known=not is_submodule or is_known(store, tree, path=path, commit=CommitId(new)),
    )
