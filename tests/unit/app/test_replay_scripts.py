"""Turns and trees as scripts: what is written can be read, and played to the same files."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.app.replay import scripts
from amelia.app.replay.score import Turn
from amelia.app.replay.scripts import (
    Table,
    UnplayableError,
    acts_between,
    script_text,
    table_text,
    turn_table,
)
from amelia.app.replay.settings_text import settings_text
from amelia.config import load_settings
from amelia.drive.script.player import change, read_script
from amelia.model.agents import Allowance, Clocks, Ending, Role, Usage
from amelia.model.evidence import VerifySettings
from amelia.model.git import CommitId
from amelia.model.plan import Mode, UnitId
from amelia.model.policy import BUDGET, Budget
from amelia.model.settings import PlanSettings, SizeLimits, TddRule
from amelia.system.git import Repository
from repositories import Repo, git, make_repository
from runs import started, unit

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


def turn(ending: Ending = Ending.OK, **more: Any) -> Turn:
    return Turn(role=Role.DEVELOPER, unit=UnitId("1"), attempt=1, ending=ending, **more)


def acts(table: Table) -> Any:
    return table.get("do", [])


@given(st.dictionaries(TEXT, VALUES))
def test_what_is_written_as_toml_is_read_back(table: dict[str, object]) -> None:
    assert tomllib.loads(table_text(table)) == table


@pytest.mark.parametrize("ending", Ending)
def test_every_end_is_a_turn_that_can_be_played(ending: Ending) -> None:
    table = turn_table(
        turn(ending, said="Hm.", usage=Usage(1, 2, 0.5)), [{"write": "a", "text": "b"}], pause=0.5
    )
    (read,) = read_script(script_text([table]).encode())
    assert read["do"][:3] == [{"sleep": 0.5}, {"write": "a", "text": "b"}, {"say": "Hm."}]  # pyright: ignore[reportIndexIssue]


def test_a_turn_that_ends_early_tells_its_usage_before() -> None:
    limited = turn_table(turn(Ending.LIMITED, usage=Usage(1, 2)), [])
    assert "usage" not in limited
    told, last = acts(limited)
    assert told == {"raw": '{"type": "usage", "input": 1, "output": 2}'}
    assert last == {"limit": "2000-01-01T00:00:00Z"}
    assert acts(turn_table(turn(Ending.CRASHED), [])) == [{"exit": 1}]
    assert acts(turn_table(turn(Ending.AUTH), [])) == [{"raw": '{"type": "end", "ending": "auth"}'}]
    assert acts(turn_table(turn(Ending.KILLED), [])) == [{"sleep": 5.0}]


def test_a_turn_that_ends_well_has_usage_and_report() -> None:
    table = turn_table(turn(report={"status": "completed"}, usage=Usage(1, 2, 0.5)), [])
    assert table == {
        "role": "developer",
        "unit": "1",
        "attempt": 1,
        "usage": {"input": 1, "output": 2, "cost": 0.5},
        "report": {"status": "completed"},
    }


def test_a_script_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_LARGEST", 100)
    with pytest.raises(UnplayableError, match="too much"):
        script_text([{"do": [{"say": "x" * 100}]}])


def before_and_after(tmp_path: Path) -> tuple[Repo, CommitId, CommitId]:
    repo = make_repository(
        tmp_path / "r",
        {
            "text": "a\n",
            "program": "#!/bin/sh\n",
            "dir/a": "a",
            "dir/b": "b",
            "file": "f",
            "same": "s",
            "link": "x",
        },
    )
    (repo.path / "program").chmod(0o755)
    (repo.path / "link").unlink()
    (repo.path / "link").symlink_to("text")
    before = repo.commit({}, "Modes")
    for name in ("dir/a", "dir/b", "file", "link"):
        (repo.path / name).unlink()
    (repo.path / "dir").rmdir()
    (repo.path / "program").chmod(0o644)
    after = repo.commit(
        {
            "text": "b\n\x00",
            "dir": "a file now",
            "file/below": "a directory now",
            "link": "no link any more",
            "bytes": b"\xff\x00",
            "new program": "x",
            "deep/er/empty": "",
        }
    )
    (repo.path / "new program").chmod(0o755)
    (repo.path / "new link").symlink_to("deep/er")
    after = repo.commit({}, "More")
    return repo, before, after


def test_acts_turn_one_tree_into_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, before, after = before_and_after(tmp_path)
    found = acts_between(Repository(repo.path / ".git"), before, after)
    repo.git("checkout", "--quiet", before)
    monkeypatch.chdir(repo.path)
    (played,) = read_script(script_text([{"do": found}]).encode())
    for act in acts(played):
        name = "write" if "write" in act else "delete"
        assert change(name, act), act
    repo.git("add", "--all")
    assert repo.git("write-tree") == repo.git("rev-parse", f"{after}^{{tree}}")
    assert not any("same" in act.values() for act in acts(played))


def test_nothing_differs_between_a_tree_and_itself(tmp_path: Path) -> None:
    repo = make_repository(tmp_path)
    head = CommitId(repo.git("rev-parse", "HEAD"))
    assert acts_between(Repository(repo.path / ".git"), head, head) == []


def test_a_submodule_is_refused_by_name(tmp_path: Path) -> None:
    inner, repo = make_repository(tmp_path / "inner"), make_repository(tmp_path / "outer")
    before = CommitId(repo.git("rev-parse", "HEAD"))
    git(repo.path, "submodule", "--quiet", "add", str(inner.path), "vendor")
    after = repo.commit({}, "A submodule")
    with pytest.raises(UnplayableError, match="vendor: a change of a submodule"):
        acts_between(Repository(repo.path / ".git"), before, after)


@pytest.mark.parametrize("kind", ["name", "target"])
def test_names_that_are_no_text_are_refused(tmp_path: Path, kind: str) -> None:
    repo = make_repository(tmp_path)
    before = CommitId(repo.git("rev-parse", "HEAD"))
    odd = os.fsdecode(b"\xff")
    if kind == "name":
        (repo.path / odd).write_text("")
    else:
        (repo.path / "link").symlink_to(odd)
    after = repo.commit({}, "Odd")
    with pytest.raises(UnplayableError, match="no text cannot be played again"):
        acts_between(Repository(repo.path / ".git"), before, after)


@pytest.mark.parametrize("is_bounded", [True, False])
def test_settings_that_are_written_are_read_back(tmp_path: Path, *, is_bounded: bool) -> None:
    verify = VerifySettings(command=("sh", "check.sh"), junit="out.xml", scope="enforce", protected=("a/**",))
    budget = BUDGET if is_bounded else Budget(unit=Allowance(tokens=5))
    facts = started(unit("1"), mode=Mode.LIFECYCLE, workers=3, verify=verify, budget=budget)
    plan = PlanSettings(
        SizeLimits(max_time_minutes=7.5, auto_split=False), TddRule.WARN, enable_phased_execution=False
    )
    (tmp_path / "amelia.toml").write_text(settings_text(facts, plan))
    read = load_settings(tmp_path)
    assert read.plan == plan
    assert (read.run.verify, read.run.budget, read.run.clocks) == (verify, budget, Clocks())
    assert read.run.policies[Mode.LIFECYCLE] == facts.policy
