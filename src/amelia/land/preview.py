"""What would reach a branch if a run were delivered: commits, files of the work, and files of the record."""

from dataclasses import dataclass

from amelia.land.deliver import Offer
from amelia.land.record import below_record
from amelia.model.delivery import Finish
from amelia.system.git_checkout import Logged, list_commits
from amelia.system.git_commands import changed_paths
from amelia.system.git_places import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The commits and files of a delivery; `record_place` is the directory of the record.

    `red` are the tests that fail there: what was to make them pass was skipped.
    """

    finish: Finish
    onto: str | None
    commits: tuple[Logged, ...]
    files: tuple[str, ...]
    record: tuple[str, ...]
    record_place: str
    red: tuple[str, ...] = ()


def preview(source: Source, offer: Offer) -> Preview:
    """Returns what an offer brings."""
    where, facts = source.repository, offer.facts
    units = below_record(where, facts.run) or offer.tip
    return Preview(
        finish=offer.wish.finish,
        onto=facts.onto,
        commits=tuple(list_commits(where, facts.base, offer.tip)),
        files=tuple(path for _, path in changed_paths(where, facts.base, units)),
        record=tuple(path for _, path in changed_paths(where, units, offer.tip)),
        record_place=facts.record_place.path,
    )
