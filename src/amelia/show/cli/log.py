"""`amelia log RUN [UNIT]`: what happened in a run."""

import json
from collections.abc import Iterator

import click

from amelia.app.people import RefusedError
from amelia.model import events as ev
from amelia.model.git import ref_component
from amelia.model.journal import Recorded, since_start
from amelia.model.plan import Mode
from amelia.record.journal import read_journal
from amelia.record.runs import RunDirectory
from amelia.schedule.machine import evolve, fold
from amelia.show.cli.naming import named_run
from amelia.show.run.draft_lines import draw_draft_change
from amelia.show.run.events import event_json
from amelia.show.run.lines import draw_change
from amelia.show.text import printable


def _notes(event: ev.Event, line: str) -> Iterator[str]:
    """Yields every note of the checks, but for the first one if the line of the event has room for it."""
    if isinstance(event, ev.AttemptVerified):
        notes = [f"noted: {printable(note)}" for note in event.notes]
        yield from notes[1:] if notes and notes[0] in line else notes


def _details(event: ev.Event) -> Iterator[str]:
    """Yields what a line has no room for: why checks failed, what was found, what a person is asked."""
    match event:
        case ev.AttemptVerified(passed=False, feedback=text) | ev.LandingRefused(feedback=text):
            yield from (printable(line) for line in text.splitlines())
        case ev.StepBroke(detail=text):
            yield from (printable(line) for line in text.splitlines())
        case ev.AttemptReviewed(findings=findings):
            yield from (f"- {printable(str(finding))}" for finding in findings)
        case _:
            return


def _tell_draft(recorded: Recorded, directory: RunDirectory, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(event_json(recorded, run=directory.run, mode=Mode.TASKS), ensure_ascii=False))
    elif line := draw_draft_change(recorded, directory.run):
        click.echo(line)


@click.command("log")
@click.argument("run")
@click.argument("unit", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
def command(*, run: str, unit: str | None, as_json: bool) -> None:
    """Show what happened in RUN, or to its UNIT, and where its agents' sessions are recorded."""
    directory = named_run(run)
    past = read_journal(directory.journal)
    begun = since_start(past)
    for recorded in past[: len(past) - len(begun)] if unit is None else ():
        _tell_draft(recorded, directory, as_json=as_json)
    if not begun:
        return
    state = fold([begun[0].event])
    known = {getattr(recorded.event, "unit", None) for recorded in begun} | state.units.keys()
    if unit is not None and unit not in known:
        raise RefusedError(f"run {directory.run} has no unit {unit!r}", hint=f"amelia status {directory.run}")
    for recorded in begun:
        state = evolve(state, recorded.event) if recorded is not begun[0] else state
        if unit is not None and getattr(recorded.event, "unit", None) != unit:
            continue
        if as_json:
            told = event_json(recorded, run=directory.run, mode=state.facts.mode)
            click.echo(json.dumps(told, ensure_ascii=False))
        elif line := draw_change(recorded, state):
            click.echo(line)
            details = _details(recorded.event) if unit is not None else ()
            for text in (*_notes(recorded.event, line), *details):
                click.echo(f"    {text}")
    if not as_json:
        click.echo(f"sessions: {directory.path / 'transcripts' / (ref_component(unit) if unit else '')}")
