"""What becomes of the branch of a completed run: merged, a pull request, or left alone."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from repositories import Repo, executable, fingerprint, git, make_repository
from stories import APPROVED, FILES, SETTINGS, Done, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

LOGGED_IN = """\
echo "$@" >> "$GH_LOG"
case "$1 $2" in
"auth status") exit 0;;
"pr list") cat "$GH_STATE" 2>/dev/null || echo '[]';;
"pr create") for word; do case "$word" in --body-file=*) cp "${word#--body-file=}" "$GH_LOG.body";; esac; done
  echo "https://example.com/pull/7"; echo '[{"url": "https://example.com/pull/7"}]' > "$GH_STATE";;
esac"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return replace(make_stage(tmp_path), is_recorded=True)


def goes(stage: Stage, *arguments: str, env: dict[str, str] | None = None) -> Done:
    """Runs the program where it may change the checkout."""
    return stage.start(*arguments, env=env or {}).wait()


def run_with(stage: Stage, *options: str, env: dict[str, str] | None = None) -> Done:
    return goes(stage, *stage.put(tasks("One"), writes("1", "a.txt"), APPROVED), *options, env=env)


def completed(stage: Stage) -> str:
    """Runs a plan to its end without delivering it."""
    assert stage.run(tasks("One"), writes("1", "a.txt"), APPROVED).outcome == "completed"
    return stage.name


def head(stage: Stage) -> str:
    return stage.repo.git("rev-parse", "HEAD")


def tip(stage: Stage) -> str:
    return stage.repo.git("rev-parse", stage.branch)


def test_a_run_is_merged_as_it_was_asked_when_it_started(stage: Stage) -> None:
    stage.repo.write({"notes.txt": "mine\n", "build/x": "ignored\n"})
    done = run_with(stage, "--merge", "ff")
    assert (done.code, done.outcome) == (0, "completed")
    (told,) = done.of_type("run_delivered")
    assert (told["finish"], told["where"], told["commit"]) == ("merge", "main", head(stage))
    assert head(stage) == tip(stage)
    assert stage.repo.git("status", "--porcelain") == "?? notes.txt"
    assert (stage.repo.path / "a.txt").read_text() == "a.txt\n"
    assert stage.status()["delivery"]["merged_into"] == "main"
    assert "merged into main" in stage.amelia("status", stage.name).out


def test_a_run_that_is_left_alone_leaves_the_checkout_alone(stage: Stage) -> None:
    run = completed(stage)
    assert stage.status()["delivery"] == {
        "wanted": "leave",
        "merged_into": None,
        "pull_request": None,
        "refused": None,
        "undone": None,
    }
    resumed = stage.amelia("resume", run)
    assert resumed.code == 0
    assert f"amelia finish {run} --merge ff" in resumed.err


def test_a_completed_run_is_merged_later_and_once(stage: Stage) -> None:
    run = completed(stage)
    first = goes(stage, "finish", run, "--merge", "ff", "--json")
    assert first.code == 0
    assert [event["type"] for event in first.events] == ["run_delivered"]
    assert head(stage) == tip(stage)
    again = stage.amelia("finish", run, "--merge", "ff")
    assert (again.code, again.out) == (0, f"run {run} was merged into main already\n")
    assert "completed, merged" in stage.amelia("status").out


def test_a_merge_that_was_cut_off_before_it_was_told_is_found(stage: Stage) -> None:
    run = completed(stage)
    stage.repo.git("merge", "--quiet", "--ff-only", stage.branch)
    done = stage.amelia("finish", run, "--merge", "ff", "--json")
    assert (done.code, done.of_type("run_delivered")[0]["where"]) == (0, "main")


def test_a_run_that_was_stopped_is_delivered_when_it_is_resumed(stage: Stage) -> None:
    broken = develops("1", {"write": "broken", "text": "x"})
    told = goes(stage, *stage.put(tasks("One"), broken, APPROVED), "--merge", "ff")
    assert told.outcome == "halted(no_progress)"
    start = head(stage)
    stage.play(writes("1", "a.txt"), APPROVED)
    place = Path(stage.amelia("fix", stage.name, "1").out.strip())
    (place / "broken").rename(place / "a.txt")
    assert goes(stage, "fix", stage.name, "1", "--done").code == 0
    assert goes(stage, "resume", stage.name, "--json").code == 0
    assert head(stage) == tip(stage) != start


def test_what_becomes_of_a_run_can_be_said_when_it_is_resumed(stage: Stage) -> None:
    completed(stage)
    assert goes(stage, "resume", stage.name, "--merge", "ff").code == 0
    assert head(stage) == tip(stage)


def test_the_users_own_settings_may_say_it_and_a_repository_may_not(stage: Stage) -> None:
    own = stage.room / "own.toml"
    own.write_text('finish = "merge"\n')
    done = run_with(stage, env={"AMELIA_CONFIG": str(own)})
    assert (done.code, head(stage)) == (0, tip(stage))
    stage.repo.commit({"amelia.toml": f'finish = "merge"\n{SETTINGS}'})
    refused = stage.amelia(*stage.put(tasks("One")), "--again")
    assert refused.code == 3
    assert "finish is not for a repository to decide" in refused.err


def test_uncommitted_changes_are_in_the_way_of_a_merge(stage: Stage) -> None:
    run = completed(stage)
    stage.repo.write({"README.md": "mine\n"})
    done = stage.amelia("finish", run, "--merge", "ff")
    assert done.code == 4
    assert "the checkout has uncommitted changes: README.md" in done.err
    assert f"  amelia finish {run} --merge ff\n" in done.err
    assert "README.md" in stage.status()["delivery"]["refused"]
    assert f"amelia finish {run} --merge ff" in stage.amelia("status", run).out
    stage.repo.git("checkout", "--", "README.md")
    assert goes(stage, "resume", run).code == 0
    assert head(stage) == tip(stage)


@pytest.mark.parametrize("mine", ["a.txt", "a.txt/inside", "deep"])
def test_files_that_git_does_not_know_are_never_overwritten(tmp_path: Path, mine: str) -> None:
    stage = make_stage(tmp_path, {**FILES, ".gitignore": "a.txt\ndeep\n"})
    acts = {"run": "mkdir -p deep && echo a > a.txt && echo b > deep/b && git add -f a.txt deep/b"}
    stage.run(tasks("One"), develops("1", {"write": ".gitignore", "text": ""}, acts), APPROVED)
    stage.repo.write({mine: "precious\n"})
    done = stage.amelia("finish", stage.name, "--merge", "ff")
    assert done.code == 4
    assert f"files that git does not track are in the way: {mine}" in done.err


def test_only_the_branch_of_the_start_is_merged_into_and_only_if_it_has_not_moved(stage: Stage) -> None:
    run = completed(stage)
    stage.repo.git("switch", "--quiet", "--create", "other")
    done = stage.amelia("finish", run, "--merge", "ff")
    assert (done.code, "main was checked out when the run started, and now other is" in done.err) == (4, True)
    assert "  git switch main\n" in done.err
    stage.repo.git("switch", "--quiet", "main")
    stage.repo.commit({"more.txt": "x"})
    moved = stage.amelia("finish", run, "--merge", "ff")
    assert (moved.code, "main has moved since the run started" in moved.err) == (4, True)
    assert f"  git merge {stage.branch}\n" in moved.err


def test_a_branch_that_was_moved_or_is_gone_is_not_delivered(stage: Stage) -> None:
    run, at = completed(stage), tip(stage)
    stage.repo.git("branch", "-f", stage.branch, "HEAD")
    assert "is not where the run left it" in stage.amelia("finish", run, "--merge", "ff").err
    stage.repo.git("branch", "-D", stage.branch)
    gone = stage.amelia("finish", run, "--merge", "ff")
    assert gone.code == 4
    assert f"  git branch {stage.branch} {at}\n" in gone.err


def test_a_run_from_no_branch_is_not_merged(stage: Stage) -> None:
    stage.repo.git("checkout", "--quiet", "--detach")
    run = completed(stage)
    done = stage.amelia("finish", run, "--merge", "ff")
    assert (done.code, "no branch was checked out" in done.err) == (4, True)


def test_only_a_completed_run_is_delivered(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", {"write": "broken", "text": "x"}), APPROVED)
    done = stage.amelia("finish", stage.name, "--pr")
    assert done.code == 2
    assert f"amelia resume {stage.name} --pr" in done.err
    undecided = stage.amelia("finish", stage.name)
    assert undecided.code == 2
    assert "--merge ff, --merge squash, --merge commit, --pr or --leave" in undecided.err
    assert stage.amelia("finish", stage.name, "--pr", "--merge", "ff").code == 2


def hub(stage: Stage, script: str) -> dict[str, str]:
    """Puts a `gh` on the path of the program."""
    executable(stage.room / "bin" / "gh", script)
    return {
        "PATH": f"{stage.room / 'bin'}:{os.environ['PATH']}",
        "GH_HOST": "example.com",
    }


def with_remote(stage: Stage) -> Repo:
    remote = stage.room / "remote.git"
    git(stage.room, "init", "--quiet", "--bare", str(remote))
    stage.repo.git("remote", "add", "origin", str(remote))
    return Repo(remote)


def logged_in(stage: Stage) -> str:
    log, state = stage.room / "gh.log", stage.room / "gh.state"
    return f"GH_LOG='{log}' GH_STATE='{state}'\n{LOGGED_IN}"


@contextmanager
def only_pushed(stage: Stage) -> Generator[None]:
    """Proves that nothing changes but what git remembers of the remote's branches of ours."""

    def prints() -> dict[str, str]:
        return {
            name: value for name, value in fingerprint(stage.repo).items() if "/origin/amelia/" not in name
        }

    before = prints()
    yield
    assert prints() == before


def test_a_pull_request_is_opened_once_with_what_the_run_did(stage: Stage) -> None:
    remote = with_remote(stage)
    env = hub(stage, logged_in(stage))
    with only_pushed(stage):
        done = run_with(stage, "--pr", env=env)
    assert done.code == 0
    assert done.of_type("run_delivered")[0]["where"] == "https://example.com/pull/7"
    assert remote.git("rev-parse", stage.branch) == tip(stage)
    asked = (stage.room / "gh.log").read_text().splitlines()
    (create,) = [line for line in asked if line.startswith("pr create")]
    assert f"--base=main --head={stage.branch} --title=Sample --body-file=" in create
    body = (stage.room / "gh.log.body").read_text()
    assert "- Task 1: One (" in body
    assert "passes `sh check.sh`" in body
    assert stage.status()["delivery"]["pull_request"] == "https://example.com/pull/7"
    # As if the program had been killed before it could write down what it did.
    other = replace(stage, home=stage.room / "other")
    assert other.run(tasks("One"), writes("1", "a.txt"), APPROVED).code == 0
    again = goes(other, "finish", other.name, "--pr", "--json", env=env)
    assert (again.code, len(again.of_type("run_delivered"))) == (0, 1)
    assert (stage.room / "gh.log").read_text().count("pr create") == 1


def test_a_pull_request_can_be_asked_for_when_a_run_is_resumed(stage: Stage) -> None:
    remote = with_remote(stage)
    run = completed(stage)
    with only_pushed(stage):
        assert goes(stage, "resume", run, "--pr", env=hub(stage, logged_in(stage))).code == 0
    assert remote.git("rev-parse", stage.branch) == tip(stage)
    assert stage.status()["delivery"]["pull_request"] == "https://example.com/pull/7"


@pytest.mark.parametrize("script", [None, "exit 1"])
def test_without_gh_the_commands_are_told_and_nothing_is_pushed(stage: Stage, script: str | None) -> None:
    remote = with_remote(stage)
    env = hub(stage, script) if script else {}
    with stage.untouched():
        done = run_with(stage, "--pr", env=env)
    assert (done.code, done.outcome) == (4, "completed")
    assert f"  git push origin {stage.branch}\n" in done.err
    letter = stage.directory / "pull-request.md"
    create = f"  gh pr create --base=main --head={stage.branch} --title=Sample --body-file={letter}\n"
    assert create in done.err
    assert letter.read_text().startswith("- Task 1: One (")
    assert remote.git("branch", "--list") == ""


def test_what_a_remote_or_gh_refuses_is_told(stage: Stage) -> None:
    run = completed(stage)
    env = hub(
        stage, 'case "$1 $2" in "pr create") echo "no rights" >&2; exit 1;; "pr list") echo "[]";; esac'
    )
    none = stage.amelia("finish", run, "--pr", env=env)
    assert (none.code, "there is no remote to push to" in none.err) == (4, True)
    remote = with_remote(stage)
    with only_pushed(stage):
        refused = goes(stage, "finish", run, "--pr", env=env)
    assert (refused.code, "gh opens no pull request: no rights" in refused.err) == (4, True)
    executable(remote.path / "hooks" / "pre-receive", "echo not today >&2; exit 1")
    remote.git("update-ref", "-d", f"refs/heads/{stage.branch}")
    late = stage.amelia("finish", run, "--pr", env=env)
    assert (late.code, "not today" in late.err) == (4, True)


def test_a_hostile_title_stays_a_title(stage: Stage) -> None:
    with_remote(stage)
    env = hub(stage, logged_in(stage))
    goal = "--repo=evil $(touch pwned) `touch pwned`"
    plan = tasks("One", goal=goal)
    with only_pushed(stage):
        done = goes(stage, *stage.put(plan, writes("1", "a.txt"), APPROVED), "--pr", env=env)
    assert done.code == 0
    assert f"--title={goal.lstrip('-')}" in (stage.room / "gh.log").read_text()
    assert not list(stage.room.rglob("pwned"))
    assert json.loads((stage.room / "gh.state").read_text())


def waits(stage: Stage) -> list[str]:
    """Returns what can be done about the one thing that waits; nothing if nothing does."""
    items = stage.amelia("inbox", "--json").json
    assert [item["kind"] for item in items] == ["delivery"] * len(items)
    return [way["command"] for item in items for way in item["choices"]]


def test_a_merge_that_was_refused_waits_in_the_inbox_until_it_is_done(stage: Stage) -> None:
    script = writes("1", "a.txt")
    moves = {"run": f"git -C '{stage.repo.path}' commit --quiet --allow-empty -m Mine"}
    script["do"].append(moves)
    done = goes(stage, *stage.put(tasks("One"), script, APPROVED), "--merge", "ff")
    assert (done.code, done.outcome) == (4, "completed")
    again = f"amelia finish {stage.name} --merge ff"
    assert waits(stage) == [f"git merge {stage.branch}", again, f"amelia finish {stage.name} --leave"]
    shown = stage.amelia("inbox").out
    assert f"? {stage.name}: its branch was not delivered" in shown
    assert "| main has moved since the run started" in shown
    assert stage.amelia("answer", stage.name, "merge").code == 2
    stage.repo.git("merge", "--quiet", "--no-edit", stage.branch)
    assert goes(stage, *again.split()[1:]).code == 0
    assert waits(stage) == []


def test_a_branch_can_be_left_where_it_is(stage: Stage) -> None:
    with_remote(stage)
    assert run_with(stage, "--pr").code == 4
    assert waits(stage)[-2:] == [f"amelia finish {stage.name} --pr", f"amelia finish {stage.name} --leave"]
    assert stage.amelia("answer", stage.name, "finish", "--leave").code == 0
    assert waits(stage) == []
    assert stage.has_branch
    assert stage.amelia("finish", stage.name).code == 2
    assert stage.amelia("finish", stage.name, "--leave", "--pr").code == 2


def test_a_branch_whose_repository_is_gone_can_be_left_too(stage: Stage) -> None:
    with_remote(stage)
    assert run_with(stage, "--pr").code == 4
    stage.repo.path.rename(stage.room / "elsewhere")
    done = stage.start("finish", stage.name, "--leave", "--json", cwd=stage.room).wait()
    assert (done.code, [event["type"] for event in done.events]) == (0, ["finish_chosen"])
    assert stage.start("inbox", "--all", "--json", cwd=stage.room).wait().json == []
    done = stage.start("finish", stage.name, "--leave", cwd=stage.room).wait()
    assert (done.code, done.out) == (0, f"the branch {stage.branch} stays as it is\n")


def test_a_few_letters_never_mean_a_run_of_another_repository(stage: Stage) -> None:
    name = completed(stage)
    other = make_repository(stage.room / "other")
    done = stage.amelia("finish", name[:4], "--merge", "ff", cwd=other.path)
    assert done.code == 2
    assert f"no run of this repository starts with '{name[:4]}'" in done.err
    assert f"{name} is one of {stage.repo.path}" in done.err
    assert stage.amelia("status", name, cwd=other.path).code == 0
    assert stage.amelia("status", name[:4], cwd=stage.room).code == 0
    assert stage.amelia("status", name[:4], cwd=Path(stage.directory)).code == 0
    assert goes(stage, "finish", name[:4], "--merge", "ff").code == 0
