"""What plans say about themselves: the product they serve, and their id in a tracker."""

from typing import Any

import pytest

from amelia.plan.preamble import product_in, tracker_in, tracker_in_issue, tracker_in_name, tracker_of
from amelia.plan.read import read_plan


@pytest.mark.parametrize(
    ("front", "tracker"),
    [
        ({"tracker": "LIN-42"}, "LIN-42"),
        ({"issue": 17}, "17"),
        ({"ticket": "#17"}, "#17"),
        ({"linear": "https://linear.app/team/issue/LIN-42/add-login"}, "LIN-42"),
        ({"issue": "https://github.com/o/r/issues/17"}, "17"),
        ({"id": "OPS-7"}, "OPS-7"),
        ({"id": "7"}, None),
        ({"tracker": "two words"}, None),
        ({"tracker": True}, None),
        ({"tracker": ["LIN-1"], "jira": "OPS-2"}, "OPS-2"),
        ({}, None),
    ],
)
def test_a_front_matter_states_the_id_in_a_tracker(front: dict[str, Any], tracker: str | None) -> None:
    assert tracker_in(front) == tracker


@pytest.mark.parametrize(
    ("stem", "tracker"),
    [
        ("ISSUE-123-add-login", "ISSUE-123"),
        ("LIN-42", "LIN-42"),
        ("lin-42_add", "lin-42"),
        ("2026-01-02-LIN-42-add", "LIN-42"),
        ("2026-01-02-add-login", None),
        ("plan-2", None),
        ("Phase-1", None),
        ("123-add-login", None),
        ("add-login", None),
        ("v2-1", "v2-1"),
        ("", None),
    ],
)
def test_the_name_of_a_plan_may_hold_it(stem: str, tracker: str | None) -> None:
    assert tracker_in_name(stem) == tracker


def test_the_name_of_an_issue_may_be_a_number() -> None:
    assert tracker_in_issue("123-add-login") == "123"
    assert tracker_in_issue("LIN-4") == "LIN-4"
    assert tracker_in_issue("add") is None


@pytest.mark.parametrize(
    ("front", "lines", "product"),
    [
        ({"product": "docs/PRODUCT.md"}, [], "docs/PRODUCT.md"),
        ({"product": "./other.md"}, [], "other.md"),
        ({"product": "../PRODUCT.md"}, ["x"], None),
        ({"product": 7}, ["See [it](docs/PRODUCT.md)."], "docs/PRODUCT.md"),
        ({}, ["a", "**Product:** PRODUCT.md"], "PRODUCT.md"),
        ({}, ["../PRODUCT.md"], None),
        ({}, ["MY-PRODUCT.md, PRODUCT.mdx"], None),
    ],
)
def test_a_plan_may_refer_to_the_page_of_its_product(
    front: dict[str, Any], lines: list[str], product: str | None
) -> None:
    assert product_in(front, lines) == product


def test_only_what_stands_above_the_tasks_refers_to_the_product() -> None:
    assert read_plan(b"# A\n\n### Task 1: x\n\nUpdate PRODUCT.md.\n")[0].product is None
    assert read_plan(b"# A\n\nFor PRODUCT.md.\n\n### Task 1: x\n")[0].product == "PRODUCT.md"
    assert read_plan(b"Do all of PRODUCT.md.\n")[0].product == "PRODUCT.md"
    assert read_plan(b"---\ntracker: A-1\n---\n### Task 1: x\n")[0].tracker == "A-1"


def test_the_id_that_a_plan_states_comes_before_that_of_its_files_name() -> None:
    stated, silent = (read_plan(head + b"### Task 1: A\n")[0] for head in (b"---\nissue: AB-1\n---\n", b""))
    assert tracker_of(stated, "LIN-42-login") == "AB-1"
    assert tracker_of(silent, "LIN-42-login") == "LIN-42"
    assert tracker_of(silent, "") is None
