"""What may be asked of a run whose plan is not approved yet."""

import pytest

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.facts import RunId
from amelia.model.git import CommitId
from amelia.model.journal import Wanted
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import UnitId
from amelia.model.policy import Budget
from amelia.model.proposal import Approved, Draft, Drafting, HandedOver, Proposed, Stopped
from amelia.model.settings import Settings
from amelia.run.requests import draft_refusal

FACTS = dr.RunProposed(
    run=RunId("demo"), goal="g", repository="/r", base=CommitId("b" * 40), settings=Settings()
)
GOOD = dr.PlanDrafted(version=1, hash="h", author=dr.Author.ARCHITECT)
BAD = dr.PlanDrafted(version=1, hash="h", author=dr.Author.ARCHITECT, errors=("a cycle",))
WAITING = Draft(facts=FACTS, budget=Budget(), versions=(GOOD,), stage=Proposed())
BROKEN = Draft(facts=FACTS, budget=Budget(), versions=(BAD,), stage=Proposed())
WRITING = Draft(facts=FACTS, budget=Budget(), versions=(GOOD,), stage=Drafting(is_busy=True))
STOPPED = Draft(facts=FACTS, budget=Budget(), stage=Stopped(Reason.AUTH, "401"))
OVER = Draft(facts=FACTS, budget=Budget(), outcome=Outcome(Result.CANCELLED))


@pytest.mark.parametrize(
    ("draft", "wanted"),
    [
        (WAITING, dr.PlanApproved(1)),
        (WAITING, dr.PlanHandedOver(1, "p")),
        (WAITING, dr.PlanRejected(1, "no")),
        (BROKEN, dr.PlanRejected(1, "no")),
        (STOPPED, dr.PlanRejected(0, "again")),
        (WRITING, ev.CancelRequested()),
        (WRITING, ev.AbortRequested()),
        (WRITING, ev.PauseRequested()),
        (WRITING, ev.BudgetChanged(Budget())),
    ],
)
def test_what_fits_is_not_refused(draft: Draft, wanted: Wanted) -> None:
    assert draft_refusal(draft, wanted) is None


@pytest.mark.parametrize(
    ("draft", "wanted", "why"),
    [
        (WAITING, dr.PlanApproved(2), "version 2 is not the newest plan of run demo; that is version 1"),
        (BROKEN, dr.PlanApproved(1), "version 1 of the plan of run demo cannot run: a cycle"),
        (WRITING, dr.PlanApproved(1), "no plan that waits for approval: it is being drafted"),
        (WRITING, dr.PlanRejected(1, ""), "no plan that waits for a person: it is being drafted"),
        (STOPPED, dr.PlanApproved(0), "stopped, because the agent's login or key is refused"),
        (WAITING, ev.UnitReset(UnitId("1")), "has no unit '1': it has not started"),
        (WAITING, ev.AbortRequested(UnitId("1")), "waiting for a person"),
        (OVER, dr.PlanApproved(0), "run demo is cancelled"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(draft: Draft, wanted: Wanted, why: str) -> None:
    assert why in (draft_refusal(draft, wanted) or "")


@pytest.mark.parametrize(("stage", "word"), [(Approved(), "approved"), (HandedOver(), "handed over")])
def test_a_draft_that_has_gone_further_says_so(stage: Approved | HandedOver, word: str) -> None:
    draft = Draft(facts=FACTS, budget=Budget(), versions=(GOOD,), stage=stage)
    assert word in (draft_refusal(draft, dr.PlanRejected(1, "")) or "")
