"""The repository that an agent sees is left in place only where nobody touched it."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from amelia.model.git import CommitId
from amelia.workspace.lanes import prepare
from amelia.workspace.standalone import Written
from repositories import Repo, Run


def made_again(run: Run, written: Written) -> bool:
    """Prepares the lane of a run, and says whether the repository in it was written anew."""
    config = run.work.directory / ".git" / "config"
    before = config.lstat().st_ino, config.lstat().st_ctime_ns
    prepare(run.work, tree=run.base, base=run.base, written=written)
    return (config.lstat().st_ino, config.lstat().st_ctime_ns) != before


@pytest.fixture
def written(run: Run) -> Written:
    written = Written()
    prepare(run.work, tree=run.base, base=run.base, written=written)
    return written


def is_clean(agent: Repo, head: str) -> bool:
    return (agent.git("status", "--porcelain"), agent.git("rev-parse", "HEAD")) == ("", head)


def test_one_that_nobody_touched_stays(run: Run, written: Written) -> None:
    assert not made_again(run, written)
    assert is_clean(run.agent, run.base)


def test_one_in_which_somebody_only_looked_stays(run: Run, written: Written) -> None:
    os.utime(run.work.directory / "README.md")  # so that git brings its index up to date
    before = (run.work.directory / ".git" / "index").stat().st_ino
    assert run.agent.git("status", "--porcelain") == ""
    assert (run.work.directory / ".git" / "index").stat().st_ino != before
    run.agent.git("log", "--oneline")
    assert not made_again(run, written)


def test_it_stands_at_the_new_base_and_shows_the_new_files(run: Run, written: Written) -> None:
    run.agent.write({"new.txt": "x\n"})
    kept = run.snapshot()
    prepare(run.work, tree=kept.tree, base=kept.commit, written=written)
    assert is_clean(run.agent, kept.commit)
    assert (run.agent.path / "new.txt").exists()


def test_refs_to_look_at_are_there_only_for_whom_they_are_meant(run: Run, written: Written) -> None:
    ref = "refs/amelia/attempt"
    prepare(run.work, tree=run.base, base=run.base, refs={ref: CommitId(run.base)}, written=written)
    assert run.agent.git("rev-parse", ref) == run.base
    assert made_again(run, written)
    assert run.agent.git("for-each-ref") == ""


def rewrite_unseen(git_dir: Path) -> None:
    config = git_dir / "config"
    seen = config.stat()
    config.write_bytes(config.read_bytes()[::-1])
    os.utime(config, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def replace_by_link(git_dir: Path) -> None:
    git_dir.rename(git_dir.with_name("elsewhere"))
    git_dir.symlink_to("elsewhere")


TOUCHES: dict[str, Callable[[Path], object]] = {
    "config": lambda git: (git / "config").write_text("[core]\n\tpager = evil\n"),
    "config of the same size and time": rewrite_unseen,
    "hook": lambda git: (git / "hooks").mkdir(),
    "alternates": lambda git: (git / "objects/info/alternates").write_text("/elsewhere\n"),
    "object": lambda git: (git / "objects/ab").mkdir(),
    "exclude": lambda git: (git / "info/exclude").write_text("*.py\n"),
    "attributes": lambda git: (git / "info/attributes").write_text("* filter=evil\n"),
    "ref": lambda git: (git / "refs/heads").mkdir(),
    "lock": lambda git: (git / "index.lock").touch(),
    "no head": lambda git: (git / "HEAD").unlink(),
    "head elsewhere": lambda git: ((git / "HEAD").unlink(), (git / "HEAD").symlink_to("/dev/null")),
    "permissions": lambda git: (git / "objects").chmod(0o500),
    "permissions at the top": lambda git: git.chmod(0o500),
    "no index": lambda git: (git / "index").unlink(),
    "index of another kind": lambda git: ((git / "index").unlink(), (git / "index").mkdir()),
    "link": replace_by_link,
}


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_one_that_was_touched_is_written_anew(
    run: Run, written: Written, touch: Callable[[Path], object]
) -> None:
    time.sleep(0.01)  # longer than the clock of the file system needs to move on
    touch(run.work.directory / ".git")
    assert made_again(run, written)
    assert not (run.work.directory / ".git").is_symlink()
    assert is_clean(run.agent, run.base)


def test_an_index_that_is_another_name_of_a_file_outside_harms_nothing(
    run: Run, written: Written, tmp_path: Path
) -> None:
    outside, index = tmp_path / "outside", run.work.directory / ".git" / "index"
    outside.write_bytes(index.read_bytes())
    index.unlink()
    os.link(outside, index)
    before = outside.read_bytes()
    run.agent.write({"new.txt": "x\n"})
    kept = run.snapshot()
    prepare(run.work, tree=kept.tree, base=kept.commit, written=written)
    assert outside.read_bytes() == before
    assert is_clean(run.agent, kept.commit)
