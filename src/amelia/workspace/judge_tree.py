"""The judge's tree: the work of a unit, with some of its files as they were before.

It is made in the store, by an index of its own; no worktree and no other index is touched.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from amelia.model.git import TreeId
from amelia.system.git_commands import load_index, stage_entries, store_text, write_tree
from amelia.system.git_places import Store


def make_judge_tree(
    store: Store, tree: TreeId, *, entries: Mapping[str, str], texts: Mapping[str, tuple[str, str]]
) -> TreeId:
    """Returns a tree with other files in some places.

    `entries` are modes and ids that git knows, none for no file; `texts` are modes and new contents.
    """
    with tempfile.TemporaryDirectory(prefix="judge-", dir=store.git_dir) as private:
        where = replace(store.repository, index=Path(private, "index"))
        load_index(where, tree)
        written = {path: f"{mode} {store_text(where, text)}" for path, (mode, text) in texts.items()}
        stage_entries(where, {**entries, **written}, digits=len(tree))
        return write_tree(where)
