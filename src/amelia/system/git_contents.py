"""The contents of files as git has stored them, read from a tree without a worktree."""

import os
from collections.abc import Sequence

from amelia.model.git import Treeish
from amelia.system.git import Call, Repository, run_git

_ANY = Call(accept=None)


def read_blob(where: Repository, tree: Treeish, path: str) -> bytes | None:
    """Returns the content of a file in a tree."""
    answer = run_git(where, "cat-file", "blob", f"{tree}:{path}", call=_ANY)
    return answer.out if answer.code == 0 else None


def read_blobs(where: Repository, tree: Treeish, paths: Sequence[str]) -> dict[str, bytes]:
    """Returns the contents of those files that a tree has, by one command."""
    if not paths:
        return {}
    if any("\n" in path for path in paths):  # the answer would not tell where the name of a missing one ends
        known = {path: read_blob(where, tree, path) for path in paths}
        return {path: data for path, data in known.items() if data is not None}
    names = os.fsencode("".join(f"{tree}:{path}\0" for path in paths))
    rest = run_git(where, "cat-file", "--batch", "-z", call=Call(stdin=names)).out
    found: dict[str, bytes] = {}
    for path in paths:
        head, _, rest = rest.partition(b"\n")
        match head.split(b" "):
            case [_, kind, size] if size.isdigit() and kind != b"missing":
                if kind == b"blob":
                    found[path] = rest[: int(size)]
                rest = rest[int(size) + 1 :]
            case _:
                pass  # there is no such file
    return found


def blob_size(where: Repository, tree: Treeish, path: str) -> int | None:
    """Returns how many bytes a file in a tree has."""
    answer = run_git(where, "cat-file", "-s", f"{tree}:{path}", call=_ANY)
    return int(answer.text) if answer.code == 0 else None
