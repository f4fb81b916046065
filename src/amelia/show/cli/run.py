"""`amelia run PLAN` or `amelia run "goal"`: every unit of a plan carried out, proved, reviewed, landed."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

import anyio
import click

from amelia.app.agents import choose_agents, missing_of
from amelia.app.people import start_in_background
from amelia.app.plans import compile_with
from amelia.app.runs import NewRun, begin_run, notices
from amelia.app.terms import RunTerms, terms_of, terms_of_new
from amelia.config.places import state_home
from amelia.model.agents import AUTO, Role
from amelia.model.plan import Mode
from amelia.model.settings import RunSettings, Settings
from amelia.plan.compile import CompiledPlan
from amelia.plan.preamble import tracker_of
from amelia.plan.source import LARGEST
from amelia.record.runs import RunDirectory, started
from amelia.show.cli.chosen import Chosen, run_options, settings_here, tracker_option
from amelia.show.cli.driving import drive
from amelia.show.cli.finishing import delivery_notices, finish_options, point_on
from amelia.show.cli.goals import Wanted, begin_draft, may_ask, path_of, settle
from amelia.show.cli.tree import draw_errors, draw_plan
from amelia.show.terms import terms_lines
from amelia.show.text import printable
from amelia.system.git import check_git
from amelia.system.regular import read_regular

_STANDARD_INPUT = "standard input"
_LONGEST_NAME = 3  # words
_PLAN_SUFFIXES = (".md", ".markdown", ".txt", ".json", ".yaml", ".yml", ".toml")
_MAY_DIFFER = ("tests:", "agents:")
"""Terms that a checkout tells less exactly than the base of a run, or that were chosen anew since."""


@click.command("run")
@click.argument("plan", metavar="PLAN|GOAL", required=False)
@click.option(
    "--mode",
    type=click.Choice(["auto", *(mode.value for mode in Mode)]),
    default="auto",
    show_default=True,
    help="How the plan is cut into units of work.",
)
@click.option(
    "--issue",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Markdown file with what is asked for, instead of a plan; its title is the goal.",
)
@run_options
@click.option("--base", metavar="REV", help="The commit to start from; HEAD unless told otherwise.")
@tracker_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
@click.option("--detach", is_flag=True, help="Leave the run to a process in the background.")
@finish_options
@click.option("--again", is_flag=True, help="Start another run of a plan that is being run already.")
def command(  # noqa: PLR0913 - one for every option
    *,
    plan: str | None,
    mode: str,
    issue: Path | None,
    base: str | None,
    tracker: str | None,
    yes: bool,
    no_input: bool,
    as_json: bool,
    detach: bool,
    again: bool,
    **chosen: Unpack[Chosen],
) -> None:
    """Carry out PLAN (a file, or - for standard input) on the git repository of this directory.

    A GOAL, which is a sentence, and an --issue are planned by the architect first; that plan is carried out
    once you approve it, or at once with --yes.

    Every unit gets a fresh agent session in a worktree of its own, is proved by tests, reviewed, and landed
    as one commit on the branch amelia/RUN. Your checkout, branches and stash are not touched.

    Exits 0 when everything landed, 1 when the run halted, 4 when it waits for a person, 5 when the plan
    cannot run, 6 when the budget is used up, 3 when a setting is wrong or no agent is ready, 2 on wrong
    usage, 130 or 143 when it was stopped.
    """
    settings = settings_here(chosen)
    asked = None if mode == "auto" else Mode(mode)
    is_asking = not yes and may_ask(no_input=no_input, as_json=as_json)
    if issue is not None or _is_goal(plan):
        wanted = Wanted(settings, mode=asked, base=base, tracker=tracker, is_hands_off=yes)
        directory, follow = begin_draft(plan, issue, wanted), partial(settle, is_asking=is_asking)
    else:
        name, new = _new(plan, settings, mode=asked)
        new = replace(new, base=base, tracker_id=tracker or new.tracker_id, is_again=again)
        is_said = chosen.get("parallel") is not None
        directory, follow = _begin(new, name if is_asking else None, is_parallel_said=is_said), drive
    if detach:
        raise SystemExit(_leave(directory, as_json=as_json))
    raise SystemExit(point_on(directory, follow(directory, as_json=as_json), as_json=as_json))


def _new(said: str | None, settings: Settings, *, mode: Mode | None) -> tuple[str, NewRun]:
    """Returns the run of a plan, with the plan's name as it is shown; ends the command if it cannot run."""
    name, data = _read(said)
    compiled = compile_with(data, settings.plan, mode=mode, near=Path.cwd())
    _check(compiled, name=printable(name))
    path = None if name == _STANDARD_INPUT else Path(name)
    repository = Path.cwd()
    new = NewRun(
        compiled=compiled,
        plan_path=path,
        data=data,
        settings=settings.run,
        repository=repository,
        tracker_id=tracker_of(compiled.plan, path.stem if path is not None else ""),
    )
    return printable(name), new


def _ask(new: NewRun, *, name: str, is_parallel_said: bool) -> RunTerms:
    """Shows a plan and the terms of its run; ends the command if the person does not want it."""
    check_git()
    chosen = replace(new, settings=replace(new.settings, agents=anyio.run(choose_agents, new.settings)))
    terms = terms_of_new(chosen, home=state_home(), is_parallel_said=is_parallel_said)
    draw_plan(new.compiled, name=name)
    for line in terms_lines(terms):
        click.echo(line, err=True)
    click.confirm("\nRun this plan?", default=True, abort=True)
    return terms


def _begin(new: NewRun, name: str | None, *, is_parallel_said: bool) -> RunDirectory:
    """Makes the run, and says on which terms.

    With a name, a person is asked first; of terms that were confirmed only what differs is said again.
    """
    confirmed = _ask(new, name=name, is_parallel_said=is_parallel_said) if name is not None else None
    directory = begin_run(new, home=state_home())
    found = started(directory)
    assert found is not None
    terms = terms_of(new, found[1], home=state_home(), is_parallel_said=is_parallel_said)
    before = set(terms_lines(confirmed)) if confirmed is not None else set[str]()
    for line in terms_lines(terms):
        if confirmed is None or (line.startswith(_MAY_DIFFER) and line not in before):
            click.echo(line, err=True)
    for notice in (*_choices(new.settings, directory), *notices(directory), *delivery_notices(found[1])):
        click.echo(f"note: {printable(notice)}", err=True)
    return directory


def _is_goal(said: str | None) -> bool:
    """Says whether this is a goal: a sentence, and neither a file nor the name of one that is missing."""
    return said is not None and len(said.split()) > 1 and path_of(said) is None and not _is_plan_name(said)


def _is_plan_name(said: str) -> bool:
    """Says whether a few words are the name of a missing file; they ask if a file is there by the last."""
    words = said.split()
    is_named = words[-1].casefold().endswith(_PLAN_SUFFIXES) and len(words) <= _LONGEST_NAME
    return is_named and path_of(words[-1]) is None


def _read(said: str | None) -> tuple[str, bytes]:
    """Returns the name and the text of a plan."""
    if said is None:
        raise click.UsageError(
            "there is nothing to run: name a plan, say a goal, or give a file with --issue"
        )
    if said == "-":
        return _STANDARD_INPUT, sys.stdin.buffer.read(LARGEST + 1)
    path = path_of(said)
    if path is None or not path.is_file():
        is_name = len(said.split()) > 1 and _is_plan_name(said)
        why = "it ends like a file's name (a goal may end with a full stop)" if is_name else "it is one word"
        raise click.BadParameter(
            f"{printable(said)!r} is no plan, for there is no such file, and no goal, for {why}",
            param_hint="PLAN|GOAL",
        )
    return said, read_regular(path, LARGEST + 1)


def _leave(directory: RunDirectory, *, as_json: bool) -> int:
    start_in_background(directory)
    click.echo(f"run {directory.run} goes on in the background: amelia status {directory.run}", err=as_json)
    return 0


def _choices(wanted: RunSettings, directory: RunDirectory) -> Iterator[str]:
    """Yields which agent was chosen where the choice was left to us, and what it lacks."""
    _, facts = found if (found := started(directory)) else (None, None)
    agents = facts.agents.items() if facts is not None else ()
    free = {agent.driver: agent for role, agent in agents if wanted.agents[Role(role)].driver == AUTO}
    for driver, agent in free.items():
        missing = anyio.run(missing_of, agent)
        why = f"though it is not ready: {'; '.join(missing)}" if missing else "the first agent that is ready"
        yield f"{driver} does the work, {why}; --driver names another"


def _check(compiled: CompiledPlan, *, name: str) -> None:
    """Ends the command if the plan cannot run, or has nothing to do."""
    if not compiled.can_run:
        draw_errors(compiled, name=name)
        raise SystemExit(5)
    if not compiled.units:
        click.echo(f"{name}: every task is done; there is nothing to run", err=True)
        raise SystemExit(0)
