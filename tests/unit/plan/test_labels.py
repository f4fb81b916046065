import pytest

from amelia.plan.labels import Kind, read_label


@pytest.mark.parametrize(
    ("text", "kind", "identifier", "title"),
    [
        ("Task 3: Title", Kind.TASK, "3", "Title"),
        ("Task 3：Title", Kind.TASK, "3", "Title"),
        ("Task 3 — Title", Kind.TASK, "3", "Title"),
        ("Task 3 – Title", Kind.TASK, "3", "Title"),
        ("Task 3 - Title", Kind.TASK, "3", "Title"),
        ("Task 3. Title", Kind.TASK, "3", "Title"),
        ("Task 3 Add a page", Kind.TASK, "3", "Add a page"),
        ("TASK 3: Title", Kind.TASK, "3", "Title"),
        ("Task #3: Title", Kind.TASK, "3", "Title"),
        ("Task 3 of 10: Title", Kind.TASK, "3", "Title"),
        ("Task 3/10: Title", Kind.TASK, "3", "Title"),
        ("Task 1.2: Title", Kind.TASK, "1.2", "Title"),
        ("Task 4a: Title", Kind.TASK, "4a", "Title"),
        ("Task T-01: Title", Kind.TASK, "T-01", "Title"),
        ("Task A: Title", Kind.TASK, "A", "Title"),
        ("Task IV: Title", Kind.TASK, "IV", "Title"),
        ("Task Final: Title", Kind.TASK, "Final", "Title"),
        ("Task api: Title", Kind.TASK, "api", "Title"),
        ("Task 3", Kind.TASK, "3", ""),
        ("task-001: Title", Kind.TASK, "task-001", "Title"),
        ("TASK-12: Title", Kind.TASK, "TASK-12", "Title"),
        ("**Task 3: Title**", Kind.TASK, "3", "Title"),
        ("**Task 3**: Title", Kind.TASK, "3", "Title"),
        ("__Task 3__: Fix `__init__`", Kind.TASK, "3", "Fix `__init__`"),
        ("`Task 3`: Title", Kind.TASK, "3", "Title"),
        ("*Task 3: Title*", Kind.TASK, "3", "Title"),
        ("[Task 3](#task-3): Title", Kind.TASK, "3", "Title"),
        ('<a id="t3"></a>Task 3: Title', Kind.TASK, "3", "Title"),
        ("[Final] Task 3: Title", Kind.TASK, "3", "Title"),
        ("Task 3 [Final]: Title", Kind.TASK, "3", "Title"),
        ("Task 3 (optional): Title", Kind.TASK, "3", "Title"),
        ("🚀 Task 3: Title 🎉", Kind.TASK, "3", "Title"),
        ("Task 1️⃣: Title", Kind.TASK, "1", "Title"),
        ("Phase 1 / Task 2: Title", Kind.TASK, "2", "Title"),
        ("Task 3: Match `src/**/x.md` **now**", Kind.TASK, "3", "Match `src/**/x.md` now"),
        ("Subtask 1.1: Title", Kind.SUBTASK, "1.1", "Title"),
        ("任务 1：标题", Kind.TASK, "1", "标题"),
        ("任务一：标题", Kind.TASK, "一", "标题"),
        ("第2个任务：标题", Kind.TASK, "2", "标题"),
        ("タスク1.0.1: 題", Kind.TASK, "1.0.1", "題"),
        ("작업 2: 제목", Kind.TASK, "2", "제목"),
        ("Tarea 0: Título", Kind.TASK, "0", "Título"),
        ("Tarefa 5 — Título", Kind.TASK, "5", "Título"),
        ("Tâche 1 — Titre", Kind.TASK, "1", "Titre"),
        ("Aufgabe 2: Titel", Kind.TASK, "2", "Titel"),
        ("ЗАДАЧА 1: Имя", Kind.TASK, "1", "Имя"),
        ("Görev 3: Başlık", Kind.TASK, "3", "Başlık"),
        ("Nhiệm vụ 2: Tên", Kind.TASK, "2", "Tên"),
        ("مهمة 4: عنوان", Kind.TASK, "4", "عنوان"),
        ("कार्य 2: शीर्षक", Kind.TASK, "2", "शीर्षक"),
        ("Tugas 7: Judul", Kind.TASK, "7", "Judul"),
        ("T1: Title", Kind.CODE, "T1", "Title"),
        ("T-01 – Title", Kind.CODE, "T-01", "Title"),
        ("A1. Title", Kind.CODE, "A1", "Title"),
        ("US-001: Title", Kind.CODE, "US-001", "Title"),
        ("P1-T2: Title", Kind.CODE, "P1-T2", "Title"),
        ("E2E1: Title", Kind.CODE, "E2E1", "Title"),
        ("01-01-02-BE-01 Title", Kind.NUMBER, "01-01-02-BE-01", "Title"),
        ("1.2 Title", Kind.NUMBER, "1.2", "Title"),
        ("1.2.3 Title", Kind.NUMBER, "1.2.3", "Title"),
        ("4a: Title", Kind.NUMBER, "4a", "Title"),
        ("001 Title", Kind.NUMBER, "001", "Title"),
        ("1-1 Title", Kind.NUMBER, "1-1", "Title"),
        ("1) Title", Kind.NUMBER, "1", "Title"),
        ("Step 2 - Title", Kind.STEP, "2", "Title"),
        ("Phase 1: Title", Kind.PHASE, "1", "Title"),
        ("第一阶段：标题", Kind.PHASE, "一", "标题"),
        ("Tasks 2-4: Title", Kind.PHASE, "2-4", "Title"),
        ("Milestone 2: Title", Kind.MILESTONE, "2", "Title"),
        ("Story 1.2: Title", Kind.STORY, "1.2", "Title"),
    ],
)
def test_a_label_is_taken_apart(text: str, kind: Kind, identifier: str, title: str) -> None:
    label = read_label(text)
    assert label is not None
    assert (label.kind, label.id, label.title) == (kind, identifier, title)


@pytest.mark.parametrize(
    "text",
    [
        "Task Overview",
        "Tasks",
        "Task Overview: what we do",
        "Task 3 Context",
        "Task 3 Context — folder rules",
        "Task list: all of them",
        "Taskforce 3: Title",
        "Task a great thing",
        "タスク一覧",
        "2026-01-05 notes",
        "Summary",
        "3D rendering",
        "",
        "✅",
    ],
)
def test_what_only_mentions_tasks_has_no_label(text: str) -> None:
    assert read_label(text) is None


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("✅ Task 3: Title", True),
        ("Task 3 ✅: Title", True),
        ("Task 3: Title ✅", True),
        ("[x] Task 3: Title", True),
        ("[ ] Task 3: Title", False),
        ("⏳ Task 3: Title", None),
        ("Task 3: Title", None),
    ],
)
def test_a_tick_says_that_a_task_is_done(text: str, done: bool | None) -> None:  # noqa: FBT001
    label = read_label(text)
    assert label is not None
    assert label.done is done
