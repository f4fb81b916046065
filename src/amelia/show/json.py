"""A compiled plan as JSON, for machines."""

import json
from typing import Any

from amelia.model.diagnostics import Diagnostic
from amelia.model.plan import Complexity, Milestone, Task, Unit
from amelia.plan.compile import CompiledPlan
from amelia.plan.declared import required
from amelia.plan.preamble import tracker_of


def plan_json(compiled: CompiledPlan, *, stem: str = "") -> str:
    """Writes a compiled plan as one JSON object, in ASCII, which every terminal and pipe can take.

    `stem` is the name of the plan's file without its ending, which may hold the tracker's id.
    """
    plan = compiled.plan
    milestone_of = _milestones(compiled)
    return json.dumps(
        {
            "format": plan.format,
            "hash": plan.hash,
            "goal": plan.goal,
            "tracker_id": tracker_of(plan, stem),
            "product": plan.product,
            "mode": compiled.mode,
            "mode_reason": compiled.mode_reason,
            "can_run": compiled.can_run,
            "tasks": [_task(task, milestone_of.get(task.id)) for task in plan.tasks],
            "units": [_unit(unit) for unit in compiled.units],
            "milestones": [_milestone(each) for each in compiled.milestones],
            "diagnostics": [_diagnostic(found) for found in compiled.diagnostics],
        },
    )


def _milestone(milestone: Milestone) -> dict[str, Any]:
    return {
        "id": milestone.id,
        "name": milestone.name,
        "description": milestone.description,
        "task_ids": milestone.task_ids,
        "status": milestone.status,
    }


def _diagnostic(found: Diagnostic) -> dict[str, Any]:
    return {
        "severity": found.severity,
        "code": found.code,
        "message": found.message,
        "line": found.line,
        "hint": found.hint,
    }


def _milestones(compiled: CompiledPlan) -> dict[str, str]:
    """Returns the id of each task's milestone; that of a split task is the one its pieces are in."""
    found: dict[str, str] = {task_id: each.id for each in compiled.milestones for task_id in each.task_ids}
    pieces = ((unit.tasks[0], piece.id) for unit in compiled.units for piece in unit.pieces)
    return found | {task_id: found[piece_id] for task_id, piece_id in pieces if piece_id in found}


def _task(task: Task, milestone: str | None) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "type": task.type,
        "status": task.status,
        "line": task.line,
        "end_line": task.end_line,
        "depends_on": task.depends_on,
        "independent": task.independent,
        **_scope(task),
        "demands": [
            {"path": found.path, "kind": found.asked, "pattern": found.pattern} for found in required(task)
        ],
        "user_story": task.user_story,
        "milestone": milestone,
        "priority": task.priority,
        "phase": task.phase,
        "parallel": task.parallel,
        "complexity": complexity_json(task.complexity),
    }


def _scope(task: Task) -> dict[str, Any]:
    return {
        "files_to_create": task.files_to_create,
        "files_to_modify": task.files_to_modify,
        "test_files": task.test_files,
        "acceptance_criteria": task.acceptance_criteria,
    }


def complexity_json(complexity: Complexity) -> dict[str, Any]:
    """Returns a score with its parts."""
    return {
        "total": round(complexity.total, 2),
        "level": complexity.level,
        "action": complexity.level.action,
        "file_scope": round(complexity.file_scope, 2),
        "cross_file_deps": round(complexity.cross_file_deps, 2),
        "semantic_complexity": round(complexity.semantic_complexity, 2),
        "requirement_uncertainty": round(complexity.requirement_uncertainty, 2),
        "token_penalty": round(complexity.token_penalty, 2),
    }


def _unit(unit: Unit) -> dict[str, Any]:
    whole = set(unit.tasks)
    return {
        "id": unit.id,
        "title": unit.title,
        "tasks": unit.tasks,
        "depends_on": unit.depends_on,
        "group": unit.group,
        "pieces": [
            {
                "id": piece.id,
                "title": piece.title,
                **_scope(piece),
                "complexity": complexity_json(piece.complexity),
            }
            for piece in unit.pieces
            if piece.id not in whole
        ],
    }
