"""What the architect is told: the goal, how plans are written, and what was wrong with its last one.

The goal, the issue, the product's criteria, old plans and people's words are data between fences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amelia.context.prompts import fenced

_RULES = """\
You are the architect: you plan the work, others carry it out, one task or phase at a time, each in a fresh
session that sees only its own task. Explore this repository as far as you need. Read only: change no file.

## How to decompose
1. For each new feature or component, create a TEST task first.
2. Create an IMPL task that depends on the TEST task.
3. Tests are written to fail initially (red phase).
4. The implementation is minimal to pass the tests (green phase).
5. Optional REFACTOR tasks can follow an implementation.

Pattern: "Write X tests" (type: test) → "Implement X" (type: impl) → "Refactor X" (type: refactor)

## What a task needs
- `id`: short and unique: 1, 2, 2a. `title`: one line. `type`: test, impl, refactor, docs or chore.
- `description`: all that somebody has to know who sees nothing else: behaviour, names, edge cases.
- `depends_on`: ids of tasks that have to land before. Every impl depends on a test, directly or not.
- `files_to_create`, `files_to_modify`, `test_files`: paths from the root of the repository, every file that
  the task touches; tasks that share none can run side by side.
- `acceptance_criteria`: what can be checked, one line each.
- `phase`: tasks of one phase are carried out together, in order, and land as one commit; tests and what
  implements them are in different phases. null if phases do not help.
- `priority`: critical, high, medium or low. `milestone`, `user_story`: one line, or null.
- Keep tasks small: at most 5 files to create, 8 to modify, 7 criteria."""
_ANSWER = (
    'Answer with JSON: {"goal": "…", "tasks": [{"id": "1", "title": "…", "type": "test", "phase": null, '
    '"depends_on": [], "files_to_create": [], "files_to_modify": [], "test_files": [], '
    '"acceptance_criteria": [], "description": "…", "user_story": null, "priority": "medium", '
    '"milestone": null}]}'
)


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


def architect_prompt(commission: Commission, revision: Revision) -> str:
    """Returns what the architect is told."""
    parts = [
        _RULES,
        "",
        "## The goal",
        fenced(commission.goal),
        *_section("The issue behind it", commission.issue, "markdown"),
        *_criteria(commission.criteria),
        *_before(revision),
        "",
        _ANSWER,
        "",
    ]
    return "\n".join(parts)


def _criteria(criteria: Sequence[str]) -> Iterator[str]:
    if criteria:
        yield "\n## Acceptance criteria of the product"
        yield "Each goes into the criteria of exactly one task, with its id, as far as the goal asks for it:"
        yield fenced("\n".join(f"- {criterion}" for criterion in criteria))


def _before(revision: Revision) -> Iterator[str]:
    yield from _section("Your last plan", revision.plan, "markdown")
    if revision.problems:
        listed = "\n".join(f"- {problem}" for problem in revision.problems)
        yield from _section("What is wrong with it", listed)
    if revision.failure:
        yield from _section("Your last answer could not be used", revision.failure)
    if revision.feedback:
        yield from _section("What a person says about the plan", revision.feedback)
        yield "Change the plan as that person asks; answer with the whole plan, not with the changes."


def _section(title: str, text: str, language: str = "") -> Iterator[str]:
    if text.strip():
        yield f"\n## {title}"
        yield fenced(text, language)
