"""Makes a copy of the user's repository for a replay: the same base, and no way out.

- Objects are borrowed, and nothing is written to the repository they are borrowed from. The copy has no
  remote, no branch and none of the user's hooks, and it does not sign.
- Files look the same as far as git itself sees to it. Filters and merge drivers, which are programs, are not
  started: the trees of the run hold files as they are stored.
"""

from collections.abc import Iterable
from pathlib import Path

from amelia.model.git import CommitId
from amelia.system.git_places import Source
from amelia.workspace.portable import replica_config
from amelia.workspace.standalone import Standalone, write_repository

NO_FILTERS = "* !filter\n"
"""The line of a repository's own attributes after which no file goes through a program."""


def make_replica(source: Source, directory: Path, *, base: CommitId, objects: Iterable[Path] = ()) -> None:
    """Makes a repository in the directory of a run that stands at a base, and borrows `objects`, too."""
    git_dir, common = directory / ".git", source.common_dir
    directory.mkdir(parents=True)
    content = Standalone(
        head=base,
        config=replica_config(source, hooks=git_dir / "hooks"),
        borrowed=(*objects, common / "objects"),
        index=git_dir / "index",
        exclude=common / "info" / "exclude",
        shallow=common / "shallow",
    )
    write_repository(git_dir, content, within=directory.parent)
    (git_dir / "hooks").mkdir()
    attributes = common / "info" / "attributes"
    known = attributes.read_bytes() if attributes.is_file() else b""
    (git_dir / "info" / "attributes").write_bytes(b"%s\n%s" % (known, NO_FILTERS.encode()))
    if (modules := common / "modules").is_dir():
        (git_dir / "modules").symlink_to(modules)
