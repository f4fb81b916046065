"""`amelia status`: the runs of a repository, or where one of them stands."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from amelia.app.history import Known, KnownDraft, take_inventory
from amelia.config.places import state_home
from amelia.model.journal import since_start
from amelia.model.proposal import Draft
from amelia.model.state import Landed
from amelia.record.journal import is_driven, read_journal
from amelia.record.runs import RunDirectory
from amelia.schedule.decide import is_over
from amelia.schedule.draft import fold_draft
from amelia.schedule.machine import fold
from amelia.schedule.standing import run_status
from amelia.show.cli.naming import named_run
from amelia.show.draft import PlanView, choice_lines, standing_in_words, standing_of, view_json, view_lines
from amelia.show.run.projection import status_json
from amelia.show.run.spans import charset_for, painted, text_of
from amelia.show.run.standing import outcome_in_words
from amelia.show.run.times import Timeline, instant
from amelia.show.run.tree import draw_run
from amelia.show.text import fit, printable
from amelia.workspace.source import open_source

_WIDE = 100


@click.command("status")
@click.argument("run", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(*, run: str | None, as_json: bool) -> None:
    """List the runs of this repository, newest first; or show where RUN stands."""
    if run is None:
        inventory = take_inventory(state_home())
        here = str(open_source(Path.cwd()).top)
        found = [
            *(known for known in inventory.runs if known.run.facts.repository == here),
            *(known for known in inventory.drafts if known.draft.facts.repository == here),
        ]
        found.sort(key=lambda known: known.at, reverse=True)
        click.echo(_runs_json(found) if as_json else _runs_text(found))
        for one in inventory.lost:
            click.echo(f"note: {one.directory.run} cannot be read: {printable(one.problem)}", err=True)
            click.echo("  it is kept; amelia gc --all --dry-run says what you can do", err=True)
    else:
        _show(named_run(run), as_json=as_json)


def _show(directory: RunDirectory, *, as_json: bool) -> None:
    past = read_journal(directory.journal)
    if not since_start(past):
        _show_draft(fold_draft(recorded.event for recorded in past), as_json=as_json)
        return
    run = fold(recorded.event for recorded in past)
    timeline = Timeline().after(past)
    if as_json:
        click.echo(json.dumps(status_json(run, timeline), indent=2, ensure_ascii=False))
        return
    columns = shutil.get_terminal_size((_WIDE, 24)).columns
    charset = charset_for(sys.stdout.encoding)
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in draw_run(run, timeline, datetime.now(UTC).astimezone(), width=columns, charset=charset):
        click.echo(painted(line) if is_coloured else text_of(line))
    if not is_over(run) and not is_driven(directory.journal):
        click.echo(f"\nnobody drives this run: amelia resume {directory.run}")


def _show_draft(draft: Draft, *, as_json: bool) -> None:
    view = PlanView(draft=draft)
    if as_json:
        click.echo(json.dumps(view_json(view), indent=2, ensure_ascii=False))
        return
    click.echo(printable(draft.facts.goal))
    for line in (*view_lines(view), *choice_lines(draft)):
        click.echo(line)


def _runs_json(runs: Sequence[Known | KnownDraft]) -> str:
    return json.dumps([_run_json(known) for known in runs], indent=2, ensure_ascii=False)


def _run_json(known: Known | KnownDraft) -> dict[str, Any]:
    is_draft = isinstance(known, KnownDraft)
    return {
        "run": known.directory.run,
        "outcome": standing_of(known.draft) if is_draft else run_status(known.run),
        "goal": known.draft.facts.goal if is_draft else known.run.facts.goal,
        "plan": None if is_draft else known.run.facts.plan_path,
        "started_at": instant(known.at),
        "is_driven": known.is_driven,
        "units": 0 if is_draft else len(known.run.units),
        "landed": 0 if is_draft else _landed(known),
    }


def _runs_text(runs: Sequence[Known | KnownDraft]) -> str:
    if not runs:
        return 'no runs of this repository yet: amelia run PLAN, or amelia run "what you want"'
    return "\n".join(map(_row, runs))


def _row(known: Known | KnownDraft) -> str:
    if isinstance(known, KnownDraft):
        standing, far = standing_in_words(known.draft), f"version {known.draft.version}"
        goal = known.draft.facts.goal
    else:
        standing, far = _standing(known), f"{_landed(known)} of {len(known.run.units)} landed"
        goal = known.run.facts.goal
    head = f"{fit(known.directory.run, 32)}  {known.at.astimezone():%Y-%m-%d %H:%M}  {fit(standing, 28)}"
    return f"{head}  {far}  {printable(goal)[:60]}"


def _standing(known: Known) -> str:
    is_left = not is_over(known.run) and not known.is_driven
    return "interrupted" if is_left else outcome_in_words(known.run)


def _landed(known: Known) -> int:
    return sum(isinstance(state, Landed) for state in known.run.units.values())
