"""The execution directory: made from the journal, made again where it is missing, put on the branch once."""

from dataclasses import replace
from pathlib import Path

import pytest

from amelia.land.publish import publish
from amelia.model import events as ev
from amelia.model.agents import Role, SessionId
from amelia.model.commands import CommitRecord, StartTurn
from amelia.model.facts import RecordPlace
from amelia.model.git import CommitId
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.records import RecordCommitted, RecordRefused
from amelia.record.execution import read_execution_state
from amelia.record.journal import SqliteJournal, read_journal
from amelia.run.closing import commit_record
from amelia.run.recording import Recorder
from amelia.run.turns import start_turn
from amelia.run.workshop import Workshop
from amelia.system.git_commands import changed_by
from amelia.system.git_places import Purpose
from integration.run.workshops import Bench, make_bench, reporting

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
DONE: dict[str, object] = {"status": "completed", "summary": "It stands."}
PATH = "docs/amelia/2026-11-15-sample"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def reborn(shop: Workshop) -> Workshop:
    """Returns the workshop of a coordinator that comes later."""
    facts = replace(shop.facts, record=RecordPlace(PATH))
    recorder = Recorder(shop.desk.directory, shop.store, facts, seen=shop.verifier.seen)
    return replace(shop, facts=facts, recorder=recorder)


def write(shop: Workshop, *events: ev.Event) -> None:
    with SqliteJournal(shop.desk.directory.journal) as journal:
        journal.append(events)


async def landed(bench: Bench) -> tuple[Workshop, CommitId]:
    """Lands the only unit, and tells the journal."""
    shop = reborn(bench.shop)
    bench.let(reporting(DONE, roof="tight"))
    at = bench.place()
    command = StartTurn(at, start=at.base, session=None, feedback="", is_again=False)
    happened = await start_turn(shop, command, bench.tell)
    ended = happened[-1]
    assert isinstance(ended, ev.AttemptEnded)
    commit = ended.work.commit
    publish(shop.store, commit=commit, expected=None, keep={})
    write(
        shop,
        ev.UnitStarted(at.unit, 1, at.base),
        ev.StepStarted(at.unit, 1, ev.Step.DRIVE),
        ended,
        ev.StepStarted(at.unit, 1, ev.Step.VERIFY),
        ev.AttemptVerified(unit=at.unit, attempt=1, passed=True),
        ev.StepStarted(at.unit, 1, ev.Step.REVIEW),
        ev.AttemptReviewed(unit=at.unit, attempt=1, approved=True),
        ev.StepStarted(at.unit, 1, ev.Step.LAND),
        ev.UnitLanded(at.unit, 1, commit),
    )
    return shop, commit


async def test_the_record_is_one_commit_and_putting_it_again_changes_nothing(bench: Bench) -> None:
    shop, tip = await landed(bench)
    (first,) = await commit_record(shop, CommitRecord(tip))
    assert isinstance(first, RecordCommitted)
    (again,) = await commit_record(reborn(shop), CommitRecord(tip))
    assert again == first
    branch = bench.repo.git("rev-parse", f"amelia/{shop.facts.run}").strip()
    assert branch == first.commit
    assert bench.repo.git("rev-parse", f"{branch}^").strip() == tip
    changed = bench.repo.git("diff", "--name-only", tip, branch).splitlines()
    assert changed == [
        f"{PATH}/{name}" for name in ("execution-state.json", "plan.md", "report.md", "task-1/summary.md")
    ]


async def test_a_branch_that_is_checked_out_or_was_moved_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    shop, tip = await landed(bench)
    bench.repo.git("worktree", "add", "-q", str(tmp_path / "elsewhere"), f"amelia/{shop.facts.run}")
    (refused,) = await commit_record(shop, CommitRecord(tip))
    assert isinstance(refused, RecordRefused)
    assert "is checked out in" in refused.detail
    bench.repo.git("worktree", "remove", "--force", str(tmp_path / "elsewhere"))
    bench.repo.git("branch", "-f", f"amelia/{shop.facts.run}", bench.shop.facts.base)
    (moved,) = await commit_record(shop, CommitRecord(tip))
    assert isinstance(moved, RecordRefused)
    assert "git branch -f" in moved.detail


async def test_a_file_in_its_place_is_not_overwritten(bench: Bench) -> None:
    shop, tip = await landed(bench)
    blocked = replace(shop, facts=replace(shop.facts, record=RecordPlace("ground.txt/x")))
    assert await commit_record(blocked, CommitRecord(tip)) == (
        RecordCommitted(None, "ground.txt is in the way"),
    )


async def test_what_is_missing_is_made_again_and_the_same(bench: Bench) -> None:
    shop, _ = await landed(bench)
    shop.recorder.catch_up()
    before = {path: path.read_bytes() for path in shop.recorder.master.rglob("*") if path.is_file()}
    assert len(before) == 3
    for path in before:
        path.unlink()
    reborn(shop).recorder.catch_up()
    assert {path: path.read_bytes() for path in before} == before
    state = read_execution_state(shop.recorder.master / "execution-state.json")
    assert state is not None
    assert state.units[0].status == "completed"


async def test_what_was_written_is_not_written_again(bench: Bench) -> None:
    shop, _ = await landed(bench)
    shop.recorder.catch_up()
    summary = shop.recorder.master / "task-1/summary.md"
    summary.write_text("as it was")
    write(shop, ev.RunResumed(7))
    shop.recorder.catch_up()
    reborn(shop).recorder.catch_up()
    assert summary.read_text() == "as it was"


async def test_the_state_is_written_when_a_unit_begins_stops_or_lands_and_not_in_between(
    bench: Bench,
) -> None:
    shop = reborn(bench.shop)
    at = bench.place()
    state = shop.recorder.master / "execution-state.json"

    def said(*events: ev.Event) -> str | None:
        """Returns the status of the unit that is written when something happens; None if nothing is."""
        state.unlink(missing_ok=True)
        write(shop, *events)
        shop.recorder.catch_up()
        found = read_execution_state(state)
        return None if found is None else found.units[0].status

    used = ev.UsageReported(unit=at.unit, attempt=1, role=Role.DEVELOPER, session=SessionId("s"), usage=None)
    assert said(ev.RunResumed(7)) == "pending"
    assert said(ev.UnitStarted(at.unit, 1, at.base)) == "running"
    assert said(ev.StepStarted(at.unit, 1, ev.Step.DRIVE), used) is None
    assert said(ev.StepBroke(at.unit, ev.Step.DRIVE, "stuck")) == "failed"
    assert said(ev.RunFinished(Outcome(Result.HALTED, Reason.BROKEN))) == "failed"
    assert said(ev.RunResumed(8)) == "pending"


async def test_a_recorder_that_is_told_the_past_reads_only_what_came_later(bench: Bench) -> None:
    shop, _ = await landed(bench)
    past = read_journal(shop.desk.directory.journal)
    write(shop, ev.RunResumed(7))
    known = Recorder(shop.desk.directory, shop.store, shop.facts, seen=shop.verifier.seen, past=past)
    assert known.catch_up() == reborn(shop).recorder.catch_up()
    assert known.catch_up() == known.catch_up()


async def test_the_report_knows_the_files_of_what_landed_unless_they_are_gone(bench: Bench) -> None:
    shop, commit = await landed(bench)
    source = shop.store.source.repository
    gone = CommitId("1" * 40)
    assert changed_by(source, [gone, commit, shop.facts.base]) == {
        commit: ("roof.txt",),
        shop.facts.base: (),
    }
    assert changed_by(source, []) == {}


async def test_only_news_are_copied_into_a_lane_unless_somebody_was_there(bench: Bench) -> None:
    shop, _ = await landed(bench)
    shop.recorder.catch_up()
    lane = shop.lane(bench.place(), Purpose.WORK)
    shop.recorder.show_in(lane)
    plan = lane.directory / PATH / "plan.md"
    first = plan.stat().st_ino
    shop.recorder.hide_from(lane)
    assert not (lane.directory / "docs").exists()
    shop.recorder.show_in(lane)
    assert plan.stat().st_ino == first
    plan.write_text("# The plam\n")
    shop.recorder.show_in(lane)
    assert plan.read_text() == "# The plan\n"
    (plan.parent / "more.md").write_text("mine")
    shop.recorder.show_in(lane)
    assert not (plan.parent / "more.md").exists()


async def test_what_cannot_be_read_is_no_state(tmp_path: Path) -> None:
    assert read_execution_state(tmp_path / "none") is None
    (tmp_path / "bad").write_text("{")
    assert read_execution_state(tmp_path / "bad") is None
