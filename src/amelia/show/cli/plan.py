"""`amelia plan "goal"`: a plan for a goal; and what can be done with it: show, edit, diff."""

import difflib
import json
from pathlib import Path
from typing import Unpack

import anyio
import click

from amelia.app.drafting import draft_of, drive_draft, waiting_draft
from amelia.app.people import RefusedError, ask
from amelia.model.drafts import PlanDrafted, PlanHandedOver
from amelia.model.plan import Mode
from amelia.model.proposal import Draft
from amelia.record.journal import SqliteJournal, read_journal
from amelia.record.runs import RunDirectory, proposed
from amelia.record.versions import keep, read_version
from amelia.schedule.draft import fold_draft
from amelia.show.cli.chosen import Chosen, run_options, settings_here, tracker_option
from amelia.show.cli.driving import drive
from amelia.show.cli.goals import WAITS, Wanted, begin_draft, draw_draft, edit_in_editor, view_of
from amelia.show.cli.naming import named_run
from amelia.show.draft import view_json
from amelia.show.output import hand_on
from amelia.show.run.draft_lines import SilentDraft
from amelia.show.text import printable

_PLAN_ERRORS = 5


class _GoalOrCommand(click.Group):
    """A group whose first word may be a goal instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_command = bool(args) and (args[0] in self.commands or args[0] in {"-h", "--help"})
        return super().parse_args(ctx, args if is_command or not args else ["draft", *args])


@click.group("plan", cls=_GoalOrCommand, no_args_is_help=True, subcommand_metavar="GOAL | COMMAND [ARGS]...")
def command() -> None:
    """Have a plan written for a GOAL, which is a sentence, or look at one that waits for approval.

    `amelia plan GOAL` is `amelia plan draft GOAL`, whose --help lists the options.
    """


@command.command("draft", short_help="Have a plan written, which then waits for approval.")
@click.argument("goal", required=False)
@click.option(
    "--issue",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Markdown file with what is asked for; its title is the goal if none is given.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the plan to a new file, and be done with it.",
)
@click.option(
    "--mode",
    type=click.Choice(["auto", *(mode.value for mode in Mode)]),
    default="auto",
    show_default=True,
    help="How the plan is to be cut into units of work.",
)
@run_options
@click.option("--base", metavar="REV", help="The commit to plan from; HEAD unless told otherwise.")
@tracker_option
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
def draft_command(
    *,
    goal: str | None,
    issue: Path | None,
    output: Path | None,
    mode: str,
    base: str | None,
    tracker: str | None,
    no_input: bool,  # noqa: ARG001 - asks nothing anyway
    as_json: bool,
    **chosen: Unpack[Chosen],
) -> None:
    """Have the architect write a plan for GOAL, which then waits for approval.

    Exits 0 when the plan was written to a file, 4 when it waits for a person, 1 or 6 when there is none.
    """
    if not (goal and goal.strip()) and issue is None:
        raise click.UsageError("there is no goal: say it, or give a file with --issue")
    if output is not None and output.exists():
        raise click.UsageError(f"{output} is there already; nothing is overwritten")
    settings = settings_here(chosen)
    asked = None if mode == "auto" else Mode(mode)
    directory = begin_draft(goal, issue, Wanted(settings, mode=asked, base=base, tracker=tracker))
    code = drive(directory, as_json=as_json)
    draft = draft_of(directory)
    if code != WAITS or draft is None:
        raise SystemExit(code)
    if output is not None and draft.may_be_approved:
        _hand_over(directory, draft, output)
        click.echo(f"version {draft.version} is in {output}: amelia run {output}", err=as_json)
        raise SystemExit(0)
    if not as_json:
        draw_draft(directory, draft)
    raise SystemExit(code)


def _hand_over(directory: RunDirectory, draft: Draft, output: Path) -> None:
    assert draft.newest is not None
    tracker = draft.facts.tracker_id
    front = f"---\ntracker: {tracker}\n---\n\n".encode() if tracker is not None else b""
    keep(output, front + read_version(directory, draft.newest))
    wish = ask(directory, PlanHandedOver(draft.version, str(output.absolute())))
    with SqliteJournal(directory.journal) as journal:
        anyio.run(drive_draft, directory, journal, SilentDraft())
    wish.is_fulfilled()  # or says who was quicker


@command.command("show", short_help="Show the newest plan of a run.")
@click.argument("run")
@click.option("--text", "as_text", is_flag=True, help="Print the plan itself, as it is written.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def show(*, run: str, as_text: bool, as_json: bool) -> None:
    """Show the newest plan of RUN: tasks, phases, sizes, what it will take, every warning."""
    if as_text and as_json:
        raise click.UsageError("--text and --json exclude each other")
    directory = named_run(run)
    draft = _drafted(directory)
    if as_text:
        _, newest = _pair(draft, None, None)
        hand_on(read_version(directory, newest))
    elif as_json:
        click.echo(json.dumps(view_json(view_of(directory, draft)), indent=2))
    else:
        draw_draft(directory, draft)


@command.command("edit", short_help="Change the plan of a run in your editor.")
@click.argument("run")
def edit(*, run: str) -> None:
    """Change the plan of RUN in your editor, $VISUAL or $EDITOR.

    What you write is checked, and is what runs.

    Exits 0 when the plan can be approved, 5 when it cannot run as it is.
    """
    directory = named_run(run)
    drafted = edit_in_editor(directory)
    if drafted is None:
        click.echo("nothing was changed")
        return
    draw_draft(directory, waiting_draft(directory))
    raise SystemExit(_PLAN_ERRORS if drafted.errors else 0)


@command.command("diff", short_help="Show what changed between two versions of a plan.")
@click.argument("run")
@click.argument("old", type=int, required=False)
@click.argument("new", type=int, required=False)
def diff(*, run: str, old: int | None, new: int | None) -> None:
    """Show what changed in the plan of RUN from version OLD to NEW; without them, in its last version."""
    directory = named_run(run)
    before, after = _pair(_drafted(directory), old, new)
    for line in difflib.unified_diff(
        _lines(directory, before),
        _lines(directory, after),
        fromfile=f"version {before.version} ({before.author})",
        tofile=f"version {after.version} ({after.author})",
        lineterm="",
    ):
        click.echo(line)


def _lines(directory: RunDirectory, version: PlanDrafted) -> list[str]:
    text = read_version(directory, version).decode(errors="replace")
    return [printable(line) for line in text.splitlines()]


def _drafted(directory: RunDirectory) -> Draft:
    """Returns the draft of a run, also if it is history."""
    if proposed(directory) is None:
        raise RefusedError(
            f"run {directory.run} began with a plan, not with a goal",
            hint=f"its plan: {directory.plan}",
        )
    return fold_draft(recorded.event for recorded in read_journal(directory.journal))


def _pair(draft: Draft, old: int | None, new: int | None) -> tuple[PlanDrafted, PlanDrafted]:
    known = {one.version: one for one in draft.versions}
    last = new if new is not None else draft.version
    first = old if old is not None else max(1, last - 1)
    if missing := [number for number in (first, last) if number not in known]:
        have = ", ".join(map(str, known)) or "none"
        raise RefusedError(f"run {draft.facts.run} has no version {missing[0]} of its plan; it has {have}")
    return known[first], known[last]
