import json
from typing import ClassVar

import pytest

from amelia.model.diagnostics import Diagnostic, Severity
from amelia.model.plan import Plan, TaskStatus
from amelia.plan.read import read_plan


def read(text: str) -> tuple[Plan, list[Diagnostic]]:
    plan, diagnostics = read_plan(text.encode())
    return plan, list(diagnostics)


def ids(text: str) -> list[str]:
    return [task.id for task in read(text)[0].tasks]


def codes(text: str) -> list[str]:
    return [found.code for found in read(text)[1]]


class TestHeadings:
    @pytest.mark.rows("T1")
    @pytest.mark.parametrize("level", range(1, 7))
    def test_tasks_stand_at_any_level(self, level: int) -> None:
        marks = "#" * level
        assert ids(f"{marks} Task 1: A\n{marks} Task 2: B\n") == ["1", "2"]

    def test_several_levels_in_one_file_are_one_plan(self) -> None:
        text = "# Plan\n## Backend\n### Task 1: A\n## Task 2: B\ntext\n#### Task 3: C\n## Frontend\n#### Task 4: D\n"
        plan, _ = read(text)
        assert [(task.id, task.section) for task in plan.tasks] == [
            ("1", "### Task 1: A\n"),
            ("2", "## Task 2: B\ntext\n"),
            ("3", "#### Task 3: C\n"),
            ("4", "#### Task 4: D\n"),
        ]

    def test_a_parent_task_is_only_the_heading_of_its_parts(self) -> None:
        text = "# Plan\n## Task 1: A\n### Task 1.1: a\n### Task 1.2: b\n## Task 2: B\n"
        assert ids(text) == ["1.1", "1.2", "2"]
        (note,) = read(text)[1]
        assert note.code == "two-readings"
        assert "3 tasks" in note.message
        assert "2 (outer task headings)" in note.message

    def test_an_empty_task_over_several_others_is_only_their_heading(self) -> None:
        assert ids("# P\n## Task A: Umbrella\n\n### Task 1: x\n### Task 2: y\n## Task B: Own\ntext\n") == [
            "1",
            "2",
            "B",
        ]

    def test_subtasks_inside_tasks_are_steps(self) -> None:
        assert ids("## Task 1: A\n### Subtask 1.1: a\n## Task 2: B\n### Subtask 2.1: b\n") == ["1", "2"]

    def test_subtasks_alone_are_tasks(self) -> None:
        assert ids("## Phase 1\n### Subtask 1a: A\n### Subtask 1b: B\n") == ["1a", "1b"]

    def test_a_document_title_is_no_task(self) -> None:
        assert ids("# Task 7: the whole\n\n## Task 1: A\n## Task 2: B\n") == ["1", "2"]

    def test_headings_that_mention_tasks_are_no_tasks(self) -> None:
        assert ids("## Task Overview\n### Task 1 Context\n### Task 1: A\n## Tasks\n### Task 2: B\n") == [
            "1",
            "2",
        ]

    def test_numbered_headings_count_below_a_task_section(self) -> None:
        assert ids("# P\n## 1. Overview\n## Tasks\n### 1. A\n### 2. B\n## Notes\n### 3. not\n") == ["1", "2"]

    def test_numbered_headings_count_when_nothing_else_does(self) -> None:
        assert ids("# P\n## 1. Overview\n## 2. Add login\n## 3. Add logout\n") == ["2", "3"]

    def test_phases_group_and_are_not_tasks(self) -> None:
        plan, _ = read(
            "# P\n## Phase 1: Base\n### Task 1: A\n## Phase 2: Top\n### Task 2: B\n## Appendix\n### Task 3: C\n"
        )
        assert [task.phase for task in plan.tasks] == ["Phase 1: Base", "Phase 2: Top", None]

    def test_phases_group_what_follows_at_the_same_level(self) -> None:
        plan, _ = read("## Phase 1\n## Task 1: A\n## Phase 2\n## Task 2: B\n")
        assert [task.phase for task in plan.tasks] == ["Phase 1", "Phase 2"]

    def test_milestones_group_what_follows(self) -> None:
        plan, _ = read("## Milestone 1: Core\n### Task 1: A\n## Milestone 2: More\n### Task 2: B\n")
        assert [task.milestone for task in plan.tasks] == ["M1: Core", "M2: More"]

    def test_a_phase_plan_without_tasks_has_its_phases_as_tasks(self) -> None:
        assert ids("# P\n## Phase 1: A\ntext\n## Phase 2: B\ntext\n") == ["1", "2"]

    def test_boxes_in_headings_are_tasks_with_a_status(self) -> None:
        plan, _ = read("# P\n## [x] 1. A\n## [ ] 2. B\n")
        assert [(task.id, task.status) for task in plan.tasks] == [
            ("1", TaskStatus.COMPLETED),
            ("2", TaskStatus.PENDING),
        ]

    def test_ticked_steps_finish_a_task_and_open_ones_outrank_a_decorative_tick(self) -> None:
        plan, _ = read("### Task 1: A\n- [x] a\n- [x] b\n### ✅ Task 2: B\n- [ ] a\n### Task 3: C ✅\n")
        assert [task.status for task in plan.tasks] == [
            TaskStatus.COMPLETED,
            TaskStatus.PENDING,
            TaskStatus.COMPLETED,
        ]

    def test_struck_and_deferred_tasks_are_left_out_and_said(self) -> None:
        text = "### Task 1: A\n### ~~Task 2: B~~\n### Task 3 (DEFERRED): C\n### Task 4: D\n- Depends on: Task 2, 1\n"
        plan, notes = read(text)
        assert [task.id for task in plan.tasks] == ["1", "4"]
        assert plan.tasks[1].depends_on == ("1",)
        assert [note.code for note in notes] == ["left-out", "left-out"]

    def test_numbers_that_start_again_in_every_phase_become_unique(self) -> None:
        text = "## Phase 1\n### Task 1: A\n### Task 2: B\n- Depends on: 1\n## Phase 2\n### Task 1: C\n"
        plan, notes = read(text)
        assert [task.id for task in plan.tasks] == ["p1-1", "p1-2", "p2-1"]
        assert plan.tasks[1].depends_on == ("p1-1",)
        assert [note.code for note in notes] == ["renumbered"]

    def test_numbers_that_start_again_in_two_phases_of_equal_length_lose_nothing(self) -> None:
        text = (
            "## Phase 1\n### Task 1: A\na\n### Task 2: B\nb\n## Phase 2\n### Task 1: C\nc\n### Task 2: D\nd\n"
        )
        assert ids(text) == ["p1-1", "p1-2", "p2-1", "p2-2"]

    def test_described_tasks_that_share_numbers_are_left_for_the_checks(self) -> None:
        text = "### Task 1: A\na\n### Task 2: B\nb\n### Task 1: C\nc\n### Task 2: D\nd\n"
        assert ids(text) == ["1", "2", "1", "2"]

    def test_an_outline_before_the_tasks_is_not_a_second_plan(self) -> None:
        text = "### Task 1: A\n### Task 2: B\n---\n\n### Task 1: A now\na\n### Task 2: B now\nb\n"
        plan, (note,) = read(text)
        assert [task.title for task in plan.tasks] == ["A now", "B now"]
        assert (note.code, note.line) == ("named-twice", 1)

    def test_of_two_lists_the_one_below_tasks_counts(self) -> None:
        text = "## Tasks\n### PR 1: A\na\n### PR 2: B\nb\n## Decisions\n### PR 1: why\nc\nd\n### PR 2: how\ne\nf\n"
        plan, _ = read(text)
        assert [task.title for task in plan.tasks] == ["A", "B"]

    def test_tasks_below_a_heading_of_later_work_are_left_out_and_said(self) -> None:
        text = "## Now\n### Task 1: A\n- Depends on: 2\n## Future Work\n### Task 2: B\n"
        plan, (note,) = read(text)
        assert [(task.id, task.depends_on) for task in plan.tasks] == [("1", ())]
        assert (note.code, note.line) == ("left-out", 5)

    @pytest.mark.parametrize(
        "text",
        [
            "## Now\n- [ ] a\n## Later on\n- [ ] c\n",
            "## Now\n- [ ] a\n## Later on\n### Shop\n- [ ] c\n",
            "## Now\n### Task 1: A\n## Later on\n### Task 2: c\n",
        ],
    )
    def test_the_heading_that_leaves_a_task_out_is_named(self, text: str) -> None:
        _, (note,) = read(text)
        assert note.code == "left-out"
        assert "stands below the heading 'Later on' (line 3), and is left out" in note.message
        assert note.hint == "Move it below another heading, or change that one, to have it carried out."

    def test_every_task_that_is_left_out_is_named(self) -> None:
        _, notes = read("## Now\n- [ ] a\n## Later on\n- [ ] b\n- [ ] c\n")
        assert [(note.code, note.line) for note in notes] == [("left-out", 4), ("left-out", 5)]

    def test_a_mark_that_leaves_a_task_out_is_named_below_such_a_heading_too(self) -> None:
        for text in ("- [ ] a\n## Later\n- [ ] ~~c~~\n", "## Task 1: A\n# P\n## Later\n### ~~Task 2: c~~\n"):
            _, (note,) = read(text)
            assert "is struck through or marked as deferred" in note.message

    def test_where_all_work_is_for_later_it_is_the_plan(self) -> None:
        assert ids("## Future\n### Task 1: A\n### Task 2: B\n") == ["1", "2"]
        assert ids("## Later\n- [ ] a\n- [ ] b\n") == ["1", "2"]

    def test_an_overview_and_the_details_are_one_task(self) -> None:
        text = "## Overview\n### Task 1: A\n## Details\n### Task 1: A\nmuch\nmore\n"
        plan, _ = read(text)
        assert [(task.id, task.line) for task in plan.tasks] == [("1", 4)]


class TestSections:
    TEXT = "# P\n\n### Task 1: A\r\nbody *exact*  \r\n\r\n---\r\n\n### Task 2: B\nb\n\n## Summary\n\ns\n"

    def test_a_section_is_exact_and_ends_before_the_next_task(self) -> None:
        plan, _ = read(self.TEXT)
        assert plan.tasks[0].section == "### Task 1: A\r\nbody *exact*  \r\n\r\n---\r\n"

    def test_a_section_ends_before_a_trailing_summary(self) -> None:
        plan, _ = read(self.TEXT)
        assert plan.tasks[1].section == "### Task 2: B\nb\n"

    def test_deeper_headings_belong_to_the_task(self) -> None:
        plan, _ = read("## Task 1: A\n### Steps\nx\n## Task 2: B\n")
        assert plan.tasks[0].section == "## Task 1: A\n### Steps\nx\n"

    def test_a_byte_order_mark_does_not_hide_the_first_heading(self) -> None:
        plan, _ = read_plan(b"\xef\xbb\xbf# Task 1: A\r\n# Task 2: B\r\n")
        assert [task.id for task in plan.tasks] == ["1", "2"]

    def test_utf_16_is_read(self) -> None:
        plan, _ = read_plan("### Task 1: Ä\n".encode("utf-16"))
        assert [task.title for task in plan.tasks] == ["Ä"]


class TestFences:
    @pytest.mark.rows("T1")
    def test_headings_in_fences_are_no_tasks(self) -> None:
        text = "### Task 1: A\n```bash\n# Task 9: x\n```\n~~~\n### Task 8: x\n~~~\n### Task 2: B\n"
        assert ids(text) == ["1", "2"]
        assert codes(text) == []

    def test_four_backticks_hold_three(self) -> None:
        text = "### Task 1: A\n````md\n### Task 8: x\n```py\n```\n### Task 9: y\n````\n### Task 2: B\n"
        assert ids(text) == ["1", "2"]

    def test_a_fence_that_is_never_closed_is_reported_and_the_tasks_recovered(self) -> None:
        text = "### Task 1: A\n```python\nx\n\n### Task 2: B\n### Task 3: C\n"
        plan, (note,) = read(text)
        assert [task.id for task in plan.tasks] == ["1", "2", "3"]
        assert (note.severity, note.code, note.line) == (Severity.WARNING, "unclosed-fence", 2)
        assert "3 tasks" in note.message
        assert "would be 1" in note.message

    def test_an_unclosed_fence_that_the_next_one_closes_is_found_too(self) -> None:
        text = "### Task 1: A\n```python\nx\n\n### Task 2: B\n```bash\nls\n```\n### Task 3: C\n"
        plan, (note,) = read(text)
        assert [task.id for task in plan.tasks] == ["1", "2", "3"]
        assert note.line == 2

    def test_an_example_with_fences_of_the_same_length_hides_no_tasks(self) -> None:
        text = "### Task 1: A\n```md\n### Task 9: x\n```py\nx\n```\nmore\n```\n### Task 2: B\n### Task 3: C\n"
        plan, (note,) = read(text)
        assert [task.id for task in plan.tasks] == ["1", "2", "3"]
        assert (note.code, note.line) == ("nested-fence", 2)

    def test_a_plan_pasted_inside_a_fence_is_read(self) -> None:
        text = "```markdown\n### Task 1: A\n### Task 2: B\n```\n"
        assert ids(text) == ["1", "2"]
        assert codes(text) == ["plan-in-fence"]

    def test_an_unclosed_fence_without_tasks_behind_it_is_left_alone(self) -> None:
        text = "### Task 1: A\n### Task 2: B\n```\nopen\n"
        assert ids(text) == ["1", "2"]
        assert codes(text) == []


class TestCheckLists:
    def test_spec_kit_boxes_have_ids_marks_and_phases(self) -> None:
        text = (
            "# Tasks\n## Phase 1: Setup\n- [x] T001 Create it in src/a.py\n- [ ] T002 [P] [US1] Do it (depends on T001)\n"
            "## Phase 2: Story\n- [ ] T003 [P] More\n\n## Notes\n- [P] tasks = different files\n"
        )
        plan, _ = read(text)
        assert [(task.id, task.title, task.status, task.parallel, task.phase) for task in plan.tasks] == [
            ("T001", "Create it in src/a.py", TaskStatus.COMPLETED, False, "Phase 1: Setup"),
            ("T002", "Do it (depends on T001)", TaskStatus.PENDING, True, "Phase 1: Setup"),
            ("T003", "More", TaskStatus.PENDING, True, "Phase 2: Story"),
        ]
        assert plan.tasks[1].depends_on == ("T001",)

    def test_nested_boxes_are_steps(self) -> None:
        assert ids("- [ ] 1. A\n  - [x] 1.1 a\n  - [ ] 1.2 b\n- [ ] 2. B\n") == ["1", "2"]

    def test_an_empty_box_over_numbered_ones_in_the_same_column_is_a_group(self) -> None:
        assert ids("- [ ] 1. Group\n- [ ] 1.1 A\n  - text\n- [ ] 1.2 B\n  - text\n") == ["1.1", "1.2"]

    def test_open_spec_groups_are_headings(self) -> None:
        assert ids("## 1. Base\n- [ ] 1.1 A\n- [ ] 1.2 B\n## 2. Verification\n- [ ] 2.1 C\n") == [
            "1.1",
            "1.2",
            "2.1",
        ]

    def test_bmad_tasks_are_the_outer_boxes_and_criteria_are_not_tasks(self) -> None:
        text = (
            "# Story 1.1\n## Acceptance Criteria\n- [ ] it works\n## Tasks / Subtasks\n"
            "- [ ] Task 1: A (AC: 1)\n  - [ ] Subtask 1.1: a\n- [ ] Task 2: B (AC: 2)\n"
        )
        assert ids(text) == ["1", "2"]

    def test_boxes_without_ids_are_numbered(self) -> None:
        plan, _ = read("# To do\n- [ ] first\n- [x] second\n## Definition of Done\n- [ ] all green\n")
        assert [(task.id, task.title) for task in plan.tasks] == [("1", "first"), ("2", "second")]

    def test_boxes_below_a_heading_of_later_work_are_left_out_and_said(self) -> None:
        plan, (note,) = read("## Now\n- [ ] a\n## Later\n- [ ] b\n- [x] c\n")
        assert [task.title for task in plan.tasks] == ["a", "c"]
        assert note.code == "left-out"

    def test_groups_in_the_column_of_their_boxes_are_a_second_reading(self) -> None:
        (note,) = read("- [ ] 1. Group\n- [ ] 1.1 A\n- [ ] 1.2 B\n")[1]
        assert "2 tasks (check boxes with ids)" in note.message
        assert "3 (all boxes of the column)" in note.message

    def test_a_legend_is_no_work(self) -> None:
        assert ids("- [ ] Pending\n- [x] Completed\n\n## Phase 1\n- [ ] 1.1 A\n- [ ] 1.2 B\n") == [
            "1.1",
            "1.2",
        ]

    def test_boxes_outside_outnumber_a_few_task_headings(self) -> None:
        text = "- [ ] T001 A\n- [ ] T002 B\n- [ ] T003 C\n\n## Details\n### Task 1: about T001\n"
        plan, (note,) = read(text)
        assert [task.id for task in plan.tasks] == ["T001", "T002", "T003"]
        assert note.code == "two-readings"


class TestOtherShapes:
    def test_bold_paragraphs_are_tasks(self) -> None:
        plan, _ = read("# P\n\n**Task 1: A**\n\ntext\n\n**Task 2: B** more\n\n## Summary\nx\n")
        assert [(task.id, task.section) for task in plan.tasks] == [
            ("1", "**Task 1: A**\n\ntext\n"),
            ("2", "**Task 2: B** more\n"),
        ]

    def test_table_rows_are_tasks(self) -> None:
        text = "| ID | Task | Depends on | Status |\n|---|---|---|---|\n| A1 | First | — | done |\n| A2 | Second | A1 | open |\n"
        plan, _ = read(text)
        assert [(task.id, task.title, task.status, task.depends_on) for task in plan.tasks] == [
            ("A1", "First", TaskStatus.COMPLETED, ()),
            ("A2", "Second", TaskStatus.PENDING, ("A1",)),
        ]

    def test_a_numbered_list_below_tasks_is_tasks(self) -> None:
        assert ids("# P\n## Tasks\n1. **A** - a\n2. **B** - b\n") == ["1", "2"]

    def test_cursor_todos_are_tasks(self) -> None:
        text = "---\nname: X\ntodos:\n  - id: a\n    content: First\n    status: completed\n  - id: b\n    content: Second\n    dependencies: [a]\n---\n\n# X\n### Task 1: no\n"
        plan, _ = read(text)
        assert [(task.id, task.title, task.line, task.end_line) for task in plan.tasks] == [
            ("a", "First", 4, 6),
            ("b", "Second", 7, 9),
        ]
        assert plan.tasks[1].depends_on == ("a",)

    def test_todos_on_one_line_are_read_too(self) -> None:
        plan, _ = read("---\ntodos: [{id: a, content: First}, {id: b, content: Second}]\n---\n")
        assert [(task.id, task.line) for task in plan.tasks] == [("a", 1), ("b", 1)]

    def test_rows_without_an_id_and_second_mentions_are_no_tasks(self) -> None:
        head = "| # | Task | Status |\n|---|---|---|\n"
        assert ids(f"{head}| 1 | A | |\n| | total | |\n| 2 | B | |\n\n{head}| 1 | A again | done |\n") == [
            "1",
            "2",
        ]

    def test_a_number_at_the_start_of_a_gsd_name_is_part_of_the_title(self) -> None:
        plan, _ = read("<task>\n<name>2 columns become 3</name>\n</task>\n")
        assert [(task.id, task.title) for task in plan.tasks] == [("1", "2 columns become 3")]

    def test_bold_tasks_named_twice_are_one(self) -> None:
        assert ids("## Order\n\n**Task 1: A**\n\n## Work\n\n**Task 1: A**\n\ntext\n\n**Task 2: B**\n") == [
            "1",
            "2",
        ]

    def test_gsd_tasks_are_elements(self) -> None:
        text = (
            '---\nphase: 01-base\nplan: 02\n---\n\n<tasks>\n\n<task type="auto">\n  <name>Task 1: A</name>\n'
            "  <files>src/a.py, tests/test_a.py</files>\n  <action>\n    ```bash\n    # <task> no\n    ```\n  </action>\n"
            '  <done>It works.</done>\n</task>\n\n<task type="checkpoint:human-verify">\n  <what-built>A page</what-built>\n</task>\n</tasks>\n'
        )
        plan, (note,) = read(text)
        assert [(task.id, task.title) for task in plan.tasks] == [("1", "A"), ("2", "A page")]
        assert plan.tasks[0].files_to_modify == ("src/a.py",)
        assert plan.tasks[0].test_files == ("tests/test_a.py",)
        assert plan.tasks[0].acceptance_criteria == ("It works.",)
        assert plan.tasks[0].section.startswith("<task type")
        assert plan.tasks[0].section.endswith("</task>\n")
        assert note.code == "human-checkpoint"


class TestData:
    TASKS: ClassVar = [
        {
            "id": 1,
            "title": "A",
            "status": "done",
            "dependencies": [],
            "details": "Do a.",
            "subtasks": [{"id": 1, "title": "s"}],
        },
        {
            "id": 2,
            "title": "B",
            "status": "pending",
            "dependencies": [1],
            "priority": "high",
            "testStrategy": "Try it.",
        },
        {"id": 3, "title": "C", "status": "cancelled", "dependencies": ["1.1", 2]},
    ]

    @pytest.mark.parametrize("tagged", [False, True])
    def test_task_master_is_read_plain_and_tagged(self, tagged: bool) -> None:  # noqa: FBT001
        data = {"master": {"tasks": self.TASKS}} if tagged else {"tasks": self.TASKS}
        plan, _ = read(json.dumps(data, indent=2))
        assert plan.format == "task-master"
        assert [(task.id, task.status, task.depends_on) for task in plan.tasks] == [
            ("1", TaskStatus.COMPLETED, ()),
            ("2", TaskStatus.PENDING, ("1",)),
            ("3", TaskStatus.SKIPPED, ("1", "2")),
        ]
        assert "Do a." in plan.tasks[0].section
        assert "- [ ] s" in plan.tasks[0].section
        lines = json.dumps(data, indent=2).splitlines()
        assert all(
            f'"title": "{task.title}"' in "".join(lines[task.line - 1 : task.end_line]) for task in plan.tasks
        )
        assert plan.tasks[0].end_line < plan.tasks[1].line

    def test_of_several_tags_master_counts_and_it_is_said(self) -> None:
        plan, (note,) = read(
            json.dumps({"other": {"tasks": self.TASKS[:1]}, "master": {"tasks": self.TASKS}})
        )
        assert len(plan.tasks) == 3
        assert note.code == "several-tags"
        assert "4 tasks" in note.message

    def test_the_lines_are_those_of_the_tag_that_is_read(self) -> None:
        data = {"a": {"tasks": [{"id": 9, "title": "Z"}]}, "master": {"tasks": self.TASKS}}
        plan, _ = read(json.dumps(data, indent=1))
        assert plan.tasks[0].line == json.dumps(data, indent=1).splitlines().index('  "tasks": [', 10) + 2

    def test_ralphs_prd_is_read(self) -> None:
        story = {"id": "US-001", "title": "A", "acceptanceCriteria": ["works"], "priority": 1, "passes": True}
        plan, _ = read(
            json.dumps({"project": "X", "userStories": [story, {**story, "id": "US-002", "passes": False}]})
        )
        assert (plan.format, plan.goal) == ("prd-json", "X")
        assert [(task.id, task.status, task.acceptance_criteria) for task in plan.tasks] == [
            ("US-001", TaskStatus.COMPLETED, ("works",)),
            ("US-002", TaskStatus.PENDING, ("works",)),
        ]

    @pytest.mark.parametrize(
        "text", ['{"a": 1}', "{}", '{"tasks": {}}', '{"tasks": []}', "[1, 2]", "{broken", "[[]]"]
    )
    def test_json_of_no_known_shape_is_an_error(self, text: str) -> None:
        plan, diagnostics = read(text)
        assert plan.tasks == ()
        assert [(found.severity, found.code) for found in diagnostics] == [(Severity.ERROR, "unknown-json")]

    def test_a_text_that_starts_with_a_bracket_is_no_json(self) -> None:
        assert ids("[WIP] plan\n\n### Task 1: A\n") == ["1"]


class TestNothing:
    @pytest.mark.parametrize("data", [b"", b"  \n\t\n", b"\xef\xbb\xbf"])
    def test_an_empty_file_is_an_error(self, data: bytes) -> None:
        plan, (problem,) = read_plan(data)
        assert plan.tasks == ()
        assert (problem.severity, problem.code) == (Severity.ERROR, "empty-plan")

    @pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", bytes(range(1, 256)), b"\xff\xfe\xfd" * 50])
    def test_a_binary_file_is_an_error(self, data: bytes) -> None:
        plan, (problem,) = read_plan(data)
        assert plan.tasks == ()
        assert (problem.severity, problem.code) == (Severity.ERROR, "binary-file")

    def test_prose_is_one_task_and_says_so(self) -> None:
        plan, (note,) = read("# Make it nice\n\nPlease.\n")
        assert [(task.id, task.title, task.section) for task in plan.tasks] == [
            ("plan", "Make it nice", "# Make it nice\n\nPlease.\n")
        ]
        assert (plan.format, note.code) == ("single", "single-task")

    def test_a_file_that_is_one_task_takes_its_title_from_the_front_matter(self) -> None:
        plan, _ = read(
            "---\ntitle: Set it up\nstatus: Done\ndependencies: []\n---\n\n## Steps\n- [ ] a\n- [ ] b\n"
        )
        assert [(task.id, task.title, task.status) for task in plan.tasks] == [
            ("plan", "Set it up", TaskStatus.COMPLETED)
        ]

    def test_bytes_that_are_not_utf_8_are_said(self) -> None:
        plan, (note,) = read_plan(b"### Task 1: caf\xe9\n" + b"text " * 20)
        assert [task.id for task in plan.tasks] == ["1"]
        assert (note.code, note.line) == ("not-utf-8", 1)


def test_where_two_readings_are_defensible_both_counts_are_named() -> None:
    text = "# P\n### Step 1: A\n- [ ] a\n- [ ] b\n### Step 2: B\n- [ ] c\n"
    plan, (note,) = read(text)
    assert len(plan.tasks) == 2
    assert note.code == "two-readings"
    assert "Read as 2 tasks" in note.message
    assert "3 (check boxes)" in note.message


def test_the_other_count_of_nested_headings_has_the_headings_with_unusual_ids() -> None:
    nested = "# P\n### Task 1: A\n#### Task 1.1: a\n#### Task 1.2: b\n"
    plan, (note,) = read(f"{nested}### Task One: B\n### Task: C\n")
    assert [task.title for task in plan.tasks] == ["a", "b", "B", "C"]
    assert note.message == (
        "Read as 4 tasks (task headings); the other reading would be 3 (outer task headings)."
    )


class TestCorners:
    def test_lists_may_be_written_as_text_in_json(self) -> None:
        story = {"title": "A", "dependsOn": "Task 2, Task 3", "acceptanceCriteria": "- works\n- lasts"}
        plan, _ = read(json.dumps([story]))
        assert plan.tasks[0].depends_on == ("Task-2", "Task-3")
        assert plan.tasks[0].acceptance_criteria == ("works", "lasts")

    def test_where_the_lines_cannot_be_found_the_tasks_are_still_read(self) -> None:
        plan, _ = read(r'{"t\u0061sks": [{"title": "A"}]}')
        assert [(task.id, task.line) for task in plan.tasks] == [("1", 1)]

    def test_a_task_without_a_title_takes_the_first_line_of_its_text(self) -> None:
        plan, _ = read("### Task 1\n\nAdd **login**.\n\n### Task 2 [DONE]\n")
        assert [(task.title, task.status) for task in plan.tasks] == [
            ("Add login.", TaskStatus.PENDING),
            ("Task 2 [DONE]", TaskStatus.COMPLETED),
        ]

    def test_a_plan_of_nothing_but_dropped_tasks_is_an_error(self) -> None:
        plan, diagnostics = read("### ~~Task 1: A~~\n")
        assert plan.tasks == ()
        assert [found.code for found in diagnostics] == ["left-out", "nothing-to-do"]

    def test_a_fence_at_the_top_with_the_plan_below_it_is_only_code(self) -> None:
        assert ids("```\n# a comment\n```\n\n### Task 1: A\n### Task 2: B\n") == ["1", "2"]

    def test_fences_are_not_repaired_where_that_makes_ids_clash(self) -> None:
        text = (
            "### Task 1: A\n```md\n### Task 1: example\n```\n### Task 2: B\n```py\n\n### Task 1: swallowed\n"
        )
        assert ids(text) == ["1", "2"]

    def test_an_empty_field_that_holds_no_list_says_nothing(self) -> None:
        plan, _ = read("### Task 1: A\n- Type:\n- Priority:\n  - high\n")
        assert plan.tasks[0].type is None

    def test_flags_in_backticks_are_no_files(self) -> None:
        plan, _ = read("### Task 1: A\n- Files: `--all`, `a.py`\n")
        assert plan.tasks[0].files == ("a.py",)

    def test_what_lies_outside_the_plan_is_no_dependency(self) -> None:
        plan, _ = read("### Task 1: A\n- Depends on: SPEC-7, python3, T9, task-2\n### Task 2: B\n")
        assert plan.tasks[0].depends_on == ("T9", "task-2")

    def test_milestones_have_the_text_below_their_heading_as_description(self) -> None:
        plan, _ = read("## Milestone 1: Core\n\nThe *base*.\n\n### Task 1: A\n")
        assert plan.descriptions == {"M1: Core": "The *base*."}

    def test_restarted_numbers_keep_their_worded_references(self) -> None:
        text = (
            "## Phase 1\n### Task 1: A\n### Task 2: B\n- Depends on: Task 1\n### Task 3: C\n"
            "## Phase 2\n### Task 1: D\n### Task 2: E\n- Depends on: Task 1, Task 3\n"
        )
        plan, _ = read(text)
        assert [task.depends_on for task in plan.tasks] == [(), ("p1-1",), (), (), ("p2-1", "p1-3")]

    def test_a_number_that_another_section_uses_again_is_no_restart(self) -> None:
        assert ids("## Back\n### Task 1: a\n### Task 2: b\n## Front\n### Task 2: c\n### Task 3: d\n") == [
            "1",
            "2",
            "2",
            "3",
        ]

    def test_a_dependency_in_a_bullet_ends_with_the_bullet(self) -> None:
        text = "## Order\n\n- Task 2 depends on Task 1\n- Task 3 depends on Task 2\n\n### Task 1: a\n### Task 2: b\n### Task 3: c\n"
        plan, _ = read(text)
        assert [task.depends_on for task in plan.tasks] == [(), ("Task 1",), ("Task 2",)]

    def test_a_dependency_may_run_into_the_next_line(self) -> None:
        plan, _ = read("### Task 1: a\nIt depends on\nTask 2 and nothing else.\n### Task 2: b\n")
        assert plan.tasks[0].depends_on == ("Task 2",)

    def test_an_unclosed_fence_hides_no_headings_with_other_ids(self) -> None:
        text = "### T-01 — First\n\n```python\nx = 1\n\n### T-02 — Second\n\n### T-03 — Third\n"
        assert ids(text) == ["T-01", "T-02", "T-03"]
        assert codes(text) == ["unclosed-fence"]

    def test_what_is_cancelled_is_not_to_be_done(self) -> None:
        plan, _ = read(
            "### Task 1: a\n- Status: cancelled\n### Task 2: b\n- Status: pending\n- State: done\n"
        )
        assert [task.status for task in plan.tasks] == [TaskStatus.SKIPPED, TaskStatus.COMPLETED]
        head = "| ID | Task | Status |\n|---|---|---|\n"
        assert ids(f"{head}| 1 | a | deferred |\n| 2 | b | open |\n| 3 | c | |\n") == ["2", "3"]

    def test_the_first_value_of_a_field_counts(self) -> None:
        plan, _ = read(
            "### Task 1: a\n- Type: test\n- Type: impl\n- Milestone: M1\n- Milestone: M2\n- Phase: 1\n- Phase: 2\n"
        )
        assert (plan.tasks[0].type, plan.tasks[0].milestone, plan.tasks[0].phase) == ("test", "M1", "1")

    def test_no_reason_is_no_waiver(self) -> None:
        assert read("### Task 1: a\n- TDD waiver: none\n")[0].tasks[0].waiver is None

    def test_headings_may_be_marked_as_parallel(self) -> None:
        plan, _ = read("### Task 1: a\n### Task 2 [P]: b\n### Task 3: c [P]\n")
        assert [(task.title, task.parallel) for task in plan.tasks] == [
            ("a", False),
            ("b", True),
            ("c", True),
        ]

    def test_ticks_of_all_kinds_finish_a_task(self) -> None:
        plan, _ = read("### Task 1: a\n- [✓] s\n- [√] t\n### Task 2: b\n- [~] s\n")
        assert [task.status for task in plan.tasks] == [TaskStatus.COMPLETED, TaskStatus.PENDING]

    def test_front_matter_of_one_task_does_not_hide_tasks(self) -> None:
        assert ids("---\nname: X\nstatus: open\ndepends_on: []\n---\n### Task 1: a\n### Task 2: b\n") == [
            "1",
            "2",
        ]

    def test_boxes_whose_parent_stands_elsewhere_are_tasks_of_their_own(self) -> None:
        plan, _ = read("- [ ] 1 A\n  text\n- [ ] 2 B\n- [ ] 1.1 C\n")
        assert [(task.id, task.line, task.end_line) for task in plan.tasks] == [
            ("1", 1, 2),
            ("2", 3, 3),
            ("1.1", 4, 4),
        ]

    def test_numbers_rank_stories(self) -> None:
        stories = [{"title": "a", "priority": rank} for rank in (1, 2, 3, 9)]
        assert [task.priority for task in read(json.dumps(stories))[0].tasks] == [
            "critical",
            "high",
            "medium",
            "low",
        ]

    def test_ids_hold_nothing_that_cannot_be_shown(self) -> None:
        plan, _ = read(json.dumps([{"id": "a\u001b[2J b\ud800", "title": "x"}]))
        assert plan.tasks[0].id == "a[2J-b"
