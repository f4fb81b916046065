"""Whatever looks like a task in a plan is read as one, or `amelia check` says with an error that it was not."""

import json
import os
import subprocess  # noqa: TID251 - the test is the user who starts the program
import sys
from pathlib import Path
from typing import Any

import pytest

COVERAGE = {key: value for key, value in os.environ.items() if key.startswith("COVERAGE")}


def check(cwd: Path, text: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "amelia", "check", "-", "--json"],
        cwd=cwd,
        input=text.encode(),
        capture_output=True,
        check=False,
        timeout=60,
        env={**COVERAGE, "PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", "HOME": str(cwd)},
    )
    return done.returncode, json.loads(done.stdout)


def read(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(task["id"], task["title"]) for task in data["tasks"]]


@pytest.mark.parametrize(
    ("heading", "task"),
    [
        ("### Task One: Pay", ("One", "Pay")),
        ("### Task Twenty-one — Pay", ("Twenty-one", "Pay")),
        ("### Task: Pay", ("3", "Pay")),
        ("### Task — Pay", ("3", "Pay")),
        ("### Task a/b: Pay", ("a/b", "Pay")),
        ("### Task T#3: Pay", ("T#3", "Pay")),
        ("### Task Cleanup: Pay", ("Cleanup", "Pay")),
        ("###Task 3: Pay", ("3", "Pay")),
        ("###Task One: Pay", ("One", "Pay")),
        ("### Tarea uno: Pay", ("uno", "Pay")),
        ("### Задача три: Pay", ("три", "Pay")),
        ("### 任务：Pay", ("3", "Pay")),
    ],
)
def test_a_task_heading_with_an_unusual_id_is_read(
    tmp_path: Path, heading: str, task: tuple[str, str]
) -> None:
    code, data = check(
        tmp_path, f"# Shop\n\n### Task 1: Cart\n\nA cart.\n\n### Task 2: Stock\n\n{heading}\n\nMoney.\n"
    )
    assert code == 0
    assert read(data) == [("1", "Cart"), ("2", "Stock"), task]


@pytest.mark.parametrize(
    "heading",
    [
        "### Task Build the payment page",
        "### Task",
        "### Task 9 Summary",
        "## Task Payment: Pay",
        "- ### Task 3: Pay",
        "> ### Task 3: Pay",
        "      ### Task 3: Pay",
    ],
)
def test_a_heading_that_may_be_a_task_is_an_error_with_its_line(tmp_path: Path, heading: str) -> None:
    text = f"# Shop\n\n## Tasks\n\n### Task 1: Cart\n\nA cart.\n\n### Task 2: Stock\n\nText.\n\n{heading}\n\nMoney.\n"
    code, data = check(tmp_path, text)
    assert code == 5
    found = [each for each in data["diagnostics"] if each["severity"] == "error"]
    assert [(each["code"], each["line"]) for each in found] == [("unread-task", 13)]
    assert "### Task <id>: <title>" in found[0]["hint"]


def test_headings_that_speak_about_tasks_are_no_tasks(tmp_path: Path) -> None:
    text = (
        "# Task Manager\n\n## Task Model\n\nA task has a title.\n\n## Task Overview\n\nTwo.\n\n## Tasks\n\n"
        "### Task 1: Cart\n\n#### Task Goal\n\nA cart.\n\n### Task 2: Stock\n\n#### Task Goal\n\nStock.\n\n"
        "## Task Dependencies\n\nNone.\n\n### Task 1 Context\n\nText.\n"
    )
    code, data = check(tmp_path, text)
    assert code == 0
    assert read(data) == [("1", "Cart"), ("2", "Stock")]


def test_a_dependency_on_an_unusual_id_is_kept(tmp_path: Path) -> None:
    text = (
        "### Task One: Cart\n\n### Task a/b: Stock\n- Depends on: Task One\n\n"
        "### Task T#3: Pay\n- Depends on: a/b, One\n"
    )
    code, data = check(tmp_path, text)
    assert code == 0
    assert [task["depends_on"] for task in data["tasks"]] == [[], ["One"], ["a/b", "One"]]


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        (
            "- Add the store\n- Add the service\n- Write docs\n",
            ["Add the store", "Add the service", "Write docs"],
        ),
        ("# Plan\n\n1. Add the store\n2. Add the service\n", ["Add the store", "Add the service"]),
        ("# Shop\n\nWhat to do:\n\n1. Store\n   - tables\n   - access\n\n2. Service\n", ["Store", "Service"]),
        (
            "# Shop\n\n## Background\n\n- slow\n- old\n\n## Steps\n\n- Store\n- Service\n",
            ["Store", "Service"],
        ),
        ("1. Store\n1. Service\n1. Docs\n", ["Store", "Service", "Docs"]),
        ("- Task 1: Store\n- Task 2: Service\n", ["Store", "Service"]),
    ],
)
def test_a_list_that_is_the_plan_is_read_as_tasks_and_both_counts_are_told(
    tmp_path: Path, text: str, tasks: list[str]
) -> None:
    code, data = check(tmp_path, text)
    assert code == 0
    assert data["format"] == "list"
    assert [task["title"] for task in data["tasks"]] == tasks
    told = [each["message"] for each in data["diagnostics"] if each["code"] == "two-readings"]
    assert told
    assert f"{len(tasks)} tasks" in told[0]
    assert "1 (" in told[0]


@pytest.mark.parametrize(
    "text",
    [
        "# Login\n\nAdd a page.\n\nIt looks like the others.\n\nNobody sees a password.\n\n- fast\n- safe\n",
        "# Login\n\nAdd a login page.\n\nAcceptance criteria:\n- fast\n- safe\n",
        "# Login\n\nAdd a login page.\n\n## Notes\n\n- fast\n- safe\n",
        "Add a login page.\n\n- Type: impl\n- Files: create login.py\n",
    ],
)
def test_prose_with_a_list_in_it_stays_one_task(tmp_path: Path, text: str) -> None:
    code, data = check(tmp_path, text)
    assert code == 0
    assert data["format"] == "single"


def test_prose_with_a_list_that_could_be_tasks_tells_both_counts(tmp_path: Path) -> None:
    text = (
        "# Login\n\nAdd a login page. It has a form.\n\nThe page looks like the others.\n\nNobody sees it.\n\n"
        "- fast\n- safe\n"
    )
    _, data = check(tmp_path, text)
    told = [each["message"] for each in data["diagnostics"] if each["code"] == "two-readings"]
    assert told == ["Read as 1 task (the whole text); the other reading would be 2 (list items)."]


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        ("### Task 1: a\nx\n### Tsak 2: b\ny\n### Task 3: c\nz\n", 3),
        ("- [ ] a\n- b\n- [ ] c\n", 2),
        ("* [ ] add logout\n* fix login\n", 2),
    ],
)
def test_a_slip_among_tasks_stops_the_plan(tmp_path: Path, plan: str, line: int) -> None:
    code, data = check(tmp_path, plan)
    assert code != 0
    assert ("unread-task", line) in [(each["code"], each["line"]) for each in data["diagnostics"]]
