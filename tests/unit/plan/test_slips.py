import pytest

from amelia.plan.read import read_plan


def findings(section: str) -> list[tuple[str, int | None, str | None]]:
    _, diagnostics = read_plan(f"### Task 1: A\n{section}\n".encode())
    return [(found.code, found.line, found.hint) for found in diagnostics]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("- Tpye: impl", "Type"),
        ("- Depnds on: 2", "Depends on"),
        ("- Dependson: 2", "Depends on"),
        ("- Acceptance criterias:", "Acceptance criteria"),
        ("- **Fles:** a.py", "Files"),
        ("* TDD wavier: no", "Tdd waiver"),
        ("- Mileston: M1", "Milestone"),
    ],
)
def test_a_field_that_is_one_letter_off_is_reported(line: str, meant: str) -> None:
    assert findings(line) == [("unknown-field", 2, f"Did you mean '{meant}'?")]


@pytest.mark.parametrize(
    ("line", "meant"),
    [("- Type: imp", "impl"), ("- Type: refacto", "refactor"), ("- Priority: hihg", "high")],
)
def test_a_value_that_is_one_letter_off_is_reported(line: str, meant: str) -> None:
    assert findings(line) == [("unknown-value", 2, f"Did you mean '{meant}'?")]


@pytest.mark.parametrize(
    "section",
    [
        "- Type: impl\n- Priority: high",
        "- Type: Feature",
        "- Notes: anything",
        "- Steps: many",
        "Some text first.\n\n- Tpye: impl",
        "- just a point",
        "- x: y",
    ],
)
def test_what_is_no_slip_is_left_alone(section: str) -> None:
    assert findings(section) == []
