"""Merges the branch of a completed run where a person asked for it.

Only onto the branch that was checked out when the run started, and only if that branch stands where it stood:
it gets the tree that was verified, as the commits of the run, squashed into one, or by a merge commit.
Merging again what is merged changes nothing. A refusal says what is in the way, and names the commands that
would do it.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from amelia.context.letter import one_line
from amelia.land.checkout import move_checkout
from amelia.land.message import sealed
from amelia.land.record import below_record
from amelia.land.revert import delivery_mark, whole_in
from amelia.model.delivery import DeliveryRefused, Finish, FinishChosen, RunDelivered
from amelia.model.facts import RunStarted
from amelia.model.git import CommitId, Stamp, branch_ref, ref_component, tip_ref
from amelia.system.git_checkout import list_commits
from amelia.system.git_commands import commit_tree, describe_ref, tree_of
from amelia.system.git_places import Source

_LONGEST_SUBJECT = 100
_MOST_LINES = 100


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to deliver of a run: everything since its base, up to a commit."""

    facts: RunStarted
    wish: FinishChosen
    tip: CommitId

    @property
    def name(self) -> str:
        """The offered commit as a person would type it: the branch, unless that holds the record, too."""
        return self.tip if self.wish.without_record else branch_name(self.facts.run)


def branch_name(run: str) -> str:
    """Returns the branch of a run as people write it."""
    return branch_ref(run).removeprefix("refs/heads/")


def landed_tip(source: Source, run: str) -> CommitId | None:
    """Returns what a run has landed last, if it landed anything."""
    found = describe_ref(source.repository, tip_ref(run), "objectname")
    return None if found is None else CommitId(found[0])


def refused(finish: Finish, detail: str, *commands: Sequence[str]) -> DeliveryRefused:
    """Returns a refusal with commands that can be pasted into a shell."""
    return DeliveryRefused(finish, detail, tuple(map(shlex.join, commands)))


def find_offer(source: Source, facts: RunStarted, wish: FinishChosen) -> Offer | DeliveryRefused:
    """Returns what there is to deliver, or why the branch of the run does not hold it."""
    finish, branch = wish.finish, branch_name(facts.run)
    tip = landed_tip(source, facts.run)
    if tip is None:
        return refused(finish, "nothing of the run landed, so there is nothing to deliver")
    found = describe_ref(source.repository, branch_ref(facts.run), "objectname")
    if found is None:
        detail = f"the branch {branch} is gone"
        return refused(finish, detail, ["git", "branch", branch, tip], again(facts.run, wish))
    if found[0] != tip:
        return refused(finish, f"the branch {branch} is not where the run left it, which was {tip}")
    below = below_record(source.repository, facts.run) if wish.without_record else None
    return Offer(facts, wish, below or tip)


def again(run: str, wish: FinishChosen) -> list[str]:
    """Returns the command that tries a delivery once more."""
    return ["amelia", "finish", run, *wish.options]


def find_merge(
    source: Source, facts: RunStarted, wish: FinishChosen
) -> Offer | RunDelivered | DeliveryRefused:
    """Returns what would be merged, that it is merged already, or what is in the way; changes nothing."""
    offer, onto = find_offer(source, facts, wish), facts.onto
    if isinstance(offer, DeliveryRefused):
        return offer
    if onto is None:
        by_hand = ["git", "merge", "--ff-only", offer.name]
        return refused(wish.finish, "no branch was checked out when the run started", by_hand)
    if source.branch != onto:
        now = source.branch or "no branch"
        detail = f"{onto} was checked out when the run started, and now {now} is"
        return refused(wish.finish, detail, ["git", "switch", onto], again(facts.run, wish))
    if (merged := whole_in(source, base=facts.base, tip=offer.tip)) is not None:
        return RunDelivered(wish.finish, merged, onto)
    if source.head not in {None, facts.base}:
        detail = f"{onto} has moved since the run started from {facts.base[:12]}"
        return refused(wish.finish, detail, *_by_hand(offer))
    return offer


def merge_branch(
    source: Source, facts: RunStarted, wish: FinishChosen, *, stamp: Stamp
) -> RunDelivered | DeliveryRefused:
    """Merges what a run landed into the branch that was checked out when it started."""
    offer = find_merge(source, facts, wish)
    if not isinstance(offer, Offer):
        return offer
    assert facts.onto is not None
    commit = _commit(source, offer, stamp=stamp)
    if (problem := move_checkout(source, commit, before=facts.base)) is not None:
        return refused(wish.finish, problem, again(facts.run, wish))
    return RunDelivered(wish.finish, commit, facts.onto)


def _by_hand(offer: Offer) -> list[list[str]]:
    """Returns the commands that merge an offer into a branch that moved."""
    match offer.wish.finish:
        case Finish.SQUASH:
            return [["git", "merge", "--squash", offer.name], ["git", "commit", "--no-edit"]]
        case Finish.MERGE_COMMIT:
            return [["git", "merge", "--no-ff", "--no-edit", offer.name]]
        case _:
            return [["git", "merge", offer.name]]


def _commit(source: Source, offer: Offer, *, stamp: Stamp) -> CommitId:
    """Stores the commit that the other branch is to be at, with the tree of the offer in any case."""
    finish, facts, onto = offer.wish.finish, offer.facts, source.head or offer.facts.base
    if finish is Finish.MERGE:
        return offer.tip
    return commit_tree(
        source.repository,
        tree_of(source.repository, offer.tip),
        parents=(onto,) if finish is Finish.SQUASH else (onto, offer.tip),
        message=_message(source, offer, f"Merge run {facts.run}" if finish is Finish.MERGE_COMMIT else ""),
        stamp=stamp,
        is_signed=source.is_signing,
    )


def _message(source: Source, offer: Offer, subject: str) -> str:
    """Returns the text of a commit that brings a run: its goal, what landed, and the marks of both."""
    facts = offer.facts
    goal = one_line(facts.goal, _LONGEST_SUBJECT) or f"Run {facts.run}"
    units = below_record(source.repository, facts.run) or offer.tip
    landed = list_commits(source.repository, facts.base, units)
    lines = [f"- {one_line(commit.subject)}" for commit in landed[:_MOST_LINES]]
    if len(landed) > _MOST_LINES:
        lines.append(f"- and {len(landed) - _MOST_LINES} more")
    marks = {"Amelia-Run": ref_component(facts.run), **delivery_mark(offer.tip)}
    return sealed("\n\n".join(part for part in (subject, goal, "\n".join(lines)) if part), marks)
