"""What the architect is told: the goal, how plans are written, and what was wrong with its last one.

The goal, the issue, the product's criteria, old plans and people's words are data between fences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from amelia.context.quoting import fenced
from amelia.context.texts import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Commission:
    """What a plan is asked for: the goal, the issue behind it, and the product's criteria with their ids."""

    goal: str
    issue: str = ""
    criteria: Sequence[str] = ()


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
        goal=fenced(commission.goal),
        issue=_section("The issue", commission.issue, language="markdown"),
        criteria=_section(
            "Criteria of the product",
            "\n".join(f"- {criterion}" for criterion in commission.criteria),
            said="Each belongs to exactly one task, with its id:",
        ),
        plan=_section("The last plan", revision.plan, language="markdown"),
        problems=_section("What is wrong with it", listed),
        failure=_section("The last answer was unusable", revision.failure),
        feedback=_section(
            "What a person says",
            revision.feedback,
            said="Do as they ask; answer with the whole plan:",
        ),
    )
    return f"{filled}\n"


def _section(title: str, text: str, *, said: str = "", language: str = "") -> str:
    """Returns a part of the prompt that holds somebody else's words; nothing if there are none."""
    parts = [f"## {title}", *([said] if said else []), fenced(text, language)]
    return "\n".join(parts) if text.strip() else ""
