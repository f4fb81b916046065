"""Whole runs behind the wall: agents, tests, setups and hooks that try to reach what is not theirs."""

import shlex
import shutil
import subprocess  # noqa: TID251 - a program as an agent would find it
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from amelia.system.wall import find_kernel
from repositories import fingerprint
from stories import APPROVED, FILES, Done, Env, Stage, Turn, develops, make_stage, tasks, toml, writes

KERNEL = find_kernel()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not KERNEL.landlock, reason="this kernel has no Landlock"),
]
hides = pytest.mark.skipif(not KERNEL.has_namespaces, reason="this kernel gives us no namespaces")
AMELIA = f"{shlex.quote(sys.executable)} -m amelia"


@dataclass(frozen=True, slots=True)
class Walled(Stage):
    """A stage whose agents may write nothing but what every agent may."""

    def environ(self, more: Env = {}) -> dict[str, str]:  # noqa: B006 - never changed
        inherited = Stage.environ(self, more)
        own = {name: value for name, value in inherited.items() if name != "AMELIA_WALL__WRITES"}
        return {**own, **more}

    @property
    def work(self) -> Path:
        return self.directory / "lanes/1/work"


@pytest.fixture
def stage() -> Iterator[Walled]:
    # Not below /tmp, so that programs get a private one.
    room = Path(tempfile.mkdtemp(prefix="amelia-wall-", dir="/var/tmp"))
    made = make_stage(room)
    secrets = {".ssh/id_ed25519": "secret", ".netrc": "secret", ".gitconfig": "[user]\n\tname = Somebody\n"}
    for name, text in secrets.items():
        (room / name).parent.mkdir(exist_ok=True)
        (room / name).write_text(text)
    (made.repo.path / ".git/info").mkdir(exist_ok=True)
    (made.repo.path / ".git/info/exclude").write_text(".env\n")
    (made.repo.path / ".env").write_text("TOKEN=secret\n")
    yield Walled(room, made.repo, made.home)
    with suppress(OSError):
        shutil.rmtree(room)


def told(script: str) -> str:
    """Returns a shell command that writes what another one says into the worktree, with its exit code."""
    return f"({script}) > said.txt 2>&1; echo code $? >> said.txt"


def tried(stage: Walled, script: str, *turns: Turn, env: Env = {}) -> str:  # noqa: B006 - never changed
    """Has a developer run a script, and returns what it said."""
    acts = ({"run": told(script)}, {"write": "a", "text": "a\n"})
    done = stage.run(tasks("One"), develops("1", *acts), *turns, APPROVED, env=env)
    assert (done.code, done.outcome) == (0, "completed"), done
    return stage.show("said.txt")


@pytest.mark.parametrize(
    "attack",
    {
        "an absolute path": "echo x >> {repo}/README.md",
        "git in the checkout": "git -C {repo} commit --allow-empty -m x",
        "a branch of the checkout": "git -C {repo} branch stolen",
        "a push": "git push {repo} HEAD:refs/heads/stolen",
        "the settings of git": "echo x >> {home}/.gitconfig",
        "a hook for the next session": "mkdir -p {home}/.claude && echo x > {home}/.claude/settings.json",
        "a login shell": "echo x >> {home}/.bashrc",
        "the journal": "echo x >> {state}/runs/$AMELIA_RUN/journal.db",
        "the store": "echo x > {state}/runs/$AMELIA_RUN/store.git/refs/x",
        "another lane": "mkdir -p {state}/runs/$AMELIA_RUN/lanes/2 && echo x > {state}/runs/$AMELIA_RUN/lanes/2/x",
        "the place of checks": "echo x > {state}/runs/$AMELIA_RUN/lanes/1/check/x",
        "another run": "mkdir {state}/runs/other",
        "a link to the checkout": "ln -s {repo}/README.md link && echo x >> link; code=$?; rm link; exit $code",
        "a parent": "kill -0 $PPID && python3 -c 'import os; os.kill({pid}, 0)'",
    }.items(),
    ids=lambda attack: attack[0],
)
def test_an_agent_cannot_change_what_is_not_its_own(stage: Walled, attack: tuple[str, str]) -> None:
    script = attack[1].format(repo=stage.repo.path, home=stage.room, state=stage.home, pid=1)
    before = fingerprint(stage.repo)
    said = tried(stage, script)
    assert "code 0" not in said, said
    assert fingerprint(stage.repo) == before
    assert (stage.room / ".gitconfig").read_text() == "[user]\n\tname = Somebody\n"
    assert not (stage.room / ".claude").exists()


@hides
@pytest.mark.parametrize(
    "path", ["{home}/.ssh/id_ed25519", "{home}/.netrc", "{repo}/.env", "{state}/runs/$AMELIA_RUN/journal.db"]
)
def test_an_agent_cannot_read_secrets(stage: Walled, path: str) -> None:
    script = f"test -s {path.format(home=stage.room, repo=stage.repo.path, state=stage.home)}"
    assert "code 0" not in tried(stage, script)


@hides
def test_what_the_settings_hide_cannot_be_read(stage: Walled) -> None:
    (stage.room / "private").mkdir()
    (stage.room / "private/key").write_text("secret")
    hidden = {"AMELIA_WALL__HIDES": toml([str(stage.room / "private")])}
    assert "secret" not in tried(stage, f"cat {stage.room}/private/key", env=hidden)


def test_git_works_in_the_worktree_and_its_global_settings_are_a_copy(stage: Walled) -> None:
    script = (
        "set -e; git status --short; git log --oneline -1; git diff HEAD; git config --global user.name; "
        "git config --global user.email me@example.com; git config --global user.email; "
        "echo y > b; git add b; git commit -qm b; git log --oneline -1"
    )
    said = tried(stage, script)
    assert "code 0" in said, said
    assert "Somebody" in said
    assert "me@example.com" in said
    assert "me@example.com" not in (stage.room / ".gitconfig").read_text()


def test_temporary_files_can_be_written_and_are_nobody_elses(stage: Walled) -> None:
    script = 'set -e; echo x > "$TMPDIR/x"; mktemp; python3 -c "import tempfile; tempfile.mkdtemp()"; echo x > /dev/null'
    assert "code 0" in tried(stage, script)


@pytest.mark.parametrize(
    "name", ["skip {run} 1", "cancel {run}", "approve {run}", "retry {run} 1", "resume {run}"]
)
def test_an_agent_that_calls_amelia_changes_nothing(stage: Walled, name: str) -> None:
    words = name.format(run="$AMELIA_RUN")
    script = f"AMELIA_HOME={stage.home} {AMELIA} {words}"
    said = tried(stage, script)
    assert "is not for agents" in said, said
    assert "code 1" in said


def test_an_agent_that_calls_amelia_without_its_role_changes_nothing_either(stage: Walled) -> None:
    said = tried(stage, f"env -u AMELIA_ROLE AMELIA_HOME={stage.home} {AMELIA} cancel $AMELIA_RUN")
    assert "code 0" not in said, said


def test_reading_commands_are_open_to_agents(stage: Walled) -> None:
    assert "code 0" in tried(stage, f"{AMELIA} check {stage.room}/plan.md")


def test_a_reviewer_can_write_nothing_of_its_worktree(stage: Walled) -> None:
    meddles = {**APPROVED, "do": [{"run": "echo x > meddled || touch $TMPDIR/denied; git status --short"}]}
    done = stage.run(tasks("One"), writes("1", "a"), meddles)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert stage.files() == sorted([*FILES, "a"])
    assert (stage.directory / "agents/1-reviewer/tmp/denied").exists()


def test_tests_cannot_write_outside_and_are_told_which_setting_allows_it(stage: Walled) -> None:
    (stage.repo.path / "check.sh").write_text(f"echo x > {stage.room}/report.txt && test ! -e broken\n")
    stage.repo.git("commit", "-qam", "A report")
    mends = develops("1", {"write": "check.sh", "text": "test ! -e broken\n"}, attempt=2)
    done = stage.run(tasks("One"), develops("1", {"write": "a", "text": "a"}, attempt=1), mends, APPROVED)
    assert not (stage.room / "report.txt").exists()
    assert str(stage.room / "report.txt") in done.out
    assert "[wall] writes" in done.out


def test_what_was_denied_to_an_agent_is_told_to_the_person_and_the_next_attempt(stage: Walled) -> None:
    denied = {"run": f"touch {stage.room}/x"}
    fails = develops("1", denied, attempt=1, report={"status": "failed", "summary": "It cannot be done."})
    done = stage.run(tasks("One"), fails, {**writes("1", "a"), "attempt": 2}, APPROVED)
    assert done.outcome == "completed", done
    assert "[wall] writes" in stage.prompt("1", 2)
    assert str(stage.room / "x") in stage.prompt("1", 2)


def test_a_setting_of_the_user_allows_more(stage: Walled) -> None:
    (stage.room / "tool").mkdir()
    allowed = {"AMELIA_WALL__WRITES": toml([str(stage.room / "tool")])}
    assert "code 0" in tried(stage, f"echo x > {stage.room}/tool/x", env=allowed)
    assert (stage.room / "tool/x").exists()


@hides
def test_a_secret_that_the_user_allows_to_be_written_is_not_hidden(stage: Walled) -> None:
    allowed = {"AMELIA_WALL__WRITES": toml([str(stage.room / ".ssh")])}
    assert "secret" in tried(stage, f"cat {stage.room}/.ssh/id_ed25519", env=allowed)


def test_hooks_of_the_repository_work_and_write_nothing_outside(stage: Walled) -> None:
    hook = stage.repo.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\necho x > {stage.room}/hooked\necho formatted >> a\ngit add a\n")
    hook.chmod(0o755)
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED)
    assert (done.code, done.outcome) == (0, "completed"), done
    assert stage.show("a").startswith("a\nformatted")
    assert not (stage.room / "hooked").exists()


@hides
def test_a_cache_is_warm_for_everybody_and_written_by_nobody(stage: Walled) -> None:
    cache = stage.room / ".cache/pip"
    cache.mkdir(parents=True)
    (cache / "wheel").write_text("wheel\n")
    (stage.repo.path / "check.sh").write_text(
        f"set -e; cat {cache}/wheel; test ! -e {cache}/agents; test ! -e {cache}/tests; echo x > {cache}/tests\n"
    )
    (stage.repo.path / "pyproject.toml").write_text("")
    stage.repo.git("add", "pyproject.toml")
    stage.repo.git("commit", "-qam", "A check")
    assert "wheel\ncode 0" in tried(stage, f"set -e; cat {cache}/wheel; echo x > {cache}/agents")
    assert sorted(path.name for path in cache.iterdir()) == ["wheel"]


@pytest.mark.skipif(not KERNEL.has_networks, reason="this kernel gives us no network namespaces")
def test_tests_have_no_network_if_the_user_says_so(stage: Walled) -> None:
    probe = "import socket; socket.create_connection(('127.0.0.1', int(open('port').read())), 2)"
    (stage.repo.path / "check.sh").write_text(f'! python3 -c "{probe}" && ! grep -q eth /proc/net/dev\n')
    (stage.repo.path / "port").write_text("1")
    stage.repo.git("add", "port")
    stage.repo.git("commit", "-qam", "A check")
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED, env={"AMELIA_WALL__NETWORK": "none"})
    assert (done.code, done.outcome) == (0, "completed"), done


def without_landlock(stage: Walled, *arguments: str, env: Env = {}) -> Done:  # noqa: B006 - never changed
    started = stage.start(*arguments, env=env, by=(sys.executable, str(Path(__file__).parent / "without.py")))
    return started.wait()


def test_a_run_says_first_that_there_is_no_wall(stage: Walled) -> None:
    done = without_landlock(stage, *stage.put(tasks("One"), writes("1", "a"), APPROVED))
    assert (done.code, done.outcome) == (0, "completed"), done
    first = next(line for line in done.err.splitlines() if line.strip())
    assert "no wall" in first, done.err
    assert "no wall" in without_landlock(stage, "resume", stage.name).err
    (stage.repo.path / "README.md").write_text("changed\n")
    review = ("review", "--script", str(stage.room / "script.toml"))
    assert "no wall" in "".join(without_landlock(stage, *review).err.splitlines()[:1])


def test_nothing_begins_without_a_wall_that_is_required(stage: Walled) -> None:
    required = {"AMELIA_WALL__MODE": "required"}
    plan = stage.put(tasks("One"), writes("1", "a"), APPROVED)
    done = without_landlock(stage, *plan, env=required)
    assert done.code != 0
    assert "no Landlock" in done.err
    assert "hint:" in done.err
    assert stage.names == []
    assert stage.amelia(*plan, env=required).code == 0


def test_the_doctor_tells_of_the_wall(stage: Walled) -> None:
    assert "wall" in stage.amelia("doctor").out
    assert "no wall" in without_landlock(stage, "doctor").out
    assert "`[wall] mode` is off" in stage.amelia("doctor", env={"AMELIA_WALL__MODE": "off"}).out


def test_without_a_wall_everything_is_as_before(stage: Walled) -> None:
    off = {"AMELIA_WALL__MODE": "off"}
    assert "code 0" in tried(stage, f"echo x > {stage.room}/x", env=off)
    assert not (stage.directory / "agents").exists()


def test_the_helper_takes_landlock_away() -> None:
    helper = Path(__file__).parent / "without.py"
    code = "from amelia.system.wall import find_kernel; print(find_kernel().landlock)"
    done = subprocess.run(
        [sys.executable, str(helper), sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"
