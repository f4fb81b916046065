"""Where runs live, and how they are found again."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amelia.model import events as ev
from amelia.model.errors import ConfigError, JournalError
from amelia.model.facts import RunId
from amelia.model.plan import Unit
from amelia.record.journal import SqliteJournal
from amelia.record.runs import (
    REVIEW_UNIT,
    RunDirectory,
    UnknownRunError,
    all_reviews,
    all_runs,
    begun_journal,
    claim,
    find_run,
    is_owned,
    new_review,
    new_run,
    refuse_other,
    started,
    strangers,
    unborn_runs,
)
from amelia.system.ownership import MARK, NotOwnedError, OwnedKind, OwnerMark, find_mark, make_owned
from runs import started as facts_of
from runs import unit

TODAY = datetime(2026, 11, 5, tzinfo=UTC)
FACTS = facts_of(unit("1"), test_command=None)


def named(run: str, *units: Unit) -> ev.RunStarted:
    return replace(facts_of(*units or (unit("1"),), test_command=None), run=RunId(run))


def make_run(home: Path, name: str, *events: ev.Event, is_marked: bool = True) -> RunDirectory:
    directory = RunDirectory(home / "runs" / name)
    make_owned(directory.path, OwnedKind.RUN)
    with SqliteJournal(directory.journal) as journal:
        journal.append(events)
    if not is_marked:
        (directory.path / MARK).unlink()
    return directory


@pytest.mark.parametrize(
    ("plan", "stem"),
    [
        ("plan.md", "plan"),
        ("docs/My Plan (v2).md", "my-plan-v2"),
        ("../../etc/passwd", "passwd"),
        ("план.md", "plan"),
        ("---.md", "plan"),
        ("a" * 300 + ".md", "a" * 24),
        ("a" * 23 + " b.md", "a" * 23),
        ("x\udcff\n\0y.md", "x-y"),
    ],
)
def test_a_run_is_named_after_its_plan_and_the_day(tmp_path: Path, plan: str, stem: str) -> None:
    directory = new_run(tmp_path, plan, TODAY)
    name, _, chance = directory.run.rpartition("-")
    assert name == f"{stem}-1105"
    assert len(chance) == 4
    assert directory.path.parent == tmp_path / "runs"
    assert directory.path.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_written_is_said_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be made: ") as refused:
        new_run(tmp_path, "plan.md", TODAY)
    assert refused.value.hint == "set AMELIA_HOME to a directory you can write to"


def test_the_places_of_a_run_lie_in_its_directory(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "plan-1105-ab12")
    places = [
        directory.journal,
        directory.plan,
        directory.store,
        directory.lanes,
        directory.checks,
        directory.log,
        directory.lock(2),
        directory.transcript("1", 3, "developer"),
    ]
    assert directory.run == "plan-1105-ab12"
    assert len(set(places)) == len(places)
    assert all(place.is_relative_to(directory.path) for place in places)
    assert directory.lock_beside(directory.lanes / "2" / "work") == directory.lock(2)
    assert directory.lock(2).parts[-3:] == ("lanes", "2", "processes.lock")
    assert directory.transcript("1", 3, "developer").parts[-3:] == ("transcripts", "1", "3-developer.jsonl")


def test_without_a_home_there_are_no_runs(tmp_path: Path) -> None:
    assert list(all_runs(tmp_path / "nowhere")) == []
    (tmp_path / "runs").write_text("a file")
    assert list(all_runs(tmp_path)) == []


def test_runs_are_listed_by_name_and_nothing_else_is(tmp_path: Path) -> None:
    made = [make_run(tmp_path, name, FACTS) for name in ("b", "a")]
    (tmp_path / "runs" / "file").touch()
    assert list(all_runs(tmp_path)) == made[::-1]
    assert list(unborn_runs(tmp_path)) == []


def test_a_run_that_was_killed_before_its_first_event_is_unborn(tmp_path: Path) -> None:
    empty, bare, bygone = (make_run(tmp_path, name) for name in ("a", "b", "c"))
    bare.journal.write_bytes(b"")
    bygone.journal.unlink()
    os.utime(bygone.path, (0, 0))
    assert list(unborn_runs(tmp_path)) == [empty, bare, bygone]
    assert list(all_runs(tmp_path)) == []


def test_a_run_that_has_begun_is_never_unborn_again(tmp_path: Path) -> None:
    emptied, bare, gone = (make_run(tmp_path, name, named(name)) for name in ("a", "b", "c"))
    for directory in (emptied, bare, gone):
        claim(directory)
    with closing(sqlite3.connect(emptied.journal)) as base, base:
        base.execute("DELETE FROM events")
    bare.journal.write_bytes(b"")
    gone.journal.unlink()
    os.utime(gone.path, (0, 0))
    assert list(unborn_runs(tmp_path)) == []
    assert list(all_runs(tmp_path)) == [emptied, bare, gone]
    for directory in (emptied, bare, gone):
        with pytest.raises(JournalError):
            begun_journal(directory)


def test_what_has_no_mark_is_never_unborn(tmp_path: Path) -> None:
    old = make_run(tmp_path, "a", is_marked=False)
    (tmp_path / "runs" / "exp1").mkdir()
    for place in (old.path, tmp_path / "runs" / "exp1"):
        os.utime(place, (0, 0))
    assert list(unborn_runs(tmp_path)) == []
    assert list(all_runs(tmp_path)) == [old]
    assert [one.run for one in strangers(tmp_path)] == ["exp1"]


def test_a_journal_that_names_the_directory_is_as_good_as_a_mark(tmp_path: Path) -> None:
    old = make_run(tmp_path, "a", named("a"), is_marked=False)
    other = make_run(tmp_path, "b", named("a"), is_marked=False)
    assert (is_owned(old), is_owned(other)) == (True, False)
    assert [one.run for one in strangers(tmp_path)] == ["b"]
    claim(old)
    claim(other)
    assert find_mark(old.path) == OwnerMark(OwnedKind.RUN, "a", is_begun=True)
    assert find_mark(other.path) is None
    refuse_other(old)
    with pytest.raises(NotOwnedError, match="no mark"):
        refuse_other(other)


def test_a_directory_under_another_name_is_not_owned(tmp_path: Path) -> None:
    directory = make_run(tmp_path, "a", named("a"))
    renamed = RunDirectory(directory.path.rename(tmp_path / "runs" / "b"))
    linked = RunDirectory(tmp_path / "runs" / "a")
    linked.path.symlink_to(renamed.path)
    assert [is_owned(one) for one in (renamed, linked)] == [False, False]
    claim(linked)
    assert list(strangers(tmp_path)) == [linked, renamed]
    with pytest.raises(NotOwnedError, match="is a link"):
        refuse_other(linked)


def test_a_run_is_no_review_and_a_review_no_run(tmp_path: Path) -> None:
    run, review = make_run(tmp_path, "a", named("a")), new_review(tmp_path, TODAY)
    old = make_run(tmp_path, "b", named("b", unit(REVIEW_UNIT)), is_marked=False)
    assert (all_reviews(tmp_path), is_owned(run), is_owned(old)) == ([review], True, False)
    for one in (run, old):
        one.path.rename(tmp_path / "reviews" / one.run)
    moved, fitting = (RunDirectory(tmp_path / "reviews" / name) for name in ("a", "b"))
    assert all_reviews(tmp_path) == [fitting, review]
    assert list(strangers(tmp_path)) == [moved]


def test_a_run_that_is_being_made_is_not_unborn(tmp_path: Path) -> None:
    directory = new_run(tmp_path, "plan.md", TODAY)
    assert list(unborn_runs(tmp_path)) == []
    assert list(all_runs(tmp_path)) == [directory]


@pytest.mark.parametrize(
    "statement", ["PRAGMA user_version = 99", "UPDATE events SET body = '{'", "UPDATE events SET seq = 7"]
)
def test_a_run_whose_journal_cannot_be_read_is_not_unborn(tmp_path: Path, statement: str) -> None:
    directory = make_run(tmp_path, "a", FACTS)
    with closing(sqlite3.connect(directory.journal)) as base, base:
        base.execute(statement)
    assert list(unborn_runs(tmp_path)) == []
    assert list(all_runs(tmp_path)) == [directory]
    assert find_run(tmp_path, "a") == directory
    assert started(directory) is None


def test_a_run_is_found_by_its_name_or_the_start_of_it(tmp_path: Path) -> None:
    short, long = make_run(tmp_path, "plan-1105-ab", FACTS), make_run(tmp_path, "plan-1105-ab12", FACTS)
    other = make_run(tmp_path, "house-1105-ffff", FACTS)
    assert find_run(tmp_path, "plan-1105-ab") == short
    assert find_run(tmp_path, "plan-1105-ab1") == long
    assert find_run(tmp_path, "h") == other


def test_a_name_that_fits_several_runs_is_refused_with_all_of_them(tmp_path: Path) -> None:
    for name in ("plan-1105-ab12", "plan-1105-cd34"):
        make_run(tmp_path, name, FACTS)
    with pytest.raises(
        UnknownRunError, match="'plan' fits more than one run: plan-1105-ab12, plan-1105-cd34"
    ):
        find_run(tmp_path, "plan")


def test_a_run_that_is_not_there_is_said_with_the_nearest(tmp_path: Path) -> None:
    make_run(tmp_path, "plan-1105-ab12", FACTS)
    with pytest.raises(UnknownRunError, match="there is no run 'plna-1105-ab12'") as refused:
        find_run(tmp_path, "plna-1105-ab12")
    assert refused.value.hint == "did you mean plan-1105-ab12?"
    with pytest.raises(UnknownRunError) as refused:
        find_run(tmp_path, "zzz")
    assert refused.value.hint == "`amelia status` lists the runs"
    assert refused.value.exit_code == 2


def test_a_few_letters_mean_a_run_of_the_repository_at_hand(tmp_path: Path) -> None:
    here = make_run(tmp_path, "plan-1105-ab12", replace(FACTS, repository="/here"))
    there = make_run(tmp_path, "plan-1105-cd34", replace(FACTS, repository="/there"))
    only_there = make_run(tmp_path, "house-1105-ffff", replace(FACTS, repository="/there"))
    assert find_run(tmp_path, "plan", repository="/here") == here
    assert find_run(tmp_path, "plan", repository="/there") == there
    assert find_run(tmp_path, "house-1105-ffff", repository="/here") == only_there
    assert find_run(tmp_path, "house") == only_there
    with pytest.raises(UnknownRunError, match="no run of this repository starts with 'house'") as refused:
        find_run(tmp_path, "house", repository="/here")
    assert refused.value.hint == ("house-1105-ffff is one of /there: go there, or type its whole name")


@pytest.mark.parametrize("name", ["../runs/plan-1105-ab12", "/", "..", "*"])
def test_a_name_is_no_path(tmp_path: Path, name: str) -> None:
    make_run(tmp_path, "plan-1105-ab12", FACTS)
    with pytest.raises(UnknownRunError):
        find_run(tmp_path, name)


def test_what_a_run_started_as_is_its_first_event(tmp_path: Path) -> None:
    found = started(make_run(tmp_path, "a", FACTS, ev.RunPaused()))
    assert found is not None
    at, facts = found
    assert facts == FACTS
    assert at.tzinfo is not None


def test_a_run_that_never_started_has_no_start(tmp_path: Path) -> None:
    assert started(make_run(tmp_path, "empty")) is None
    assert started(make_run(tmp_path, "odd", ev.RunPaused())) is None
    assert started(RunDirectory(tmp_path / "runs" / "nowhere")) is None
    bare = make_run(tmp_path, "bare")
    bare.journal.write_bytes(b"")
    assert started(bare) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is permitted to root")
def test_a_journal_that_may_not_be_read_has_no_start(tmp_path: Path) -> None:
    directory = make_run(tmp_path, "a", FACTS)
    directory.journal.chmod(0)
    assert started(directory) is None
