"""Opens a pull request for the branch of a completed run, through `gh`.

Where `gh` cannot do it, nothing is pushed, and the commands that would do all of it are the answer. A branch
that is pushed and a pull request that is open are found again, so that a second try makes no second one.
"""

from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from amelia.land.deliver import again, branch_name, find_offer, refused
from amelia.model.delivery import DeliveryRefused, Finish, FinishChosen, RunDelivered
from amelia.model.facts import RunStarted
from amelia.model.git import branch_ref
from amelia.system.git_checkout import list_remotes, push
from amelia.system.git_places import Source
from amelia.system.hub import (
    Said,
    create_pull_request,
    creation,
    find_pull_request,
    hub_environment,
    is_logged_in,
)

_FIRST = "origin"


@dataclass(frozen=True, slots=True)
class Letter:
    """What a pull request says: a title of one line, and the file that holds the rest."""

    title: str
    body: Path


async def open_pull_request(
    source: Source, facts: RunStarted, letter: Letter, *, without_record: bool = False
) -> RunDelivered | DeliveryRefused:
    """Pushes the branch of a run and opens a pull request for it, or says how."""
    finish, branch = Finish.PR, branch_name(facts.run)
    offer = find_offer(source, facts, wish := FinishChosen(finish, without_record))
    if isinstance(offer, DeliveryRefused):
        return offer
    remote = _remote(source, facts.onto)
    if remote is None:
        add = ["git", "remote", "add", _FIRST, "ADDRESS"]
        return refused(finish, "there is no remote to push to", add, again(facts.run, wish))
    create = creation(branch, onto=facts.onto, title=letter.title, body=letter.body)
    refspec = f"{offer.tip}:{branch_ref(facts.run)}"
    by_hand = (["git", "push", remote, refspec if without_record else branch], create)
    if not await is_logged_in(source.top):
        return refused(finish, "gh is not there, or nobody is logged in to it", *by_hand)
    pushed = await to_thread.run_sync(
        lambda: push(source.repository, remote, refspec, environment=hub_environment())
    )
    if pushed.code != 0:
        return refused(finish, f"{remote} does not take the branch: {pushed.err.strip()[:2000]}", *by_hand)
    found = await find_pull_request(source.top, branch) or await create_pull_request(source.top, create)
    if isinstance(found, Said):
        return refused(finish, f"gh opens no pull request: {found.text or found.code}", create)
    return RunDelivered(finish, offer.tip, found)


def _remote(source: Source, onto: str | None) -> str | None:
    """Returns the remote that the user would push to."""
    known = list_remotes(source.repository)
    said = {entry.key: entry.value for entry in source.config}
    wishes = (said.get(f"branch.{onto}.pushremote"), said.get("remote.pushdefault"))
    usual = (said.get(f"branch.{onto}.remote"), _FIRST, *known)
    return next((name for name in (*wishes, *usual) if name in known), None)
