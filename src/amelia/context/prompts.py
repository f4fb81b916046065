"""What agents are told: the unit's own text, what is expected of the answer, and what went wrong before.

Text of plans, reviews and tests is data: it stands between fences that it cannot close. Nothing here is a
format string over such text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from amelia.model.findings import Finding
from amelia.model.plan import Task

_TICK_RUN = re.compile("`+")
_REPORT = (
    '{"status": "completed" | "partial" | "failed", "summary": "…", '
    '"subtasks_completed": [ids], "subtasks_failed": [ids]}'
)
_REVIEW = (
    '{"approved": true | false, "comments": '
    '[{"file": "…", "line": 1, "severity": "blocking" | "minor", "text": "…"}]}'
)
_EVALUATION = '{"items": [{"finding": 1, "disposition": "IMPLEMENT", "reason": "…"}]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What an agent has to know about a unit: its heading, its tasks, and the goal of the plan around it."""

    heading: str
    goal: str
    tasks: tuple[Task, ...]


def developer_prompt(assignment: Assignment, *, attempt: int, feedback: str, is_again: bool = False) -> str:
    """Returns what the developer of a fresh session is told; also if it goes on where a turn was cut off."""
    return "\n".join(
        [
            f"You carry out one unit of a development plan, in this git worktree: {assignment.heading}",
            "",
            f"The goal of the whole plan, for context only: {_one_line(assignment.goal)}",
            "",
            "## Your assignment",
            "Carry out the following, in order, and nothing else:",
            "",
            _sections(assignment.tasks),
            "",
            "## Rules",
            "1. Work only in this directory. Do not commit: that is done for you.",
            "2. If something cannot be done, stop and report it.",
            "3. Follow AGENTS.md or CLAUDE.md, if there is one. Your work is tested, and then reviewed.",
            f"4. End with a report as JSON: {_REPORT}",
            *_again(attempt, feedback),
            *(
                ["", "Your turn was cut off before: part of the work is in the files already."]
                if is_again
                else []
            ),
            "",
        ]
    )


def continuation_prompt(feedback: str) -> str:
    """Returns what the developer is told who goes on in its own session: only what is new."""
    return (
        "Your work was not accepted as it is. The following changes are requested:\n\n"
        f"{fenced(feedback)}\n\nMake them in this worktree, do not commit, and end with a new report.\n"
    )


def resumption_prompt() -> str:
    """Returns what the developer is told whose turn was cut off, in the session in which it was."""
    return (
        "You were cut off in the middle of your work; the files are as you left them. Go on where you "
        "stopped, do not commit, and end with your report.\n"
    )


def repair_prompt(problem: str) -> str:
    """Returns what an agent is told whose answer cannot be used."""
    return (
        "Your answer is not the JSON that was asked for:\n\n"
        f"{fenced(problem)}\n\nDo nothing else now. Answer once more, with that JSON alone.\n"
    )


def reviewer_prompt(
    assignment: Assignment, *, checks: str, diff: str, since: str | None, open_findings: Sequence[Finding]
) -> str:
    """Returns what the reviewer is told; a later round sees what changed since the last one."""
    parts = [
        f"**Task:** review {assignment.heading}. Do not change any file.",
        "",
        _sections(assignment.tasks),
        "",
        "## What the executed checks say",
        fenced(checks),
        "",
        "## The whole change",
        fenced(diff, "diff"),
    ]
    if since is not None:
        parts += ["", "## What changed since your last review", fenced(since, "diff")]
    if open_findings:
        listed = "\n".join(f"- {finding}" for finding in open_findings)
        parts += ["", "## Findings that were to be dealt with", fenced(listed)]
    parts += [
        "",
        f"Answer with JSON: {_REVIEW}",
        "",
    ]
    return "\n".join(parts)


def evaluator_prompt(assignment: Assignment, *, diff: str, findings: Sequence[Finding]) -> str:
    """Returns what the evaluator is told: which findings it has to rule, and how."""
    listed = "\n".join(f"{number}. {finding}" for number, finding in enumerate(findings, start=1))
    return "\n".join(
        [
            f"A reviewer asks for changes to {assignment.heading}. Rule every finding; change no file.",
            "",
            _sections(assignment.tasks),
            "",
            "## The change",
            fenced(diff, "diff"),
            "",
            "## The findings",
            fenced(listed),
            "",
            "IMPLEMENT: right, and to be done now.",
            "REJECT: wrong; say what shows it.",
            "DEFER: right, but not part of this unit.",
            "CLARIFY: only a person can say.",
            f"Answer with JSON: {_EVALUATION}",
            "",
        ]
    )


def fenced(text: str, language: str = "") -> str:
    """Returns text as a block that it cannot close, whatever it holds."""
    longest = max(map(len, _TICK_RUN.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _sections(tasks: Sequence[Task]) -> str:
    return "\n\n".join(f"### {task.id}: {task.title}\n{fenced(task.section, 'markdown')}" for task in tasks)


def _again(attempt: int, feedback: str) -> list[str]:
    if not feedback:
        return []
    return ["", f"## Retry Attempt {attempt}", "An earlier attempt was not accepted:", fenced(feedback)]


def _one_line(text: str) -> str:
    return " ".join(text.split())
