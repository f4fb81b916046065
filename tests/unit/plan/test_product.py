"""Every acceptance criterion of a product belongs to exactly one task."""

import pytest

from amelia.model.plan import Mode, Task, TaskId
from amelia.model.settings import PlanSettings
from amelia.plan.approval import Aim, judge_plan
from amelia.plan.product import Criterion, gaps, open_criteria, product_findings, read_criteria, touched
from amelia.plan.read import read_plan

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


def test_other_fields_of_a_page_are_no_criteria() -> None:
    page = (
        b"# Product\n\n**Files:** a.py\n\n**Acceptance criteria:**\n- AC-1: It runs\n\n**Priority:** high\n"
    )
    assert read_criteria(page) == (Criterion("AC-1", "It runs"),)


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
    verdict = judge_plan(
        text, settings=PlanSettings(), mode=Mode.TASKS, aim=Aim(PRODUCT, "The whole product")
    )
    assert len(verdict.gaps) == 3
    (error,) = verdict.errors
    assert "7" in error
    assert judge_plan(b"### Task 1: One\n", settings=PlanSettings(), mode=None).errors == ()


def test_a_plan_with_nothing_left_to_do_cannot_be_approved() -> None:
    verdict = judge_plan(b"# Plan\n\n- [x] 1. Done\n- [x] 2. Done too\n", settings=PlanSettings(), mode=None)
    assert verdict.errors == ("nothing-left: every task of the plan is done or left out",)


LARGE = tuple(
    Criterion(f"AC-{number}", text, is_done=number == 1)
    for number, text in enumerate(
        (
            "A reader signs out",
            "A reader signs up",
            "A reader searches titles",
            "Prices are shown in euros",
            "The cart survives a reload",
            "購物車可以保存",
            "A reader exports records",
        ),
        start=1,
    )
)


@pytest.mark.parametrize(
    ("goal", "more", "ids"),
    [
        ("Sign up", "", "AC-2"),
        ("Let readers search", "", "AC-3"),
        ("Exporting records", "", "AC-7"),
        ("保存購物車", "", "AC-6"),
        ("Show AC-4, then ac-5.", "", "AC-4 AC-5"),
        ("A pretty form", "This is for AC-5 (see AC-12)", "AC-5"),
        ("Do AC-1 again", "", ""),
        ("Implement PRODUCT.md", "", "AC-2 AC-3 AC-4 AC-5 AC-6 AC-7"),
        ("Meet every criterion of it", "", "AC-2 AC-3 AC-4 AC-5 AC-6 AC-7"),
        ("Every reader", "", ""),
        ("Paint it blue", "", ""),
        ("", "", ""),
    ],
)
def test_a_goal_touches_the_criteria_it_names_or_shares_words_with(goal: str, more: str, ids: str) -> None:
    assert " ".join(criterion.id for criterion in touched(LARGE, goal, more)) == ids


def test_in_a_small_product_no_word_is_common() -> None:
    assert len(touched(LARGE[1:4], "Every reader")) == 2


def test_what_is_ticked_or_struck_through_is_done_and_ids_stay() -> None:
    page = "## Acceptance criteria\n- [x] one\n- [ ] two\n1. [X] AC-9: three\n- ~~four~~\n- ✅ AC-5: five\n- six\n"
    found = read_criteria(page.encode())
    assert [(criterion.id, criterion.text) for criterion in open_criteria(found)] == [
        ("AC-2", "two"),
        ("AC-6", "six"),
    ]
    assert [criterion.id for criterion in found] == ["AC-1", "AC-2", "AC-9", "AC-4", "AC-5", "AC-6"]


def test_criteria_may_stand_on_the_line_of_their_field() -> None:
    assert read_criteria(b"Acceptance criteria: it is fast\n") == (Criterion("AC-1", "it is fast"),)


def test_two_tasks_with_one_criterion_are_told_though_the_goal_does_not_touch_it() -> None:
    tasks = [task("1", "AC-4"), task("2", "AC-4")]
    assert list(gaps([], tasks, known=LARGE)) == [
        "Tasks 1, 2 all have the product's criterion AC-4: Prices are shown in euros"
    ]


def test_a_plan_is_checked_against_the_page_it_refers_to() -> None:
    plan, _ = read_plan(
        b"---\nproduct: PRODUCT.md\n---\n# Sign up\n### Task 1: A\n- Acceptance criteria: AC-7, AC-10\n"
        b"### Task 2: B\n- Acceptance criteria:\n  - **AC-8**: no\n  - XX-8: else\n"
    )
    found = product_findings(plan, PRODUCT)
    assert [(each.code, each.line) for each in found] == [
        ("product-criterion", 1),
        ("unknown-criterion", 5),
        ("unknown-criterion", 7),
    ]
    assert product_findings(plan, None)[0].code == "no-product"
