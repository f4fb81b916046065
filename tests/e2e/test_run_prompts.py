"""Prompts of a run say what is so: to whom they are told, and about the files that lie there."""

from pathlib import Path

import pytest

from stories import APPROVED, FILES, SETTINGS, Stage, develops, make_stage, rejects, tasks, writes

pytestmark = pytest.mark.slow

BREAKS = {"write": "broken", "text": "x\n"}
MENDS = {"run": "rm -f broken"}
LIFECYCLE = """\
# Sample

### Task 1: One
- Type: chore
- Files: create one.txt
- Acceptance criteria: there is a file
"""
RESET = ("different strategy", "alternative approach", "proceeding differently")
GOES_ON = "go on from there"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def told(stage: Stage, unit: str, attempt: int, role: str = "developer") -> str:
    return stage.turns(unit, attempt, role)[0]["prompt"]


@pytest.mark.rows("L18")
def test_a_fresh_session_on_kept_files_goes_on_and_is_not_told_that_it_declared_anything(
    stage: Stage,
) -> None:
    promised = {"status": "completed", "summary": "<promise>DONE</promise>"}
    done = stage.run(
        LIFECYCLE,
        develops("1", {"write": "one.txt", "text": "1"}, BREAKS, attempt=1, report=promised),
        develops("1", MENDS, attempt=2),
        APPROVED,
        options=["--mode", "lifecycle"],
    )
    assert done.outcome == "completed"
    prompt = told(stage, "1", 2)
    assert GOES_ON in prompt
    assert not any(framing in prompt for framing in RESET)
    assert "You declared" not in prompt
    assert "This work was declared to be done" in prompt


@pytest.mark.rows("L18", "L25")
def test_an_attempt_from_the_base_is_asked_for_another_way_and_not_to_go_on(tmp_path: Path) -> None:
    settings = f"{SETTINGS}\n[modes.lifecycle]\nmax_iterations = 1\n"
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    done = stage.run(
        LIFECYCLE,
        develops("1", {"write": "one.txt", "text": "1"}, BREAKS, attempt=1),
        develops("1", {"write": "one.txt", "text": "2"}, attempt=2),
        APPROVED,
        options=["--mode", "lifecycle"],
    )
    assert done.outcome == "completed"
    prompt = told(stage, "1", 2)
    assert "A different strategy is needed." in prompt
    assert GOES_ON not in prompt


def test_a_fresh_session_after_a_crash_goes_on_in_the_kept_files(stage: Stage) -> None:
    done = stage.run(
        tasks("One"),
        develops("1", {"write": "one.txt", "text": "1"}, {"exit": 9}, attempt=1),
        develops("1", {"write": "two.txt", "text": "1"}, attempt=2),
        APPROVED,
    )
    assert done.outcome == "completed"
    prompt = told(stage, "1", 2)
    assert GOES_ON in prompt
    assert not any(framing in prompt for framing in RESET)


def test_an_agent_that_goes_on_in_its_session_is_not_told_of_itself_as_of_somebody_else(stage: Stage) -> None:
    partial = {"status": "partial", "summary": "The roof is missing."}
    done = stage.run(
        tasks("One"),
        develops("1", {"write": "one.txt", "text": "1"}, attempt=1, report=partial),
        develops("1", {"write": "two.txt", "text": "1"}, attempt=2),
        APPROVED,
    )
    assert done.outcome == "completed"
    [first], [second] = stage.turns("1", 1), stage.turns("1", 2)
    assert second["session"] == first["session"]
    assert "The roof is missing." in second["prompt"]
    assert "agent" not in second["prompt"].lower()
    assert "partial" in second["prompt"]


def test_a_question_about_a_finding_says_why_the_evaluator_asks_it(stage: Stage) -> None:
    why = "The plan says nothing of names."
    clarify = {"items": [{"finding": 1, "disposition": "CLARIFY", "reason": why}]}
    stage.run(
        tasks("One"),
        writes("1", "a"),
        rejects("Use another name?", attempt=1),
        APPROVED,
        {"role": "evaluator", "report": clarify},
    )
    [item] = stage.amelia("inbox", "--json").json
    assert "Use another name?" in item["question"]["text"]
    assert why in item["question"]["text"]
    assert why in stage.amelia("inbox").out
    assert stage.amelia("answer", f"{stage.name}/1", "call it b").code == 0
    stage.amelia("resume", stage.name, "--json")
    assert why in told(stage, "1", 2)


def test_a_later_reviewer_is_not_told_that_it_reviewed_before(stage: Stage) -> None:
    done = stage.run(
        tasks("One"),
        writes("1", "a", attempt=1),
        writes("1", "b", attempt=2),
        rejects("Write b, too.", attempt=1),
        APPROVED,
    )
    assert done.outcome == "completed"
    prompt = told(stage, "1", 2, "reviewer")
    assert "## What changed since the last review" in prompt
    assert "your last" not in prompt


TEST_FIRST = """\
# Slugs

## Phase 1: Tests
### Task 1: Test slugs
- Type: test
- Test files: test_slug.py

## Phase 2: Code
### Task 2: Implement slugs
- Type: impl
- Depends on: 1
- Files: create slug.py
"""
TWO_TESTS = (
    "import {module}\n\ndef test_a():\n    assert {module}.slug\n\ndef test_b():\n    assert {module}.slug\n"
)
WORDS = ("must fail now", "later task implements", "Amelia runs them", "import", "syntax")


def _writes_red_tests(unit: str, module: str) -> dict[str, object]:
    return develops(unit, {"write": "test_slug.py", "text": TWO_TESTS.format(module=module)})


@pytest.mark.rows("R9")
@pytest.mark.parametrize("scope", ["unit", "subtask"])
def test_whoever_writes_tests_first_is_told_that_they_must_fail_and_the_reviewer_that_red_is_wanted(
    tmp_path: Path, scope: str
) -> None:
    settings = f'[verify]\ncommand = ["python", "-m", "pytest"]\n[modes.phased]\nsession_scope = "{scope}"\n'
    stage = make_stage(tmp_path, {"amelia.toml": settings, "lib.py": "", ".gitignore": "__pycache__/\n"})
    done = stage.run(
        TEST_FIRST,
        _writes_red_tests("phase-1", "lib"),
        develops("phase-2", {"write": "lib.py", "text": "slug = 1\n"}, {"write": "slug.py", "text": ""}),
        rejects("They fail.", unit="phase-1"),
        {
            "role": "evaluator",
            "report": {"items": [{"finding": 1, "disposition": "REJECT", "reason": "red"}]},
        },
        APPROVED,
        options=["--mode", "phased"],
    )
    assert done.outcome == "completed", done
    prompt = told(stage, "phase-1", 1)
    assert all(word in prompt for word in WORDS), prompt
    assert "The tests of Task 1 must fail" in prompt
    assert "must fail" not in told(stage, "phase-2", 1)
    for role in ("reviewer", "evaluator"):
        read = told(stage, "phase-1", 1, role)
        assert "Red is wanted" in read
        assert "```\ntest_slug.py::test_a\ntest_slug.py::test_b\n```" in read
    assert "red, as wanted: 2 tests" in told(stage, "phase-1", 1, "reviewer")
    assert "Red is wanted" not in told(stage, "phase-2", 1, "reviewer")
    summary = (stage.directory / "record/phase-1/summary.md").read_text()
    assert "red, as wanted: 2 tests" in summary
    assert "red" not in (stage.directory / "record/phase-2/summary.md").read_text()
    assert "red, as wanted: 2 tests" in stage.amelia("report", stage.name).out


@pytest.mark.rows("R9")
def test_a_file_of_tests_that_cannot_import_what_is_to_come_is_red_as_a_whole(tmp_path: Path) -> None:
    settings = '[verify]\ncommand = ["python", "-m", "pytest"]\n'
    stage = make_stage(tmp_path, {"amelia.toml": settings, ".gitignore": "__pycache__/\n"})
    done = stage.run(
        TEST_FIRST,
        _writes_red_tests("phase-1", "slug"),
        develops("phase-2", {"write": "slug.py", "text": "slug = 1\n"}),
        APPROVED,
        options=["--mode", "phased"],
    )
    assert done.outcome == "completed", done
    assert "red, as wanted: 1 test file" in (stage.directory / "record/phase-1/summary.md").read_text()


LARGE = """\
# Shop

### Task T1: Sign up
- Type: chore
- Files:
  - Create: `src/models/user.txt`
  - Create: `src/models/session.txt`
  - Create: `src/services/auth.txt`
  - Create: `src/services/mail.txt`
  - Create: `src/views/register.txt`
  - Create: `src/views/login.txt`
- Acceptance criteria:
  - Passwords are stored with encryption in the user table
  - Authentication is async
  - A migration adds the session record
  - The login page shows various errors, with better caching

It is asked for everywhere.
"""
PARTS = {
    "T1-a": ("src/models/user.txt", "src/models/session.txt", "Passwords are stored", "A migration adds"),
    "T1-b": ("src/services/auth.txt", "src/services/mail.txt", "Authentication is async"),
    "T1-c": ("src/views/register.txt", "src/views/login.txt", "The login page shows"),
}
TITLES = {
    "T1-a": "Sign up (1/3): data layer",
    "T1-b": "Sign up (2/3): business layer",
    "T1-c": "Sign up (3/3): presentation layer",
}


def _is_told_its_part(prompt: str, piece: str) -> None:
    """Proves that a piece's own files and criteria are its own, and the others' context of other pieces."""
    assert f"piece {piece} of Task T1" in prompt
    assert TITLES[piece] in prompt
    assert "It is asked for everywhere." in prompt
    own, _, rest = prompt.partition("The rest of Task T1 belongs to other pieces")
    context, _, after = rest.partition("```\n")[2].partition("\n```")
    for other, parts in PARTS.items():
        for part in parts:
            assert (part in own) == (other == piece), part
            assert (part in context) == (other != piece), part
            assert other == piece or part not in after, part
        assert (TITLES[other] in context) == (other != piece)


@pytest.mark.rows("L7", "L8", "L16")
def test_a_piece_of_a_split_task_is_told_and_judged_as_what_it_is(stage: Stage) -> None:
    rules = {"items": [{"finding": 1, "disposition": "REJECT", "reason": "The other pieces do."}]}
    done = stage.run(
        LARGE,
        *(writes(piece, *parts[:2]) for piece, parts in PARTS.items()),
        rejects("Where is the rest?"),
        {"role": "evaluator", "report": rules},
        options=["--mode", "lifecycle"],
    )
    assert done.outcome == "completed", done
    for piece in PARTS:
        for role in ("developer", "reviewer", "evaluator"):
            _is_told_its_part(told(stage, piece, 1, role), piece)
    plan = (stage.directory / "record/plan.md").read_text()
    assert "Execute piece T1-b of Task T1 from plan at" in told(stage, "T1-b", 1)
    assert "Task T1:" in plan
    assert "Task T1-a: Sign up (1/3): data layer (done)" in told(stage, "T1-b", 1)
    assert stage.subjects() == [f"Task {piece}: {title}" for piece, title in TITLES.items()]
    [task] = stage.status()["tasks"]
    assert (task["id"], task["title"]) == ("T1", "Sign up")


@pytest.mark.parametrize("mode", ["single", "tasks", "phased", "lifecycle"])
def test_a_unit_that_a_person_splits_names_what_the_plan_calls_it(tmp_path: Path, mode: str) -> None:
    once = "".join(f"\n[modes.{name}]\nattempts = 1\n" for name in ("single", "tasks", "phased", "lifecycle"))
    settings = f"[task_size_limits]\nauto_split = false\n{SETTINGS}{once}max_iterations = 1\n"
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    whole = {"single": "plan", "phased": "phase-1"}.get(mode, "T1")
    names = [f"{whole}-{letter}" for letter in "abc"]
    pieces = (writes(name, *parts[:2]) for name, parts in zip(names, PARTS.values(), strict=True))
    stage.run(LARGE, develops(whole, BREAKS), *pieces, APPROVED, options=["--mode", mode])
    assert stage.amelia("split", stage.name, whole).code == 0
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    label = {"single": "the plan", "phased": "Phase 1"}.get(mode, "Task T1")
    assert f"The rest of {label} belongs to other pieces" in told(stage, names[1], 1)
    read = told(stage, names[1], 1, "reviewer")
    assert f"piece {names[1]} of {label}: Sign up (2/3): business layer" in read
    assert f"The rest of {label} belongs to other pieces" in read
    assert len(set(stage.subjects())) == 3
    assert all(title in subject for title, subject in zip(TITLES.values(), stage.subjects(), strict=True))
