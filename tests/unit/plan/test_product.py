"""Every acceptance criterion of a product belongs to exactly one task."""

from amelia.model.plan import Mode, Task, TaskId
from amelia.model.settings import PlanSettings
from amelia.plan.approval import judge_plan
from amelia.plan.product import Criterion, gaps, read_criteria

PRODUCT = b"""# Product

Some words.

## Acceptance Criteria

- **AC-1:** Readers can sign up
- [ ] AC-10: Readers can sign out
- The page is fast

```
- AC-9: not this
```

## Other

- Nothing of this
"""


def task(name: str, *criteria: str) -> Task:
    return Task(id=TaskId(name), title=name, acceptance_criteria=criteria)


def test_criteria_have_the_ids_that_their_author_gave_them_or_a_number() -> None:
    assert read_criteria(PRODUCT) == (
        Criterion("AC-1", "Readers can sign up"),
        Criterion("AC-10", "Readers can sign out"),
        Criterion("AC-3", "The page is fast"),
    )


def test_the_same_id_twice_is_told_apart() -> None:
    found = read_criteria(b"## Acceptance criteria\n- A-1: one\n- A-1: two\n- A-1: three\n")
    assert len({criterion.id for criterion in found}) == 3


def test_a_page_without_criteria_asks_for_nothing() -> None:
    assert read_criteria(b"# Product\n\nWords.\n") == ()
    assert read_criteria(b"\0\0") == ()


def test_criteria_are_found_by_id_or_word_for_word() -> None:
    tasks = [task("1", "ac-1: done"), task("2", "`AC-10` works"), task("3", "The  page is fast.")]
    assert list(gaps(read_criteria(PRODUCT), tasks)) == []


def test_what_nobody_cares_for_and_what_two_care_for_is_told() -> None:
    tasks = [task("1", "AC-10: out"), task("2", "AC-10: out", "something else")]
    assert list(gaps(read_criteria(PRODUCT), tasks)) == [
        "No task has the product's criterion AC-1: Readers can sign up",
        "Tasks 1, 2 all have the product's criterion AC-10: Readers can sign out",
        "No task has the product's criterion AC-3: The page is fast",
    ]


def test_the_verdict_on_a_plan_holds_errors_and_gaps() -> None:
    text = b"# Plan\n\n### Task 1: One\n- Depends on: 7\n\nText.\n"
    verdict = judge_plan(text, settings=PlanSettings(), mode=Mode.TASKS, product=PRODUCT)
    assert len(verdict.gaps) == 3
    (error,) = verdict.errors
    assert "7" in error
    assert judge_plan(b"### Task 1: One\n", settings=PlanSettings(), mode=None).errors == ()


def test_a_plan_with_nothing_left_to_do_cannot_be_approved() -> None:
    verdict = judge_plan(b"# Plan\n\n- [x] 1. Done\n- [x] 2. Done too\n", settings=PlanSettings(), mode=None)
    assert verdict.errors == ("nothing-left: every task of the plan is done or left out",)
