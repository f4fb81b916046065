"""How a run goes, told from answer to answer."""

from dataclasses import replace

import pytest

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending, SessionId
from amelia.model.evidence import Problem, ProblemCode
from amelia.model.findings import Disposition, Weight
from amelia.model.outcome import Cause, Outcome, Reason, Result
from amelia.model.plan import Mode, TaskId, UnitId
from amelia.model.policy import POLICIES, OnFailure, RetrySession
from amelia.model.state import (
    Driving,
    Evaluating,
    Landed,
    Landing,
    Parked,
    Resting,
    Reviewing,
    Skipped,
    Verifying,
    Waiting,
)
from amelia.schedule.decide import decide, is_over
from amelia.schedule.machine import evolve, fold
from unit.schedule.worlds import (
    BASE,
    LATER,
    Story,
    ended,
    facts,
    finding,
    fix_of,
    rulings,
    unit,
    with_policy,
    work_of,
)

A, B = UnitId("a"), UnitId("b")
LEAK, NAMING, SCOPE = finding("it leaks"), finding("bad name"), finding("do more")
TWO_WORKERS = with_policy(POLICIES[Mode.TASKS], workers=2)


def in_mode(mode: Mode, *names: str) -> Story:
    return Story(facts(*(unit(name) for name in names or ("a",)), mode=mode, policy=POLICIES[mode]))


def tried_once(mode: Mode, ending: Ending = Ending.OK) -> Story:
    """Tells of a first attempt that failed: its checks, or the agent itself."""
    story = in_mode(mode).drives("a", ending)
    return story.verifies("a", passed=False) if ending is Ending.OK else story


def worn_out(mode: Mode, *names: str) -> Story:
    """Tells of a first unit whose checks fail until its attempts are used up."""
    story = in_mode(mode, *names)
    while not isinstance(story["a"], Parked):
        story.drives("a").verifies("a", passed=False)
    return story


def test_a_unit_is_driven_verified_reviewed_and_landed_and_the_branch_is_verified() -> None:
    story = in_mode(Mode.TASKS).finishes("a")
    assert isinstance(story.last, cmd.VerifyBranch)
    story.hears(ev.BranchVerified(passed=True))
    steps = [c.step for c in story.begun if not isinstance(c, cmd.RunCommand)]
    assert steps == [ev.Step.DRIVE, ev.Step.VERIFY, ev.Step.REVIEW, ev.Step.LAND]
    assert story.run.outcome == Outcome(Result.COMPLETED)
    assert story.run.tip == "commit of a"
    assert story["a"] == Landed(story.run.tip, 1)
    assert fold(story.journal) == story.run


@pytest.mark.rows("T2")
def test_units_run_in_the_order_of_the_plan_each_from_where_the_last_one_landed() -> None:
    story = in_mode(Mode.TASKS, "a", "b", "c").finishes("a", "b", "c")
    assert story.started() == ["a", "b", "c"]
    assert [c.at.base for c in story.begun if isinstance(c, cmd.StartTurn)] == [
        BASE,
        "commit of a",
        "commit of b",
    ]
    assert [c.session for c in story.begun if isinstance(c, cmd.StartTurn)] == [None, None, None]


@pytest.mark.parametrize("mode", [Mode.SINGLE, Mode.TASKS])
def test_feedback_goes_to_the_same_session_on_the_work_as_it_is(mode: Mode) -> None:
    story = tried_once(mode).drives("a").verifies("a").rejects("a", LEAK).rules("a")
    first, second, third = story.turns("a")
    assert (first.session, first.start, first.feedback) == (None, BASE, "")
    assert (second.session, second.start) == ("a:1", work_of(A, 1).commit)
    assert (third.session, third.start) == ("a:2", work_of(A, 2).commit)
    assert second.feedback == "checks of 1 failed"
    assert third.feedback == "- a.py:1: it leaks"


@pytest.mark.rows("T22")
@pytest.mark.parametrize("mode", [Mode.PHASED, Mode.LIFECYCLE])
def test_a_retry_in_the_other_modes_is_fresh_and_starts_from_the_base(mode: Mode) -> None:
    turn = tried_once(mode, Ending.FAILED).turns("a")[1]
    assert (turn.session, turn.start, turn.feedback) == (None, BASE, "a ended as failed")


def test_a_workspace_can_be_kept_for_a_fresh_session() -> None:
    policy = replace(POLICIES[Mode.TASKS], retry_session=RetrySession.FRESH)
    story = Story(facts(unit("a"), policy=policy)).drives("a").verifies("a", passed=False)
    assert (story.turns("a")[1].session, story.turns("a")[1].start) == (None, work_of(A, 1).commit)


@pytest.mark.parametrize(
    "ending", sorted(set(Ending) - {Ending.OK, Ending.FAILED, Ending.LIMITED, Ending.OUT_OF_BUDGET})
)
def test_a_session_that_crashed_is_followed_by_a_fresh_one_that_knows_why(ending: Ending) -> None:
    story = tried_once(Mode.TASKS, ending)
    turn = story.turns("a")[1]
    assert (turn.session, turn.feedback) == (None, f"a ended as {ending}")
    assert turn.start == work_of(A, 1).commit


@pytest.mark.parametrize("ending", [Ending.OK, Ending.FAILED])
def test_a_session_that_changed_nothing_is_not_gone_on_with(ending: Ending) -> None:
    story = in_mode(Mode.TASKS).hears(replace(ended(A, 1, ending), progressed=False))
    if ending is Ending.OK:
        story.verifies("a", passed=False)
    turn = story.turns("a")[1]
    assert (turn.session, turn.start) == (None, work_of(A, 1).commit)


def test_a_session_that_changed_nothing_but_has_a_question_is_gone_on_with() -> None:
    asked = replace(ended(A, 1, question="Which?"), progressed=False)
    story = in_mode(Mode.TASKS).hears(asked)
    assert story.hears(ev.QuestionAnswered(A, "That.")).turns("a")[1].session == "a:1"


def test_a_developers_error_counts_and_is_told_and_nothing_of_it_is_judged() -> None:
    story = tried_once(Mode.TASKS, Ending.FAILED)
    assert story.turns("a")[1].feedback == "a ended as failed"
    assert story.turns("a")[1].session == "a:1"
    assert story.steps("a", ev.Step.VERIFY) == story.steps("a", ev.Step.REVIEW) == 0
    for _ in range(4):
        story.drives("a", Ending.FAILED)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.AGENT_LIMIT)
    assert len(story.turns("a")) == 5


def test_what_a_hook_refuses_is_feedback_and_is_not_verified() -> None:
    story = in_mode(Mode.TASKS).drives("a", refused="no tabs")
    assert story.turns("a")[1].feedback == "no tabs"
    assert story.turns("a")[1].session == "a:1"
    assert story.steps("a", ev.Step.VERIFY) == 0


def test_a_reviewer_that_never_approves_halts_the_run_at_the_limit_of_reviews() -> None:
    story = in_mode(Mode.TASKS, "a", "b", "c", "d").finishes("a")
    for number in range(5):
        story.drives("b").verifies("b").rejects("b", finding(f"wrong {number}")).rules("b")
    assert story.steps("b", ev.Step.REVIEW) == 5
    assert story.run.outcome == Outcome(Result.HALTED, Reason.REVIEW_LIMIT)
    assert story.run.tip == "commit of a"
    assert story.started() == ["a", "b"]
    parked = story["b"]
    assert isinstance(parked, Parked)
    assert parked.work == work_of(B, 5)


def test_a_reviewer_without_a_valid_answer_is_asked_again_and_then_the_run_halts() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a")
    failed = ev.ReviewFailed(unit=A, attempt=1, detail="nonsense")
    story.hears(failed)
    assert isinstance(story["a"], Reviewing)
    story.hears(failed)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.REVIEW_UNAVAILABLE)
    assert story.steps("a", ev.Step.REVIEW) == 2
    story.hears(ev.RunResumed(2))
    assert story.steps("a", ev.Step.REVIEW) == 3
    assert len(story.turns("a")) == 1


def test_a_rejection_that_finds_nothing_is_no_valid_answer() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a")
    assert isinstance(story["a"], Reviewing)
    story.rejects("a")
    assert story.run.outcome == Outcome(Result.HALTED, Reason.REVIEW_UNAVAILABLE)


def test_an_approval_with_a_finding_that_blocks_is_evaluated_one_with_a_minor_one_lands() -> None:
    story = in_mode(Mode.TASKS, "a", "b").drives("a").verifies("a").approves("a", LEAK)
    assert isinstance(story["a"], Evaluating)
    story.rules("a", *rulings(Disposition.REJECT, LEAK)).lands("a")
    story.drives("b").verifies("b").approves("b", finding("taste", Weight.MINOR))
    assert isinstance(story["b"], Landing)


def test_one_finding_that_blocks_among_minor_ones_speaks_against_an_approval() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a")
    assert isinstance(story.approves("a", finding("taste", Weight.MINOR), LEAK)["a"], Evaluating)


def test_no_changes_are_never_reviewed_and_end_as_what_they_are() -> None:
    nothing = (Problem(ProblemCode.NO_CHANGES, "nothing changed"),)
    story = in_mode(Mode.TASKS)
    for attempt in (1, 2):
        story.drives("a", tree="base tree")
        story.hears(ev.AttemptVerified(unit=A, attempt=attempt, passed=False, problems=nothing, results="-"))
    assert story.run.outcome == Outcome(Result.HALTED, Reason.NO_CHANGES)
    assert story.steps("a", ev.Step.REVIEW) == 0
    assert len(story.turns("a")) == 2


def test_no_changes_at_the_limit_are_no_changes_too() -> None:
    story = in_mode(Mode.PHASED)
    for attempt in (1, 2):
        problems = (Problem(ProblemCode.NO_CHANGES, "nothing changed"), Problem(ProblemCode.NO_TESTS, "none"))
        story.drives("a")
        story.hears(ev.AttemptVerified(unit=A, attempt=attempt, passed=False, problems=problems))
    assert story.run.outcome == Outcome(Result.HALTED, Reason.NO_CHANGES)


def test_the_same_tree_with_the_same_results_again_is_no_progress() -> None:
    story = in_mode(Mode.TASKS)
    for tree in ("one", "other", "one"):
        story.drives("a", tree=tree).verifies("a", passed=False, results="3 failed")
    assert story.run.outcome == Outcome(Result.HALTED, Reason.NO_PROGRESS)


def test_the_same_tree_with_other_results_is_progress() -> None:
    story = in_mode(Mode.TASKS)
    for results in ("3 failed", "2 failed"):
        story.drives("a", tree="one").verifies("a", passed=False, results=results)
    assert story.run.outcome is None


def test_a_round_of_review_that_changed_nothing_is_the_last() -> None:
    story = in_mode(Mode.TASKS)
    for findings in ((LEAK, NAMING), (LEAK,), (NAMING, LEAK)):
        story.drives("a", tree="one").verifies("a", results="green").rejects("a", *findings).rules("a")
    assert story.run.outcome == Outcome(Result.HALTED, Reason.NO_PROGRESS)


def test_the_same_refusal_of_a_hook_again_is_no_progress() -> None:
    story = in_mode(Mode.TASKS)
    for _ in range(2):
        story.drives("a", tree="one", refused="no tabs")
    assert story.run.outcome == Outcome(Result.HALTED, Reason.NO_PROGRESS)


def test_waiting_for_a_limit_costs_no_attempt_and_the_work_goes_on_where_it_was() -> None:
    story = in_mode(Mode.PHASED)
    for times in range(1, 8):
        story.drives("a", Ending.LIMITED, until=LATER)
        assert isinstance(story.last, cmd.Rest)
        assert (story.last.at.unit, story.last.until, story.last.rests) == (A, LATER, times)
        story.hears(ev.UnitRested(A))
    turn = story.turns("a")[-1]
    assert (turn.at.attempt, turn.is_again) == (1, True)
    assert (turn.start, turn.session) == (work_of(A, 1).commit, "a:1")
    assert isinstance(story.drives("a")["a"], Verifying)


def test_a_limit_that_never_passes_is_not_waited_out_for_ever() -> None:
    policy = replace(POLICIES[Mode.TASKS], rests=2)
    story = Story(facts(unit("a"), policy=policy))
    for _ in range(2):
        story.drives("a", Ending.LIMITED, until=LATER).hears(ev.UnitRested(A))
    story.drives("a", Ending.LIMITED, until=LATER)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.USAGE_LIMIT)
    story.hears(ev.UnitReset(A)).drives("a", Ending.LIMITED, until=LATER)
    assert isinstance(story["a"], Resting)


def test_limits_count_only_in_a_row() -> None:
    story = Story(facts(unit("a"), policy=replace(POLICIES[Mode.TASKS], rests=1)))
    for _ in range(3):
        story.drives("a", Ending.LIMITED, until=LATER).hears(ev.UnitRested(A)).drives("a", Ending.FAILED)
    assert story.run.outcome is None


def test_a_person_who_acts_on_one_of_two_parked_units_lets_the_run_go_on() -> None:
    policy = with_policy(POLICIES[Mode.TASKS], workers=2, attempts=1)
    story = Story(facts(unit("a"), unit("b"), unit("c"), policy=policy))
    story.drives("a", Ending.FAILED).drives("b", Ending.FAILED)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.AGENT_LIMIT)
    story.hears(ev.UnitReset(A)).finishes("a").finishes("c")
    assert isinstance(story["b"], Parked)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.AGENT_LIMIT)


def test_a_limit_of_unknown_length_is_rested_too() -> None:
    story = in_mode(Mode.TASKS).drives("a", Ending.LIMITED)
    assert isinstance(story.last, cmd.Rest)
    assert not story.last.until


def test_a_reviewers_limit_is_waited_out_and_is_no_try() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a")
    for _ in range(3):
        story.hears(ev.AnswerDelayed(A, 1, LATER))
        assert isinstance(story["a"], Resting)
        story.hears(ev.UnitRested(A))
    assert isinstance(story["a"], Reviewing)
    assert isinstance(story.approves("a")["a"], Landing)


def test_only_valid_findings_reach_the_developer_and_the_others_are_kept_for_the_report() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", LEAK, NAMING, SCOPE)
    wrong, later = rulings(Disposition.REJECT, NAMING)[0], rulings(Disposition.DEFER, SCOPE)[0]
    story.rules("a", *rulings(Disposition.IMPLEMENT, LEAK, finding("never made")), wrong, later)
    assert story.turns("a")[1].feedback == "- a.py:1: it leaks"
    assert story.run.rulings == ((A, NAMING, wrong), (A, SCOPE, later))


def test_a_finding_that_was_ruled_out_does_not_come_back() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", LEAK, NAMING)
    story.rules("a", *rulings(Disposition.REJECT, NAMING), *rulings(Disposition.IMPLEMENT, LEAK))
    story.drives("a").verifies("a").rejects("a", NAMING, SCOPE)
    assert isinstance(story.last, cmd.EvaluateFindings)
    assert story.last.findings == (SCOPE,)
    story.rules("a", *rulings(Disposition.IMPLEMENT, SCOPE))
    story.drives("a").verifies("a").rejects("a", NAMING)
    assert isinstance(story["a"], Landing)


def test_a_rejection_of_which_nothing_is_left_is_accepted_without_a_retry() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", NAMING, SCOPE)
    story.rules("a", *rulings(Disposition.REJECT, NAMING), *rulings(Disposition.DEFER, SCOPE))
    assert isinstance(story["a"], Landing)
    assert len(story.turns("a")) == 1


def test_a_finding_without_a_ruling_is_to_be_implemented() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", LEAK, NAMING)
    story.rules("a", *rulings(Disposition.REJECT, NAMING))
    assert story.turns("a")[1].feedback == "- a.py:1: it leaks"


def test_a_question_waits_for_a_person_and_costs_no_attempt() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", LEAK, NAMING)
    story.rules("a", *rulings(Disposition.CLARIFY, LEAK), *rulings(Disposition.IMPLEMENT, NAMING))
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.QUESTION)
    parked = story["a"]
    assert isinstance(parked, Parked)
    assert (parked.detail, parked.track.spent) == ("- a.py:1: it leaks", 0)


def test_later_reviews_see_what_changed_and_what_is_open() -> None:
    story = (
        in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", LEAK).rules("a").drives("a").verifies("a")
    )
    first, second = (c for c in story.begun if isinstance(c, cmd.ReviewWork))
    assert (first.reviewed, first.open_findings) == (None, ())
    assert (second.reviewed, second.open_findings) == (work_of(A, 1).commit, (LEAK,))


def test_what_does_not_fit_is_made_again_on_the_new_base_and_parked_the_second_time() -> None:
    story = Story(facts(unit("a"), unit("b"), policy=TWO_WORKERS)).accepts("a").accepts("b").lands("a")
    story.hears(ev.LandingRefused(B, 1, Cause.CONFLICT, "both changed x"))
    turn = story.turns("b")[1]
    assert (turn.at.base, turn.start, turn.session, turn.feedback) == (
        "commit of a",
        "commit of a",
        None,
        "both changed x",
    )
    story.drives("b").verifies("b")
    assert isinstance(story.last, cmd.ReviewWork)
    assert story.last.reviewed is None
    story.approves("b").hears(ev.LandingRefused(B, 2, Cause.MERGE_RED, "test_x fails"))
    assert story.run.outcome == Outcome(Result.HALTED, Reason.MERGE_RED)
    assert story.run.tip == "commit of a"


def test_a_refused_landing_leaves_the_attempts_as_they_are() -> None:
    story = (
        Story(facts(unit("a"), policy=POLICIES[Mode.PHASED]))
        .drives("a")
        .verifies("a", passed=False)
        .accepts("a")
    )
    story.hears(ev.LandingRefused(A, 2, Cause.CONFLICT, "conflict"))
    assert story.attempt("a") == 3
    story.drives("a").verifies("a", passed=False)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.VERIFY_LIMIT)


def test_units_land_one_at_a_time_in_the_order_in_which_they_were_accepted() -> None:
    story = Story(facts(unit("a"), unit("b"), policy=TWO_WORKERS)).accepts("b").accepts("a")
    assert story.run.queue == ("b", "a")
    assert story.steps("a", ev.Step.LAND) == 0
    story.lands("b")
    assert isinstance(story.last, cmd.LandWork)
    assert (story.last.at.unit, story.last.tip, story.last.at.base) == ("a", "commit of b", BASE)


def test_nothing_lands_any_more_once_a_unit_before_it_in_the_queue_is_parked() -> None:
    story = Story(facts(unit("a"), unit("b"), policy=replace(TWO_WORKERS, conflict_retries=0)))
    story.accepts("a").accepts("b").hears(ev.LandingRefused(A, 1, Cause.CONFLICT, "conflict"))
    assert story.steps("b", ev.Step.LAND) == 0
    assert story.run.outcome == Outcome(Result.HALTED, Reason.CONFLICT)
    story.hears(ev.UnitSkipped(A, satisfies=True))
    assert story.steps("b", ev.Step.LAND) == 1


def test_a_halt_lets_others_finish_their_step_and_starts_nothing() -> None:
    policy = with_policy(POLICIES[Mode.TASKS], workers=2, attempts=1)
    story = Story(facts(unit("a"), unit("b"), unit("c"), policy=policy))
    story.drives("a").verifies("a", passed=False)
    assert story.run.outcome is None
    story.drives("b")
    assert story.run.outcome == Outcome(Result.HALTED, Reason.VERIFY_LIMIT)
    assert story.steps("b", ev.Step.VERIFY) == 0
    assert story["c"] == Waiting()


def test_a_halt_does_not_wait_for_an_agents_limit_to_pass() -> None:
    policy = with_policy(POLICIES[Mode.TASKS], workers=2, attempts=1)
    story = Story(facts(unit("a"), unit("b"), policy=policy)).drives("b", Ending.LIMITED, until=LATER)
    story.drives("a").verifies("a", passed=False)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.VERIFY_LIMIT)
    story.hears(ev.RunResumed(2), ev.UnitReset(A))
    assert story.steps("b", ev.Step.REST) == 2


def test_what_is_independent_goes_on_and_what_is_blocked_waits_for_a_person() -> None:
    policy = replace(POLICIES[Mode.LIFECYCLE], iterations=1)
    story = Story(facts(unit("a"), unit("b", "a"), unit("c"), policy=policy))
    for _ in range(3):
        story.drives("a").verifies("a", passed=False)
    story.finishes("c")
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.VERIFY_LIMIT)
    assert story["b"] == Waiting()


def test_a_reset_goes_on_counting_attempts_and_has_all_of_them_again() -> None:
    story = worn_out(Mode.PHASED).hears(ev.UnitReset(A))
    turn = story.turns("a")[-1]
    assert (turn.at.attempt, turn.feedback, turn.session, turn.start) == (3, "checks of 2 failed", None, BASE)
    story.drives("a").verifies("a", passed=False)
    assert story.run.outcome is None
    story.drives("a").verifies("a", passed=False)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.VERIFY_LIMIT)
    assert story.attempt("a") == 4


def test_a_person_who_resets_a_unit_can_say_something_to_the_developer() -> None:
    story = worn_out(Mode.PHASED).hears(ev.UnitReset(A, "use the old parser"))
    assert story.turns("a")[-1].feedback == "checks of 2 failed\n\nuse the old parser"


def test_a_finding_that_was_ruled_out_does_not_come_back_after_a_reset() -> None:
    story = in_mode(Mode.TASKS).drives("a").verifies("a").rejects("a", LEAK, NAMING)
    story.rules("a", *rulings(Disposition.REJECT, NAMING), *rulings(Disposition.CLARIFY, LEAK))
    story.hears(ev.UnitReset(A)).drives("a").verifies("a").rejects("a", NAMING)
    assert isinstance(story["a"], Landing)


def test_a_reset_starts_from_what_has_landed_meanwhile() -> None:
    story = worn_out(Mode.LIFECYCLE, "a", "b").finishes("b").hears(ev.UnitReset(A))
    assert story.turns("a")[-1].start == "commit of b"


def test_what_depends_on_a_skipped_unit_runs_only_with_consent() -> None:
    units = (unit("a"), unit("b", "a"))
    story = (
        Story(facts(*units)).drives("a").breaks("a", ev.Step.VERIFY).hears(ev.UnitSkipped(A, satisfies=False))
    )
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.BLOCKED)
    story.hears(ev.UnitSkipped(B, satisfies=False)).hears(ev.BranchVerified(passed=True))
    assert story.run.outcome == Outcome(Result.COMPLETED)
    assert story["b"] == Skipped(satisfies=False)
    story = Story(facts(*units)).breaks("a", ev.Step.DRIVE).hears(ev.UnitSkipped(A, satisfies=True))
    assert story.turns("b")


def test_consent_can_be_given_after_a_unit_was_skipped() -> None:
    story = Story(facts(unit("a"), unit("b", "a"))).breaks("a", ev.Step.DRIVE)
    story.hears(ev.UnitSkipped(A, satisfies=False))
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.BLOCKED)
    story.hears(ev.UnitSkipped(A, satisfies=True))
    assert story.turns("b")


def test_consent_that_comes_while_the_branch_is_verified_does_not_verify_it_twice() -> None:
    story = Story(facts(unit("a"))).breaks("a", ev.Step.DRIVE).hears(ev.UnitSkipped(A, satisfies=False))
    story.hears(ev.UnitSkipped(A, satisfies=True))
    assert [type(command) for command in story.begun[1:]] == [cmd.VerifyBranch]
    assert story.hears(ev.BranchVerified(passed=True)).run.outcome == Outcome(Result.COMPLETED)


def test_a_fix_by_hand_is_verified_and_lands_without_a_review() -> None:
    story = worn_out(Mode.PHASED).hears(ev.UnitFixed(A, fix_of(A)))
    assert isinstance(story.last, cmd.VerifyWork)
    assert story.last.work == fix_of(A)
    story.verifies("a", red=("test_x",))
    assert isinstance(story.last, cmd.LandWork)
    assert story.last.work == fix_of(A)
    assert story.steps("a", ev.Step.REVIEW) == 0


def test_a_fix_by_hand_that_does_not_pass_goes_back_to_the_person_and_is_no_attempt() -> None:
    story = worn_out(Mode.PHASED)
    for _ in range(2):
        story.hears(ev.UnitFixed(A, fix_of(A))).verifies("a", passed=False)
        parked = story["a"]
        assert isinstance(parked, Parked)
        assert (parked.reason, parked.detail, parked.track.spent) == (
            Reason.FIX_REFUSED,
            "checks of 2 failed",
            2,
        )
    assert len(story.turns("a")) == 2


@pytest.mark.parametrize("cause", [Cause.CONFLICT, Cause.MERGE_RED])
def test_a_fix_by_hand_that_does_not_fit_goes_back_to_the_person_not_to_an_agent(cause: Cause) -> None:
    story = worn_out(Mode.PHASED).hears(ev.UnitFixed(A, fix_of(A))).verifies("a")
    story.hears(ev.LandingRefused(A, 2, cause, "does not fit"))
    parked = story["a"]
    assert isinstance(parked, Parked)
    assert (parked.reason, parked.detail, parked.work) == (Reason.FIX_REFUSED, "does not fit", fix_of(A))
    story.hears(ev.UnitReset(A)).drives("a").verifies("a")
    assert isinstance(story["a"], Reviewing)


def test_aborting_a_halted_run_ends_it_with_what_has_landed() -> None:
    story = in_mode(Mode.PHASED, "a", "b").finishes("a")
    for _ in range(2):
        story.drives("b").verifies("b", passed=False)
    story.hears(ev.AbortRequested(B))
    assert story.run.outcome == Outcome(Result.ABORTED)
    assert story.run.tip == "commit of a"


def test_a_broken_step_goes_on_from_the_same_stage_when_the_run_is_resumed() -> None:
    story = in_mode(Mode.TASKS).drives("a").breaks("a", ev.Step.VERIFY)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.BROKEN)
    story.hears(ev.RunResumed(2))
    assert isinstance(story["a"], Verifying)
    assert (story.steps("a", ev.Step.VERIFY), len(story.turns("a"))) == (2, 1)


def test_a_broken_step_goes_on_from_the_same_stage_when_a_person_says_so() -> None:
    story = (
        in_mode(Mode.TASKS).accepts("a").hears(ev.StepBroke(A, ev.Step.LAND, "moved", Reason.BRANCH_MOVED))
    )
    assert story.run.outcome == Outcome(Result.HALTED, Reason.BRANCH_MOVED)
    story.hears(ev.UnitReset(A))
    assert story.steps("a", ev.Step.LAND) == 2
    assert story.lands("a").run.tip == "commit of a"


def test_a_unit_whose_work_is_lost_begins_again_when_a_person_says_so_and_not_before() -> None:
    story = in_mode(Mode.TASKS).drives("a").hears(ev.StepBroke(A, ev.Step.VERIFY, "gone", Reason.WORK_LOST))
    assert story.run.outcome == Outcome(Result.HALTED, Reason.WORK_LOST)
    story.hears(ev.RunResumed(2))
    assert isinstance(story["a"], Parked)
    story.hears(ev.UnitReset(A))
    assert (story.steps("a", ev.Step.VERIFY), len(story.turns("a"))) == (1, 2)


def test_what_broke_waits_for_a_lane_when_the_run_is_resumed() -> None:
    story = in_mode(Mode.LIFECYCLE, "a", "b").drives("a").breaks("a", ev.Step.VERIFY).hears(ev.RunResumed(2))
    assert isinstance(story["a"], Waiting)
    assert story.run.open == ("b",)
    story.finishes("b")
    assert story.steps("a", ev.Step.VERIFY) == 2


def test_a_broken_turn_is_made_again_under_the_same_number_in_a_fresh_session() -> None:
    story = tried_once(Mode.TASKS).breaks("a", ev.Step.DRIVE).hears(ev.UnitReset(A))
    turn = story.turns("a")[-1]
    assert (turn.at.attempt, turn.session, turn.is_again, turn.start) == (2, None, True, work_of(A, 1).commit)


def test_what_broke_in_one_lane_can_go_on_in_another_but_not_in_its_session() -> None:
    policy = replace(TWO_WORKERS, on_failure=OnFailure.CONTINUE)
    story = Story(facts(unit("a"), unit("b"), unit("c"), policy=policy))
    story.drives("a").breaks("a", ev.Step.VERIFY)
    assert isinstance(story["c"], Driving)
    story.finishes("b").hears(ev.UnitReset(A))
    stage = story["a"]
    assert isinstance(stage, Verifying)
    assert (stage.track.lane, stage.session) == (2, None)


def test_what_broke_and_goes_on_in_its_own_lane_keeps_its_session() -> None:
    story = in_mode(Mode.TASKS).drives("a").breaks("a", ev.Step.VERIFY).hears(ev.UnitReset(A))
    story.verifies("a", passed=False)
    assert story.turns("a")[-1].session == "a:1"


@pytest.mark.parametrize("lane_is_taken", [True, False])
def test_a_rest_that_broke_goes_on_in_the_lane_it_gets(*, lane_is_taken: bool) -> None:
    policy = replace(TWO_WORKERS, on_failure=OnFailure.CONTINUE)
    units = (unit("a"), unit("b"), unit("c")) if lane_is_taken else (unit("a"), unit("b"))
    story = Story(facts(*units, policy=policy)).drives("a").verifies("a")
    story.hears(ev.AnswerDelayed(A, 1, LATER)).breaks("a", ev.Step.REST)
    story.finishes("b").hears(ev.UnitReset(A)).hears(ev.UnitRested(A))
    stage = story["a"]
    assert isinstance(stage, Reviewing)
    assert (stage.track.lane, stage.session) == ((2, None) if lane_is_taken else (1, SessionId("a:1")))


def test_a_landing_that_broke_goes_on_in_the_lane_it_gets() -> None:
    policy = replace(TWO_WORKERS, on_failure=OnFailure.CONTINUE)
    story = Story(facts(unit("a"), unit("b"), unit("c"), policy=policy))
    story.accepts("a").breaks("a", ev.Step.LAND).finishes("b").hears(ev.UnitReset(A))
    assert isinstance(story.last, cmd.LandWork)
    assert story.last.at.lane == 2


def test_a_turn_that_a_crash_cut_off_is_made_again_from_its_start_in_a_fresh_session() -> None:
    story = tried_once(Mode.TASKS).hears(ev.RunResumed(2))
    turn = story.turns("a")[-1]
    assert (turn.at.attempt, turn.session, turn.is_again, turn.start) == (2, None, True, work_of(A, 1).commit)


def test_a_turn_that_had_not_begun_when_the_crash_came_is_made_as_it_was_meant() -> None:
    run = in_mode(Mode.TASKS).drives("a").run
    run = evolve(run, ev.AttemptVerified(unit=A, attempt=1, passed=False))
    for command in decide(run):
        assert isinstance(command, cmd.Record)
        run = evolve(run, command.event)
    (turn,) = decide(evolve(run, ev.RunResumed(2)))
    assert isinstance(turn, cmd.StartTurn)
    assert (turn.at.attempt, turn.session, turn.is_again) == (2, "a:1", False)


def test_a_crash_does_not_make_finished_steps_again() -> None:
    story = Story(facts(unit("a"), unit("b"), policy=TWO_WORKERS)).drives("a").accepts("b")
    before = len(story.begun)
    story.hears(ev.RunResumed(2))
    assert [(c.at.unit, c.step) for c in story.begun[before:] if not isinstance(c, cmd.RunCommand)] == [
        ("a", ev.Step.VERIFY),
        ("b", ev.Step.LAND),
    ]


def test_a_crash_while_the_branch_is_verified_verifies_it_again() -> None:
    story = in_mode(Mode.TASKS).finishes("a").hears(ev.RunResumed(2))
    assert sum(1 for c in story.begun if isinstance(c, cmd.VerifyBranch)) == 2


def test_a_branch_that_is_red_halts_the_run_and_is_verified_again_when_it_is_resumed() -> None:
    story = in_mode(Mode.TASKS).finishes("a").hears(ev.BranchVerified(passed=False, feedback="test_x"))
    assert story.run.outcome == Outcome(Result.HALTED, Reason.BRANCH_RED)
    assert story.run.branch_feedback == "test_x"
    story.hears(ev.RunResumed(2)).hears(ev.BranchVerified(passed=True))
    assert story.run.outcome == Outcome(Result.COMPLETED)


def test_a_run_without_units_verifies_its_branch() -> None:
    story = Story(facts()).hears(ev.BranchVerified(passed=True))
    assert story.run.outcome == Outcome(Result.COMPLETED)


def test_a_pause_finishes_what_runs_and_starts_nothing() -> None:
    story = Story(facts(unit("a"), unit("b"), unit("c"), policy=TWO_WORKERS)).hears(ev.PauseRequested())
    assert not story.run.is_paused
    story.drives("a").drives("b")
    assert story.run.is_paused
    assert story.run.outcome is None
    assert len(story.begun) == 2
    story.hears(ev.RunResumed(2))
    assert story.steps("a", ev.Step.VERIFY) == story.steps("b", ev.Step.VERIFY) == 1


def test_a_pause_waits_for_the_verification_of_the_branch() -> None:
    story = in_mode(Mode.TASKS).finishes("a").hears(ev.PauseRequested())
    assert not is_over(story.run)
    assert story.hears(ev.BranchVerified(passed=True)).run.is_paused
    assert story.hears(ev.RunResumed(2)).run.outcome == Outcome(Result.COMPLETED)


def test_a_pause_does_not_wait_for_an_agents_limit_to_pass() -> None:
    story = in_mode(Mode.TASKS).drives("a", Ending.LIMITED, until=LATER).hears(ev.PauseRequested())
    assert story.run.is_paused
    story.hears(ev.RunResumed(2))
    assert story.steps("a", ev.Step.REST) == 2


def test_a_failed_attempt_is_judged_while_the_run_pauses_and_retried_when_it_goes_on() -> None:
    story = in_mode(Mode.TASKS).drives("a").hears(ev.PauseRequested()).verifies("a", passed=False)
    assert story.run.is_paused
    assert len(story.turns("a")) == 1
    assert len(story.hears(ev.RunResumed(2)).turns("a")) == 2


@pytest.mark.parametrize(
    ("wish", "result"),
    [(ev.CancelRequested(), Result.CANCELLED), (ev.AbortRequested(), Result.ABORTED)],
)
class TestACancelledRun:
    def test_is_over_at_once_and_for_ever(self, wish: ev.Event, result: Result) -> None:
        story = in_mode(Mode.TASKS).hears(wish)
        assert story.run.outcome == Outcome(result)
        story.hears(ev.RunResumed(2))
        assert story.run.outcome == Outcome(result)

    def test_is_over_also_if_it_was_paused(self, wish: ev.Event, result: Result) -> None:
        story = in_mode(Mode.TASKS).hears(ev.PauseRequested()).drives("a").hears(wish)
        assert story.run.outcome == Outcome(result)

    def test_is_over_also_if_it_had_stopped(self, wish: ev.Event, result: Result) -> None:
        assert worn_out(Mode.PHASED).hears(wish).run.outcome == Outcome(result)

    def test_is_not_revived_by_a_crash_before_it_was_carried_out(
        self, wish: ev.Event, result: Result
    ) -> None:
        assert in_mode(Mode.TASKS).hears(wish, ev.RunResumed(2)).run.outcome == Outcome(result)

    def test_is_not_revived_by_a_late_wish(self, wish: ev.Event, result: Result) -> None:
        story = worn_out(Mode.PHASED).hears(wish).hears(ev.UnitReset(A))
        assert story.run.outcome == Outcome(result)

    def test_is_not_turned_into_a_pause(self, wish: ev.Event, result: Result) -> None:
        assert in_mode(Mode.TASKS).hears(wish, ev.PauseRequested()).run.outcome == Outcome(result)

    def test_still_tells_what_landed_at_the_last_moment(self, wish: ev.Event, result: Result) -> None:
        story = in_mode(Mode.TASKS).accepts("a").hears(wish).lands("a")
        assert isinstance(story["a"], Landed)
        assert story.run.outcome == Outcome(result)


def test_a_completed_run_stays_completed() -> None:
    story = in_mode(Mode.TASKS).finishes("a").hears(ev.BranchVerified(passed=True))
    for event in (ev.RunResumed(2), ev.CancelRequested(), ev.AbortRequested(), ev.PauseRequested()):
        assert story.hears(event).run.outcome == Outcome(Result.COMPLETED)
    assert sum(1 for c in story.begun if isinstance(c, cmd.VerifyBranch)) == 1


def test_the_tasks_of_a_phase_start_with_its_turn_and_again_with_every_attempt() -> None:
    story = in_mode(Mode.PHASED).hears(ev.RunResumed(2))
    subtasks = [event for event in story.journal if isinstance(event, ev.SubtaskStarted)]
    assert subtasks == [ev.SubtaskStarted(A, TaskId("a"), 1)]
    story.hears(
        ev.SubtaskCompleted(A, TaskId("a"), 1), ev.SubtaskFailed(A, TaskId("a"), 1), ended(A, 1)
    ).verifies("a", passed=False)
    assert ev.SubtaskStarted(A, TaskId("a"), 2) in story.journal
    assert not any(isinstance(event, ev.SubtaskStarted) for event in in_mode(Mode.TASKS).journal)
