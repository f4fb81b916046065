"""What a plan says about files is understood as a person would: no correct work halts over a way to write paths."""

from pathlib import Path

import pytest

from stories import APPROVED, Stage, make_stage, writes

pytestmark = pytest.mark.slow


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("`tests/test_a.py::test_x`", ["tests/test_a.py"]),
        ("tests/test_a.py::TestA::test_x[1-2]", ["tests/test_a.py"]),
        ("`src/{m,n}.py`", ["src/m.py", "src/n.py"]),
        ("src/{m,n}/{a,b}.py", ["src/m/a.py", "src/m/b.py", "src/n/a.py", "src/n/b.py"]),
        ("`migrations/XXXX_add_user.py`", ["migrations/0007_add_user.py"]),
        ("`migrations/YYYYMMDDHHMMSS_add_user.sql`", ["migrations/20260101120000_add_user.sql"]),
        ("docs/<name>.md", ["docs/login.md"]),
        ("`<name>.md`", ["login.md"]),
        ("`src/{id}/page.tsx`", ["src/7/page.tsx"]),
        ("`src/[id]/page.tsx`", ["src/[id]/page.tsx"]),
        ("src/*.py", ["src/m.py"]),
        ("`tests/**/test_*.py`", ["tests/unit/test_a.py"]),
        ("`src/m.py:10-20`", ["src/m.py"]),
        ("src/m.py:10-20, src/n.py#L3", ["src/m.py", "src/n.py"]),
        ("src\\app\\m.py", ["src/app/m.py"]),
        ("`src\\app\\m.py`", ["src/app/m.py"]),
        ("`app.models.User`", ["anything.py"]),
    ],
)
def test_work_is_accepted_that_does_what_was_declared(
    stage: Stage, declared: str, written: list[str]
) -> None:
    plan = f"# Sample\n\n### Task 1: One\n- Files: create {declared}\n"
    done = stage.run(plan, writes("1", *written), APPROVED)
    assert done.code == 0, done


@pytest.mark.parametrize(
    ("declared", "written", "said"),
    [
        ("`src/{m,n}.py`", ["src/m.py"], "src/n.py"),
        ("`migrations/XXXX_add_user.py`", ["migrations/0007_other.py"], "migrations/*_add_user.py"),
        ("`tests/test_a.py::test_x`", ["tests/test_b.py"], "tests/test_a.py"),
        ("docs/<name>.md", ["login.md"], "docs/*.md"),
    ],
)
def test_work_is_sent_back_that_does_not(stage: Stage, declared: str, written: list[str], said: str) -> None:
    plan = f"# Sample\n\n### Task 1: One\n- Files: create {declared}\n"
    done = stage.run(plan, writes("1", *written), APPROVED)
    assert done.code != 0, done
    assert said in stage.amelia("log", stage.names[0]).out
