"""What commands share that start from a goal: the draft is begun, shown, changed, approved and run."""

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from amelia.app.drafting import NewDraft, draft_of, edit_plan, new_run_of, propose, waiting_draft
from amelia.app.people import ask
from amelia.app.terms import terms_of_new
from amelia.app.walls import wall_gaps
from amelia.config.places import state_home
from amelia.model.drafts import PlanApproved, PlanDrafted, PlanRejected
from amelia.model.errors import AmeliaError, ConfigError, JournalError
from amelia.model.plan import Mode
from amelia.model.proposal import Draft
from amelia.model.settings import Settings
from amelia.plan.issue import LARGEST, Issue, read_issue
from amelia.record.runs import RunDirectory
from amelia.record.versions import read_version
from amelia.show.cli.driving import drive
from amelia.show.cli.editing import edited, kept_aside
from amelia.show.cli.tree import draw_plan
from amelia.show.draft import PlanView, choice_lines, view_lines
from amelia.show.output import hand_on
from amelia.show.text import printable
from amelia.system.regular import NotRegularError, read_regular
from amelia.system.wall import find_kernel

WAITS = 4
_LONGEST_GOAL = 2000


def path_of(said: str) -> Path | None:
    """Returns what there is under a name; a sentence may be longer than any name."""
    try:
        return path if (path := Path(said)).exists() else None
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person said about the run of a goal beside the goal itself."""

    settings: Settings
    mode: Mode | None = None
    base: str | None = None
    tracker: str | None = None
    is_hands_off: bool = False


def begin_draft(goal: str | None, issue: Path | None, wanted: Wanted) -> RunDirectory:
    """Makes the run of a goal, of an issue, or of both."""
    if issue is not None and goal is not None and path_of(goal) is not None:
        raise click.UsageError(f"{goal} is a file; beside --issue there may be a goal, but no plan")
    asked = _issue(issue) if issue is not None else None
    stated = " ".join((goal or (asked.title if asked is not None else "")).split())[:_LONGEST_GOAL]
    new = NewDraft(
        goal=stated,
        issue=asked,
        settings=wanted.settings,
        repository=Path.cwd(),
        base=wanted.base,
        tracker_id=wanted.tracker,
        mode=wanted.mode,
        is_hands_off=wanted.is_hands_off,
    )
    for gap in wall_gaps(new.settings.run.wall, find_kernel()):
        click.echo(f"wall: {gap}", err=True)
    return propose(new, home=state_home())


def _issue(path: Path) -> Issue:
    try:
        data = read_regular(path, LARGEST + 1)
    except NotRegularError as problem:
        raise ConfigError(str(problem), hint="write the issue to a file first: --issue FILE.md") from problem
    if len(data) > LARGEST:
        raise ConfigError(
            f"{path}: {path.stat().st_size:,} bytes are too much for an issue, which may have {LARGEST:,}",
            hint="keep what is asked for, and put logs and data into files of the repository",
        )
    issue = read_issue(data, stem=path.stem)
    if not issue.text.strip():
        raise ConfigError(
            f"{path}: the issue is empty, or no text", hint="give a Markdown file: --issue FILE.md"
        )
    return issue


def view_of(directory: RunDirectory, draft: Draft) -> PlanView:
    """Returns a draft as it is shown, with the terms of its run."""
    if draft.newest is None:
        return PlanView(draft=draft)
    new = new_run_of(directory, draft)
    can_run = new.compiled.can_run and bool(new.compiled.units)
    return PlanView(
        draft=draft,
        compiled=new.compiled,
        terms=terms_of_new(new, home=state_home()) if can_run else None,
    )


def draw_draft(directory: RunDirectory, draft: Draft, *, is_asking: bool = False) -> None:
    """Prints a plan that waits for a person, and all there is to say; where nobody asks, what to type."""
    view = view_of(directory, draft)
    if view.compiled is not None:
        draw_plan(view.compiled, name=f"plan of run {draft.facts.run}, version {draft.version}")
    for line in (*view_lines(view), *(() if is_asking else choice_lines(draft))):
        click.echo(line)


def settle(directory: RunDirectory, *, is_asking: bool, as_json: bool) -> int:
    """Drives the draft of a run, has its plan approved, and runs it; returns the exit code."""
    code = drive(directory, as_json=as_json)
    while code == WAITS and (draft := draft_of(directory)) is not None:
        if not as_json:
            draw_draft(directory, draft, is_asking=is_asking)
        if not is_asking or not _decided(directory, draft):
            return code
        code = drive(directory, as_json=as_json)
    return code


def _decided(directory: RunDirectory, draft: Draft) -> bool:
    """Asks a person what is to become of a plan; says whether anything is."""
    words = [
        *(["approve"] if draft.may_be_approved else []),
        "reject",
        "edit",
        *(["show"] if draft.newest else []),
        "later",
    ]
    match click.prompt("\nWhat now?", type=_FirstLetters(words), default=words[0]):
        case "show":
            assert draft.newest is not None
            hand_on(read_version(directory, draft.newest))
            return _decided(directory, draft)
        case "approve":
            ask(directory, PlanApproved(draft.version))
        case "reject":
            ask(directory, PlanRejected(draft.version, click.prompt("What should change?")))
        case "edit":
            edit_in_editor(directory)
        case _:
            click.echo("the plan waits:")
            for line in choice_lines(draft):
                click.echo(line)
            return False
    return True


class _FirstLetters(click.Choice[str]):
    """A choice between words of which the first letters are enough."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the word that is meant."""
        meant = [word for word in self.choices if value and word.startswith(value.strip().casefold())]
        return super().convert(meant[0] if len(meant) == 1 else value, param, ctx)


def edit_in_editor(directory: RunDirectory) -> PlanDrafted | None:
    """Lets a person change a plan in an editor; returns the new version, None if nothing was changed."""
    draft = waiting_draft(directory)
    after = edited(_text_to_edit(directory, draft))
    if after is None:
        return None
    try:
        return edit_plan(directory, after, of=draft.version)
    except AmeliaError as problem:
        raise kept_aside(directory, after, problem, command=f"plan edit {directory.run}") from problem


def _text_to_edit(directory: RunDirectory, draft: Draft) -> bytes:
    """Returns the newest version of a plan; what to begin with if there is none, or it was tampered with."""
    if draft.newest is None:
        return _skeleton(draft)
    try:
        return read_version(directory, draft.newest)
    except JournalError as problem:
        click.echo(f"note: {printable(str(problem))}; you begin anew", err=True)
        return _skeleton(draft)


def _skeleton(draft: Draft) -> bytes:
    goal = printable(draft.facts.goal)
    return f"# Plan\n\n**Goal:** {goal}\n\n### Task 1: …\n\n- Type: test\n".encode()


def may_ask(*, no_input: bool, as_json: bool) -> bool:
    """Says whether a person is there who can be asked."""
    return not (no_input or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
