"""`amelia report RUN`: what a run did, what proves it, and what it cost."""

import json
from dataclasses import asdict

import click

from amelia.app.reports import make_report
from amelia.context.report import report_page
from amelia.show.cli.naming import named_run
from amelia.show.text import printable


@click.command("report")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(*, run: str, as_json: bool) -> None:
    """Show what landed in RUN and what proves it, what was put off, what waits, and what it cost."""
    report = make_report(named_run(run))
    if as_json:
        click.echo(json.dumps(asdict(report)))
        return
    for line in report_page(report).splitlines():
        click.echo(printable(line))
