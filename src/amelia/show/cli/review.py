"""`amelia review`: what is in the checkout is reviewed, and what was found can be run as a plan."""

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import click

from amelia.app.plans import compile_with
from amelia.app.reviews import Judgement, Review, files_of, judge_review, keep_snapshot, open_review
from amelia.app.runs import NewRun, begin_run
from amelia.config.places import state_home
from amelia.judge.generated import left_out_text
from amelia.land.deliver import branch_name, landed_tip
from amelia.model.delivery import Finish
from amelia.model.findings import Disposition, Finding, Ruling
from amelia.model.plan import Mode
from amelia.model.settings import Settings
from amelia.plan.findings import plan_of
from amelia.record.runs import RunDirectory
from amelia.show.cli.chosen import Chosen, run_options, settings_here
from amelia.show.cli.driving import drive
from amelia.show.cli.tree import draw_plan
from amelia.show.text import counted, printable

_RULED = {
    Disposition.IMPLEMENT: "to be mended",
    Disposition.REJECT: "rejected",
    Disposition.DEFER: "put off",
    Disposition.CLARIFY: "yours to decide",
}


@click.command("review")
@click.option("--base", metavar="REV", help="Review everything since REV, committed or not.")
@click.option("--fix", is_flag=True, help="Run what is to be implemented as a plan.")
@run_options
@click.option("--yes", is_flag=True, help="Do not ask before the plan is run.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def command(*, base: str | None, fix: bool, yes: bool, as_json: bool, **chosen: Unpack[Chosen]) -> None:
    """Review what is not committed: staged or not, untracked files too, but not ignored ones.

    The tests are executed first, if there are any; then the reviewer reads, and on a rejection the evaluator
    rules every finding. Your files, index, branches and stash are not touched.

    Exits 0 when the changes are approved or there are none, 1 when findings are left or no valid review came.
    With --fix the findings become a plan that runs from what was reviewed, and the exit code is that of the
    run.
    """
    settings = settings_here(chosen)
    is_asking = not (yes or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    with open_review(Path.cwd(), base=base, home=state_home()) as review:
        for path in review.captured.left_out:
            _progress(f"left out: changes inside the submodule {path}; {_reviewing(path)}")
        if review.captured.generated:
            _progress(left_out_text(review.captured.generated, "reviewed"))
        if review.is_empty:
            click.echo(json.dumps(_left_out(review)) if as_json else "there is nothing to review")
            return
        judgement = judge_review(review, settings.run, _progress)
        _show(review, judgement, as_json=as_json)
        if not fix or not judgement.to_implement:
            if judgement.to_implement and not as_json:
                click.echo("to have that mended on a branch: amelia review --fix, with the same options")
            raise SystemExit(1 if judgement.left else 0)
        directory = _begin_fix(review, judgement, settings, as_json=as_json, is_asking=is_asking)
        code = drive(directory, as_json=as_json)
        click.echo(_taking(review, directory, is_complete=code == 0), err=as_json)
        raise SystemExit(code)


def _progress(line: str) -> None:
    click.echo(printable(line), err=True)


def _reviewing(path: str) -> str:
    return f"to have them reviewed: cd {shlex.quote(path)} && amelia review"


def _left_out(review: Review) -> dict[str, object]:
    return {"left_out": list(review.captured.left_out)} if review.captured.left_out else {}


def _show(review: Review, judgement: Judgement, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_as_json(review, judgement), ensure_ascii=False))
        return
    for finding, ruling in judgement.findings:
        click.echo("\n".join(map(printable, _lines(finding, ruling))))
    if judgement.left:
        click.echo(
            f"not approved: {counted(len(judgement.left), 'finding')} left of {len(judgement.findings)}"
        )
    else:
        click.echo("approved")


def _lines(finding: Finding, ruling: Ruling | None) -> Iterator[str]:
    yield f"{finding.place or 'as a whole'}: {finding.weight}"
    yield from (f"    {line}" for line in finding.text.splitlines())
    if ruling is not None:
        first, *more = ruling.reason.splitlines() or [""]
        yield f"    {_RULED[ruling.disposition]}{': ' if first else ''}{first}"
        yield from (f"    {line}" for line in more)


def _as_json(review: Review, judgement: Judgement) -> dict[str, object]:
    return {
        "review": review.directory.run,
        "base": review.base,
        "tree": review.captured.tree,
        "approved": not judgement.left,
        "checks": judgement.checks,
        "findings": [
            {
                "file": finding.file,
                "line": finding.line,
                "weight": finding.weight,
                "text": finding.text,
                "ruling": ruling.disposition if ruling else None,
                "reason": ruling.reason if ruling else None,
            }
            for finding, ruling in judgement.findings
        ],
        "kept": str(review.directory.path),
        **_left_out(review),
    }


def _begin_fix(
    review: Review, judgement: Judgement, settings: Settings, *, as_json: bool, is_asking: bool
) -> RunDirectory:
    """Makes a run of the findings that are to be implemented, once it was shown."""
    text = plan_of(judgement.to_implement, files_of(review))
    compiled = compile_with(text.encode(), settings.plan, mode=Mode.TASKS)
    if not as_json:
        draw_plan(compiled, name="what the review found")
    if is_asking:
        click.confirm("\nRun this plan?", default=True, abort=True)
    # The branch starts from the snapshot, so that nothing but a person can put it where it belongs.
    # A checkout that is not committed takes what was mended, and not the record of it.
    is_kept = settings.run.commit_record and review.captured.is_committed
    run = replace(settings.run, finish=Finish.LEAVE, commit_record=is_kept)
    new = NewRun(
        compiled=compiled,
        plan_path=None,
        data=text.encode(),
        settings=run,
        repository=review.source.top,
        base=keep_snapshot(review),
        is_again=True,
    )
    return begin_run(new, home=state_home())


def _taking(review: Review, directory: RunDirectory, *, is_complete: bool) -> str:
    """Returns what puts that which was mended into the checkout that was reviewed, as far as it landed."""
    branch, start = branch_name(directory.run), review.captured.commit
    command = f"git diff --binary {start} {branch} | git apply"
    if review.captured.is_committed:
        command = f"git merge --ff-only {branch}"
    if landed_tip(review.source, directory.run) is None:
        return (
            f"no fix has landed, so there is nothing to take yet; amelia status {directory.run} says how it "
            f"can go on, and once a fix has landed it is taken with: {command}"
        )
    if is_complete:
        return f"to take the fixes: {command}"
    return f"not all fixes have landed; to take those that have: {command}"
