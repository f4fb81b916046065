"""`amelia undo RUN`: a run that has landed is taken back."""

import json
import sys
from typing import assert_never

import click

from amelia.app.undo import find_way, undo
from amelia.land.deliver import branch_name
from amelia.land.undo import Back, LeftOnBranch, Revert, TakeAway
from amelia.model.delivery import RunUndone
from amelia.record.journal import SqliteJournal
from amelia.show.cli.naming import named_run
from amelia.show.text import printable


@click.command("undo")
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else; asks nothing.")
def command(*, run: str, yes: bool, as_json: bool) -> None:
    """Take RUN back, without touching other work.

    A branch that was merged nowhere is taken away, and kept under refs/amelia/. What was merged into the
    branch that is checked out is reverted by one new commit. Where that is not possible, everything stays as
    it is. Exits 4 when you have to do something first, or to confirm: without a terminal, with --yes.
    """
    directory = named_run(run)
    with SqliteJournal(directory.journal) as journal:
        undoing = find_way(directory, journal)
        way = undoing.way
        if way is None:
            _tell(f"nothing of run {directory.run} landed; there is nothing to take back", as_json=as_json)
            return
        if not isinstance(way, Back) and not yes and not _is_confirmed(_plan(way, directory.run)):
            raise SystemExit(4)
        _report(undo(undoing, way), directory.run, as_json=as_json)


def _is_confirmed(plan: str) -> bool:
    click.echo(printable(plan), err=True)
    if sys.stdin.isatty() and sys.stdout.isatty():
        return click.confirm("Do it?", default=False)
    click.echo("nothing was done; --yes does it", err=True)
    return False


def _plan(way: TakeAway | Revert, run: str) -> str:
    match way:
        case TakeAway():
            return f"the branch {branch_name(run)} is merged nowhere; it goes, and its commits are kept"
        case Revert(steps):
            count = len(steps)
            what = "what it landed" if count == 1 else f"{count} commits of it"
            return f"run {run} is in the branch that is checked out; one new commit reverts {what}"
        case _:
            assert_never(way)


def _report(done: RunUndone | LeftOnBranch, run: str, *, as_json: bool) -> None:
    match done:
        case RunUndone(kept, None):
            text = f"run {run} is taken back; to have it again: git branch {branch_name(run)} {kept}"
            _tell(text, as_json=as_json, kept=kept)
        case RunUndone(kept, revert):
            text = f"run {run} is taken back by {revert}; its branch {kept} stays"
            _tell(text, as_json=as_json, kept=kept, revert=revert)
        case LeftOnBranch(branch, problem):
            take = f"git merge --ff-only {branch}"
            text = f"{problem}\nthe commit that takes run {run} back is on a branch: {take}"
            _tell(text, as_json=as_json, branch=branch, problem=problem, command=take)
            raise SystemExit(4)
        case _:
            assert_never(done)


def _tell(text: str, *, as_json: bool, **facts: str | None) -> None:
    if as_json:
        click.echo(json.dumps({"is_undone": "branch" not in facts, **facts}, ensure_ascii=False))
        return
    for line in text.splitlines():
        click.echo(printable(line))
