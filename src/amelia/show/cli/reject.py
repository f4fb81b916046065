"""`amelia reject RUN "feedback"`: a person wants another plan."""

import click

from amelia.app.drafting import waiting_draft
from amelia.model.drafts import PlanRejected
from amelia.show.cli.naming import named_run
from amelia.show.cli.wishes import carry_wish

_LONGEST = 20_000


@click.command("reject")
@click.argument("run")
@click.argument("words", metavar="FEEDBACK...", nargs=-1, required=True)
def command(*, run: str, words: tuple[str, ...]) -> None:
    """Have the architect write another plan for RUN, with FEEDBACK and the old plan before its eyes."""
    feedback = " ".join(words)
    if not feedback.strip():
        raise click.UsageError("the architect has to know what should change: say it")
    directory = named_run(run)
    version = waiting_draft(directory).version
    said = f"version {version} of the plan of run {directory.run} is rejected; another one is written"
    carry_wish(directory, PlanRejected(version, feedback[:_LONGEST]), said=said)
