"""The change as a reviewer reads it: the list of all its files, then its text, as far as there is room.

What is small is shown whole. Only large files are cut, each to its share, and those that are cut are named:
no file takes the place of another one.
"""

from pathlib import PurePosixPath

from amelia.context.changed_files import change_list, not_shown, why_folded
from amelia.model.evidence import Change, ChangeStatus
from amelia.model.git import Treeish
from amelia.system.git_places import Store
from amelia.workspace.diff import changes, file_at, file_size, patch, paths_in

_ATTRIBUTES = ".gitattributes"
_LARGEST_ATTRIBUTES = 100_000
_MOST_FILES = 300  # that are looked at one by one when not all have room
_MOST_SIZES = 50
_MOST_FOLDED = 500  # that are named to git one by one


def review_diff(store: Store, before: Treeish, after: Treeish, *, base: Treeish, limit: int) -> str:
    """Returns the change between two trees; `base` is the tree that says which files are generated."""
    changed = changes(store, before, after)
    if not changed:
        return ""
    attributes = _attributes(store, base)
    folded = {change.path: why for change in changed if (why := why_folded(change.path, attributes))}
    listed = change_list(changed, folded, _sizes(store, after, changed))
    shown = [change for change in changed if change.path not in folded]
    if not shown:
        return listed
    if len(folded) <= _MOST_FOLDED:
        found = patch(store, before, after, limit=limit, leaves_out=tuple(folded))
        if not found.is_truncated:
            return f"{listed}\n\n{found.text}"
    return f"{listed}\n\n{_in_shares(store, before, after, changed=shown, limit=limit)}"


def _in_shares(store: Store, before: Treeish, after: Treeish, *, changed: list[Change], limit: int) -> str:
    """Returns the text of files from the smallest on, each with an equal share of the room that is left."""
    smallest = sorted(changed, key=lambda change: change.added + change.deleted)
    texts: list[str] = []
    cut = [change.path for change in smallest[_MOST_FILES:]]
    looked_at = smallest[:_MOST_FILES]
    for number, change in enumerate(looked_at):
        share = limit // (len(looked_at) - number)
        found = patch(store, before, after, limit=share, only=(change.path,))
        texts.append(f"{found.text}\n[cut here]\n" if found.is_truncated else found.text)
        cut += [change.path] if found.is_truncated else []
        limit -= len(found.text)
    return "".join(texts) + (not_shown(sorted(cut)) if cut else "")


def _attributes(store: Store, base: Treeish) -> dict[str, str]:
    files = [path for path in paths_in(store, base) if PurePosixPath(path).name == _ATTRIBUTES]
    texts = {str(PurePosixPath(path).parent): file_at(store, base, path) or b"" for path in files}
    return {folder: text[:_LARGEST_ATTRIBUTES].decode(errors="replace") for folder, text in texts.items()}


def _sizes(store: Store, tree: Treeish, changed: tuple[Change, ...]) -> dict[str, int]:
    binary = [
        change.path
        for change in changed
        if change.is_binary and change.status is not ChangeStatus.DELETED and not change.is_submodule
    ]
    sizes = {path: file_size(store, tree, path) for path in binary[:_MOST_SIZES]}
    return {path: size for path, size in sizes.items() if size is not None}
