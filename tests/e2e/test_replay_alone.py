"""A replay keeps to itself: no repository but its own is touched, and no program is started but the player."""

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from repositories import Repo, executable, git
from stories import APPROVED, FILES, Done, Stage, develops, make_stage, rejects, tasks, writes

pytestmark = pytest.mark.slow

PUBLISHES = """\
case "$1 $2" in
"pr list") echo '[]';;
"pr create") echo "https://example.com/pull/7";;
esac"""


def everything(path: Path) -> dict[str, str]:
    """Returns a digest of every file below a directory, objects and refs of a repository included."""
    return {
        found.relative_to(path).as_posix(): f"-> {found.readlink()}"
        if found.is_symlink()
        else f"{found.stat().st_mode:o} {hashlib.sha256(found.read_bytes()).hexdigest()}"
        for found in sorted(path.rglob("*"))
        if found.is_symlink() or found.is_file()
    }


@dataclass(frozen=True, slots=True)
class World:
    """A user with a remote, a `gh`, a signing key and hooks, each of which tells when it is used."""

    stage: Stage
    remote: Repo

    @property
    def log(self) -> Path:
        return self.stage.room / "programs.log"

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": f"{self.stage.room / 'bin'}:{os.environ['PATH']}", "GH_HOST": "example.com"}

    def program(self, name: str, script: str = "") -> Path:
        return executable(self.stage.room / "bin" / name, f'echo "{name} $@" >> "{self.log}"\n{script}')

    def goes(self, *arguments: str) -> Done:
        return self.stage.start(*arguments, env=self.env).wait()

    def replays(self, run: str) -> Done:
        """Plays a run again, and proves that nothing else is touched and nobody else is started."""
        self.log.unlink(missing_ok=True)
        places = (self.stage.repo.path, self.remote.path, self.stage.home / "runs" / run)
        before = [everything(place) for place in places]
        done = self.goes("replay", run)
        assert [everything(place) for place in places] == before
        assert not self.log.exists(), self.log.read_text()
        return done


@pytest.fixture
def world(tmp_path: Path) -> World:
    stage = replace(make_stage(tmp_path), is_recorded=True)
    remote = Repo(tmp_path / "remote.git")
    git(tmp_path, "init", "--quiet", "--bare", str(remote.path))
    stage.repo.git("remote", "add", "origin", str(remote.path))
    world = World(stage, remote)
    world.program("gh", PUBLISHES)
    return world


def completed(world: World, *options: str) -> str:
    arguments = world.stage.put(tasks("One", "Two"), writes("1", "a"), writes("2", "b"), APPROVED)
    assert world.goes(*arguments, *options).outcome == "completed"
    return world.stage.name


@pytest.mark.parametrize("when", ["at the start", "later"])
@pytest.mark.parametrize("how", [("--merge", "ff"), ("--pr",)], ids=lambda how: how[0])
def test_what_was_delivered_is_not_delivered_again(world: World, how: tuple[str, ...], when: str) -> None:
    base = world.stage.repo.git("rev-parse", "HEAD")
    if when == "later":
        run = completed(world)
        assert world.goes("finish", run, *how).code == 0
    else:
        run = completed(world, *how)
    world.stage.repo.git("reset", "--quiet", "--hard", base)  # as if nobody had merged it
    done = world.replays(run)
    assert (done.code, "the same: completed, 2 units" in done.out) == (0, True), done.out + done.err


def test_hooks_keys_and_filters_of_the_user_are_left_alone(world: World) -> None:
    repo = world.stage.repo
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-merge"):
        repo.hook(hook, f'echo "{hook} hook" >> "{world.log}"')
    signs = 'cat > /dev/null; echo "[GNUPG:] SIG_CREATED D 1 8 00 0 0" >&2; echo "signature"'
    repo.git("config", "gpg.program", str(world.program("gpg", signs)))
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "filter.upper.clean", f"{world.program('clean', 'cat')}")
    repo.git("config", "filter.upper.smudge", f"{world.program('smudge', 'cat')}")
    (world.stage.room / ".gitconfig").write_text(
        f'[merge "own"]\n\tdriver = {world.program("merge-driver", "exit 0")} %A\n'
        f"[core]\n\tfsmonitor = {world.program('fsmonitor', 'exit 1')}\n"
        f'[filter "upper"]\n\tprocess = {world.program("process", "exit 1")}\n\trequired = false\n'
    )
    repo.commit({".gitattributes": "*.txt filter=upper\n* merge=own\n"}, "Attributes")
    run = completed(world)
    assert "pre-commit hook" in world.log.read_text()
    assert "gpg " in world.log.read_text()
    done = world.replays(run)
    assert done.code == 0, done.out + done.err


def test_what_a_hook_refused_is_played_without_the_hook(world: World) -> None:
    stage = world.stage
    stage.repo.hook(
        "pre-commit", f'echo hook >> "{world.log}"; test ! -e bad || {{ echo "bad is bad"; exit 1; }}'
    )
    stage.repo.hook("commit-msg", f'echo hook >> "{world.log}"; test ! -e worse || {{ echo "no"; exit 1; }}')
    turns = (
        writes("1", "bad", attempt=1),
        develops("1", {"delete": "bad"}, {"write": "worse", "text": ""}, attempt=2),
        develops("1", {"delete": "worse"}, {"write": "good", "text": ""}, attempt=3),
    )
    assert world.goes(*stage.put(tasks("One"), *turns, APPROVED)).outcome == "completed"
    run = stage.name
    done = world.replays(run)
    assert done.code == 0, done.out + done.err
    (again,) = set(stage.names) - {run}
    refused = [
        event.get("refused") for event in stage.amelia("log", again, "--json").of_type("attempt_ended")
    ]
    assert [bool(said) for said in refused] == [True, True, False]
    assert "bad is bad" in str(refused[0])
    place = stage.room / "kept"
    assert stage.amelia("replay", run, "--save", place).code == 0
    world.log.unlink(missing_ok=True)
    assert stage.amelia("replay", place).code == 0
    assert not world.log.exists()


def test_a_replay_is_a_run_in_a_repository_of_its_own(world: World) -> None:
    stage, run = world.stage, completed(world)
    assert world.replays(run).code == 0
    (again,) = set(stage.names) - {run}
    assert again not in stage.amelia("status").out
    assert "completed" in stage.amelia("status", again).out
    own = Repo(stage.home / "runs" / again / "repository")
    assert own.git("remote") == ""
    trees = own.git("log", "--format=%T", f"amelia/{again}").splitlines()[:2]
    units = stage.repo.git("log", "--format=%T", f"{stage_branch(run)}~1").splitlines()[:2]
    assert trees == units
    for how in (("--merge", "ff"), ("--pr",)):
        with stage.untouched():
            assert world.goes("finish", again, *how).code == 4
    assert not world.log.exists()
    assert world.goes("undo", again, "--yes").code == 0
    assert stage.repo.git("branch", "--list", stage_branch(run))


def stage_branch(run: str) -> str:
    return f"amelia/{run}"


@pytest.mark.parametrize("kind", ["shallow", "linked", "submodule", "rejected"])
def test_hard_repositories_are_copied_too(tmp_path: Path, kind: str) -> None:
    plan, turns = tasks("One"), (writes("1", "a"), APPROVED)
    first = make_stage(tmp_path / "origin", FILES, name="origin")
    first.repo.commit({"more": "x"})
    repo = first.repo
    match kind:
        case "shallow":
            git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo.path}", "shallow")
            repo = Repo(tmp_path / "shallow")
        case "linked":
            repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
            repo = Repo(tmp_path / "linked")
        case "submodule":
            repo = make_stage(tmp_path / "outer", name="outer").repo
            repo.git("submodule", "add", "--quiet", str(first.repo.path), "inner")
            repo.commit({"check.sh": "test -e inner/more\n"}, "With a submodule")
        case _:
            once = develops("1", {"write": "b", "text": ""}, attempt=2)
            turns = (rejects("Say more.", unit="1", attempt=1), writes("1", "a", attempt=1), once, *turns[1:])
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        repo.git("config", key, value)
    stage = Stage(tmp_path, repo, tmp_path / "home")
    assert stage.run(plan, *turns).outcome == "completed"
    before = everything(first.repo.path)
    done = stage.amelia("replay", stage.name)
    assert done.code == 0, done.out + done.err
    assert everything(first.repo.path) == before


def test_a_replay_that_halts_waits_for_nobody(world: World) -> None:
    stage = world.stage
    stage.run(tasks("One"), develops("1", {"write": "broken", "text": "x"}), APPROVED)
    assert world.replays(stage.name).code == 0
    waiting = stage.amelia("inbox", "--all", "--json").json
    assert [item["run"] for item in waiting] == [stage.amelia("status", "--json").json[0]["run"]]
