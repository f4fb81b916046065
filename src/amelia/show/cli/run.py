"""`amelia run PLAN`: every unit of a plan carried out, proved, reviewed and landed."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, TypedDict, Unpack

import click

from amelia.app.people import start_in_background
from amelia.app.plans import compile_with
from amelia.app.runs import NewRun, begin_run, notices
from amelia.config import load_settings
from amelia.config.places import state_home
from amelia.model.plan import Mode
from amelia.model.settings import RunSettings
from amelia.plan.compile import CompiledPlan
from amelia.show.cli.driving import drive
from amelia.show.cli.tree import draw_errors, draw_plan
from amelia.show.text import printable

_STANDARD_INPUT = "standard input"


class _Chosen(TypedDict):
    """What the command line says instead of the settings."""

    driver: str | None
    script: Path | None
    parallel: int | None


@click.command("run")
@click.argument("plan", type=click.File("rb"))
@click.option(
    "--mode",
    type=click.Choice(["auto", *(mode.value for mode in Mode)]),
    default="auto",
    show_default=True,
    help="How the plan is cut into units of work.",
)
@click.option("--driver", metavar="NAME", help="Which agent does the work (script).")
@click.option(
    "--script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The moves of the script driver, a TOML file.",
)
@click.option("--parallel", type=click.IntRange(1, 64), help="How many units may run at the same time.")
@click.option("--base", metavar="REV", help="The commit to start from; HEAD unless told otherwise.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
@click.option("--detach", is_flag=True, help="Leave the run to a process in the background.")
@click.option("--again", is_flag=True, help="Start another run of a plan that is being run already.")
def command(
    *,
    plan: BinaryIO,
    mode: str,
    base: str | None,
    yes: bool,
    no_input: bool,
    as_json: bool,
    detach: bool,
    again: bool,
    **chosen: Unpack[_Chosen],
) -> None:
    """Carry out PLAN (a file, or - for standard input) on the git repository of this directory.

    Every unit gets a fresh agent session in a worktree of its own, is proved by tests, reviewed, and landed
    as one commit on the branch amelia/RUN. Your checkout, branches and stash are not touched.

    Exits 0 when everything landed, 1 when the run halted, 4 when it waits for a person, 5 when the plan
    cannot run, 3 when a setting is wrong, 2 on wrong usage, 130 or 143 when it was stopped.
    """
    settings = load_settings(Path.cwd())
    data = plan.read()
    compiled = compile_with(data, settings.plan, mode=None if mode == "auto" else Mode(mode))
    name = _STANDARD_INPUT if plan.name in {"-", "<stdin>"} else plan.name
    is_asking = not (yes or no_input or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    _check(compiled, name=printable(name), is_asking=is_asking)
    new = NewRun(
        compiled=compiled,
        plan_path=None if name == _STANDARD_INPUT else Path(name),
        data=data,
        settings=_adjusted(settings.run, chosen),
        repository=Path.cwd(),
        base=base,
        is_again=again,
    )
    raise SystemExit(_start(new, as_json=as_json, detach=detach))


def _start(new: NewRun, *, as_json: bool, detach: bool) -> int:
    directory = begin_run(new, home=state_home())
    for notice in notices(directory):
        click.echo(f"note: {printable(notice)}", err=True)
    if not detach:
        return drive(directory, as_json=as_json)
    start_in_background(directory)
    click.echo(f"run {directory.run} goes on in the background: amelia status {directory.run}", err=as_json)
    return 0


def _check(compiled: CompiledPlan, *, name: str, is_asking: bool) -> None:
    """Ends the command if the plan cannot run, has nothing to do, or the person does not want it."""
    if not compiled.can_run:
        draw_errors(compiled, name=name)
        raise SystemExit(5)
    if not compiled.units:
        click.echo(f"{name}: every task is done; there is nothing to run", err=True)
        raise SystemExit(0)
    if is_asking:
        draw_plan(compiled, name=name)
        click.confirm("\nRun this plan?", default=True, abort=True)


def _adjusted(settings: RunSettings, chosen: _Chosen) -> RunSettings:
    if (driver := chosen["driver"]) is not None:
        settings = replace(settings, driver=driver)
    if (script := chosen["script"]) is not None:
        settings = replace(settings, script=str(script.absolute()), driver=settings.driver or "script")
    if (workers := chosen["parallel"]) is not None:
        settings = settings.with_workers(workers)
    return settings
