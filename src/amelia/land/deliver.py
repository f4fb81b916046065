"""Merges the branch of a completed run where a person asked for it.

Only onto the branch that was checked out when the run started, only forward, and only if that branch stands
where it stood. Merging again what is merged changes nothing. A refusal says what is in the way, and names the
commands that would do it.
"""

import shlex
from collections.abc import Sequence

from amelia.land.checkout import move_checkout
from amelia.model.delivery import DeliveryRefused, Finish, RunDelivered
from amelia.model.facts import RunStarted
from amelia.model.git import CommitId, branch_ref, tip_ref
from amelia.system.git_checkout import is_ancestor
from amelia.system.git_commands import describe_ref
from amelia.system.git_places import Source


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


def branch_problem(source: Source, facts: RunStarted, *, finish: Finish) -> CommitId | DeliveryRefused:
    """Returns the commit to deliver, or why the branch of the run does not hold it."""
    tip, branch = landed_tip(source, facts.run), branch_name(facts.run)
    if tip is None:
        return refused(finish, "nothing of the run landed, so there is nothing to deliver")
    found = describe_ref(source.repository, branch_ref(facts.run), "objectname")
    if found is None:
        detail = f"the branch {branch} is gone"
        return refused(finish, detail, ["git", "branch", branch, tip], again(facts.run, finish))
    if found[0] != tip:
        return refused(finish, f"the branch {branch} is not where the run left it, which was {tip}")
    return tip


def again(run: str, finish: Finish) -> list[str]:
    """Returns the command that tries a delivery once more."""
    return ["amelia", "finish", run, *(["--merge", "ff"] if finish is Finish.MERGE else ["--pr"])]


def merge_branch(source: Source, facts: RunStarted) -> RunDelivered | DeliveryRefused:
    """Fast-forwards the branch that was checked out when a run started to what the run landed."""
    finish, branch, onto = Finish.MERGE, branch_name(facts.run), facts.onto
    tip = branch_problem(source, facts, finish=finish)
    if isinstance(tip, DeliveryRefused):
        return tip
    by_hand, once_more = ["git", "merge", "--ff-only", branch], again(facts.run, finish)
    if onto is None:
        return refused(finish, "no branch was checked out when the run started", by_hand)
    if source.branch != onto:
        now = source.branch or "no branch"
        detail = f"{onto} was checked out when the run started, and now {now} is"
        return refused(finish, detail, ["git", "switch", onto], once_more)
    if source.head is not None and is_ancestor(source.repository, tip, source.head):
        return RunDelivered(finish, tip, onto)
    if source.head not in {None, facts.base}:
        detail = f"{onto} has moved since the run started from {facts.base[:12]}"
        return refused(finish, detail, ["git", "merge", branch])
    if (problem := move_checkout(source, tip, before=facts.base)) is not None:
        return refused(finish, problem, once_more)
    return RunDelivered(finish, tip, onto)
