"""Every fixture is a plan as people write it, with the tasks a careful reader finds in it beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from amelia.model.settings import PlanSettings
from amelia.plan.compile import compile_plan
from amelia.plan.read import read_plan

FIXTURES = Path(__file__).parents[2] / "fixtures" / "plans"
PLANS = sorted(
    path
    for path in FIXTURES.rglob("*")
    if path.name.endswith((".md", ".plan.json")) and path.name != "README.md"
)
# A record of a data plan is written out as Markdown, not cut from the file.
WRITTEN_OUT = {"task-master", "prd-json", "cursor"}


def expected(path: Path) -> dict[str, Any]:
    name = path.name.removesuffix(".md").removesuffix(".plan.json")
    return json.loads(path.with_name(f"{name}.expected.json").read_text(encoding="utf-8"))


def test_the_corpus_is_there() -> None:
    assert len(PLANS) >= 100


@pytest.mark.parametrize("path", PLANS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_plan_is_read_as_its_author_meant_it(path: Path) -> None:
    plan, diagnostics = read_plan(path.read_bytes())
    compiled = compile_plan(plan, diagnostics, settings=PlanSettings(), mode=None)
    wanted = expected(path)
    assert plan.format == wanted["format"], wanted["why"]
    assert [
        {"id": task.id, "title": task.title, "status": task.status, "depends_on": sorted(task.depends_on)}
        for task in compiled.plan.tasks
    ] == [{**task, "depends_on": sorted(task["depends_on"])} for task in wanted["tasks"]], wanted["why"]


@pytest.mark.rows("P2")
@pytest.mark.parametrize("path", PLANS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sections_are_exact_and_do_not_overlap(path: Path) -> None:
    plan, _ = read_plan(path.read_bytes())
    if plan.format in WRITTEN_OUT:
        assert all(task.title in task.section for task in plan.tasks)
        return
    lines = plan.text.splitlines(keepends=True)
    end = 0
    for task in plan.tasks:
        assert task.line > end
        assert task.section == "".join(lines[task.line - 1 : task.end_line])
        end = task.end_line
