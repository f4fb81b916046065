import pytest

from amelia.model.plan import Priority, Task, TaskStatus, TaskType
from amelia.plan.read import read_plan


def first_task(section: str) -> Task:
    plan, _ = read_plan(f"### Task 1: First\n{section}\n\n### Task 2: Second\n".encode())
    return plan.tasks[0]


@pytest.mark.rows("D1", "R6", "L1")
def test_bullets_of_amelias_own_grammar_are_read() -> None:
    task = first_task(
        "- Type: impl\n- Depends on: 2, Task 3\n- Phase: 2\n- Files:\n  - Create: `src/a.py`\n  - Modify: src/b.py\n"
        "  - Test: `tests/test_a.py`\n- Acceptance criteria:\n  - it works\n  - it is fast\n- User story: As a user I want a\n"
        "- Priority: high\n- Milestone: M1\n- TDD waiver: there is nothing to test"
    )
    assert task.type is TaskType.IMPL
    assert task.depends_on == ("2", "Task 3")
    assert task.phase == "2"
    assert task.files_to_create == ("src/a.py",)
    assert task.files_to_modify == ("src/b.py",)
    assert task.test_files == ("tests/test_a.py",)
    assert task.acceptance_criteria == ("it works", "it is fast")
    assert task.user_story == "As a user I want a"
    assert task.priority is Priority.HIGH
    assert task.milestone == "M1"
    assert task.waiver == "there is nothing to test"


def test_bold_fields_and_file_blocks_are_read() -> None:
    task = first_task(
        "**Files:**\n- Create: `src/a.py`, `src/b.py`\n- Modify: `src/c.py:12-40`\n- Test: `tests/test_a.py`\n\n"
        "**Depends on:** Task 2 (needs the schema) | **Type:** test"
    )
    assert task.files_to_create == ("src/a.py", "src/b.py")
    assert task.files_to_modify == ("src/c.py",)
    assert task.test_files == ("tests/test_a.py",)
    assert task.depends_on == ("Task 2",)
    assert task.type is TaskType.TEST


def test_a_line_of_files_is_cut_at_its_verbs() -> None:
    task = first_task("- Files: create src/a.py, modify src/update.py and src/c.py, test tests/test_a.py")
    assert task.files_to_create == ("src/a.py",)
    assert task.files_to_modify == ("src/update.py", "src/c.py")
    assert task.test_files == ("tests/test_a.py",)


def test_a_remark_behind_a_path_tells_what_happens_to_it() -> None:
    task = first_task("**Files:** `src/a.py` (new), `src/b.py`, `tests/test_b.py`")
    assert task.files_to_create == ("src/a.py",)
    assert task.files_to_modify == ("src/b.py",)
    assert task.test_files == ("tests/test_b.py",)


def test_commands_and_addresses_are_no_files() -> None:
    task = first_task("**Files:**\n- Test: `pytest tests/x.py -v`\n- Modify: see https://example.org/a.py")
    assert task.files == ()


def test_latest_is_no_test() -> None:
    task = first_task("- Files: `src/latest.py`, `contest/a.py`")
    assert task.test_files == ()
    assert task.files_to_modify == ("src/latest.py", "contest/a.py")


def test_headings_open_fields_too() -> None:
    task = first_task(
        "\n#### Acceptance Criteria\n\n- [ ] it works\n- [ ] it lasts\n\n#### Notes\n\n- not a criterion"
    )
    assert task.acceptance_criteria == ("it works", "it lasts")


def test_dependencies_are_read_from_sentences() -> None:
    assert first_task("This depends on Task 2 and Task 3.").depends_on == ("Task 2", "Task 3")
    assert first_task("Blocked by T4.").depends_on == ("T4",)
    assert first_task("It does not depend on Task 2.").depends_on == ()
    assert first_task("Esta tarea depende de T002.").depends_on == ("T002",)


def test_a_sentence_about_another_task_is_a_dependency_of_that_one() -> None:
    plan, _ = read_plan(b"### Task 1: A\n### Task 2: B\n\n## Order\n\n- Task 2 depends on Task 1\n")
    assert [task.depends_on for task in plan.tasks] == [(), ("Task 1",)]


def test_dependencies_are_read_from_yaml_blocks() -> None:
    task = first_task('```yaml\ndepends_on: ["2", "3"]\nparallel: true\n```')
    assert task.depends_on == ("2", "3")


def test_prose_behind_depends_on_names_no_task() -> None:
    for value in (
        "none",
        "N/A",
        "—",
        "Python 3.11",
        "the S3 bucket",
        "axios 1.6, lodash",
        "an existing schema",
    ):
        assert first_task(f"- Depends on: {value}").depends_on == (), value


def test_requires_counts_only_when_it_names_a_task() -> None:
    assert first_task("- Requires: Node18").depends_on == ()
    assert first_task("- Requires: Task 2").depends_on == ("Task 2",)


def test_fields_in_code_are_not_fields() -> None:
    assert first_task("```\nDepends on: 2\nType: impl\n```").type is None


def test_a_status_line_says_done() -> None:
    assert first_task("**Status:** ✅ Complete").status is TaskStatus.COMPLETED
    assert first_task("**Status:** not done").status is TaskStatus.PENDING
    assert first_task("**Status:** 80% complete").status is TaskStatus.PENDING


def test_other_languages_have_fields_too() -> None:
    task = first_task("- 依赖：任务 2\n- 文件：`src/a.py`\n- 优先级：高")
    assert task.depends_on == ("任务 2",)
    assert task.files_to_modify == ("src/a.py",)
    assert task.priority is Priority.HIGH


def test_a_path_in_backticks_may_hold_spaces() -> None:
    assert first_task("- Files: `docs/my notes.md`").files_to_modify == ("docs/my notes.md",)


def test_a_linked_path_is_that_of_its_text() -> None:
    assert first_task("Files: [src/a.ts](file:///C:/x/src/a.ts)").files_to_modify == ("src/a.ts",)


@pytest.mark.parametrize(
    ("value", "independent"),
    [
        ("none", True),
        ("**None**", True),
        ("None (can start at once)", True),
        ("none — it is the first", True),
        ("no dependencies", True),
        ("keine", True),
        ("无", True),
        ("—", True),
        ("", False),
        ("2", False),
        ("nonexistent module", False),
        ("the schema", False),
    ],
)
def test_a_task_can_say_that_it_depends_on_nothing(value: str, *, independent: bool) -> None:
    assert first_task(f"- Depends on: {value}").independent is independent


def test_what_depends_on_something_after_all_is_not_independent() -> None:
    assert not first_task("- Depends on: none\n\nIt depends on Task 2.").independent
    plan, _ = read_plan(
        b"### Task 1: A\n### Task 2: B\n- Depends on: none\n## Order\nTask 2 depends on Task 1\n"
    )
    assert not plan.tasks[1].independent


def phased(said: str) -> list[Task]:
    text = f"## Phase 1: P\n### Task 1: A\n## Phase 2: Q\n{said}\n### Task 2: B\n### Task 3: C\n- Depends on: 2\n"
    return list(read_plan(text.encode())[0].tasks)


def test_a_phase_can_say_what_it_depends_on() -> None:
    assert [task.independent for task in phased("**Depends on:** none\n")] == [False, True, False]
    assert [task.depends_on for task in phased("- Depends on: Phase 1\n")] == [(), ("Phase 1",), ("2",)]
    assert phased("Depends on: Phases 1, 4 and 5")[1].depends_on == ("Phase 1", "Phase 4", "Phase 5")
    assert phased("- Depends on:\n  - Phase 1\n")[1].depends_on == ("Phase 1",)
    assert phased("Depends on: what was there before")[1].depends_on == ()
    assert not phased("Nothing.")[1].independent


@pytest.mark.parametrize(
    "said",
    [
        "*No dependencies.*",
        "No dependencies - can start immediately",
        "- **No prerequisites**",
        "Dependencies: none",
        "> Depends on nothing.",
        "Depends on no other phase.",
        "This phase has no\ndependencies and can run in parallel with Phase 1.",
        "Phase 2 depends on nothing. It writes the docs.",
        "This phase does not depend on any other phase.",
        "Independent of all other phases.",
        "Independent.",
        "The pages.\n\nNo dependencies on other phases.",
        "No dependencies. Phase 3 depends on it.",
        "Keine Abhängigkeiten.",
        "无依赖",
        "依存なし",
    ],
)
def test_a_phase_can_say_in_words_that_it_depends_on_nothing(said: str) -> None:
    assert [task.independent for task in phased(f"{said}\n")] == [False, True, False]


@pytest.mark.parametrize(
    "said",
    [
        "No new dependencies.",
        "No external dependencies",
        "No dependencies: we write our own parser.",
        "Use the standard library. No dependencies.",
        "No dependencies on Phase 1.",
        "No dependencies except Phase 1.",
        "No dependencies. It can start after Task 1.",
        "Depends on none, but Phase 1 comes first.",
        "No dependencies.\n\n- Depends on: Phase 1",
        "Independent of Phase 1.",
        "**Independent Test**: open the page.",
        "Independent modules are written here.",
        "Phase 3 has no dependencies.",
        "The parser has no dependencies.",
        "It does not depend on the network.",
        "```\nNo dependencies.\n```",
    ],
)
def test_words_that_leave_a_doubt_keep_a_phase_in_its_place(said: str) -> None:
    assert not any(task.independent for task in phased(f"{said}\n"))


@pytest.mark.parametrize(
    ("heading", "independent"),
    [
        ("Phase 2: Q (no dependencies)", True),
        ("Phase 2 (no dependencies)", True),
        ("Phase 2: Q [Depends on: none]", True),
        ("Phase 2: Q *(independent)*", True),
        ("Phase 2 — Q — depends on nothing", True),
        ("Phase 2: Q, no dependencies", True),
        ("Phase 2: Q (independent of Phase 1)", False),
        ("Phase 2: Q (no new dependencies)", False),
        ("Phase 2: No dependencies", False),
        ("Phase 2: Small, independent", False),
        ("Phase 2: Q (depends on Phase 1)", False),
    ],
)
def test_the_heading_of_a_phase_can_say_that_it_depends_on_nothing(
    heading: str, *, independent: bool
) -> None:
    text = f"## Phase 1: P\n### Task 1: A\n## {heading}\n### Task 2: B\n"
    assert [task.independent for task in read_plan(text.encode())[0].tasks] == [False, independent]


def test_a_phase_of_a_plan_that_is_renumbered_keeps_its_number() -> None:
    text = b"## Phase 1: P\n### Task 1: A\n## Phase 2: Q\n- Depends on: Phase 1\n### Task 1: B\n"
    assert [(task.id, task.depends_on) for task in read_plan(text)[0].tasks] == [
        ("p1-1", ()),
        ("p2-1", ("Phase 1",)),
    ]
