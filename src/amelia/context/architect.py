"""What the architect is told: the goal, how plans are written, and what was wrong with its last one.

The goal, the issue, the product's criteria, old plans and people's words are data between fences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from amelia.context.quoting import fenced
from amelia.context.texts import Texts
from amelia.model.plan import Mode

_MOST = 40  # criteria that nobody can tell whether they are meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Commission:
    """What a plan is asked for: the goal, the issue behind it, and the product's criteria that it touches.

    `mode` is how the plan will run if a person said so; `others` are all open criteria of the product.
    """

    goal: str
    mode: Mode | None = None
    issue: str = ""
    criteria: Sequence[str] = ()
    others: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What there was before: the old plan, what is wrong with it, and what a person said about it."""

    plan: str = ""
    problems: Sequence[str] = ()
    feedback: str = ""
    failure: str = ""


def architect_prompt(texts: Texts, commission: Commission, revision: Revision) -> str:
    """Returns what the architect is told."""
    listed = "\n".join(f"- {problem}" for problem in revision.problems)
    filled = texts.fill(
        "architect",
        goal="\n\n".join(filter(None, (fenced(commission.goal), _mode(commission.mode)))),
        issue=_section("The issue", commission.issue, language="markdown"),
        criteria=_criteria(commission.criteria, commission.others),
        plan=_section("The last plan", revision.plan, language="markdown"),
        problems=_section("What is wrong with it", listed),
        failure=_section("The last answer was unusable", revision.failure),
        feedback=_section(
            "What a person says",
            revision.feedback,
            said="Do so; answer with the whole plan:",
        ),
    )
    return f"{filled}\n"


def _criteria(asked: Sequence[str], others: Sequence[str]) -> str:
    """Returns the criteria that the goal touches; if nobody can tell, the architect is to find them."""
    said = "Each belongs to exactly one task, with its id:"
    if asked and len(others) > len(asked):
        said = "Each belongs to exactly one task, with its id; PRODUCT.md has more:"
    elif not asked:
        said = "Each that the goal touches belongs to exactly one task, with its id:"
    shown = "\n".join(f"- {criterion}" for criterion in asked or others[:_MOST])
    return _section("Criteria of the product", shown, said=said)


def _mode(mode: Mode | None) -> str:
    """Returns what the mode that a person asked for means for the plan."""
    match mode:
        case None:
            return ""
        case Mode.PHASED:
            return "Phased mode: every task has a phase."
        case _:
            return f"{mode.capitalize()} mode: no phases."


def _section(title: str, text: str, *, said: str = "", language: str = "") -> str:
    """Returns a part of the prompt that holds somebody else's words; nothing if there are none."""
    parts = [f"## {title}", *([said] if said else []), fenced(text, language)]
    return "\n".join(parts) if text.strip() else ""
