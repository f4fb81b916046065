"""From a goal to a branch, with a person in charge, told with the real Claude Code CLI.

A person states a goal, sends the first plan back, changes a line of the second and approves it. A phase is
rejected, with one finding that is right, one that is wrong and one for later. An agent asks a question and gets
its answer. At the end there are a branch, a report and a record.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from modelserver.steps import Answer, Step
from real.desks import AGENTS, APPROVED, REPORTED, Desk, open_desk
from stories import SETTINGS, Done, make_stage, wait_until
from tracing import Trace

pytestmark = pytest.mark.slow

GOAL = "Greet people by their name"
FILES = {
    "README.md": "# Greeter\n",
    "amelia.toml": SETTINGS,
    "check.sh": "for test in tests/test_*.sh; do test ! -e $test || sh $test || exit 1; done\n",
}
CLAUDE = AGENTS["claude"]


def task(number: str, title: str, kind: str, **more: Any) -> dict[str, Any]:
    """Describes a task as an architect proposes it."""
    return {
        "id": number,
        "title": title,
        "type": kind,
        "phase": None,
        "depends_on": [],
        "independent": False,
        "files_to_create": [],
        "files_to_modify": [],
        "test_files": [],
        "acceptance_criteria": [],
        "description": f"{title}.",
        "user_story": None,
        "priority": "medium",
        "milestone": None,
        **more,
    }


TESTS = task("1", "Test the greeting", "test", files_to_create=["tests/test_greet.sh"])
GREETING = task("2", "Write the greeting", "impl", depends_on=["1"], files_to_create=["greet.sh"])
MANUAL = task("3", "Describe the greeting", "docs", depends_on=["2"], files_to_create=["MANUAL.md"])


def plans(*tasks: Mapping[str, Any]) -> Answer:
    return Answer(report={"goal": GOAL, "tasks": list(tasks)})


def finds(*texts: str) -> Answer:
    """Answers as a reviewer who asks for changes."""
    found = [{"file": "greet.sh", "line": 1, "severity": "blocking", "text": text} for text in texts]
    return Answer(report={"approved": False, "comments": found})


def rules(*rulings: tuple[str, str]) -> Answer:
    """Answers as an evaluator."""
    items = [
        {"finding": number, "disposition": disposition, "reason": reason}
        for number, (disposition, reason) in enumerate(rulings, start=1)
    ]
    return Answer(report={"items": items})


def asks(question: str, *options: str) -> Answer:
    """Reports as a developer who cannot go on without an answer."""
    asked = {"question": question, "options": list(options), "default": None, "deadline_minutes": None}
    return Answer(report={**(REPORTED.report or {}), "status": "partial", "needs_clarification": asked})


def writes(name: str, text: str) -> Answer:
    return Answer(tools=[CLAUDE.write(name, text)])


class Story:
    """A person at a terminal, and the model that all agents of the story ask."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.stage = desk.stage

    def says(self, *words: str, then: tuple[Step, ...] = (), **environment: str) -> Done:
        """Types a command; the model answers what follows from it with the given steps."""
        return self.desk.run(words, *then, **environment)

    def waits_for(self, what: str, *command: str) -> Done:
        """Looks again and again until a command tells something."""
        seen: list[Done] = []

        def is_told() -> bool:
            seen[:] = [self.stage.amelia(*command, env=self.desk.environment)]
            return what in seen[0].out

        wait_until(is_told, what)
        return seen[0]

    def asked_last(self) -> str:
        return self.desk.told(len(self.desk.server.requests) - 1)


@pytest.fixture
def story(trace: Trace) -> Iterator[Story]:
    with open_desk(trace) as desk:
        desk.stage = make_stage(trace.folder / "greeter", FILES)
        desk.hire("claude")
        desk.environment["AMELIA_COMMIT_RECORD"] = "true"
        yield Story(desk)


@pytest.mark.rows("T8", "T21")
def test_a_goal_becomes_a_branch_with_a_person_in_charge(story: Story) -> None:
    a_plan_is_written_and_waits(story)
    it_is_sent_back_and_another_is_written(story)
    the_person_changes_a_line_and_approves(story)
    a_phase_is_rejected_and_made_again(story)
    a_question_is_answered(story)
    there_are_a_branch_a_report_and_a_record(story)


def a_plan_is_written_and_waits(story: Story) -> None:
    done = story.says("run", GOAL, "--no-input", then=(plans(TESTS, GREETING),))
    run = story.stage.name
    assert done.code == 4, done
    assert f"amelia approve {run}" in done.out
    assert GOAL in story.asked_last()
    assert "approval" in story.says("inbox").out
    assert story.stage.has_branch is False, "nothing runs before it is approved"


def it_is_sent_back_and_another_is_written(story: Story) -> None:
    run = story.stage.name
    second = plans(TESTS, GREETING, MANUAL)
    assert story.says("reject", run, "It needs a manual, too.", then=(second,)).code == 0
    story.waits_for("Describe the greeting", "plan", "show", run)
    told = story.asked_last()
    assert "It needs a manual, too." in told
    assert "Test the greeting" in told, "the architect sees the plan that was sent back"
    assert "+### Task 3: Describe the greeting" in story.says("plan", "diff", run).out


def the_person_changes_a_line_and_approves(story: Story) -> None:
    run, script = story.stage.name, story.stage.room / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text().replace('Describe the greeting', 'Explain the greeting'))\n"
    )
    edited = story.says("plan", "edit", run, EDITOR=f"{sys.executable} {script}")
    assert (edited.code, "Explain the greeting" in edited.out) == (0, True), edited


def a_phase_is_rejected_and_made_again(story: Story) -> None:
    run = story.stage.name
    done = story.says(
        "approve",
        run,
        then=(
            writes("tests/test_greet.sh", 'test "$(sh greet.sh Ada)" = "Hello, Ada!"'),
            REPORTED,
            APPROVED,
            writes("greet.sh", 'echo "Hello, $1!"'),
            REPORTED,
            finds("Quote the name.", "Use Python.", "Greet in French."),
            rules(
                ("IMPLEMENT", "A name may hold spaces."),
                ("REJECT", "check.sh runs shell scripts."),
                ("DEFER", "Not part of this goal."),
            ),
            writes("greet.sh", 'printf "Hello, %s!\\n" "$1"'),
            REPORTED,
            APPROVED,
            asks("How long should the text be?", "short", "long"),
        ),
    )
    assert done.code == 0, done
    story.waits_for("needs_human(question)", "status", run, "--json")
    again = story.stage.prompt("phase-2", 2)
    assert "Quote the name." in again
    assert "Use Python." not in again
    assert "Greet in French." not in again


def a_question_is_answered(story: Story) -> None:
    run = story.stage.name
    inbox = story.says("inbox").out
    assert "How long should the text be?" in inbox
    assert f"{run}/phase-3" in inbox
    answered = story.says(
        "answer",
        f"{run}/phase-3",
        "short",
        then=(writes("MANUAL.md", "It greets."), REPORTED, APPROVED),
    )
    assert answered.code == 0, answered
    story.waits_for('"outcome": "completed"', "status", run, "--json")


def there_are_a_branch_a_report_and_a_record(story: Story) -> None:
    stage = story.stage
    subjects = stage.subjects()
    assert [subject.partition(":")[0] for subject in subjects[:3]] == ["Phase 1", "Phase 2", "Phase 3"]
    assert "It greets." in stage.show("MANUAL.md")
    [record] = {path.rsplit("/", 1)[0] for path in stage.files() if path.endswith("/report.md")}
    kept = [path.removeprefix(f"{record}/") for path in stage.files() if path.startswith(record)]
    assert {"plan.md", "execution-state.json", "phase-2/summary.md", "phase-2/review-feedback.md"} <= set(
        kept
    )
    assert "Explain the greeting" in stage.show(f"{record}/plan.md")
    assert json.loads(stage.show(f"{record}/execution-state.json"))

    report = story.says("report", stage.name).out
    for said in ("check.sh runs shell scripts.", "Greet in French.", "How long should the text be?", "short"):
        assert said in report, said
    assert f"amelia undo {stage.name}" in report
    spent = stage.status()["spent"]
    assert spent["cost"] > 0, "what the architect used is part of it"
