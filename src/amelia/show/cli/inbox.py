"""`amelia inbox`: everything that waits for a person."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from amelia.config.places import state_home
from amelia.show.cli.waiting import waiting_items
from amelia.show.output import styled
from amelia.show.run.inbox import Item, inbox_json
from amelia.show.run.times import duration, lasted
from amelia.show.text import printable
from amelia.workspace.source import open_source

_MOST_DETAIL = 8
_SHOWN = 8


@click.command("inbox")
@click.option("--all", "everywhere", is_flag=True, help="Show what waits in all repositories, not only here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(*, everywhere: bool, as_json: bool) -> None:
    """Show everything that waits for you: why, what it blocks, and what each choice does."""
    here = None if everywhere else str(open_source(Path.cwd()).top)
    items = list(waiting_items(state_home(), repository=here))
    if as_json:
        click.echo(json.dumps(inbox_json(items), indent=2, ensure_ascii=False))
        return
    if not items:
        click.echo("nothing waits for you")
    for item in items:
        click.echo("".join(f"{line}\n" for line in _lines(item, datetime.now(UTC))))


def _lines(item: Item, now: datetime) -> Iterator[str]:
    waited = lasted(item.since, now)
    yield styled(printable(f"? {item.id}: {item.why}"), "bold")
    time = "" if waited is None else f", waits for {duration(waited)}"
    yield f"    {item.kind}{time}: {printable(item.goal)}"
    if item.blocks:
        more = " …" if len(item.blocks) > _SHOWN else ""
        yield f"    blocks {printable(', '.join(item.blocks[:_SHOWN]))}{more}"
    detail = [line for line in item.detail.splitlines() if line.strip()]
    yield from (f"    | {printable(line)}" for line in detail[:_MOST_DETAIL])
    if item.question is not None and item.question.default is not None:
        yield f"    by default{_when(item.question.deadline, now)}: {printable(item.question.default)}"
    widest = max((len(way.command) for way in item.choices), default=0)
    for way in item.choices:
        yield f"    {printable(way.command).ljust(widest)}  {printable(way.effect)}"


def _when(deadline: str | None, now: datetime) -> str:
    """Says when the default of a question counts; nobody drives a run only because time passes."""
    if deadline is None:
        return ""
    is_up = datetime.fromisoformat(deadline) <= now
    return ", for its time is up, as soon as the run goes on" if is_up else f" after {deadline}"
