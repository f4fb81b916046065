"""The judge's tree: the work of a unit is tested with the tests as they were before it.

What the plan lets a unit change goes to the reviewer by name, the rest is sent back, and a person can grant it.
"""

from pathlib import Path
from typing import Any

import pytest

from stories import APPROVED, Act, Done, Stage, Turn, develops, make_stage

SETTINGS = """\
tdd = "off"

[verify]
command = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider"]

[modes.tasks]
attempts = 1
"""
CODE = "def add(a, b):\n    return a + b\n"
BROKEN = "def add(a, b):\n    return 7\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
OTHER = "def test_other():\n    assert True\n"
FILES = {
    "calc.py": CODE,
    "conftest.py": "",
    "tests/test_calc.py": TEST,
    "tests/test_other.py": OTHER,
    "amelia.toml": SETTINGS,
    ".gitignore": "__pycache__/\n",
}
MENDS = "import calc\n\ncalc.add = lambda a, b: a + b\n\n\n"
GREEN = """import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
STRICTER = TEST.replace("== 3", "== 7")
TASK = "# Calculator\n\n### Task 1: Seven\n- Type: impl\n- Files: {files}\n\n{text}\n"
CALC_ONLY = TASK.format(files="modify calc.py", text="Let the calculator be lucky.")
WITH_TEST = TASK.format(files="modify calc.py, modify tests/test_calc.py", text="Let `add` return 7.")


def w(path: str, text: str) -> Act:
    return {"write": path, "text": text}


def stage_of(tmp_path: Path, **more: str) -> Stage:
    return make_stage(tmp_path, {**FILES, **more})


def run(stage: Stage, plan: str, *turns: Turn) -> Done:
    return stage.run(plan, *turns, options=["--mode", "tasks"])


def rules(**accepted: bool) -> Turn:
    tests = [
        {"test": name, "accepted": is_accepted, "reason": "Seen."} for name, is_accepted in accepted.items()
    ]
    return {"role": "reviewer", "report": {"approved": True, "comments": [], "tests": tests}}


NAME = "tests/test_calc.py::test_add"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_new.py", f"{MENDS}def test_new():\n    assert True\n"),
        ("tests/test_other.py", MENDS + OTHER),
    ],
    ids=["a new one", "another one"],
)
def test_a_test_file_that_mends_the_code_for_others_when_it_is_loaded_does_not_count(
    tmp_path: Path, path: str, text: str
) -> None:
    stage = stage_of(tmp_path)
    assert run(stage, CALC_ONLY, develops("1", w("calc.py", BROKEN), w(path, text)), APPROVED).outcome == (
        "halted(verify_limit)"
    )


def test_a_folder_of_tests_that_becomes_a_link_does_not_count(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    lie: Act = {
        "run": "mkdir lib && echo 'def test_add(): pass' > lib/test_calc.py && rm -r tests && ln -s lib tests"
    }
    assert run(stage, CALC_ONLY, develops("1", w("calc.py", BROKEN), lie), APPROVED).outcome == (
        "halted(verify_limit)"
    )


def test_what_an_honest_unit_planted_does_not_cover_a_later_one(tmp_path: Path) -> None:
    plan = CALC_ONLY + "\n### Task 2: Break\n- Type: impl\n- Files: modify calc.py\n\nGo on.\n"
    planted = develops("1", w("calc.py", f"{CODE}\n\nLUCKY = 7\n"), w("conftest.py", GREEN))
    stage = stage_of(tmp_path)
    done = run(stage, plan, planted, develops("2", w("calc.py", BROKEN)), APPROVED)
    assert done.outcome == "halted(branch_red)"
    assert NAME in stage.amelia("log", stage.name).out


def test_a_test_that_the_plan_does_not_give_to_a_unit_sends_it_back(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    changed = (w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER))
    done = run(stage, CALC_ONLY, develops("1", *changed), APPROVED)
    assert done.outcome == "halted(verify_limit)"
    assert "the unit changed tests/test_calc.py" in done.out
    assert "a person can grant it" in done.out
    offered = f"amelia retry {stage.name} 1 --grant tests/test_calc.py"
    assert offered in stage.amelia("status", stage.name).out
    assert offered in stage.amelia("inbox").out


def test_an_answer_that_grants_lets_a_unit_try_again_that_asks_nothing(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    changed = (w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER))
    run(stage, CALC_ONLY, develops("1", *changed), APPROVED)
    wrong = stage.amelia("answer", f"{stage.name}/1", "grant", "tests/test_clac.py")
    assert wrong.code == 2
    assert "tests/test_clac.py" in wrong.err
    assert "changed by its last attempt: calc.py, tests/test_calc.py" in wrong.err
    done = stage.amelia("answer", f"{stage.name}/1", "grant", "tests/test_calc.py")
    assert "1 is to try again, and may change tests/test_calc.py" in done.out, done.err
    assert stage.amelia("resume", stage.name).code == 0


def test_a_person_can_grant_a_test_file(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    changed = (w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER))
    run(stage, CALC_ONLY, develops("1", *changed), APPROVED)
    stage.amelia("retry", stage.name, "1", "--grant", "tests/test_calc.py")
    assert stage.amelia("resume", stage.name).code == 0
    assert stage.show("calc.py") == BROKEN.strip()
    assert "may change tests/test_calc.py" in stage.amelia("log", stage.name).out
    assert "A person lets you change tests/test_calc.py." in stage.prompt("1", 2)
    assert "A person let this unit change tests/test_calc.py." in stage.prompt("1", 2, role="reviewer")


def test_a_question_can_be_answered_with_a_grant(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    asks: dict[str, Any] = {"question": "May I change tests/test_calc.py?", "options": []}
    report = {"status": "partial", "summary": "", "needs_clarification": asks}
    first = develops("1", w("calc.py", BROKEN), attempt=1, report=report)
    second = develops("1", w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER), attempt=2)
    assert run(stage, CALC_ONLY, first, second, APPROVED).outcome == "needs_human(question)"
    done = stage.amelia("answer", f"{stage.name}/1", "grant", "tests/test_calc.py")
    assert done.code == 0, done.err
    assert stage.amelia("resume", stage.name).code == 0
    assert stage.show("tests/test_calc.py") == STRICTER.strip()


@pytest.mark.parametrize(
    "reviewer", [APPROVED, rules(**{NAME: False})], ids=["is not ruled on", "is refused"]
)
def test_a_changed_test_that_the_plan_declares_does_not_land_if_it(tmp_path: Path, reviewer: Turn) -> None:
    stage = stage_of(tmp_path)
    changed = (w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER))
    done = run(stage, WITH_TEST, develops("1", *changed), reviewer)
    assert done.outcome.startswith(("halted", "needs_human")), done.outcome
    assert stage.subjects() == []


def test_a_changed_test_that_the_reviewer_accepts_by_name_lands_and_is_told(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    changed = (w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER))
    assert run(stage, WITH_TEST, develops("1", *changed), rules(**{NAME: True})).outcome == "completed"
    assert "Rule on each by its whole name" in stage.prompt("1", 1, "reviewer")
    assert "1 test was changed by the unit itself" in stage.amelia("report", stage.name).out


def test_frozen_tests_may_be_changed_by_no_unit(tmp_path: Path) -> None:
    stage = stage_of(
        tmp_path, **{"amelia.toml": SETTINGS.replace("[verify]\n", '[verify]\ntests = "frozen"\n')}
    )
    changed = (w("calc.py", BROKEN), w("tests/test_calc.py", STRICTER))
    assert (
        run(stage, WITH_TEST, develops("1", *changed), rules(**{NAME: True})).outcome
        == "halted(verify_limit)"
    )
