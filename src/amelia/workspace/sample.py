"""Makes a small repository out of nothing, to try things in; no program of the user's takes part."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from amelia.model.git import CommitId, Identity, Stamp
from amelia.system.git_commands import add_all, commit_tree, configure, init, set_ref, write_tree
from amelia.workspace.replica import NO_FILTERS

_WHO = Identity("Amelia Demo", "demo@amelia.invalid")


def make_sample(directory: Path, files: Mapping[str, str]) -> CommitId:
    """Makes a repository with one commit of these files on the branch main."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    repository = init(directory)
    configure(repository, "user.name", _WHO.name)
    configure(repository, "user.email", _WHO.email)
    configure(repository, "commit.gpgSign", "false")
    configure(repository, "core.hooksPath", str(repository.git_dir / "hooks"))
    (repository.git_dir / "info").mkdir(exist_ok=True)
    (repository.git_dir / "info" / "attributes").write_text(NO_FILTERS, encoding="utf-8")
    add_all(repository)
    stamp = Stamp(_WHO, datetime.now(UTC))
    commit = commit_tree(repository, write_tree(repository), parents=(), message="Start\n", stamp=stamp)
    set_ref(repository, "refs/heads/main", commit)
    return commit
