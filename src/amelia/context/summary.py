"""What is written about a unit for those who come after it: a summary, and why attempts were not accepted.

- Every command stands on a line of its own and works wherever the run's commits are: in every lane of the
  run, and in the user's repository. Commits are named by their full ids.
- What agents and tests said is bounded and fenced; names of files are shown in a fence, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amelia.context.chronicle import Chapter, Objection
from amelia.context.quoting import fenced, one_line
from amelia.model.interventions import Accepted
from amelia.model.plan import Mode, Task, unit_heading
from amelia.model.standing import by_hand

_MOST_FILES = 200
_MOST_OBJECTIONS = 20
_LONGEST_ACCOUNT = 4000


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a unit changed: how, and whether it is a test."""

    path: str
    how: str
    is_test: bool


def generate_phase_summary(
    chapter: Chapter,
    *,
    mode: Mode,
    changes: Sequence[Change],
    receipts: Sequence[str],
    notes: Sequence[str] = (),
) -> str:
    """Returns the summary of a unit that landed, with the commands that bring all of it back."""
    landing = chapter.landing
    assert landing is not None
    said = chapter.last.said if chapter.last is not None else ""
    tests = [change.path for change in changes if change.is_test]
    parts = [
        f"# {one_line(unit_heading(chapter.unit, mode))}",
        _who(chapter),
        "## Completed subtasks\n" + "\n".join(_subtask(task) for task in chapter.unit.pieces),
        "## Files changed\n" + _files([f"{change.how}: {change.path}" for change in changes]),
        "## Restoration references\n"
        + fenced(
            f"git show {landing.commit}\ngit diff {landing.base}..{landing.commit}\n"
            f"git diff --stat {landing.base}..{landing.commit}",
            "sh",
        ),
        "## Test files\n" + _files(tests),
        "## What was proved\n" + _proved(chapter, receipts, notes),
        f"## {_account_title(chapter)}\n" + fenced(shortened(said) or "Nothing."),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def review_feedback(chapter: Chapter, *, mode: Mode) -> str:
    """Returns everything that was said against attempts of a unit, the latest first."""
    latest = list(reversed(chapter.objections))[:_MOST_OBJECTIONS]
    parts = [f"# {one_line(unit_heading(chapter.unit, mode))}: why attempts were not accepted"]
    parts += [_objection(chapter, objection) for objection in latest]
    if left := len(chapter.objections) - len(latest):
        parts.append(f"{left} earlier ones are in the journal of the run.")
    return "\n\n".join(parts) + "\n"


def shortened(text: str, longest: int = _LONGEST_ACCOUNT) -> str:
    """Returns a text that is not too long for a page, and says if it was; one that says so stays."""
    mark = f"[cut after {longest} characters]"
    is_cut = len(text) <= longest + 1 + len(mark) and text.endswith(mark)
    return text if len(text) <= longest or is_cut else f"{text[:longest]}\n{mark}"


def let_change(files: Iterable[str]) -> str:
    """Returns that a person let a unit change files of tests."""
    return f"a person let this unit change {', '.join(files)}"


def _proved(chapter: Chapter, receipts: Sequence[str], notes: Sequence[str]) -> str:
    """Returns the receipts of a unit, the files that a person granted to it, and notes about its work."""
    granted = [let_change(chapter.granted)] if chapter.granted else []
    lines = [*receipts, *granted, *(f"noted: {note}" for note in notes)]
    return "\n".join(f"- {one_line(line)}" for line in lines)


def _who(chapter: Chapter) -> str:
    """Returns who did the work where that was no agent, and what nobody reviewed."""
    return f"## Who did it\nA person: {by_hand(chapter.fixed.accepted)}." if chapter.fixed else ""


def _account_title(chapter: Chapter) -> str:
    is_agents = chapter.fixed is None or Accepted.UNCHANGED in chapter.fixed.accepted
    return "Key changes, as the agent reports them" if is_agents else "What the agent reported before"


def _objection(chapter: Chapter, objection: Objection) -> str:
    commit = next((tried.commit for tried in chapter.tried if tried.turn == objection.turn), None)
    where = f"\n\n`git show {commit}` shows what that turn left." if commit is not None else ""
    return f"## Turn {objection.turn}, says {objection.by}\n{fenced(objection.text)}{where}"


def _subtask(task: Task) -> str:
    kind = f"[{task.type}] " if task.type is not None else ""
    return f"- {kind}{one_line(task.id)}: {one_line(task.title)}"


def _files(lines: Sequence[str]) -> str:
    shown = [one_line(line) for line in lines[:_MOST_FILES]]
    more = [f"and {len(lines) - _MOST_FILES} more"] if len(lines) > _MOST_FILES else []
    return fenced("\n".join([*shown, *more])) if lines else "None."
