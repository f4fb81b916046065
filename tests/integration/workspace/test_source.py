import os
from collections.abc import Callable
from pathlib import Path

import pytest

from amelia.model.errors import ConfigError
from amelia.model.git import Identity
from amelia.workspace.source import open_source, resolve, uncommitted
from repositories import Repo, fingerprint, git, make_repository, start_run


def test_a_repository_is_found_from_any_directory_in_it(repo: Repo) -> None:
    source = open_source(repo.path / "src")
    assert source.top == repo.path
    assert source.git_dir == source.common_dir == repo.path / ".git"
    assert source.hooks == repo.path / ".git" / "hooks"
    assert source.head == repo.git("rev-parse", "HEAD")
    assert source.branch == "main"
    assert source.identity == Identity("Ada Example", "ada@example.com")
    assert source.object_format == "sha1"
    assert not source.is_shallow
    assert not source.is_signing


def test_a_detached_head_is_no_branch(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--detach")
    source = open_source(repo.path)
    assert source.branch is None
    assert source.head == repo.git("rev-parse", "HEAD")


def test_a_repository_without_commits_has_a_branch_and_no_head(tmp_path: Path) -> None:
    source = open_source(make_repository(tmp_path / "new", {}).path)
    assert (source.head, source.branch) == (None, "main")


def test_a_linked_worktree_is_a_source_of_its_own(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked tree"))
    source = open_source(tmp_path / "linked tree")
    assert source.top == tmp_path / "linked tree"
    assert source.common_dir == repo.path / ".git"
    assert source.branch == "side"
    run = start_run(Repo(source.top), tmp_path / "run")
    assert (run.prepare().path / "README.md").is_file()


def test_variables_of_the_caller_lead_nowhere_else(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(tmp_path / "other", {"other": "x"})
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(other.path / ".git"))
    assert open_source(repo.path).top == repo.path


def _nothing_but_a_directory(path: Path) -> None:
    path.mkdir()


def _bare(path: Path) -> None:
    git(path.parent, "init", "--quiet", "--bare", str(path))


def _no_directory(path: Path) -> None:
    path.write_text("a file")


def _broken(path: Path) -> None:
    (make_repository(path).path / ".git" / "config").write_text("[")


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (_nothing_but_a_directory, "not in a git repository", "git init"),
        (_bare, "bare", "clone"),
        (_no_directory, "not a directory", "directory"),
        (_broken, "git cannot use", "git rev-parse"),
    ],
)
def test_what_is_no_repository_is_refused_with_a_hint(
    tmp_path: Path, make: Callable[[Path], None], message: str, hint: str
) -> None:
    make(tmp_path / "x")
    with pytest.raises(ConfigError, match=message) as caught:
        open_source(tmp_path / "x")
    assert hint in (caught.value.hint or "")


def test_the_inside_of_a_repository_is_refused(repo: Repo) -> None:
    with pytest.raises(ConfigError):
        open_source(repo.path / ".git")


def test_a_repository_of_somebody_else_is_refused_with_a_hint(repo: Repo) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a repository away")
    for path in (repo.path, repo.path / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(ConfigError, match="another user") as caught:
        open_source(repo.path)
    assert "safe.directory" in (caught.value.hint or "")


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "two\nlines")
    with pytest.raises(ConfigError, match="line break"):
        open_source(repo.path)


@pytest.mark.parametrize("missing", ["user.name", "user.email"])
def test_without_an_identity_nothing_starts(repo: Repo, missing: str) -> None:
    repo.git("config", "--unset", missing)
    with pytest.raises(ConfigError, match="who commits") as caught:
        open_source(repo.path)
    assert "git config" in (caught.value.hint or "")


def test_the_identity_may_depend_on_the_place_of_the_repository(
    repo: Repo, home: Path, tmp_path: Path
) -> None:
    repo.git("config", "--unset", "user.name")
    repo.git("config", "--unset", "user.email")
    (home / "work.config").write_text("[user]\n\tname = At Work\n\temail = work@example.com\n")
    (home / ".gitconfig").write_text(f'[includeIf "gitdir:{repo.path}/"]\n\tpath = work.config\n')
    run = start_run(repo, tmp_path / "run")
    assert run.source.identity == Identity("At Work", "work@example.com")
    run.prepare()
    assert git(run.work.directory, "config", "user.name") == "At Work"


def test_a_partial_clone_is_refused_with_the_way_to_complete_it(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repo.path}"
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", url, "partial")
    with pytest.raises(ConfigError, match="partial clone") as caught:
        open_source(tmp_path / "partial")
    assert "--refetch" in (caught.value.hint or "")


def test_revisions_are_resolved_in_the_users_repository(repo: Repo) -> None:
    first = repo.git("rev-parse", "HEAD")
    repo.commit({"two": "2"})
    repo.git("tag", "-a", "v1", "-m", "tag", "HEAD~1")
    source = open_source(repo.path)
    assert resolve(source, "v1") == first
    assert resolve(source, first[:10]) == first
    assert resolve(source, "main") == source.head


@pytest.mark.parametrize("revision", ["nowhere", "--all", "-h", "", "HEAD:README.md", "main..main", "a\nb"])
def test_what_names_no_commit_is_refused(repo: Repo, revision: str) -> None:
    with pytest.raises(ConfigError, match="names no commit"):
        resolve(open_source(repo.path), revision)


def test_what_is_uncommitted_is_counted_without_touching_the_index(repo: Repo) -> None:
    repo.commit({"one": "1", "two": "2", "three": "3"})
    assert uncommitted(open_source(repo.path)) == 0
    repo.write({"one": "changed", "new/a": "x", "new/b": "x", "build/ignored": "x", "staged": "x"})
    (repo.path / "two").unlink()
    repo.git("add", "staged")
    os.utime(repo.path / "README.md", (1, 1))  # looks changed until it is read
    before = fingerprint(repo)
    assert uncommitted(open_source(repo.path)) == 5
    assert fingerprint(repo) == before


def test_files_of_a_repository_without_commits_are_uncommitted(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "new", {})
    repo.write({"one": "1"})
    assert uncommitted(open_source(repo.path)) == 1


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("false", False), ("yes", True)])
def test_signing_is_seen(repo: Repo, value: str, *, expected: bool) -> None:
    repo.git("config", "commit.gpgSign", value)
    assert open_source(repo.path).is_signing is expected
