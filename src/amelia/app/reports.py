"""The report of a run, at any time: from its journal, its receipts, and the user's repository."""

from amelia.app.people import RefusedError
from amelia.app.workshops import open_workshop
from amelia.context import chronicle as ch
from amelia.context.report import RunReport, report_of
from amelia.model.events import RunStarted
from amelia.record.journal import read_journal
from amelia.record.runs import RunDirectory
from amelia.run.recording import evidence_of
from amelia.schedule.machine import fold
from amelia.schedule.standing import run_standing


def make_report(directory: RunDirectory) -> RunReport:
    """Returns the report of a run that has started."""
    past = read_journal(directory.journal)
    events = [recorded.event for recorded in past]
    facts = next((event for event in events if isinstance(event, RunStarted)), None)
    if facts is None:
        raise RefusedError(
            f"run {directory.run} has not started, and there is nothing to report",
            hint=f"`amelia status {directory.run}` shows what it waits for",
        )
    shop = open_workshop(directory, facts, past)
    told = ch.told(ch.opened(facts), events)
    evidence = evidence_of(told, shop.store, shop.verifier.seen)
    return report_of(told, run_standing(fold(events)), evidence)
