"""Every prompt that an agent can be told, made of given words: for snapshots, and for words that mean harm."""

import re
from dataclasses import dataclass, replace

from amelia.context.architect import Commission, Revision, architect_prompt
from amelia.context.places import Places
from amelia.context.prompts import (
    Assignment,
    Finished,
    OtherPiece,
    answer_prompt,
    continuation_prompt,
    developer_prompt,
    repair_prompt,
    resumption_prompt,
)
from amelia.context.retries import Retry, StartingPoint
from amelia.context.review_prompts import evaluator_prompt, reviewer_prompt
from amelia.context.texts import Texts
from amelia.model.commands import Progress
from amelia.model.findings import Finding, finding_id
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import Mode, Task, TaskId, TaskType, Unit, UnitId
from amelia.model.questions import Answered

LANDED = CommitId("1" * 40)
FAILED = CommitId("2" * 40)
_UNIT = {Mode.SINGLE: "plan", Mode.PHASED: "phase-2"}
_FENCE = re.compile(r"(`{3,})[a-z]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What others say: each of these is somebody's data, and stands between fences."""

    section: str = "### Task 2: Read records\nOne record a line, `;` between fields.\n"
    errors: str = "FAILED tests/test_reader.py::test_bad - KeyError: 'id'\n"
    checks: str = "python -m pytest: 12 passed"
    diff: str = "diff --git a/reader.py b/reader.py\n+def read(line): ...\n"
    since: str = "+    return line\n"
    finding: str = "Says nothing of an empty line."
    question: str = "Which encoding?"
    answer: str = "UTF-8"
    problem: str = "Expected `object`, got `str`"
    goal: str = "Read records from files"
    issue: str = "# Records\nCustomers send files.\n"
    criterion: str = "AC-1: A bad line is an error with its number"
    plan: str = "### Task 1: Read\n"
    fault: str = "Task 2 depends on Task 9, which is not there"
    failure: str = "the plan has no tasks"
    feedback: str = "Smaller tasks, please."


def all_of(text: str) -> Words:
    """Returns words that all say the same, each with its name before it."""
    return Words(**{name: f"{name}: {text}" for name in Words.__slots__})


def named_in(prompt: str, words: Words) -> set[str]:
    """Returns the names of the words that a prompt holds, character for character."""
    return {name for name in Words.__slots__ if getattr(words, name) in prompt}


def assignment(mode: Mode, words: Words, *tasks: Task) -> Assignment:
    pieces = tasks or (a_task(words),)
    unit = Unit(UnitId(_UNIT.get(mode, "2")), "Reading", tuple(task.id for task in pieces), (), 2, pieces)
    return Assignment(
        unit=unit,
        mode=mode,
        goal="Read records from files",
        places=Places("docs/amelia/2026-11-15-SHOP-7-read-records", mode),
        progress=Progress() if mode is Mode.SINGLE else Progress(2, 3, 1),
        needs=(Finished(UnitId("1"), LANDED),) if mode is Mode.LIFECYCLE else (),
        landed=None if mode is Mode.SINGLE else LANDED,
    )


def a_task(words: Words) -> Task:
    return Task(id=TaskId("2"), title="Read records", type=TaskType.IMPL, section=words.section)


def a_piece(words: Words) -> Assignment:
    """Returns the assignment of the second of three pieces of a task."""
    pieces = [
        replace(
            a_task(words),
            id=TaskId(f"2-{letter}"),
            title=f"Read records ({number}/3): {name}.py",
            files_to_create=(f"{name}.py",),
            acceptance_criteria=(f"There is a {name}",),
        )
        for number, (letter, name) in enumerate(zip("abc", ("lines", "fields", "records"), strict=True), 1)
    ]
    first, second, third = (
        Unit(UnitId(piece.id), piece.title, (TaskId("2"),), (), 2, (piece,), UnitId("2")) for piece in pieces
    )
    placed = replace(assignment(Mode.LIFECYCLE, words), unit=second)
    return replace(placed, others=(OtherPiece(first, is_done=True), OtherPiece(third, is_done=False)))


def every_prompt(texts: Texts, words: Words) -> dict[str, str]:
    """Returns all prompts by name: every builder, every mode, every text."""
    return {**_developers(texts, words), **_judges(texts, words), **_architects(texts, words)}


def outside(prompt: str) -> str:
    """Returns what stands outside of all fences, as CommonMark sees it."""
    kept: list[str] = []
    closing = None
    for line in re.split(r"\r\n|\n|\r", prompt):
        if closing is not None:
            if line.startswith(closing) and not line.strip("` "):
                closing = None
        elif found := _FENCE.fullmatch(line):
            closing = found[1]
        else:
            kept.append(line)
    assert closing is None
    return "\n".join(kept)


def _developers(texts: Texts, words: Words) -> dict[str, str]:
    retry = Retry(
        attempt=2,
        errors=words.errors,
        cause=Cause.REJECTED,
        ref="refs/amelia/swift-otter/2/1",
        commit=FAILED,
    )
    answered = Answered(words.question, words.answer)
    phase = assignment(
        Mode.PHASED,
        words,
        Task(id=TaskId("2"), title="Test the reader", type=TaskType.TEST, section=words.section),
        Task(id=TaskId("3"), title="Tidy up", section=words.section),
    )
    detailed = replace(
        a_task(words),
        acceptance_criteria=("A bad line is an error", "It names the line"),
        files_to_create=("reader.py",),
        files_to_modify=("__init__.py",),
        test_files=("tests/test_reader.py",),
    )
    plain = {mode: developer_prompt(texts, assignment(mode, words)) for mode in Mode}
    checks_failed = replace(retry, cause=Cause.CHECKS_FAILED)
    return {
        **{f"developer-{mode}": prompt for mode, prompt in plain.items()},
        "developer-phased-several": developer_prompt(texts, phase),
        "developer-lifecycle-detailed": developer_prompt(
            texts, assignment(Mode.LIFECYCLE, words, detailed), retry=retry, start=StartingPoint.CUT_OFF
        ),
        "developer-again": developer_prompt(texts, phase, retry=retry, start=StartingPoint.LAST_ATTEMPT),
        "developer-begun": developer_prompt(texts, assignment(Mode.TASKS, words), start=StartingPoint.BEGUN),
        "developer-red": developer_prompt(texts, replace(phase, red_tasks=(TaskId("2"),))),
        "developer-piece": developer_prompt(texts, a_piece(words)),
        "developer-answered": developer_prompt(texts, phase, answers=[answered, answered]),
        "continuation-rejected": continuation_prompt(texts, retry),
        "continuation-checks": continuation_prompt(texts, checks_failed),
        "answer": answer_prompt(texts, answered, None),
        "answer-with-findings": answer_prompt(texts, answered, retry),
        "resumption": resumption_prompt(texts),
        "repair": repair_prompt(texts, words.problem),
    }


def _judges(texts: Texts, words: Words) -> dict[str, str]:
    found = Finding(finding_id("reader.py", words.finding), words.finding, "reader.py", 7)
    of_one, of_many = assignment(Mode.SINGLE, words), assignment(Mode.TASKS, words)
    return {
        "reviewer": reviewer_prompt(texts, of_one, checks=words.checks, diff=words.diff),
        "reviewer-later": reviewer_prompt(
            texts,
            of_many,
            checks=words.checks,
            diff=words.diff,
            since=words.since,
            open_findings=[found, found],
        ),
        "reviewer-red": reviewer_prompt(
            texts,
            replace(of_many, red_tasks=(TaskId("2"),)),
            checks=words.checks,
            diff=words.diff,
            red=["tests/test_reader.py::test_bad", "tests/test_reader.py::test_good"],
        ),
        "reviewer-tests": reviewer_prompt(
            texts,
            of_many,
            checks=words.checks,
            diff=words.diff,
            changed_tests=["tests/test_reader.py::test_bad", "tests/data.json"],
        ),
        "evaluator-piece": evaluator_prompt(texts, a_piece(words), diff=words.diff, findings=[found]),
        "evaluator": evaluator_prompt(texts, of_many, diff=words.diff, findings=[found, found]),
    }


def _architects(texts: Texts, words: Words) -> dict[str, str]:
    commission = Commission(goal=words.goal)
    return {
        "architect": architect_prompt(texts, commission, Revision()),
        "architect-of-an-issue": architect_prompt(
            texts,
            replace(commission, issue=words.issue, criteria=[words.criterion, words.criterion]),
            Revision(),
        ),
        "architect-again": architect_prompt(
            texts, commission, Revision(plan=words.plan, problems=[words.fault], failure=words.failure)
        ),
        "architect-after-a-rejection": architect_prompt(
            texts, commission, Revision(plan=words.plan, feedback=words.feedback)
        ),
    }
