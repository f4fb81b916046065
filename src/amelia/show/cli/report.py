"""`amelia report RUN`: what a run did, what proves it, and what it cost."""

import json
from dataclasses import asdict

import click

from amelia.app.reports import make_report
from amelia.config.places import state_home
from amelia.context.report import report_page
from amelia.record.runs import find_run
from amelia.show.text import printable


@click.command("report")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(*, run: str, as_json: bool) -> None:
    """Show what landed in RUN and what proves it, what was put off, what waits, and what it cost."""
    report = make_report(find_run(state_home(), run))
    if as_json:
        click.echo(json.dumps(asdict(report)))
        return
    for line in report_page(report).splitlines():
        click.echo(printable(line))
