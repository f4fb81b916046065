"""Every command is carried out by its step; what a killed coordinator left is kept before it goes on."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending, TurnEnded
from amelia.model.findings import Disposition, Finding, finding_id
from amelia.model.git import branch_ref
from amelia.model.outcome import Cause, Reason
from amelia.run.recover import recover
from amelia.run.steps import WorkshopSteps
from integration.run.workshops import NOW, Act, Bench, ended, make_bench, reporting

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FOUND = Finding(finding_id(None, "It leaks."), "It leaks.")
DONE: dict[str, object] = {"status": "completed"}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


async def work_of(bench: Bench, **files: str) -> ev.Work:
    return await left_by(bench, reporting(DONE, **files))


async def left_by(bench: Bench, act: Act) -> ev.Work:
    bench.let(act)
    base = bench.shop.facts.base
    command = cmd.StartTurn(bench.place(), start=base, session=None, feedback="", is_again=False)
    *_, event = await WorkshopSteps(bench.shop).perform(command, bench.tell)
    assert isinstance(event, ev.AttemptEnded)
    assert event.ending is Ending.OK
    return event.work


@pytest.mark.rows("R17")
async def test_a_unit_goes_all_the_way_to_the_branch(bench: Bench) -> None:
    steps, at, base = WorkshopSteps(bench.shop), bench.place(), bench.shop.facts.base
    work = await work_of(bench, roof="tight")
    expected = cmd.Expected()
    [verified] = await steps.perform(cmd.VerifyWork(at, work=work, expected=expected), bench.tell)
    assert isinstance(verified, ev.AttemptVerified)
    assert verified.passed
    bench.let(reporting({"approved": False}))
    *_, reviewed = await steps.perform(
        cmd.ReviewWork(at, work=work, reviewed=None, open_findings=()), bench.tell
    )
    assert isinstance(reviewed, ev.AttemptReviewed)
    bench.let(reporting({"items": [{"finding": 1, "disposition": "DEFER"}]}))
    *_, evaluated = await steps.perform(cmd.EvaluateFindings(at, work=work, findings=(FOUND,)), bench.tell)
    assert isinstance(evaluated, ev.FindingsEvaluated)
    assert [ruling.disposition for ruling in evaluated.rulings] == [Disposition.DEFER]
    landing = cmd.LandWork(at, work=work, tip=base, expected=expected)
    [landed] = await steps.perform(landing, bench.tell)
    assert landed == ev.UnitLanded(at.unit, 1, work.commit)
    assert bench.repo.git("rev-parse", branch_ref(bench.shop.facts.run)) == work.commit
    assert list(await steps.perform(landing, bench.tell)) == [landed]
    [checked] = await steps.perform(cmd.VerifyBranch(work.commit, base), bench.tell)
    assert checked == ev.BranchVerified(passed=True, receipt=work.tree)


async def test_a_rest_ends_at_its_time_and_one_whose_time_has_come_at_once(bench: Bench) -> None:
    for until in (NOW - timedelta(days=1), NOW + timedelta(seconds=0.05)):
        events = await WorkshopSteps(bench.shop).perform(
            cmd.Rest(bench.place(), until.isoformat()), bench.tell
        )
        assert list(events) == [ev.UnitRested(bench.place().unit)]


async def test_work_that_conflicts_with_what_landed_is_refused_with_the_conflict(bench: Bench) -> None:
    first = await work_of(bench, ground="sand")
    second = await work_of(bench, ground="rock")
    command = cmd.LandWork(bench.place(), work=second, tip=first.commit, expected=cmd.Expected())
    [event] = await WorkshopSteps(bench.shop).perform(command, bench.tell)
    assert isinstance(event, ev.LandingRefused)
    assert event.cause is Cause.CONFLICT
    assert "- ground.txt" in event.feedback


async def test_work_whose_tests_fail_on_top_of_what_landed_is_refused(bench: Bench) -> None:
    def stricter(place: Path) -> TurnEnded:
        (place / "check.sh").write_text("test ! -e roof.txt\n")
        return ended(report=DONE)

    tip = await left_by(bench, stricter)
    work = await work_of(bench, roof="tight")
    command = cmd.LandWork(bench.place(), work=work, tip=tip.commit, expected=cmd.Expected())
    [event] = await WorkshopSteps(bench.shop).perform(command, bench.tell)
    assert isinstance(event, ev.LandingRefused)
    assert event.cause is Cause.MERGE_RED
    assert event.feedback


async def test_a_branch_that_somebody_else_moved_stops_the_landing(bench: Bench) -> None:
    work = await work_of(bench, roof="tight")
    command = cmd.LandWork(bench.place(), work=work, tip=bench.shop.facts.base, expected=cmd.Expected())
    branch = branch_ref(bench.shop.facts.run)
    theirs = bench.repo.commit({"theirs.txt": "x"})
    bench.repo.git("update-ref", branch, theirs)
    [event] = await WorkshopSteps(bench.shop).perform(command, bench.tell)
    assert isinstance(event, ev.StepBroke)
    assert event.reason is Reason.BRANCH_MOVED
    assert f"is now at {theirs}" in event.detail
    assert "git branch -f" in event.detail
    assert bench.repo.git("rev-parse", branch) == theirs


async def test_a_branch_that_is_checked_out_is_not_moved(bench: Bench) -> None:
    steps, at, base = WorkshopSteps(bench.shop), bench.place(), bench.shop.facts.base
    first = await work_of(bench, roof="tight")
    await steps.perform(cmd.LandWork(at, work=first, tip=base, expected=cmd.Expected()), bench.tell)
    bench.repo.git("checkout", "--quiet", branch_ref(bench.shop.facts.run).removeprefix("refs/heads/"))
    second = await work_of(bench, door="oak")
    later = cmd.LandWork(
        replace(at, attempt=2),
        work=second,
        tip=first.commit,
        expected=cmd.Expected(),
    )
    [event] = await steps.perform(later, bench.tell)
    assert isinstance(event, ev.StepBroke)
    assert "is checked out in" in event.detail


async def test_what_an_interrupted_turn_had_written_is_kept_when_its_lane_is_filled_again(
    bench: Bench,
) -> None:
    def cut_off(place: Path) -> TurnEnded:
        (place / "half.txt").write_text("half a roof")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await left_by(bench, cut_off)
    await recover(bench.shop)
    work = await work_of(bench, roof="tight")
    store = str(bench.shop.store.git_dir)
    ref = f"{bench.shop.ref(bench.place())}-interrupted"
    assert bench.repo.git("--git-dir", store, "show", f"{ref}:half.txt") == "half a roof"
    names = bench.repo.git("--git-dir", store, "ls-tree", "--name-only", work.commit).split()
    assert "roof.txt" in names
    assert "half.txt" not in names


async def test_a_turn_that_ended_leaves_nothing_else_to_keep(bench: Bench) -> None:
    for _ in range(2):
        await work_of(bench, roof="tight")
    await recover(bench.shop)
    refs = bench.repo.git("--git-dir", str(bench.shop.store.git_dir), "for-each-ref", "--format=%(refname)")
    assert "interrupted" not in refs
