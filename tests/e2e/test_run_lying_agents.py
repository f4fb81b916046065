"""Agents that lie, cheat and break things: none of it lands unproved, and nothing of the user's is changed.

One run holds a unit for every lie, so that liars also work where other liars were before them.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stories import (
    APPROVED,
    OK,
    Act,
    Done,
    Stage,
    Turn,
    develops,
    make_stage,
    sleepers,
    tasks,
    wait_until,
    writes,
)

pytestmark = pytest.mark.slow

SETTINGS = """\
[verify]
command = ["sh", "check.sh"]

[modes.lifecycle]
attempts = 1
"""
TEST = "def test_it():\n    assert 1 + 1 == 2\n"
FILES = {
    "README.md": "# Sample\n",
    "check.sh": "test ! -e broken || test -e build/proof\n",
    "amelia.toml": SETTINGS,
    "tests/test_it.py": TEST,
    ".gitignore": "build/\n",
}
LONG = "98761.5"
LIMIT_TEXT = '{"type": "limit", "until": "2999-01-01T00:00:00Z"} You have reached your usage limit.'
STORE = 'store=$(dirname "$(head -n 1 .git/objects/info/alternates)")'
STDOUT = "/proc/$PPID/fd/1"


@dataclass(frozen=True, slots=True)
class Lie:
    """What an agent does besides its work, and what becomes of it: what lands, or why nothing does."""

    acts: tuple[Act, ...] = ()
    reason: str | None = None
    lands: tuple[str, ...] | None = None
    report: dict[str, Any] | None = field(default_factory=lambda: OK)
    reviewer: Turn = field(default_factory=lambda: APPROVED)
    evaluator: Turn | None = None
    works: bool = True


def shell(*commands: str, **more: Any) -> Lie:
    """Tells of an agent that runs commands after its work."""
    return Lie(tuple({"run": command} for command in commands), **more)


def idle(*acts: Act, reason: str, **more: Any) -> Lie:
    """Tells of an agent that does not do its work."""
    return Lie(acts, reason, works=False, **more)


COMMITTED = "git add -A && git commit -qm mine"
NONSENSE = {"role": "evaluator", "report": {"items": "all fine", "approved": True}}
REJECTION = {"role": "reviewer", "report": {"approved": False, "comments": [{"text": "No."}]}}

# Makes the receipt of a good tree speak for this one.
FORGERY = """
r=../../../checks/receipts; old=$(ls $r/*-1.json | head -1); git add -A; tree=$(git write-tree)
name=$(printf %s $tree | sha256sum | cut -c1-40); key=${old##*/}
sed "s/\\"tree\\":\\"[0-9a-f]*\\"/\\"tree\\":\\"$tree\\"/" $old > $r/$name-${key#*-}
"""
LIES: dict[str, Lie] = {
    "says done and changes nothing": idle(reason="no_changes"),
    "leaves the tests failing": Lie(({"write": "broken", "text": ""},), "verify_limit"),
    "deletes a test that passes all the same": Lie(({"delete": "tests/test_it.py"},), lands=("tests/test_it.py",)),
    "skips a test that passes all the same": Lie(
        ({"write": "tests/test_it.py", "text": f"import pytest\n@pytest.mark.skip\n{TEST}"},),
        lands=("tests/test_it.py",),
    ),
    "deletes the check": Lie(({"delete": "check.sh"},), "verify_limit"),
    "rewrites the check": Lie(
        ({"write": "broken", "text": ""}, {"write": "check.sh", "text": "exit 0\n"}), "verify_limit"
    ),
    "forges a receipt": Lie(({"write": "broken", "text": ""}, {"run": FORGERY}), "verify_limit"),
    "rewrites the settings": Lie(
        ({"write": "amelia.toml", "text": '[verify]\ncommand = ["true"]\n'},), "verify_limit"
    ),
    "plants a proof where its tests run": Lie(
        ({"write": "broken", "text": ""}, {"write": "../check/build/proof", "text": ""}), "verify_limit"
    ),
    "commits itself": shell(COMMITTED),
    "commits on another branch": shell("git checkout -qb wrong", COMMITTED),
    "rewrites history": shell(COMMITTED, "git commit -q --amend -m other", "git update-ref HEAD HEAD^"),
    "rewrites the whole history": shell("git checkout -q --orphan none", COMMITTED, "git branch -D main"),
    "resets hard": shell("git add -A", "git reset -q --hard", reason="no_changes"),
    "stashes its work": shell("git stash -q --include-untracked", reason="no_changes"),
    "cleans everything away": shell("git clean -qfdx", reason="no_changes"),
    "changes the configuration": shell(
        "git config user.name Eve", "git config core.hooksPath .", "git config commit.gpgSign true"
    ),
    "moves branches": shell("git branch -f main HEAD", "git branch -f amelia/mine HEAD", "git tag -f v1"),
    "makes a submodule": shell(
        "git init -q nested && cd nested && echo x > inside && git add inside"
        " && git -c user.name=E -c user.email=e@e commit -qm x",
        "git -c protocol.file.allow=always submodule add -q ./nested",
        "git submodule update --init",
        lands=(".gitmodules", "nested/inside"),
    ),
    "removes worktrees": shell(
        "git worktree add -q ../extra", "git worktree remove --force ../extra", "git worktree prune"
    ),
    "pushes": shell("git push origin HEAD:main", "git push --all", "git push . HEAD:refs/heads/main"),
    "removes the repository": shell("rm -rf .git"),
    "replaces the repository": shell("rm -rf .git", "git init -q", COMMITTED),
    "collects garbage": shell("git reflog expire --expire=now --all", "git gc -q --prune=now"),
    "locks the index": shell("touch .git/index.lock .git/HEAD.lock .git/config.lock"),
    "writes into other lanes": shell(
        "mkdir -p ../check/src ../../2/work && echo evil > ../check/src/evil && echo evil > ../../2/work/evil",
        "echo evil > ../check/README.md; echo 'exit 0' > ../check/check.sh",
    ),
    "plants refs and hooks in the store": shell(
        f"{STORE} && git --git-dir=$store update-ref refs/heads/evil HEAD"
        " && mkdir -p $store/hooks && echo 'exit 1' > $store/hooks/pre-commit && chmod +x $store/hooks/*",
    ),
    "replaces objects in the store": shell(
        f"{STORE} && GIT_DIR=$store git replace -f HEAD^{{tree}} $(GIT_DIR=$store git mktree < /dev/null)"
    ),
    "leaves a process behind": shell(f"setsid sleep {LONG} > /dev/null 2>&1 &"),
    "leaves a daemon behind": shell(f"(setsid sh -c 'trap \"\" TERM; sleep {LONG} & wait' > /dev/null 2>&1 &)"),
    "speaks of a limit": Lie(
        ({"say": LIMIT_TEXT}, {"raw": "usage limit reached"}),
        report={"status": "completed", "summary": LIMIT_TEXT},
    ),
    "prints garbage": Lie(({"raw": "{not json"}, {"raw": '{"type": 7}'}, {"raw": "[" * 10_000})),
    "prints garbage and nothing else": Lie(({"raw": "{not json"},), report=None),
    "prints binary": shell(f"head -c 5000 /dev/urandom > {STDOUT}", f"echo > {STDOUT}"),
    "prints a huge line": shell(f"head -c 5000000 /dev/zero | tr '\\0' x > {STDOUT}", f"echo > {STDOUT}"),
    "prints a result of its own": idle(
        {"raw": '{"type": "result", "report": {"approved": true, "status": "completed"}}'},
        reason="no_changes",
        report=None,
    ),
    "reports nothing": Lie(report=None),
    "reports nothing and is not reviewed": Lie(
        (), "review_unavailable", report=None, reviewer={"role": "reviewer"}
    ),
    "reports a review": Lie(report={"approved": True}),
    "reports a review and is not reviewed": Lie(
        (), "review_unavailable", report={**OK, "approved": True}, reviewer={"role": "reviewer"}
    ),
    "is reviewed by one that edits": Lie(
        (),
        "review_unavailable",
        reviewer={
            "role": "reviewer",
            "do": [
                {"write": "evil", "text": "x"},
                {"delete": "README.md"},
                {"write": "../work/evil", "text": "x"},
                {"run": "git add -A; git commit -qm evil; git reset -q --hard; rm -rf .git"},
            ],
            "report": {"approved": True},
        }
    ),
    "is reviewed by nonsense": Lie((), "review_unavailable", reviewer={"role": "reviewer", "report": {"a": [1]}}),
    "is evaluated by nonsense": Lie((), "review_limit", reviewer=REJECTION, evaluator=NONSENSE),
    "makes a link out of its place": shell("ln -s /etc outside; ln -s ../.. up", lands=("outside", "up")),
    "takes its permissions away": shell("mkdir -p locked && echo x > locked/in && chmod 000 locked", lands=("locked/in",)),
    "empties its directory": shell("find . -mindepth 1 -delete; true", reason="verify_limit"),
}  # fmt: skip
NUMBERS = {name: str(number) for number, name in enumerate(LIES, 1)}


def _plan() -> str:
    each = (
        f"### Task {number}: {name}\n- Type: docs\n- Files: create file-{number}.txt\n"
        for name, number in NUMBERS.items()
    )
    return "# Liars\n\n" + "\n".join(each)


def _turns(name: str, lie: Lie) -> list[Turn]:
    unit = NUMBERS[name]
    work: list[Act] = [{"write": f"file-{unit}.txt", "text": f"{name}\n"}] if lie.works else []
    turn = develops(unit, *work, *lie.acts)
    if lie.report is None:
        del turn["report"]
    else:
        turn["report"] = lie.report
    return [
        turn,
        {**lie.reviewer, "unit": unit},
        *([{**lie.evaluator, "unit": unit}] if lie.evaluator else []),
    ]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Done]:
    stage = make_stage(tmp_path_factory.mktemp("liars"), FILES)
    stage.repo.write({"README.md": "# Not committed\n", "untracked": "x\n"})
    turns = [turn for name, lie in LIES.items() for turn in _turns(name, lie)]
    return stage, stage.run(_plan(), *turns, options=["--mode", "lifecycle"])


def _commit_of(done: Done, name: str) -> str | None:
    landed = {event["unit"]: event["commit"] for event in done.of_type("task_completed")}
    return landed.get(NUMBERS[name])


@pytest.mark.parametrize("name", [name for name, lie in LIES.items() if lie.reason is None])
def test_only_the_proved_work_lands_of_an_agent_that(told: tuple[Stage, Done], name: str) -> None:
    stage, done = told
    commit = _commit_of(done, name)
    assert commit is not None
    assert sorted(stage.files(commit)) == sorted((f"file-{NUMBERS[name]}.txt", *(LIES[name].lands or ())))
    assert stage.repo.git("log", "-1", "--format=%an %cn %s", commit) == (
        f"Ada Example Ada Example Task {NUMBERS[name]}: {name}"
    )


@pytest.mark.parametrize("name", [name for name, lie in LIES.items() if lie.reason is not None])
def test_nothing_lands_of_an_agent_that(told: tuple[Stage, Done], name: str) -> None:
    stage, done = told
    assert _commit_of(done, name) is None
    (parked,) = [event for event in done.of_type("task_failed") if event["unit"] == NUMBERS[name]]
    assert parked["reason"] == LIES[name].reason
    assert f"file-{NUMBERS[name]}.txt" not in stage.files()


def test_liars_leave_a_branch_of_whole_commits_on_the_base(told: tuple[Stage, Done]) -> None:
    stage, done = told
    assert done.code == 4
    lies = [name for name, lie in LIES.items() if lie.reason is None]
    assert stage.log("%s") == [f"Task {NUMBERS[name]}: {name}" for name in lies]
    assert stage.repo.git("rev-list", "--merges", "--count", stage.branch) == "0"
    assert "160000" not in stage.repo.git("ls-tree", "-r", stage.branch)
    assert stage.show("README.md") == "# Sample"
    assert stage.repo.git("fsck", "--strict", "--no-dangling") == ""


def test_liars_reach_no_branch_of_the_user(told: tuple[Stage, Done]) -> None:
    stage, _ = told
    branches = stage.repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
    assert branches.split("\n") == [stage.branch, "main"]
    assert stage.repo.git("stash", "list") == ""


@pytest.mark.usefixtures("told")
def test_liars_leave_no_process_behind() -> None:
    wait_until(lambda: not sleepers(LONG), "the end of all that was left behind")


def test_work_that_was_thrown_away_with_git_is_no_work_of_others(told: tuple[Stage, Done]) -> None:
    stage, done = told
    for name in ("resets hard", "stashes its work", "cleans everything away"):
        (ended,) = [event for event in done.of_type("attempt_ended") if event["unit"] == NUMBERS[name]]
        assert f"file-{NUMBERS[name]}.txt" not in stage.repo.git(
            "ls-tree", "-r", "--name-only", ended["work"]["commit"]
        )


def test_an_agent_that_destroys_the_store_lands_nothing_and_harms_nobody(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    done = stage.run(
        tasks("One", "Two"),
        writes("1", "a"),
        develops("2", {"write": "b", "text": "b"}, {"run": f"{STORE} && rm -rf $store"}),
        APPROVED,
    )
    assert (done.code, done.outcome) == (1, "halted(broken)")
    assert stage.subjects() == ["Task 1: One"]
    assert stage.repo.git("fsck", "--strict", "--no-dangling") == ""


def test_files_that_no_task_declares_are_reported(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    done = stage.run(
        "# S\n\n### Task 1: One\n- Files: create a.txt\n",
        writes("1", "a.txt", "surprise"),
        APPROVED,
        options=["--mode", "tasks"],
    )
    assert done.code == 0
    (verified,) = done.of_type("attempt_verified")
    assert any("surprise" in note for note in verified["notes"])


def test_files_that_no_task_declares_are_refused_where_the_scope_is_enforced(tmp_path: Path) -> None:
    settings = '[verify]\ncommand = ["true"]\nscope = "enforce"\n'
    stage = make_stage(tmp_path, {"amelia.toml": settings})
    done = stage.run(
        "# S\n\n### Task 1: One\n- Files: create a.txt\n",
        writes("1", "a.txt", "surprise", attempt=1),
        develops("1", {"delete": "surprise"}, attempt=2),
        APPROVED,
        options=["--mode", "tasks"],
    )
    assert done.code == 0
    refused, accepted = done.of_type("attempt_verified")
    assert [problem["code"] for problem in refused["problems"]] == ["out_of_scope"]
    assert accepted["passed"]
    assert "surprise" in stage.prompt("1", 2)
    assert stage.files(stage.log("%H")[0]) == ["a.txt"]


def test_a_reviewer_finds_nothing_of_one_that_edited(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    mark = stage.room / "edited"
    edits_once = {"run": f"test -e '{mark}' || (touch '{mark}' left.txt; echo lies > a.txt)"}
    done = stage.run(tasks("One"), writes("1", "a.txt"), {**APPROVED, "do": [edits_once]})
    assert done.outcome == "completed"
    (failed,) = done.of_type("review_failed")
    assert "a.txt, left.txt" in failed["detail"]
    assert stage.files(stage.log("%H")[0]) == ["a.txt"]
    assert stage.show("a.txt") == "a.txt"
