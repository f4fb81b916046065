import shutil
from pathlib import Path

import pytest

from amelia.model.evidence import Change, ChangeStatus
from amelia.workspace.diff import changes
from amelia.workspace.lanes import prepare
from repositories import (
    Repo,
    Run,
    executable,
    files_in,
    fingerprint,
    git,
    make_repository,
    start_run,
    watch_git,
)

pytestmark = pytest.mark.slow  # five clones before anything begins


@pytest.fixture
def project(tmp_path: Path) -> Repo:
    """A repository with a submodule that has a submodule itself."""
    inner = make_repository(tmp_path / "inner", {"inner.py": "inner\n"})
    library = make_repository(tmp_path / "library", {"lib.py": "lib\n"})
    library.git("submodule", "--quiet", "add", str(inner.path), "deep/inner")
    library.commit({})
    project = make_repository(tmp_path / "project")
    project.git("submodule", "--quiet", "add", "--name", "the library", str(library.path), "vendor/lib")
    project.git("submodule", "--quiet", "update", "--init", "--recursive")
    project.commit({})
    return project


def start(project: Repo) -> Run:
    return start_run(project, project.path.parent / "run")


def test_submodules_are_filled_from_the_users_repository(project: Repo) -> None:
    before = fingerprint(project)
    run = start(project)
    for lane in (run.work, run.check):
        assert prepare(lane, tree=run.base, base=run.base).empty_submodules == ()
        found = files_in(lane.directory)
        assert found["vendor/lib/lib.py"] == b"lib\n"
        assert found["vendor/lib/deep/inner/inner.py"] == b"inner\n"
        assert git(lane.directory, "status", "--porcelain") == ""
        assert git(lane.directory / "vendor/lib", "log", "-1", "--format=%s") == "Change something"
    assert fingerprint(project) == before


def test_a_submodule_that_the_user_does_not_have_stays_empty_and_is_named(project: Repo) -> None:
    shutil.rmtree(project.path / ".git" / "modules" / "the library" / "modules")
    run = start(project)
    assert prepare(run.work, tree=run.base, base=run.base).empty_submodules == ("vendor/lib/deep/inner",)
    shutil.rmtree(project.path / ".git" / "modules")
    assert prepare(run.check, tree=run.base, base=run.base).empty_submodules == ("vendor/lib",)
    assert not list((run.check.directory / "vendor/lib").iterdir())


@pytest.mark.parametrize("name", ["../../../outside", "{tmp_path}/outside", "none"])
def test_a_submodule_leads_nowhere_but_to_the_users_modules(project: Repo, tmp_path: Path, name: str) -> None:
    shutil.copytree(project.path / ".git" / "modules" / "the library", tmp_path / "outside")
    git(tmp_path, "config", "--file", "outside/config", "--unset", "core.worktree")
    name = name.format(tmp_path=tmp_path)
    text = (project.path / ".gitmodules").read_text().replace("the library", name)
    project.commit({".gitmodules": text})
    run = start(project)
    assert prepare(run.work, tree=run.base, base=run.base).empty_submodules == ("vendor/lib",)


def test_a_submodule_without_a_name_stays_empty(project: Repo) -> None:
    project.commit({".gitmodules": "[broken"})
    run = start(project)
    assert prepare(run.work, tree=run.base, base=run.base).empty_submodules == ("vendor/lib",)


def test_a_worktree_with_submodules_is_cleaned_too(project: Repo) -> None:
    run = start(project)
    agent = run.prepare()
    agent.write({"vendor/lib/lib.py": "changed", "vendor/lib/junk": "x", "vendor/lib/deep/inner/junk": "x"})
    shutil.rmtree(agent.path / "vendor/lib/.git")
    run.prepare()
    assert files_in(agent.path)["vendor/lib/lib.py"] == b"lib\n"
    assert not (agent.path / "vendor/lib/junk").exists()
    assert agent.git("status", "--porcelain") == ""


def test_an_untouched_submodule_is_no_change(project: Repo) -> None:
    run = start(project)
    run.prepare()
    taken = run.snapshot()
    assert changes(run.store, run.base, taken.tree) == ()
    assert taken.unsaved == ()


def test_a_submodule_moved_to_a_commit_of_the_user_is_known(project: Repo) -> None:
    module = project.path / ".git" / "modules" / "the library"
    run = start(project)
    agent = run.prepare()
    git(agent.path / "vendor/lib", "checkout", "--quiet", git(module, "rev-parse", "HEAD~1"))
    found = changes(run.store, run.base, run.snapshot().tree)
    assert found == (
        Change(
            path="vendor/lib",
            status=ChangeStatus.MODIFIED,
            was=f"160000 {git(module, 'rev-parse', 'HEAD')}",
            added=1,
            deleted=1,
            is_submodule=True,
            submodule_known=True,
        ),
    )


def test_a_submodule_moved_to_a_commit_that_only_the_agent_has_is_unknown(project: Repo) -> None:
    run = start(project)
    agent = run.prepare()
    Repo(agent.path / "vendor/lib").commit({"lib.py": "mine"})
    [change] = changes(run.store, run.base, run.snapshot().tree)
    assert change.is_submodule
    assert not change.submodule_known


def test_a_removed_submodule_is_a_deletion(project: Repo) -> None:
    run = start(project)
    agent = run.prepare()
    agent.git("rm", "--quiet", "--force", "vendor/lib")
    shutil.rmtree(agent.path / "vendor/lib", ignore_errors=True)
    taken = run.snapshot()
    found = {change.path: change for change in changes(run.store, run.base, taken.tree)}
    assert found["vendor/lib"].status is ChangeStatus.DELETED
    assert found["vendor/lib"].is_submodule
    prepare(run.check, tree=run.base, base=run.base)
    prepare(run.check, tree=taken.tree, base=run.base)
    assert not (run.check.directory / "vendor/lib").exists()


def test_changes_in_a_submodule_that_nobody_committed_are_told(project: Repo) -> None:
    run = start(project)
    run.prepare().write({"vendor/lib/lib.py": "changed"})
    assert run.snapshot().unsaved == ("vendor/lib",)


def test_no_command_that_an_agent_configures_in_a_submodule_is_run(project: Repo, tmp_path: Path) -> None:
    run = start(project)
    agent = run.prepare()
    evil = f"touch '{tmp_path}/ran'"
    inner = agent.path / "vendor/lib"
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.external", "core.sshCommand"):
        git(inner, "config", key, evil)
    git(inner, "config", "filter.x.required", "true")
    agent.write({"vendor/lib/.git/info/attributes": "* filter=x\n", "vendor/lib/lib.py": "changed"})
    run.snapshot()
    run.prepare()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", ["file", "link", "commondir"])
def test_a_submodule_cannot_be_turned_to_another_repository(project: Repo, tmp_path: Path, kind: str) -> None:
    other = make_repository(tmp_path / "elsewhere")
    other.git("config", "core.fsmonitor", f"touch '{tmp_path}/ran'")
    run = start(project)
    agent = run.prepare()
    git_dir = agent.path / "vendor/lib/.git"
    if kind == "commondir":
        (git_dir / "commondir").write_text(f"{other.path}/.git\n")
        (git_dir / "HEAD").write_text(other.git("rev-parse", "HEAD"))
    else:
        shutil.rmtree(git_dir)
    if kind == "link":
        git_dir.symlink_to(other.path / ".git")
    if kind == "file":
        git_dir.write_text(f"gitdir: {other.path}/.git\n")
    assert changes(run.store, run.base, run.snapshot().tree) == ()
    assert not (tmp_path / "ran").exists()
    assert (other.path / ".git" / "config").is_file()


def test_a_link_in_the_place_of_a_submodules_directory_is_not_followed(project: Repo, tmp_path: Path) -> None:
    run = start(project)
    agent = run.prepare()
    (agent.path / "vendor").rename(tmp_path / "vendor")
    (agent.path / "vendor").symlink_to(tmp_path / "vendor")
    config = (tmp_path / "vendor/lib/.git/config").read_bytes()
    run.snapshot()
    assert (tmp_path / "vendor/lib/.git/config").read_bytes() == config
    run.prepare()
    assert not (agent.path / "vendor").is_symlink()
    assert (agent.path / "vendor/lib/lib.py").is_file()
    assert (tmp_path / "vendor/lib/lib.py").is_file()


def test_a_project_without_submodules_pays_nothing_for_them(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = watch_git(tmp_path, monkeypatch)
    run.prepare()
    assert commands() == ["read-tree", "clean"]


ARMED = ("core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.external", "core.sshCommand")


def arm(place: Path, ran: Path) -> None:
    """Lets every git in a repository run a command of the agent's."""
    for key in ARMED:
        git(place, "config", key, f"touch '{ran}'")
    (place / ".git" / "info").mkdir(exist_ok=True)
    (place / ".git" / "info" / "attributes").write_text("* filter=x\n")
    for hook in ("post-index-change", "post-checkout"):
        executable(place / ".git" / "hooks" / hook, f"touch '{ran}'")
    for file in place.glob("*.py"):
        file.write_bytes(file.read_bytes()[::-1])  # as long as before, so that git has to look inside


@pytest.mark.parametrize("kind", ["missing", "within", "unnamed", "by a hook", "outside"])
def test_git_never_looks_into_what_an_agent_made_of_a_submodule(
    project: Repo, tmp_path: Path, kind: str
) -> None:
    ran, place = tmp_path / "ran", "vendor/lib"
    if kind == "missing":  # the user does not have it, so the agent has made it all
        shutil.rmtree(project.path / ".git" / "modules")
    if kind == "unnamed":
        project.git("rm", "--quiet", "--cached", ".gitmodules")
        project.git("commit", "--quiet", "-m", "Forget the names")
    run = start(project)
    agent = run.prepare()
    inner = agent.path / place
    if not (inner / ".git").exists():
        inner.mkdir(parents=True, exist_ok=True)
        git(inner, "init", "--quiet")
        (inner / "lib.py").write_text("lib\n")
        git(inner, "add", "--all")
        git(inner, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "-m", "Mine")
    if kind == "within":  # a repository that only the index of the submodule knows
        other = make_repository(inner / "other", {"other.py": "other\n"})
        git(inner, "add", "other")
        git(inner, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "-m", "With another")
        arm(other.path, ran)
    elif kind == "by a hook":
        armed = tmp_path / "armed"
        shutil.copytree(inner, armed, symlinks=True)
        arm(armed, ran)
        run.repo.hook("pre-commit", f"cp -r '{armed}/.' '{place}/'")
    else:
        arm(inner, ran)
    if kind == "outside":
        shutil.move(inner / ".git", tmp_path / "moved.git")
        (inner / ".git").write_text(f"gitdir: {tmp_path / 'moved.git'}\n")
    for attempt in (1, 2):
        run.try_snapshot(attempt=attempt)
        assert not ran.exists()
    run.prepare()
    assert not ran.exists()
    if (inner / ".git").is_dir():  # by the tests of an agent, which nobody keeps
        arm(inner, ran)
        run.prepare()
        assert not ran.exists()
