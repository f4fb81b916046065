"""How far the delivery of a run is, event by event."""

import pytest

from amelia.model.delivery import (
    MERGES,
    Delivery,
    DeliveryRefused,
    Finish,
    FinishChosen,
    RunDelivered,
    RunUndone,
)
from amelia.model.outcome import Reason, Result
from amelia.run.requests import refusal
from amelia.schedule.decide import decide
from runs import chain, commit

MERGED = RunDelivered(Finish.MERGE, commit("tip"), "main")


def test_what_nobody_asked_for_is_not_due() -> None:
    assert not Delivery().is_due
    assert Delivery(Finish.MERGE).is_due


def test_a_delivery_is_due_until_it_is_done() -> None:
    refused = Delivery(Finish.MERGE).after(DeliveryRefused(Finish.MERGE, "dirty"))
    assert refused.is_due
    done = refused.after(MERGED)
    assert not done.is_due
    assert done.refused is None


def test_another_delivery_can_follow_one_that_is_done() -> None:
    assert Delivery(Finish.MERGE).after(MERGED).after(FinishChosen(Finish.PR)).is_due


def test_what_was_taken_back_is_not_delivered_again_by_itself() -> None:
    undone = Delivery(Finish.MERGE).after(MERGED).after(RunUndone("refs/x"))
    assert not undone.is_due
    assert undone.done is None
    assert undone.after(FinishChosen(Finish.MERGE)).is_due


def test_a_delivery_changes_no_outcome_and_asks_for_no_work() -> None:
    story = chain(1, finish=Finish.MERGE).whole("1").end(Result.COMPLETED)
    assert story.run.delivery.is_due
    for event in (FinishChosen(Finish.PR), DeliveryRefused(Finish.PR, "no gh"), MERGED, RunUndone("refs/x")):
        outcome = story.run.outcome
        assert story.tell(event).run.outcome == outcome
        assert not decide(story.run)


def test_only_a_run_that_was_given_up_cannot_be_delivered() -> None:
    wish = FinishChosen(Finish.PR)
    assert refusal(chain(1).run, wish) is None
    assert refusal(chain(1).whole("1").end(Result.COMPLETED).run, wish) is None
    assert refusal(chain(1).start("1").fail("1").end(Result.HALTED, Reason.VERIFY_LIMIT).run, wish) is None
    assert refusal(chain(1).end(Result.ABORTED).run, wish) == "run demo is aborted; nothing can change that"


def test_what_is_merged_is_not_merged_once_more_in_another_way() -> None:
    for first in MERGES.values():
        merged = Delivery(first).after(RunDelivered(first, commit("tip"), "main"))
        assert all(merged.has(second) for second in MERGES.values())
        assert not any(merged.after(FinishChosen(second)).is_due for second in MERGES.values())
        assert not merged.has(Finish.PR)
        assert merged.after(RunUndone("refs/x")).after(FinishChosen(first)).is_due


@pytest.mark.parametrize(
    ("wish", "options"),
    [
        (FinishChosen(Finish.LEAVE), ("--leave",)),
        (FinishChosen(Finish.MERGE), ("--merge", "ff")),
        (FinishChosen(Finish.SQUASH, without_record=True), ("--merge", "squash", "--without-record")),
        (FinishChosen(Finish.MERGE_COMMIT), ("--merge", "commit")),
        (FinishChosen(Finish.PR), ("--pr",)),
    ],
)
def test_a_wish_is_kept_as_it_was_said_and_can_be_typed_again(
    wish: FinishChosen, options: tuple[str, ...]
) -> None:
    kept = Delivery().after(wish)
    assert (kept.wish, kept.wish.options) == (wish, options)
    assert kept.after(RunDelivered(wish.finish, commit("tip"), "main")).wish == wish
