"""A branch reaches another one as it is, squashed or by a merge commit, with its record or without."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from repositories import Repo, executable, git, make_repository
from stories import APPROVED, Done, Stage, develops, make_stage, tasks, wait_until, writes

pytestmark = pytest.mark.slow

KINDS = ["ff", "squash", "commit"]
WORK = [".gitignore", "README.md", "a.txt", "amelia.toml", "b.txt", "check.sh"]
BEFORE = [".gitignore", "README.md", "amelia.toml", "check.sh"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return replace(make_stage(tmp_path), is_recorded=True)


def goes(stage: Stage, *arguments: str, env: dict[str, str] | None = None) -> Done:
    """Runs the program where it may change the checkout."""
    return stage.start(*arguments, env=env or {}).wait()


def put(stage: Stage, goal: str = "Two notes") -> tuple[str, ...]:
    return stage.put(tasks("One", "Two", goal=goal), writes("1", "a.txt"), writes("2", "b.txt"), APPROVED)


def completed(stage: Stage, goal: str = "Two notes") -> str:
    """Runs a plan of two tasks to its end without delivering it."""
    assert stage.amelia(*put(stage, goal)).outcome == "completed"
    return stage.name


def finishes(stage: Stage, kind: str, *more: str) -> Done:
    return goes(stage, "finish", stage.name, "--merge", kind, *more)


def commit(stage: Stage, pattern: str, revision: str = "HEAD") -> str:
    return stage.repo.git("log", "-1", f"--format={pattern}", revision)


def files(stage: Stage) -> list[str]:
    """Returns what is checked out, which must be what is committed."""
    assert stage.repo.git("status", "--porcelain") == ""
    return stage.repo.git("ls-files").splitlines()


def record(stage: Stage) -> list[str]:
    return [path for path in stage.files() if path.startswith("docs/amelia/")]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_brings_the_whole_branch_and_is_done_once(stage: Stage, kind: str) -> None:
    run, base = completed(stage), stage.repo.git("rev-parse", "HEAD")
    tip = stage.repo.git("rev-parse", stage.branch)
    done = finishes(stage, kind, "--json")
    assert done.code == 0, done.err
    head = stage.repo.git("rev-parse", "HEAD")
    (told,) = done.of_type("run_delivered")
    word = {"ff": "merge", "squash": "squash", "commit": "merge_commit"}[kind]
    assert (told["finish"], told["where"], told["commit"]) == (word, "main", head)
    parents = {"ff": f"{tip}^", "squash": base, "commit": f"{base} {tip}"}[kind]
    expected = stage.repo.git("rev-parse", *parents.split()).split()
    assert commit(stage, "%P").split() == expected
    assert commit(stage, "%T") == commit(stage, "%T", tip)
    assert files(stage) == sorted([*WORK, *record(stage)])
    assert stage.status()["delivery"]["merged_into"] == "main"
    assert "merged into main" in stage.amelia("status", run).out
    assert "completed, merged" in stage.amelia("status").out
    for other in KINDS:
        again = stage.amelia("finish", run, "--merge", other)
        assert (again.code, again.out) == (0, f"run {run} was merged into main already\n")
    assert stage.repo.git("rev-parse", stage.branch) == tip


def test_a_squash_says_what_it_holds_and_where_it_comes_from(stage: Stage) -> None:
    run = completed(stage)
    assert finishes(stage, "squash").code == 0
    tip = stage.repo.git("rev-parse", stage.branch)
    assert commit(stage, "%B").rstrip().split("\n\n") == [
        "Two notes",
        "- Task 1: One\n- Task 2: Two",
        f"Amelia-Run: {run}\nAmelia-Delivers: {tip}",
    ]
    assert commit(stage, "%an <%ae>") == "Ada Example <ada@example.com>"


def test_a_merge_commit_names_the_run_and_its_goal(stage: Stage) -> None:
    run = completed(stage)
    assert finishes(stage, "commit").code == 0
    assert commit(stage, "%B").startswith(f"Merge run {run}\n\nTwo notes\n\n- Task 1: One\n")


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_can_be_left_out(stage: Stage, kind: str) -> None:
    completed(stage)
    units = stage.repo.git("rev-parse", f"{stage.branch}^")
    done = finishes(stage, kind, "--without-record", "--json")
    assert done.code == 0, done.err
    assert files(stage) == WORK
    assert commit(stage, "%T") == commit(stage, "%T", units)
    assert record(stage), "the branch of the run keeps it"


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_can_say_at_its_start_how_it_is_merged_and_without_what(stage: Stage, kind: str) -> None:
    done = goes(stage, *put(stage), "--merge", kind, "--without-record")
    assert (done.code, done.outcome) == (0, "completed"), done.err
    assert files(stage) == WORK
    assert record(stage) == []
    assert "the record" not in done.err


def test_who_starts_a_run_that_will_be_merged_is_told_of_the_record(stage: Stage) -> None:
    done = goes(stage, *put(stage), "--merge", "squash")
    assert done.code == 0
    (note,) = [line for line in done.err.splitlines() if "record" in line]
    assert "docs/amelia/" in note
    assert "--without-record" in note


def test_the_users_own_settings_can_squash_every_run(stage: Stage) -> None:
    own = stage.room / "own.toml"
    own.write_text('finish = "squash"\ncommit_record = false\n')
    env = {"AMELIA_CONFIG": str(own), "AMELIA_COMMIT_RECORD": "false"}
    assert goes(stage, *put(stage), env=env).code == 0
    assert files(stage) == WORK
    assert commit(stage, "%s") == "Two notes"


@pytest.mark.parametrize("kind", KINDS)
def test_what_would_reach_the_branch_is_told_before_and_changes_nothing(stage: Stage, kind: str) -> None:
    run = completed(stage)
    told = stage.amelia("finish", run, "--merge", kind, "--dry-run")
    assert told.code == 0, told.err
    opening = {
        "ff": "main would get 3 commits:",
        "squash": "main would get 1 commit that squashes 3:",
        "commit": "main would get a merge commit, and with it 3 commits:",
    }[kind]
    assert told.out.startswith(f"{opening}\n")
    subjects = [line.split(maxsplit=1)[1] for line in told.out.splitlines()[1:4]]
    assert subjects == ["Task 1: One", "Task 2: Two", f"Record of {run}"]
    assert "2 files of the work: a.txt, b.txt\n" in told.out
    names = record(stage)
    place = "/".join(names[0].split("/")[:3])
    assert f"{len(names)} files of the run's record, in {place}/:\n" in told.out
    assert all(f"  {name.removeprefix(place + '/')}\n" in told.out for name in names)
    assert "--without-record" in told.out
    asked = stage.amelia("finish", run, "--merge", kind, "--dry-run", "--json").json
    assert [one["subject"] for one in asked["commits"]] == subjects
    assert asked["record"] == names
    assert asked["files"] == ["a.txt", "b.txt"]
    without = stage.amelia("finish", run, "--merge", kind, "--dry-run", "--without-record")
    assert "record" not in without.out
    assert stage.status()["delivery"]["wanted"] == "leave"
    done = finishes(stage, kind)
    assert (done.code, opening.replace("would get", "gets") in done.err) == (0, True)


def test_on_a_terminal_a_person_may_still_say_no(stage: Stage) -> None:
    run = completed(stage)
    with stage.untouched():
        said = stage.at_terminal("finish", run, "--merge", "ff", answers="n\n")
    assert (said.code, "main would get 3 commits" in said.out) == (4, True)
    assert stage.status()["delivery"]["wanted"] == "leave"
    assert stage.at_terminal("finish", run, "--merge", "squash", answers="y\n").code == 0
    assert files(stage) == sorted([*WORK, *record(stage)])


@pytest.mark.parametrize("kind", KINDS)
def test_killed_right_after_the_merge_it_is_found_and_not_made_again(stage: Stage, kind: str) -> None:
    run = completed(stage)
    hook = stage.repo.hook("post-merge", "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)")
    killed = stage.start("finish", run, "--merge", kind)
    assert killed.process.wait(60) == -9
    hook.unlink()
    head = stage.repo.git("rev-parse", "HEAD")
    assert stage.status()["delivery"]["merged_into"] is None
    done = stage.amelia("finish", run, "--merge", kind, "--json")
    assert (done.code, done.of_type("run_delivered")[0]["commit"]) == (0, head)
    assert stage.repo.git("rev-parse", "HEAD") == head


@pytest.mark.parametrize("more", [(), ("--without-record",)], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_can_be_taken_back_under_later_work(stage: Stage, kind: str, more: tuple[str, ...]) -> None:
    run, base = completed(stage), stage.repo.git("rev-parse", "HEAD")
    assert finishes(stage, kind, *more).code == 0
    stage.repo.git("switch", "--quiet", "--create", "elsewhere", base)
    refused = stage.amelia("undo", run, "--yes")
    assert (refused.code, "merged into main, which is not checked out" in refused.err) == (4, True)
    stage.repo.git("switch", "--quiet", "main")
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    for _ in range(2):
        assert goes(stage, "undo", run, "--yes").code == 0
        assert files(stage) == sorted([*BEFORE, "mine.txt"])
        assert commit(stage, "%s") == f"Take back run {run}"
    again = stage.amelia("finish", run, "--merge", kind)
    assert (again.code, "was taken back" in again.err) == (4, True)


@pytest.mark.parametrize(
    ("kind", "commands"),
    [
        ("ff", ["git merge {}"]),
        ("squash", ["git merge --squash {}", "git commit --no-edit"]),
        ("commit", ["git merge --no-ff --no-edit {}"]),
    ],
)
@pytest.mark.parametrize("more", [(), ("--without-record",)], ids=["recorded", "unrecorded"])
def test_a_branch_that_moved_is_refused_with_commands_whose_work_is_found(
    stage: Stage, kind: str, commands: list[str], more: tuple[str, ...]
) -> None:
    run = completed(stage)
    stage.repo.commit({"mine.txt": "mine\n"}, "Mine")
    what = stage.repo.git("rev-parse", f"{stage.branch}^") if more else stage.branch
    refused = stage.amelia("finish", run, "--merge", kind, *more)
    assert (refused.code, "main has moved since the run started" in refused.err) == (4, True)
    typed = [command.format(what) for command in commands]
    assert refused.err.splitlines()[-len(typed) :] == [f"  {command}" for command in typed]
    for command in typed:
        stage.repo.git("-c", "core.editor=true", *command.split()[1:])
    (item,) = stage.amelia("inbox", "--json").json
    again = item["choices"][-2]["command"]
    assert again == " ".join(["amelia", "finish", run, "--merge", kind, *more])
    assert stage.amelia(*again.split()[1:]).code == 0
    assert stage.amelia("inbox", "--json").json == []
    assert goes(stage, "undo", run, "--yes").code == 0
    assert files(stage) == sorted([*BEFORE, "mine.txt"])


def test_some_commits_of_a_run_are_not_the_whole_run(stage: Stage) -> None:
    run = completed(stage)
    stage.repo.git("cherry-pick", f"{stage.branch}~2")
    done = stage.amelia("finish", run, "--merge", "squash")
    assert (done.code, "main has moved" in done.err) == (4, True)


@pytest.mark.parametrize("kind", KINDS)
def test_another_branch_and_a_checkout_that_is_not_clean_are_left_alone(stage: Stage, kind: str) -> None:
    run = completed(stage)
    stage.repo.git("switch", "--quiet", "--create", "other")
    refused = stage.amelia("finish", run, "--merge", kind)
    assert (refused.code, "  git switch main\n" in refused.err) == (4, True)
    assert f"  amelia finish {run} --merge {kind}\n" in refused.err
    stage.repo.git("switch", "--quiet", "main")
    stage.repo.write({"README.md": "mine\n"})
    assert "uncommitted changes: README.md" in stage.amelia("finish", run, "--merge", kind).err


@pytest.mark.parametrize("kind", KINDS)
def test_a_repository_without_commits_gets_each_kind_too(tmp_path: Path, kind: str) -> None:
    stage = Stage(tmp_path, make_repository(tmp_path / "repository", {}), tmp_path / "home", is_recorded=True)
    run = completed(stage)
    assert finishes(stage, kind).code == 0
    assert files(stage) == sorted(["a.txt", "b.txt", *record(stage)])
    assert goes(stage, "undo", run, "--yes").code == 0
    assert files(stage) == []


def test_a_commit_that_cannot_be_signed_changes_nothing(stage: Stage) -> None:
    run = completed(stage)
    stage.repo.git("config", "commit.gpgSign", "true")
    stage.repo.git("config", "gpg.program", str(executable(stage.room / "gpg", "exit 1")))
    done = stage.amelia("finish", run, "--merge", "squash")
    assert (done.code, f"  amelia finish {run} --merge squash\n" in done.err) == (4, True)


def test_a_pull_request_can_leave_the_record_out(stage: Stage) -> None:
    run = completed(stage)
    remote = Repo(stage.room / "remote.git")
    git(stage.room, "init", "--quiet", "--bare", str(remote.path))
    stage.repo.git("remote", "add", "origin", str(remote.path))
    units = stage.repo.git("rev-parse", f"{stage.branch}^")
    refused = stage.amelia("finish", run, "--pr", "--without-record")
    assert f"  git push origin {units}:refs/heads/{stage.branch}\n" in refused.err
    told = stage.amelia("finish", run, "--pr", "--dry-run")
    assert told.out.startswith("the pull request would have 3 commits:\n")
    gh = 'case "$1 $2" in "pr list") echo "[]";; "pr create") echo https://example.com/pull/7;; esac'
    executable(stage.room / "bin" / "gh", gh)
    env = {"PATH": f"{stage.room / 'bin'}:{os.environ['PATH']}"}
    assert goes(stage, "finish", run, "--pr", "--without-record", env=env).code == 0
    assert remote.git("rev-parse", stage.branch) == units


def test_a_goal_that_looks_like_a_mark_of_another_run_is_none(stage: Stage) -> None:
    first = completed(stage)
    other = replace(stage, home=stage.room / "other")
    other.amelia(*put(other, f"Amelia-Run: {first}"), "--again")
    assert goes(other, "finish", other.name, "--merge", "squash").code == 0
    (stage.room / "mine").mkdir()
    done = stage.amelia("undo", first, "--yes", "--json")
    assert json.loads(done.out)["kept"] == f"refs/amelia/{first}/undone", "it is merged nowhere"


@pytest.mark.parametrize(
    "wrong",
    [
        ("--merge", "rebase"),
        ("--leave", "--without-record"),
        ("--without-record",),
        ("--leave", "--dry-run"),
    ],
)
def test_what_makes_no_sense_is_refused(stage: Stage, wrong: tuple[str, ...]) -> None:
    run = completed(stage)
    assert stage.amelia("finish", run, *wrong).code == 2
    assert stage.amelia("resume", run, "--without-record").code == 2


RED = """# Tax

### Task 1: Test it
- Type: test
- Files: create tests/test_tax.py

### Task 2: Write it
- Type: impl
- Depends on: 1
- Files: create tax.py
"""
SETTINGS = '[verify]\ncommand = ["python", "-m", "pytest", "-q", "--tb=no"]\n[modes.tasks]\nattempts = 1\n'
TAX = "import tax\n\n\ndef test_tax():\n    assert tax.of(100) == 19\n"


def test_a_test_that_fails_because_work_was_skipped_is_told_before_it_reaches_a_branch(
    tmp_path: Path,
) -> None:
    stage = make_stage(tmp_path, {"amelia.toml": SETTINGS, ".gitignore": "__pycache__/\n", "conftest.py": ""})
    tests = develops("1", {"write": "tests/test_tax.py", "text": TAX})
    wrong = develops("2", {"write": "tax.py", "text": "def of(net):\n    return 0\n"})
    assert stage.run(RED, tests, wrong, APPROVED, options=["--mode", "tasks"]).code == 1
    assert stage.amelia("skip", stage.name, "2").code == 0
    wait_until(lambda: stage.status()["outcome"] == "completed", "the run is completed")
    told = stage.amelia("finish", stage.name, "--merge", "ff", "--dry-run")
    assert "1 test fails there, because what was to make it pass was skipped: tests/test_tax.py" in told.out
    [red] = stage.amelia("finish", stage.name, "--merge", "ff", "--dry-run", "--json").json["red"]
    assert red.startswith("tests/test_tax.py")
