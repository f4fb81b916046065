"""What agents are told: their own assignment, where everything else lies, and what went wrong before.

- Prompts are signposts: of a plan with several units an agent is told its own unit, and where the rest is.
  What it is told grows with the unit, never with the plan.
- Text of plans, reviews and tests is data: it stands between fences that it cannot close, character for
  character as it came. What a terminal would obey is made visible by whoever shows it there.
- Every git command that is named works in the agent's worktree: it names commits, never a distance.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from amelia.context.places import Places
from amelia.context.texts import Texts
from amelia.model.commands import Progress
from amelia.model.findings import Finding
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import Mode, Task, Unit, UnitId, unit_heading, unit_label
from amelia.model.questions import Answered

_TICK_RUN = re.compile("`+")
_LONGEST_GOAL = 500
_FRAMINGS = (
    "The previous approach failed. A different strategy is needed.",
    "Review the errors carefully before proceeding differently.",
    "The prior attempt had issues. Consider an alternative approach.",
)
_REVIEWER_ASKS = "The reviewer requested the following changes:"
_NOT_ACCEPTED = "Your work was not accepted as it is. This is what is wrong with it:"


@dataclass(frozen=True, slots=True)
class Finished:
    """A unit that landed before, and the commit it is."""

    unit: UnitId
    commit: CommitId


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What an agent has to know about a unit.

    `needs` are the finished units that it depends on, `landed` is the commit that landed last.
    """

    unit: Unit
    mode: Mode
    goal: str
    places: Places
    progress: Progress
    needs: tuple[Finished, ...] = ()
    landed: CommitId | None = None

    @property
    def heading(self) -> str:
        """The unit's label and title."""
        return unit_heading(self.unit, self.mode)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the unit, as they are to be carried out."""
        return self.unit.pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """What a further attempt has to know: why the last one failed, and the ref and commit that keep it."""

    attempt: int
    errors: str
    cause: Cause | None = None
    ref: str | None = None
    commit: CommitId | None = None


def developer_prompt(
    texts: Texts,
    assignment: Assignment,
    *,
    retry: Retry | None = None,
    answers: Sequence[Answered] = (),
    is_begun: bool = False,
    is_cut_off: bool = False,
) -> str:
    """Returns what the developer of a fresh session is told; also if part of the work is there already."""
    if not assignment.tasks:
        raise ValueError("Developer requires plan_markdown. Architect must run first.")
    parts = [
        _assigned(texts, assignment),
        prepare_retry_context(texts, assignment, retry) if retry is not None else "",
        texts.fill("answered", answered=_answered(answers)) if answers else "",
        texts.fill("cut_off") if is_cut_off else texts.fill("begun") if is_begun else "",
    ]
    return _joined(parts)


def build_phase_agent_prompt(texts: Texts, assignment: Assignment) -> str:
    """Returns what the agent of a phase is told: its subtasks in order, and where to look."""
    return texts.fill(
        "phase",
        label=_one_line(assignment.heading),
        subtasks=format_subtasks(assignment.tasks),
        goal=_goal(assignment),
        plan=assignment.places.plan,
        directory=assignment.places.directory,
        landed=_landed(assignment),
        rules=_rules(texts, assignment),
    )


def format_subtasks(tasks: Iterable[Task]) -> str:
    """Returns tasks in their order, each with its type and its own section of the plan."""
    return "\n\n".join(_subtask(task) for task in tasks)


def prepare_retry_context(texts: Texts, assignment: Assignment, retry: Retry) -> str:
    """Returns what a further attempt is told of the last one: all of it, in words that change each time."""
    return texts.fill(
        "retry",
        attempt=str(retry.attempt),
        framing=_FRAMINGS[(retry.attempt - 2) % len(_FRAMINGS)],
        errors=fenced(retry.errors),
        feedback=assignment.places.feedback(assignment.unit.id),
        shown=_kept(retry),
    )


def continuation_prompt(texts: Texts, retry: Retry) -> str:
    """Returns what the developer is told who goes on in its own session: only what is new."""
    return _joined(
        [
            texts.fill(
                "continuation",
                opening=_REVIEWER_ASKS if retry.cause is Cause.REJECTED else _NOT_ACCEPTED,
                changes=fenced(retry.errors),
            )
        ]
    )


def answer_prompt(texts: Texts, answered: Answered, retry: Retry | None) -> str:
    """Returns what the developer is told when a person has answered, in the session that asked."""
    left = f"{_REVIEWER_ASKS}\n\n{fenced(retry.errors)}" if retry is not None else ""
    return _joined([texts.fill("answer", answered=_answered([answered]), open=left)])


def resumption_prompt(texts: Texts) -> str:
    """Returns what the developer is told whose turn was cut off, in the session in which it was."""
    return _joined([texts.fill("resumption")])


def repair_prompt(texts: Texts, problem: str) -> str:
    """Returns what an agent is told whose answer cannot be used."""
    return _joined([texts.fill("repair", problem=fenced(problem))])


def reviewer_prompt(
    texts: Texts,
    assignment: Assignment,
    *,
    checks: str,
    diff: str,
    since: str | None = None,
    open_findings: Sequence[Finding] = (),
) -> str:
    """Returns what the reviewer is told; a later round sees what changed since the last one."""
    later: list[str] = []
    if since is not None:
        later.append(texts.fill("since_last_review", diff=fenced(since, "diff")))
    if open_findings:
        listed = "\n".join(f"- {finding}" for finding in open_findings)
        later.append(texts.fill("open_findings", findings=fenced(listed)))
    filled = texts.fill(
        "review",
        task=_under_review(assignment),
        checks=fenced(checks),
        diff=fenced(diff, "diff"),
        later="\n\n".join(later),
        plan=assignment.places.plan,
    )
    return _joined([filled])


def evaluator_prompt(texts: Texts, assignment: Assignment, *, diff: str, findings: Sequence[Finding]) -> str:
    """Returns what the evaluator is told: which findings it has to rule, and how."""
    listed = "\n".join(f"{number}. {finding}" for number, finding in enumerate(findings, start=1))
    filled = texts.fill(
        "evaluation", task=_under_review(assignment), diff=fenced(diff, "diff"), findings=fenced(listed)
    )
    return _joined([filled])


def fenced(text: str, language: str = "") -> str:
    """Returns text as a block that it cannot close, whatever it holds."""
    longest = max(map(len, _TICK_RUN.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _assigned(texts: Texts, assignment: Assignment) -> str:
    match assignment.mode:
        case Mode.SINGLE:
            return texts.fill(
                "single",
                sections=_sections(assignment.tasks),
                plan=assignment.places.plan,
                rules=_rules(texts, assignment),
            )
        case Mode.TASKS:
            return texts.fill("task", landed=_landed(assignment), **_of_a_task(texts, assignment))
        case Mode.PHASED:
            return build_phase_agent_prompt(texts, assignment)
        case Mode.LIFECYCLE:
            return texts.fill(
                "lifecycle",
                criteria=_listed(_criteria(assignment.tasks), "The plan names no acceptance criteria."),
                files=_listed(_files(assignment.tasks), "The plan names no files."),
                dependencies=_dependencies(assignment),
                **_of_a_task(texts, assignment),
            )
        case _:
            assert_never(assignment.mode)


def _of_a_task(texts: Texts, assignment: Assignment) -> dict[str, str]:
    return {
        "breadcrumb": breadcrumb(assignment.progress),
        "label": unit_label(assignment.unit.id, assignment.mode),
        "sections": _sections(assignment.tasks),
        "goal": _goal(assignment),
        "plan": assignment.places.plan,
        "directory": assignment.places.directory,
        "rules": _rules(texts, assignment),
    }


def breadcrumb(progress: Progress) -> str:
    """Returns how far the run is when a task begins; tasks are counted in the order of the plan."""
    position, total, done = progress.position, progress.total, progress.done
    if done == 0 and position == 1:
        return f"Executing Task 1 of {total}:"
    if progress.is_in_order:
        return f"Tasks 1-{done} of {total} completed. Now executing Task {position}:"
    return f"{done} of {total} tasks are done. Now executing Task {position}:"


def _rules(texts: Texts, assignment: Assignment) -> str:
    return texts.fill("rules", directory=assignment.places.directory)


def _under_review(assignment: Assignment) -> str:
    """Returns what the work was meant to be: one unit, and where it stands among the others."""
    progress = assignment.progress
    alone = progress.total == 1
    title = "**Task:**" if alone else f"**Current Task ({progress.position}/{progress.total}):**"
    return f"{title} {_one_line(assignment.heading)}\n\n{_sections(assignment.tasks)}"


def _subtask(task: Task) -> str:
    kind = f"[{task.type}] " if task.type is not None else ""
    return f"### {task.id}: {kind}{_one_line(task.title)}\n{fenced(task.section, 'markdown')}"


def _sections(tasks: Sequence[Task]) -> str:
    """Returns the sections of a unit; of several tasks each under its own name."""
    if len(tasks) > 1:
        return format_subtasks(tasks)
    [task] = tasks
    text = task.section if task.title in task.section else f"{task.title}\n\n{task.section}"
    return fenced(text, "markdown")


def _criteria(tasks: Iterable[Task]) -> list[str]:
    return [criterion for task in tasks for criterion in task.acceptance_criteria]


def _files(tasks: Iterable[Task]) -> list[str]:
    return [
        f"{verb}: {path}"
        for task in tasks
        for verb, paths in (
            ("create", task.files_to_create),
            ("modify", task.files_to_modify),
            ("test", task.test_files),
        )
        for path in paths
    ]


def _listed(items: Iterable[str], otherwise: str) -> str:
    lines = "\n".join(f"- {_one_line(item)}" for item in items)
    return fenced(lines) if lines else otherwise


def _landed(assignment: Assignment) -> str:
    if assignment.landed is None:
        return ""
    return f"- `git show {assignment.landed}` shows what landed last"


def _dependencies(assignment: Assignment) -> str:
    return "\n".join(
        f"- {unit_label(need.unit, assignment.mode)} is done: `{assignment.places.summary(need.unit)}`, "
        f"`git show {need.commit}`"
        for need in assignment.needs
    )


def _kept(retry: Retry) -> str:
    if retry.ref is None or retry.commit is None:
        return ""
    return f"`git show {retry.ref}` shows the failed attempt (commit {retry.commit})."


def _answered(answers: Iterable[Answered]) -> str:
    return "\n\n".join(f"{fenced(each.question)}\n\n{fenced(each.answer)}" for each in answers)


def _goal(assignment: Assignment) -> str:
    return _one_line(assignment.goal)[:_LONGEST_GOAL]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
