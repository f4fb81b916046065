"""A plan that waits for approval: its tasks, phases and sizes, what its run will take, and every warning."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, assert_never

from amelia.app.terms import RunTerms
from amelia.model.drafts import Author
from amelia.model.outcome import Reason
from amelia.model.proposal import Approved, Delayed, Draft, Drafting, HandedOver, Proposed, Stopped
from amelia.plan.compile import CompiledPlan
from amelia.show.json import plan_json
from amelia.show.run.standing import Exit, raised, way_out
from amelia.show.terms import terms_lines
from amelia.show.text import fit, printable, width

_AUTHORS = {Author.ARCHITECT: "the architect", Author.PERSON: "you"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A draft as it is shown; without a version nothing is compiled, and there are terms if it can run."""

    draft: Draft
    compiled: CompiledPlan | None = None
    terms: RunTerms | None = None


def standing_of(draft: Draft) -> str:
    """Says in a few words where a draft stands."""
    if draft.has_begun:
        return "approved, and started"
    if draft.outcome is not None:
        return str(draft.outcome)
    if draft.is_paused:
        return "paused"
    match draft.stage:
        case Drafting() | Delayed():
            return "drafting"
        case Proposed():
            return "waits for approval"
        case Approved():
            return "approved"
        case HandedOver():
            return "handed over"
        case Stopped(reason):
            return f"stopped({reason})"
        case _:
            assert_never(draft.stage)


def standing_in_words(draft: Draft) -> str:
    """Says the same to a person, without the names that programs know."""
    if draft.has_begun or draft.outcome is None or draft.outcome.reason is None:
        return standing_of(draft)
    return draft.outcome.reason.meaning


def choices(draft: Draft) -> Iterator[Exit]:
    """Yields what a person can do about a draft, best first."""
    run = draft.facts.run
    if draft.has_begun or (draft.outcome is not None and draft.outcome.is_final):
        return
    if draft.newest is not None:
        yield way_out("plan", "show", run, "--text", effect="read the plan whole")
    if draft.may_be_approved:
        yield way_out("approve", run, effect="carry it out, in the background")
    if isinstance(draft.stage, Proposed | Stopped):
        yield way_out("reject", run, "what should change", effect="have another one written")
        yield way_out("plan", "edit", run, effect="change it yourself")
    if isinstance(draft.stage, Stopped) and draft.stage.reason is Reason.BUDGET:
        yield from raised(run, draft.budget.unit, draft.spent, whose="-unit")
        yield from raised(run, draft.budget.run, draft.spent)
    elif isinstance(draft.stage, Stopped) or draft.is_paused:
        yield way_out("resume", run, effect="let the architect try again")
    yield way_out("abort", run, effect="give the run up")


def view_lines(view: PlanView) -> Iterator[str]:
    """Yields what is to be said of a draft below its plan: the terms of its run, warnings, standing."""
    draft = view.draft
    if view.terms is not None:
        yield from terms_lines(view.terms)
    if draft.newest is not None:
        yield from (f"error: {printable(error)}" for error in _unread(view))
        yield from (f"warning: {printable(gap)}" for gap in draft.newest.gaps)
    if isinstance(draft.stage, Stopped):
        yield f"stopped: {draft.stage.reason.meaning}: {printable(draft.stage.detail)}"
    version = f"version {draft.version}, by {_AUTHORS[draft.newest.author]}; " if draft.newest else ""
    yield f"run {draft.facts.run}: {version}{standing_in_words(draft)}"


def choice_lines(draft: Draft) -> Iterator[str]:
    """Yields the commands with which a person decides about a draft, and what each does."""
    ways = list(choices(draft))
    widest = max((width(way.command) for way in ways), default=0)
    return (f"  {fit(way.command, widest)}  {way.effect}" for way in ways)


def _unread(view: PlanView) -> Iterator[str]:
    """Yields errors that the plan's own findings do not tell."""
    assert view.draft.newest is not None
    told = [found.message for found in view.compiled.diagnostics] if view.compiled is not None else []
    return (error for error in view.draft.newest.errors if not any(message in error for message in told))


def view_json(view: PlanView) -> dict[str, Any]:
    """Returns a draft with nothing in it but what JSON knows."""
    draft, forecast = view.draft, view.terms.forecast if view.terms is not None else None
    return {
        "run": draft.facts.run,
        "goal": draft.facts.goal,
        "tracker_id": draft.facts.tracker_id,
        "standing": standing_of(draft),
        "version": draft.version,
        "versions": [
            {"version": one.version, "author": one.author, "hash": one.hash, "errors": len(one.errors)}
            for one in draft.versions
        ],
        "may_be_approved": draft.may_be_approved,
        "errors": list(draft.newest.errors) if draft.newest is not None else [],
        "warnings": list(draft.newest.gaps) if draft.newest is not None else [],
        "stopped": draft.stage.detail if isinstance(draft.stage, Stopped) else None,
        "plan": json.loads(plan_json(view.compiled)) if view.compiled is not None else None,
        "forecast": asdict(forecast) if forecast is not None else None,
        "budget": asdict(draft.budget),
        "choices": [asdict(choice) for choice in choices(draft)],
    }
