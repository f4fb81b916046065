"""Puts the record of a run on top of its branch, as one commit that holds nothing else.

Only new files are added: where something else is in the way, there is no place for a record.
"""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from amelia.land.message import read_trailers, sealed
from amelia.model.git import CommitId, TreeId, branch_ref, ref_component, tip_ref
from amelia.system.git import Repository
from amelia.system.git_commands import (
    describe_ref,
    kinds_at,
    load_index,
    stage_entries,
    store_files,
    write_tree,
)
from amelia.system.git_places import Store


@dataclass(frozen=True, slots=True)
class InTheWay:
    """There is no place for a record on a branch: something else is there."""

    detail: str


def record_marks(run: str, path: str) -> Mapping[str, str]:
    """Returns what tells the commit of a record from every other."""
    return {"Amelia-Run": ref_component(run), "Amelia-Record": path}


def record_message(run: str, path: str) -> str:
    """Returns the text of the commit that holds a record."""
    return sealed(f"Record of {ref_component(run)}", record_marks(run, path))


def with_record(
    store: Store, tip: CommitId, *, path: str, master: Path, files: Iterable[str]
) -> TreeId | InTheWay:
    """Stores the tree of a tip with a record in it; or says what is in the way."""
    parts = PurePosixPath(path).parts
    way = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    found = kinds_at(store.repository, tip, way)
    blocked = [place for place, kind in found.items() if kind != "tree" or place == path]
    if blocked:
        return InTheWay(f"{blocked[0]} is in the way")
    names = sorted(files)
    blobs = store_files(Repository(store.git_dir, work_tree=master), names)
    with tempfile.TemporaryDirectory(prefix="amelia-") as private:
        index = Repository(store.git_dir, index=Path(private, "index"))
        load_index(index, tip)
        entries = {f"{path}/{name}": f"100644 {blob}" for name, blob in zip(names, blobs, strict=True)}
        stage_entries(index, entries)
        return write_tree(index)


def below_record(where: Repository, run: str) -> CommitId | None:
    """Returns what landed last before the record, if the record of a run is on top of its work."""
    found = describe_ref(where, tip_ref(run), "parent", "contents")
    if found is None or "Amelia-Record" not in read_trailers(found[1]):
        return None
    return CommitId(found[0])


def recorded_commit(where: Repository, tip: CommitId, *, run: str, path: str) -> CommitId | None:
    """Returns the head of the run's branch if it is the record, put on top of the tip."""
    found = describe_ref(where, branch_ref(run), "objectname", "parent", "contents")
    if found is None:
        return None
    head, parent, message = found
    is_it = parent == tip and record_marks(run, path).items() <= read_trailers(message).items()
    return CommitId(head) if is_it else None
