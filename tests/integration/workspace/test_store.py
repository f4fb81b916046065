from pathlib import Path

import pytest

from amelia.model.errors import ConfigError
from amelia.model.git import attempt_ref, base_ref, branch_ref, ref_component
from amelia.system.ownership import OwnedKind, make_owned
from amelia.workspace.lanes import prepare
from repositories import Repo, Run, files_in, fingerprint, git, make_repository, start_run


def test_a_store_borrows_and_copies_nothing(run: Run) -> None:
    objects = run.store.git_dir / "objects"
    assert [path for path in objects.rglob("*") if path.is_file()] == [objects / "info" / "alternates"]
    assert git(run.store.git_dir, "remote") == ""
    assert git(run.store.git_dir, "log", "--format=%s", run.base) == "Start"


def test_starting_a_run_writes_one_ref_of_the_users_repository(repo: Repo, tmp_path: Path) -> None:
    before = fingerprint(repo)
    refs = repo.git("for-each-ref", "--format=%(refname)")
    run = start_run(repo, tmp_path / "run")
    assert fingerprint(repo) == before
    after = repo.git("for-each-ref", "--format=%(refname)")
    assert set(after.split()) - set(refs.split()) == {base_ref("r1")}
    assert repo.git("rev-parse", base_ref("r1")) == run.base


def test_what_is_borrowed_outlives_the_users_branch(repo: Repo, run: Run) -> None:
    repo.git("checkout", "--quiet", "--orphan", "fresh")
    repo.commit({"fresh": "x"})
    repo.git("branch", "--quiet", "-D", "main")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    run.prepare()
    assert "README.md" in files_in(run.work.directory)


def test_making_a_store_again_opens_it(repo: Repo, run: Run) -> None:
    run.prepare().write({"new": "x"})
    taken = run.snapshot()
    again = start_run(repo, run.store.directory)
    assert again.base == run.base
    prepare(again.check, tree=taken.tree, base=again.base)
    assert "new" in files_in(again.check.directory)


def test_a_store_that_was_left_half_made_is_made_again(repo: Repo, tmp_path: Path) -> None:
    half = tmp_path / "run" / "store.unfinished.git"
    make_owned(half.parent, OwnedKind.RUN)
    half.mkdir()
    (half / "config").write_text("[")
    run = start_run(repo, tmp_path / "run")
    assert not half.exists()
    assert (run.prepare().path / "README.md").is_file()


def test_a_repository_without_commits_starts_from_an_empty_one_that_is_always_the_same(
    tmp_path: Path,
) -> None:
    repo = make_repository(tmp_path / "new", {})
    runs = [start_run(repo, tmp_path / name) for name in ("one", "two")]
    assert runs[0].base == runs[1].base
    agent = runs[0].prepare()
    assert files_in(agent.path) == {}
    agent.write({"first": "x"})
    assert agent.git("status", "--porcelain") == "?? first"
    assert runs[0].snapshot().absorbed == ()


def test_a_shallow_repository_is_copied(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"two": "2"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo.path}", "shallow")
    shallow = Repo(tmp_path / "shallow")
    shallow.git("config", "user.name", "Ada")
    shallow.git("config", "user.email", "ada@example.com")
    before = fingerprint(shallow)
    run = start_run(shallow, tmp_path / "run")
    assert run.source.is_shallow
    agent = run.prepare()
    assert agent.git("log", "--format=%s") == "Change something"
    agent.write({"new": "x"})
    run.snapshot()
    assert fingerprint(shallow) == before


def test_settings_travel_as_far_as_they_should(repo: Repo, tmp_path: Path) -> None:
    values = {
        "core.eol": "lf",
        "filter.odd.clean": "tr \"\t\" '\\n' # \\",
        "merge.ours.driver": "true",
        "hooks.note": "two\nlines",
        "branch.main.remote": "origin",
        "remote.origin.url": "https://secret@example.com/x",
        "url.https://x/.insteadOf": "y:",
        "credential.helper": "store",
        "http.extraHeader": "Authorization: secret",
        "alias.st": "status",
        "core.fsmonitor": "/bin/false",
        "core.sshCommand": "false",
        "submodule.recurse": "true",
        "gc.auto": "1",
    }
    for key, value in values.items():
        repo.git("config", key, value)
    with (repo.path / ".git" / "config").open("a") as config:
        config.write("[flags]\n\tbare\n")
    run = start_run(repo, tmp_path / "run")
    agent = run.prepare()
    for place in (agent.path, run.store.git_dir):
        found = {key: git(place, "config", "--local", key, check=False) for key in values}
        assert {key: value for key, value in found.items() if value} == {
            **{key: values[key] for key in list(values)[:4]},
            "gc.auto": "0",
        }
        assert git(place, "config", "--type=bool", "flags.bare") == "true"
    assert "secret" not in (run.store.git_dir / "config").read_text()


def test_agents_get_neither_the_users_hooks_nor_the_users_key(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "commit.gpgSign", "true")
    repo.hook("pre-commit", "exit 1")
    agent = start_run(repo, tmp_path / "run").prepare()
    agent.write({"new": "x"})
    agent.git("add", "new")
    agent.git("commit", "--quiet", "-m", "mine")
    assert agent.git("log", "-1", "--format=%s %G?") == "mine N"


def test_what_the_user_excludes_is_not_part_of_the_work(repo: Repo, tmp_path: Path) -> None:
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "exclude").write_text("*.local")
    run = start_run(repo, tmp_path / "run")
    store, base = run.store, run.base
    agent = run.prepare()
    agent.write({"x.local": "x", "docs/mine.md": "x"})
    taken = run.snapshot()
    assert git(store.git_dir, "diff", "--name-only", base, taken.tree) == "docs/mine.md"
    assert agent.git("status", "--porcelain", "--untracked-files=all") == "?? docs/mine.md"
    run.prepare()
    assert (agent.path / "x.local").is_file()


def test_a_branch_in_the_way_is_refused_before_anything_is_made(repo: Repo, tmp_path: Path) -> None:
    repo.git("branch", "amelia")
    with pytest.raises(ConfigError, match="amelia") as caught:
        start_run(repo, tmp_path / "run")
    assert "git branch -m" in (caught.value.hint or "")
    assert not (tmp_path / "run" / "store.git").exists()


@pytest.mark.slow
def test_git_accepts_every_name_that_is_made_of_a_unit(repo: Repo) -> None:
    names = ("1", "1.2", "a.lock", ".a", "a.", "a..b", "@", "a b", "ä/ö", "-x", "base", "tip", "", "x" * 500)
    more = ("a\nb", "~^:?*[\\", "@{", "HEAD", "\udcff", "a/../b", "%2E", "\x7f")
    refs = [attempt_ref("r 1", name, 1) for name in (*names, *more)]
    for ref in (*refs, branch_ref("r 1")):
        repo.git("check-ref-format", ref)
        repo.git("update-ref", ref, "HEAD")
    repo.git("update-ref", base_ref("r 1"), "HEAD")
    assert len(set(refs)) == len(refs)
    assert ref_component("1.2") == "1.2"
