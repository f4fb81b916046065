"""What agents are told: their own assignment, where everything else lies, and what went wrong before.

- Prompts are signposts: of a plan with several units an agent is told its own unit, and where the rest is.
  What it is told grows with the unit, never with the plan.
- Text of plans, reviews and tests is data: it stands between fences that it cannot close, character for
  character as it came. What a terminal would obey is made visible by whoever shows it there.
- Every git command that is named works in the agent's worktree: it names commits, never a distance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from amelia.context.places import Places
from amelia.context.quoting import fenced, one_line
from amelia.context.retries import Retry, StartingPoint, prepare_retry_context, work_in_files
from amelia.context.texts import Texts
from amelia.model.commands import Progress
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId, unit_heading, unit_label
from amelia.model.questions import Answered

_LONGEST_GOAL = 500
_REVIEWER_ASKS = "The reviewer requested the following changes:"
_NOT_ACCEPTED = "Your work was not accepted as it is. This is what is wrong with it:"
_OPENINGS: Mapping[Cause | None, str] = {
    Cause.REJECTED: _REVIEWER_ASKS,
    Cause.AGENT_FAILED: "Your last turn did not complete the work:",
}


@dataclass(frozen=True, slots=True)
class Finished:
    """A unit that landed before, and the commit it is."""

    unit: UnitId
    commit: CommitId


@dataclass(frozen=True, slots=True)
class OtherPiece:
    """Another piece of what a unit is a piece of, and whether it has landed."""

    unit: Unit
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What an agent has to know about a unit.

    `needs` are the finished units that it depends on, `landed` is the commit that landed last. `red_tasks`
    write tests that a later unit implements; `others` are the other pieces if the unit is a piece itself.
    `granted` are the files of tests that a person lets the unit change.
    """

    unit: Unit
    mode: Mode
    goal: str
    places: Places
    progress: Progress
    needs: tuple[Finished, ...] = ()
    landed: CommitId | None = None
    red_tasks: tuple[TaskId, ...] = ()
    others: tuple[OtherPiece, ...] = ()
    granted: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What the unit is called for short; a piece names what the plan calls the whole."""
        whole = self.whole
        return f"piece {self.unit.id} of {whole}" if whole else unit_label(self.unit.id, self.mode)

    @property
    def whole(self) -> str:
        """What the plan calls that of which the unit is a piece; empty if it is none."""
        if self.unit.piece_of is None:
            return ""
        return "the plan" if self.mode is Mode.SINGLE else unit_label(self.unit.piece_of, self.mode)

    @property
    def heading(self) -> str:
        """The unit's label and title."""
        return f"{self.label}: {self.unit.title}" if self.whole else unit_heading(self.unit, self.mode)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the unit, as they are to be carried out."""
        return self.unit.pieces


def developer_prompt(
    texts: Texts,
    assignment: Assignment,
    *,
    retry: Retry | None = None,
    answers: Sequence[Answered] = (),
    start: StartingPoint = StartingPoint.BASE,
) -> str:
    """Returns what the developer of a fresh session is told; also if part of the work is there already."""
    if not assignment.tasks:
        raise ValueError("Developer requires plan_markdown. Architect must run first.")
    parts = [
        _assigned(texts, assignment),
        _of_last_attempt(texts, assignment, retry, start=start),
        texts.fill("answered", answered=_answered(answers)) if answers else "",
        work_in_files(texts, start, is_told=retry is not None),
        grant_line("A person lets you change", assignment.granted),
    ]
    return joined(parts)


def build_phase_agent_prompt(texts: Texts, assignment: Assignment) -> str:
    """Returns what the agent of a phase is told: its subtasks in order, and where to look."""
    return texts.fill(
        "phase",
        label=one_line(assignment.heading),
        subtasks=_to_do(texts, assignment),
        goal=_goal(assignment),
        plan=assignment.places.plan,
        directory=assignment.places.directory,
        landed=_landed(assignment),
        rules=_rules(texts, assignment),
    )


def work_of(texts: Texts, assignment: Assignment, *, with_types: bool = False) -> str:
    """Returns the work of a unit: the sections of its tasks, and what belongs to the other pieces.

    Several tasks stand each under its own name and type, a single one only where that is asked for.
    """
    parts = [format_subtasks(assignment.tasks) if with_types else _sections(assignment.tasks)]
    if assignment.whole and assignment.others:
        others = "\n".join(_other(other, assignment.mode) for other in assignment.others)
        parts.append(texts.fill("piece", whole=one_line(assignment.whole), others=fenced(others)))
    return "\n\n".join(parts)


def tests_that_fail(assignment: Assignment) -> str:
    """Returns the names of the unit's tasks whose tests fail until a later unit implements them."""
    mine = {task.id for task in assignment.tasks}
    return ", ".join(
        one_line(unit_label(UnitId(task), Mode.TASKS)) for task in assignment.red_tasks if task in mine
    )


def format_subtasks(tasks: Iterable[Task]) -> str:
    """Returns tasks in their order, each with its type and its own section of the plan."""
    return "\n\n".join(_subtask(task) for task in tasks)


def grant_line(opening: str, files: Iterable[str]) -> str:
    """Returns the line that names the files a person granted to a unit; empty without any."""
    named = ", ".join(one_line(file) for file in dict.fromkeys(files))
    return f"{opening} {named}." if named else ""


def continuation_prompt(texts: Texts, retry: Retry, *, granted: Iterable[str] = ()) -> str:
    """Returns what the developer is told who goes on in its own session: only what is new."""
    return joined(
        [
            texts.fill(
                "continuation",
                opening=_OPENINGS.get(retry.cause, _NOT_ACCEPTED),
                changes=fenced(retry.errors),
            ),
            grant_line("A person lets you change", granted),
        ]
    )


def answer_prompt(texts: Texts, answered: Answered, retry: Retry | None) -> str:
    """Returns what the developer is told when a person has answered, in the session that asked."""
    left = f"{_REVIEWER_ASKS}\n\n{fenced(retry.errors)}" if retry is not None else ""
    return joined([texts.fill("answer", answered=_answered([answered]), open=left)])


def resumption_prompt(texts: Texts) -> str:
    """Returns what the developer is told whose turn was cut off, in the session in which it was."""
    return joined([texts.fill("resumption")])


def repair_prompt(texts: Texts, problem: str) -> str:
    """Returns what an agent is told whose answer cannot be used."""
    return joined([texts.fill("repair", problem=fenced(problem))])


def _of_last_attempt(
    texts: Texts, assignment: Assignment, retry: Retry | None, *, start: StartingPoint
) -> str:
    if retry is None:
        return ""
    feedback = assignment.places.feedback(assignment.unit.id)
    return prepare_retry_context(texts, retry, feedback=feedback, start=start)


def _to_do(texts: Texts, assignment: Assignment) -> str:
    """Returns the work of a unit as its developer is told it: with the tests that have to fail."""
    work = work_of(texts, assignment, with_types=assignment.mode is Mode.PHASED)
    red = tests_that_fail(assignment)
    return f"{work}\n\n{texts.fill('red', tasks=red)}" if red else work


def _assigned(texts: Texts, assignment: Assignment) -> str:
    match assignment.mode:
        case Mode.SINGLE:
            return texts.fill(
                "single",
                sections=_to_do(texts, assignment),
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
                criteria=_listed(_criteria(assignment.tasks), "- What the task asks for."),
                files=_listed(_files(assignment.tasks), "The plan names no files."),
                dependencies=_dependencies(assignment),
                **_of_a_task(texts, assignment),
            )
        case _:
            assert_never(assignment.mode)


def _of_a_task(texts: Texts, assignment: Assignment) -> dict[str, str]:
    return {
        "breadcrumb": breadcrumb(assignment.progress),
        "label": one_line(assignment.label),
        "sections": _to_do(texts, assignment),
        "goal": _goal(assignment),
        "plan": assignment.places.plan,
        "directory": assignment.places.directory,
        "rules": _rules(texts, assignment),
    }


def breadcrumb(progress: Progress) -> str:
    """Returns how far the run is when a task begins; tasks are counted in the order of the plan."""
    position, total, done = progress.position, progress.total, progress.done
    own = _task_label(progress.name or str(position))
    is_first = done == 0 and position == 1
    if progress.is_in_order and not progress.name:
        return (
            f"Executing Task 1 of {total}:"
            if is_first
            else f"Tasks 1-{done} of {total} completed. Now executing {own}:"
        )
    if is_first:
        return f"Executing {own}, the first of {total}:"
    if progress.is_in_order:
        first, last = progress.first, progress.last
        past = _task_label(first) if done == 1 else f"Tasks {first} to {last}"
        return f"{past} ({done} of {total}) completed. Now executing {own}:"
    return f"{done} of {total} tasks are done. Now executing {own}:"


def _task_label(name: str) -> str:
    return unit_label(UnitId(name), Mode.TASKS)


def _rules(texts: Texts, assignment: Assignment) -> str:
    return texts.fill("rules", directory=assignment.places.directory)


def _subtask(task: Task) -> str:
    kind = f"[{task.type}] " if task.type is not None else ""
    return f"### {task.id}: {kind}{one_line(task.title)}\n{fenced(task.section, 'markdown')}"


def _sections(tasks: Sequence[Task]) -> str:
    """Returns the sections of a unit; of several tasks each under its own name."""
    if len(tasks) > 1:
        return format_subtasks(tasks)
    [task] = tasks
    text = task.section if task.title in task.section else f"{task.title}\n\n{task.section}"
    return fenced(text, "markdown")


def _other(other: OtherPiece, mode: Mode) -> str:
    """Returns another piece as lines: its heading, its criteria and its files."""
    tasks = other.unit.pieces
    done = " (done)" if other.is_done else ""
    lines = (one_line(line) for line in (*_criteria(tasks), *_files(tasks)))
    return "\n".join((one_line(unit_heading(other.unit, mode)) + done, *(f"- {line}" for line in lines)))


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
    lines = "\n".join(f"- {one_line(item)}" for item in items)
    return fenced(lines) if lines else otherwise


def _landed(assignment: Assignment) -> str:
    if assignment.landed is None:
        return ""
    return f"- Landed last: `git show {assignment.landed}`"


def _dependencies(assignment: Assignment) -> str:
    return "\n".join(
        f"- {unit_label(need.unit, assignment.mode)} is done: `{assignment.places.summary(need.unit)}`, "
        f"`git show {need.commit}`"
        for need in assignment.needs
    )


def _answered(answers: Iterable[Answered]) -> str:
    return "\n\n".join(f"{fenced(each.question)}\n\n{fenced(each.answer)}" for each in answers)


def _goal(assignment: Assignment) -> str:
    return one_line(assignment.goal)[:_LONGEST_GOAL]


def joined(parts: Iterable[str]) -> str:
    """Returns the parts of a prompt that say something, as the whole prompt."""
    return "\n\n".join(part for part in parts if part) + "\n"
