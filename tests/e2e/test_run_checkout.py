"""The user's checkout stays as it is, to the byte, whatever a run does and however it ends."""

import shutil
import signal
import subprocess  # noqa: TID251 - only ssh-keygen
from pathlib import Path

import pytest

from repositories import Repo, executable, fingerprint, git, make_repository
from stories import APPROVED, FILES, Stage, develops, make_stage, rejects, sleepers, tasks, wait_until, writes

pytestmark = pytest.mark.slow

TWO = tasks("One", "Two")
WELL = (writes("1", "a"), writes("2", "b"), APPROVED)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def _messy(room: Path) -> Stage:
    """Makes a checkout with everything in it that a person may have left there."""
    stage = make_stage(room, {**FILES, "crlf.txt": "one\ntwo\n"}, name="a repository: naïve ✓")
    repo = stage.repo
    repo.git("config", "core.autocrlf", "true")
    repo.commit({"second": "x\n"}, "Second")
    repo.git("branch", "other", "HEAD~1")
    repo.git("tag", "v1")
    repo.git("worktree", "add", "-q", str(room / "linked"), "other")
    repo.write({"README.md": "# In the stash\n"})
    repo.git("stash", "push", "-q")
    repo.git("checkout", "-q", "--detach")
    repo.write({"second": "changed\r\n", "untracked é": "x", "staged": "x", "build/out": "ignored"})
    repo.git("add", "staged")
    repo.hook("post-checkout", "exit 1")
    return stage


def _everything(stage: Stage) -> dict[str, str]:
    return {**fingerprint(stage.repo), **fingerprint(Repo(stage.room / "linked"))}


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return _messy(tmp_path_factory.mktemp("messy é"))


def test_a_run_that_succeeds_leaves_a_messy_checkout_as_it_is(messy: Stage) -> None:
    before = _everything(messy)
    done = messy.run(TWO, *WELL, options=["--again"])
    assert done.code == 0
    assert _everything(messy) == before
    branch = f"amelia/{done.events[0]['run']}"
    assert messy.repo.git("show", f"{branch}:second") == "x"
    assert "not part of the run" in done.err


def test_a_run_that_fails_retries_and_halts_leaves_a_messy_checkout_as_it_is(messy: Stage) -> None:
    before = _everything(messy)
    done = messy.run(
        TWO, develops("1", {"append": "second", "text": "x\n"}), rejects("No."), options=["--again"]
    )
    assert done.code == 1
    assert _everything(messy) == before


def test_a_run_in_a_linked_worktree_leaves_both_checkouts_as_they_are(messy: Stage) -> None:
    before = _everything(messy)
    arguments = messy.put(TWO, *WELL)
    done = messy.amelia(*arguments, "--again", cwd=messy.room / "linked")
    assert done.code == 0
    assert _everything(messy) == before
    base = messy.repo.git("rev-parse", "other")
    assert done.of_type("run_started")[0]["base"] == base


@pytest.mark.rows("R28")
def test_a_run_that_is_killed_and_resumed_leaves_a_messy_checkout_as_it_is(messy: Stage) -> None:
    before = _everything(messy)
    waiting = develops(
        "2", {"write": "b", "text": "b\n"}, {"run": f"touch '{messy.room}/there'"}, {"sleep": 600}
    )
    started = messy.start(*messy.put(TWO, writes("1", "a"), waiting, APPROVED), "--again")
    started.until((messy.room / "there").exists, "the turn of the second task")
    started.kill()
    assert _everything(messy) == before
    messy.play(*WELL)
    run = started.done().events[0]["run"]
    done = messy.amelia("resume", run, "--json")
    assert (done.code, done.outcome) == (0, "completed")
    assert _everything(messy) == before
    subjects = messy.repo.git("log", "--reverse", "--format=%s", f"HEAD..amelia/{run}").split("\n")
    assert subjects == ["Task 1: One", "Task 2: Two"]


def test_a_run_that_is_cancelled_keeps_what_landed_and_touches_nothing(stage: Stage) -> None:
    waiting = develops("2", {"write": "b", "text": "b"}, {"run": f"touch {stage.room}/there"}, {"sleep": 600})
    with stage.untouched():
        started = stage.start(*stage.put(TWO, writes("1", "a"), waiting, APPROVED))
        started.until((stage.room / "there").exists, "the turn of the second task")
        assert stage.amelia("cancel", stage.name).code == 0
        done = started.wait()
    assert (done.code, done.outcome) == (1, "cancelled")
    assert stage.subjects() == ["Task 1: One"]


def test_line_endings_are_those_the_user_would_have_committed(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    stage.repo.git("config", "core.autocrlf", "true")
    done = stage.run(tasks("One"), develops("1", {"write": "a.txt", "text": "one\r\ntwo\r\n"}), APPROVED)
    assert done.code == 0
    assert stage.repo.git("cat-file", "blob", f"{stage.branch}:a.txt") == "one\ntwo"


def test_a_repository_without_commits_gets_a_branch_and_stays_without(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {})
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED)
    assert done.code == 0
    assert "no commits" in done.err
    assert stage.repo.git("log", "--reverse", "--format=%s", stage.branch).split("\n")[1:] == ["Task 1: One"]
    assert stage.repo.git("rev-parse", "--verify", "--quiet", "HEAD", check=False) == ""


def test_a_repository_with_a_submodule_is_worked_on_with_its_files(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"inside": "inside\n"})
    stage = make_stage(tmp_path, {**FILES, "check.sh": "test -e library/inside\n"})
    stage.repo.git("submodule", "add", "-q", str(inner.path), "library")
    stage.repo.commit({}, "Add a library")
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED)
    assert done.code == 0
    assert stage.files(stage.log("%H")[0]) == ["a"]


def test_signing_that_does_not_work_is_found_before_anything_starts(stage: Stage) -> None:
    stage.repo.git("config", "commit.gpgSign", "true")
    stage.repo.git("config", "gpg.program", str(executable(stage.room / "sign", "echo no key >&2; exit 2")))
    done = stage.run(TWO, *WELL)
    assert done.code == 3
    assert "commits cannot be signed" in done.err
    assert "hint:" in done.err
    assert stage.names == []
    assert stage.repo.git("for-each-ref", "refs/amelia", "refs/heads/amelia") == ""


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")
def test_landed_commits_are_signed_where_the_user_signs(stage: Stage) -> None:
    key = stage.room / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed = stage.room / "allowed"
    allowed.write_text(f"ada@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in {
        "commit.gpgSign": "true",
        "gpg.format": "ssh",
        "user.signingKey": str(key),
        "gpg.ssh.allowedSignersFile": str(allowed),
    }.items():
        stage.repo.git("config", name, value)
    done = stage.run(TWO, *WELL)
    assert done.code == 0
    assert stage.log("%G?") == ["G", "G"]


def test_what_a_commit_hook_reformats_is_what_lands(stage: Stage) -> None:
    stage.repo.hook("pre-commit", "test ! -e a || { tr a-z A-Z < a > a.new; mv a.new a; git add a; }")
    done = stage.run(tasks("One"), develops("1", {"write": "a", "text": "words\n"}), APPROVED)
    assert done.code == 0
    assert stage.show("a") == "WORDS"
    assert "+WORDS" in stage.prompt("1", 1, "reviewer")


def test_what_a_commit_hook_refuses_is_told_to_the_developer_who_tries_again(stage: Stage) -> None:
    stage.repo.hook("pre-commit", "test ! -e forbidden || { echo 'no forbidden files here' >&2; exit 1; }")
    done = stage.run(
        tasks("One"),
        writes("1", "a", "forbidden", attempt=1),
        develops("1", {"delete": "forbidden"}, attempt=2),
        APPROVED,
    )
    assert done.code == 0
    assert "no forbidden files here" in stage.prompt("1", 2)
    assert [event["attempt"] for event in done.of_type("attempt_verified")] == [2]
    assert stage.files(stage.log("%H")[0]) == ["a"]


def test_what_a_hook_makes_of_the_message_lands_with_our_trailers(stage: Stage) -> None:
    stage.repo.hook(
        "commit-msg",
        'echo \'Reviewed-by: a hook\' > "$1.new"; head -1 "$1" | cat - "$1.new" > "$1.2"; mv "$1.2" "$1"',
    )
    done = stage.run(tasks("One"), writes("1", "a"), APPROVED)
    assert done.code == 0
    (commit,) = stage.log("%H")
    message = stage.repo.git("log", "-1", "--format=%B", commit)
    assert "Reviewed-by: a hook" in message
    assert f"Amelia-Run: {stage.name}" in message


@pytest.mark.rows("T19")
def test_a_hook_that_refuses_every_message_halts_the_run(stage: Stage) -> None:
    stage.repo.hook("commit-msg", "echo 'no ticket in the message' >&2; exit 1")
    done = stage.run(tasks("One"), develops("1", {"append": "a", "text": "x\n"}), APPROVED)
    assert (done.code, stage.subjects()) == (1, [])
    assert "no ticket in the message" in stage.prompt("1", 2)


def test_what_is_committed_to_main_meanwhile_stays_and_is_not_part_of_the_run(stage: Stage) -> None:
    waiting = develops("1", {"write": "a", "text": "a"}, {"run": f"touch {stage.room}/there"}, {"sleep": 1})
    started = stage.start(*stage.put(tasks("One"), waiting, APPROVED))
    started.until((stage.room / "there").exists, "the turn")
    theirs = stage.repo.commit({"theirs": "x\n"}, "Theirs")
    before = fingerprint(stage.repo)
    done = started.wait()
    assert done.code == 0
    assert fingerprint(stage.repo) == before
    assert stage.repo.git("rev-parse", "main") == theirs
    assert stage.subjects(base="main~1") == ["Task 1: One"]


@pytest.mark.rows("T19")
def test_commits_of_somebody_else_on_the_branch_of_the_run_are_not_overwritten(stage: Stage) -> None:
    """The agent of the second task plays the person, for whom the first has just landed."""
    top = stage.repo.path
    theirs = (
        f"cd '{top}' && git branch -f elsewhere HEAD && branch=$(git for-each-ref --format='%(refname)'"
        " refs/heads/amelia) && git update-ref $branch"
        " $(git commit-tree -p $branch -m theirs $branch^{tree})"
    )
    with_them = develops("2", {"write": "b", "text": "b\n"}, {"run": theirs})
    before = fingerprint(stage.repo)
    done = stage.start(*stage.put(TWO, writes("1", "a"), with_them, APPROVED)).wait()
    after = {name: digest for name, digest in fingerprint(stage.repo).items() if "elsewhere" not in name}
    assert after == before
    assert (done.code, done.outcome) == (1, "halted(branch_moved)")
    assert stage.subjects() == ["Task 1: One", "theirs"]
    (told,) = done.of_type("step_broke")
    assert f"git branch -f {stage.branch}" in told["detail"]
    tip = stage.status()["tip"]
    stage.repo.git("branch", "-f", stage.branch, tip)
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    assert stage.subjects() == ["Task 1: One", "Task 2: Two"]


def test_a_branch_of_the_run_that_is_checked_out_is_not_moved_under_the_user(stage: Stage) -> None:
    place = stage.room / "looking at it"
    look = (
        f"cd '{stage.repo.path}' && git worktree add -q '{place}'"
        " $(git for-each-ref --format='%(refname:short)' refs/heads/amelia)"
    )
    stage.put(TWO, writes("1", "a"), develops("2", {"write": "b", "text": "b\n"}, {"run": look}), APPROVED)
    done = stage.amelia("run", stage.room / "plan.md", "--script", stage.room / "script.toml", "--json")
    assert (done.code, done.outcome) == (1, "halted(branch_moved)")
    (told,) = done.of_type("step_broke")
    assert str(place) in told["detail"]
    assert git(place, "status", "--porcelain") == ""
    git(place, "checkout", "-q", "--detach")
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    assert stage.subjects() == ["Task 1: One", "Task 2: Two"]


def test_the_first_signal_lets_the_step_finish_and_resume_goes_on(stage: Stage) -> None:
    waiting = develops(
        "1", {"run": f"touch {stage.room}/there"}, {"sleep": 0.5}, {"write": "a", "text": "a\n"}
    )
    with stage.untouched():
        started = stage.start(*stage.put(TWO, waiting, writes("2", "b"), APPROVED))
        started.until((stage.room / "there").exists, "the turn")
        started.send(signal.SIGINT)
        done = started.wait()
    assert done.code == 130
    told = [event["type"] for event in done.events if event["type"] != "usage_reported"]
    assert told[-3:] == ["pause_requested", "attempt_ended", "run_paused"]
    more = stage.amelia("resume", stage.name, "--json")
    assert (more.code, more.outcome) == (0, "completed")
    assert len(stage.turns("1", 1)) == 1
    seqs = [event["seq"] for event in (*done.events, *more.events)]
    assert sorted(set(seqs)) == list(range(1, max(seqs) + 1))
    assert stage.subjects() == ["Task 1: One", "Task 2: Two"]


def test_the_second_signal_ends_everything_at_once_and_resume_goes_on(stage: Stage) -> None:
    waiting = develops(
        "1", {"write": "half", "text": "x"}, {"run": f"touch {stage.room}/there"}, {"sleep": 600}
    )
    with stage.untouched():
        started = stage.start(*stage.put(TWO, waiting, writes("2", "b"), APPROVED))
        started.until((stage.room / "there").exists, "the turn")
        started.send(signal.SIGTERM)
        started.until(lambda: "pause_requested" in started.out.read_text(), "the pause")
        started.send(signal.SIGTERM)
        done = started.wait()
    assert done.code == 143
    stage.play(*WELL)
    more = stage.amelia("resume", stage.name, "--json")
    assert (more.code, more.outcome) == (0, "completed")
    assert stage.subjects() == ["Task 1: One", "Task 2: Two"]
    assert "half" not in stage.files()
    kept = stage.repo.git("for-each-ref", "--format=%(refname)", f"refs/amelia/{stage.name}/1")
    interrupted = [ref for ref in kept.split("\n") if "interrupted" in ref]
    assert [stage.repo.git("show", f"{ref}:half") for ref in interrupted] == ["x"]


def test_a_killed_run_leaves_no_agent_behind(stage: Stage) -> None:
    waiting = develops("1", {"run": f"touch {stage.room}/there; sleep 43217.25"})
    started = stage.start(*stage.put(TWO, waiting))
    started.until((stage.room / "there").exists, "the turn")
    started.send(signal.SIGKILL)
    wait_until(lambda: not sleepers("43217.25"), "the end of the agent")
    started.kill()
