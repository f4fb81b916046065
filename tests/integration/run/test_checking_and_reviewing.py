"""Checks and reviews of an attempt, on a real repository."""

import os
from pathlib import Path

import pytest

from amelia.model import events as ev
from amelia.model.agents import Allowance, Ending, Role, TurnEnded, Usage
from amelia.model.commands import EvaluateFindings, Expected, ReviewWork, StartTurn, VerifyBranch, VerifyWork
from amelia.model.evidence import ProblemCode
from amelia.model.findings import Disposition, Finding, finding_id
from amelia.model.outcome import Reason
from amelia.run.checks import verify_branch, verify_work
from amelia.run.reviews import evaluate_findings, review_work
from amelia.run.turns import start_turn
from amelia.system.git_places import Purpose
from integration.run.workshops import Act, Bench, ended, ending, make_bench, reporting

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DONE: dict[str, object] = {"status": "completed"}
FOUND = Finding(finding_id("roof.txt", "It leaks."), "It leaks.", "roof.txt", 1)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


async def written(bench: Bench, act: Act) -> ev.Work:
    """Lets the developer work and returns what it left."""
    bench.let(act)
    command = StartTurn(bench.place(), start=bench.shop.facts.base, session=None, feedback="", is_again=False)
    event = (await start_turn(bench.shop, command, bench.tell))[-1]
    assert isinstance(event, ev.AttemptEnded)
    return event.work


async def verified(bench: Bench, work: ev.Work) -> ev.AttemptVerified:
    [event] = await verify_work(bench.shop, VerifyWork(bench.place(), work=work, expected=Expected()))
    assert isinstance(event, ev.AttemptVerified)
    return event


async def test_work_that_passes_its_checks_has_a_receipt(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="tight"))
    event = await verified(bench, work)
    assert (event.passed, event.problems, event.feedback) == (True, (), "")
    assert event.receipt == work.tree


async def test_work_that_breaks_the_checks_is_told_why(bench: Bench) -> None:
    event = await verified(bench, await written(bench, reporting(DONE, broken="tile")))
    assert not event.passed
    assert [problem.code for problem in event.problems] == [ProblemCode.REGRESSION]
    assert event.feedback


async def test_work_that_changes_nothing_is_told_so(bench: Bench) -> None:
    event = await verified(bench, await written(bench, reporting(DONE)))
    assert [problem.code for problem in event.problems] == [ProblemCode.NO_CHANGES]


async def test_without_a_command_nothing_is_executed_and_there_is_no_receipt(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, command=None)
    event = await verified(bench, await written(bench, reporting(DONE, broken="tile")))
    assert event.passed
    assert event.receipt is None


async def test_the_same_results_have_the_same_digest_and_others_another(bench: Bench) -> None:
    good = await verified(bench, await written(bench, reporting(DONE, roof="tight")))
    also_good = await verified(bench, await written(bench, reporting(DONE, roof="tighter")))
    bad = await verified(bench, await written(bench, reporting(DONE, broken="tile")))
    assert good.results == also_good.results != bad.results
    assert len(good.results) == 16


async def test_a_file_whose_name_is_no_unicode_is_checked_like_any_other(bench: Bench) -> None:
    def act(place: Path) -> TurnEnded:
        (place / os.fsdecode(b"tests_\xff.py")).write_text("x = 1\n")
        return reporting(DONE, broken="tile")(place)

    event = await verified(bench, await written(bench, act))
    assert not event.passed


async def test_the_whole_branch_is_checked_from_its_base_to_its_tip(bench: Bench) -> None:
    base = bench.shop.facts.base
    good = await written(bench, reporting(DONE, roof="tight"))
    [event] = await verify_branch(bench.shop, VerifyBranch(good.commit, base))
    assert event == ev.BranchVerified(passed=True, receipt=good.tree)
    bad = await written(bench, reporting(DONE, broken="tile"))
    [event] = await verify_branch(bench.shop, VerifyBranch(bad.commit, base))
    assert isinstance(event, ev.BranchVerified)
    assert not event.passed
    assert event.feedback


async def review(bench: Bench, work: ev.Work, act: Act, *, before: ev.Work | None = None) -> ev.Event:
    bench.let(act)
    command = ReviewWork(
        bench.place(),
        work=work,
        reviewed=before.commit if before else None,
        open_findings=(FOUND,) if before else (),
    )
    return (await review_work(bench.shop, command, bench.tell))[-1]


async def test_a_reviewer_sees_the_change_and_the_checks_on_a_clean_checkout(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="tight"))
    seen: list[str] = []

    def look(place: Path) -> TurnEnded:
        seen.extend(sorted(path.name for path in place.iterdir() if path.name != ".git"))
        return ended(report={"approved": True})

    event = await review(bench, work, look)
    assert event == ev.AttemptReviewed(unit=bench.place().unit, attempt=1, approved=True)
    assert seen == ["check.sh", "docs", "ground.txt", "roof.txt"]
    spec = bench.actors.specs[-1]
    assert spec.role is Role.REVIEWER
    assert "+tight" in spec.prompt
    assert "sh check.sh: exit code 0" in spec.prompt
    assert (await verified(bench, work)).passed


@pytest.mark.parametrize("how", ["changed", "deleted", "new", "committed"])
async def test_a_reviewer_that_changes_files_has_not_reviewed(bench: Bench, how: str) -> None:
    work = await written(bench, reporting(DONE, roof="tight"))

    def meddle(place: Path) -> TurnEnded:
        match how:
            case "deleted":
                (place / "roof.txt").unlink()
            case "new":
                (place / "extra.txt").write_text("x")
            case _:
                (place / "roof.txt").write_text("mine")
        if how == "committed":
            bench.repo.git("-C", str(place), "commit", "-qam", "mine")
        return ended(report={"approved": True})

    event = await review(bench, work, meddle)
    assert isinstance(event, ev.ReviewFailed)
    assert "is not to change files, but changed" in event.detail
    assert (await verified(bench, work)).passed


@pytest.mark.parametrize("what", ["roof.txt", "stray.txt", "empty/"])
async def test_what_became_of_the_files_since_they_were_kept_is_not_what_a_reviewer_sees(
    bench: Bench, what: str
) -> None:
    work = await written(bench, reporting(DONE, roof="leaks"))
    stray = bench.shop.lane(bench.place(), Purpose.WORK).directory / what
    if what.endswith("/"):
        stray.mkdir()
    else:
        stray.write_text("tight")
    seen: dict[str, str] = {}

    def look(place: Path) -> TurnEnded:
        seen.update({path.name: path.read_text() if path.is_file() else "" for path in place.iterdir()})
        return ended(report={"approved": True})

    assert isinstance(await review(bench, work, look), ev.AttemptReviewed)
    assert seen.pop("roof.txt") == "leaks"
    assert seen.keys() == {".git", "check.sh", "docs", "ground.txt"}


async def test_a_later_round_shows_the_reviewer_what_changed_since(bench: Bench) -> None:
    before = await written(bench, reporting(DONE, roof="leaky"))
    work = await written(bench, reporting(DONE, roof="tight"))
    await review(bench, work, reporting({"approved": True}), before=before)
    prompt = bench.actors.specs[-1].prompt
    assert "-leaky\n" in prompt
    assert "roof.txt:1: It leaks." in prompt
    await review(bench, work, reporting({"approved": True}), before=work)
    assert "since your last review" not in bench.actors.specs[-1].prompt


async def test_a_rejection_carries_its_findings_and_what_it_cost(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="leaky"))
    comment = {"text": "It leaks.", "file": "roof.txt", "line": 1}
    bench.let(reporting({"approved": False, "comments": [comment]}))
    command = ReviewWork(bench.place(), work=work, reviewed=None, open_findings=())
    [event] = await review_work(bench.shop, command, bench.tell)
    used = [told for told in bench.told if isinstance(told, ev.UsageReported) and told.role is Role.REVIEWER]
    assert [told.usage for told in used] == [Usage(100, 20, 0.25)]
    assert event == ev.AttemptReviewed(unit=bench.place().unit, attempt=1, approved=False, findings=(FOUND,))


async def test_a_reviewer_that_is_not_let_in_is_for_a_person_to_mend(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="tight"))
    event = await review(bench, work, ending(Ending.AUTH, detail="bad key"))
    assert isinstance(event, ev.StepBroke)
    assert (event.reason, event.step) == (Reason.AUTH, ev.Step.REVIEW)


async def test_a_reviewer_without_budget_is_asked_again_when_there_is_one(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="tight"))
    bench.let(ending(Ending.OUT_OF_BUDGET, usage=Usage(1, 1, 2.0)))
    command = ReviewWork(
        bench.place(), work=work, reviewed=None, open_findings=(), allowance=Allowance(cost=2.0)
    )
    assert list(await review_work(bench.shop, command, bench.tell)) == [ev.UnitHeld(bench.place().unit)]


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.EVALUATOR])
async def test_a_limit_that_keeps_an_answer_from_being_repaired_is_waited_out(
    bench: Bench, role: Role
) -> None:
    work = await written(bench, reporting(DONE, roof="tight"))
    later = "2026-11-15T15:00:00+00:00"
    bench.let(reporting(None), ending(Ending.LIMITED, until=later))
    if role is Role.REVIEWER:
        review_it = ReviewWork(bench.place(), work=work, reviewed=None, open_findings=())
        events = await review_work(bench.shop, review_it, bench.tell)
    else:
        rule_it = EvaluateFindings(bench.place(), work=work, findings=(FOUND,))
        events = await evaluate_findings(bench.shop, rule_it, bench.tell)
    assert list(events) == [ev.AnswerDelayed(bench.place().unit, 1, later)]


async def test_an_evaluator_that_changes_files_has_not_ruled(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="leaky"))
    ruling: dict[str, object] = {"items": [{"finding": 1, "disposition": "REJECT", "reason": "dry"}]}
    bench.let(reporting(ruling, roof="mine"))
    command = EvaluateFindings(bench.place(), work=work, findings=(FOUND,))
    [event] = await evaluate_findings(bench.shop, command, bench.tell)
    assert isinstance(event, ev.FindingsEvaluated)
    assert [ruled.disposition for ruled in event.rulings] == [Disposition.IMPLEMENT]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (reporting({"approved": "yes"}), "the review is not as asked for: Expected `bool`"),
        (reporting(None), "the reviewer gave no report; asked once more: the turn ended as no_report"),
        (
            ending(Ending.CRASHED, report={"approved": True}, detail="exit 3"),
            "ended as crashed: exit 3",
        ),
        (ending(Ending.CRASHED, text="x" * 9000), "the turn ended as crashed: xxx"),
    ],
)
async def test_an_answer_that_is_none_is_never_an_approval(bench: Bench, act: Act, said: str) -> None:
    work = await written(bench, reporting(DONE, roof="leaky"))
    event = await review(bench, work, act)
    assert isinstance(event, ev.ReviewFailed)
    assert said in event.detail
    assert len(event.detail) <= 4000


async def test_a_reviewer_or_evaluator_at_its_limit_is_asked_again_later(bench: Bench) -> None:
    work = await written(bench, reporting(DONE, roof="leaky"))
    later = "2026-11-15T15:00:00+00:00"
    delayed = ev.AnswerDelayed(bench.place().unit, 1, later)
    assert await review(bench, work, ending(Ending.LIMITED, until=later)) == delayed
    bench.let(ending(Ending.LIMITED, until=later))
    command = EvaluateFindings(bench.place(), work=work, findings=(FOUND,))
    assert list(await evaluate_findings(bench.shop, command, bench.tell)) == [delayed]


@pytest.mark.parametrize(
    ("act", "disposition"),
    [
        (
            reporting({"items": [{"finding": 1, "disposition": "REJECT", "reason": "dry"}]}),
            Disposition.REJECT,
        ),
        (reporting({"items": []}), Disposition.IMPLEMENT),
        (
            ending(Ending.CRASHED, report={"items": [{"finding": 1, "disposition": "REJECT"}]}),
            Disposition.IMPLEMENT,
        ),
    ],
)
async def test_findings_are_ruled_and_without_a_valid_answer_implemented(
    bench: Bench, act: Act, disposition: Disposition
) -> None:
    work = await written(bench, reporting(DONE, roof="leaky"))
    bench.let(act)
    command = EvaluateFindings(bench.place(), work=work, findings=(FOUND,))
    event = (await evaluate_findings(bench.shop, command, bench.tell))[-1]
    assert isinstance(event, ev.FindingsEvaluated)
    assert [(ruling.finding, ruling.disposition) for ruling in event.rulings] == [(FOUND.id, disposition)]
    asked = [spec for spec in bench.actors.specs if spec.role is Role.EVALUATOR]
    assert "1. roof.txt:1: It leaks." in asked[0].prompt
