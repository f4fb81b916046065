"""`amelia approve RUN`: the plan of a run is what a person wants, and runs."""

import click

from amelia.app.drafting import waiting_draft
from amelia.model.drafts import PlanApproved
from amelia.record.versions import read_version
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish


@click.command("approve")
@click.argument("run")
def command(*, run: str) -> None:
    """Approve the newest plan of RUN; it runs in the background."""
    directory = named_run(run)
    draft = waiting_draft(directory)
    version = draft.version
    if draft.newest is not None:
        read_version(directory, draft.newest)  # what somebody tampered with is not approved
    said = f"version {version} of the plan of run {directory.run} is approved"
    carry_wish(directory, PlanApproved(version), said=said)
