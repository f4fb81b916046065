"""Tests of the complexity score and the soft limits."""

from dataclasses import replace
from typing import Any

import pytest

from amelia.model.diagnostics import Severity
from amelia.model.plan import Complexity, Level, Task, TaskId
from amelia.model.settings import SizeLimits
from amelia.plan.size import (
    Strategy,
    dominant,
    estimate_minutes,
    estimate_tokens,
    score,
    score_piece,
    soft_limits,
)
from samples import T1

LIMITS = SizeLimits()


def make(title: str = "x", **fields: Any) -> Task:
    return Task(id=TaskId("T"), title=title, line=3, **fields)


@pytest.mark.rows("L4")
def test_the_score_of_a_hard_task_is_the_sum_of_its_parts() -> None:
    complexity = score(T1, LIMITS)
    assert complexity == Complexity(3.0, 2.0, 2.5, 1.0, 0.0)
    assert complexity.total == 8.5
    assert complexity.level is Level.HIGH
    assert dominant(complexity) is Strategy.LAYERS


@pytest.mark.rows("L4")
@pytest.mark.parametrize(
    ("files", "points"), [(0, 0.0), (1, 0.5), (6, 3.0), (10, 5.0), (11, 5.0), (300, 5.0)]
)
def test_each_distinct_file_is_half_a_point_up_to_five(files: int, points: float) -> None:
    paths = tuple(f"f{number}.py" for number in range(files))
    assert score(make(files_to_modify=paths), LIMITS).file_scope == points


def test_a_file_listed_twice_counts_once() -> None:
    task = make(files_to_create=("a.py",), files_to_modify=("./a.py",), test_files=("a.py",))
    assert score(task, LIMITS).file_scope == 0.5


@pytest.mark.parametrize(
    ("paths", "points"),
    [
        ((), 0.0),
        (("src/model.py", "src/service.py", "src/view.py"), 0.0),
        (("a/x.py", "b/x.py"), 0.5),
        (("a/x.py", "b/x.py", "c/x.py"), 1.0),
        (("a/x", "b/x", "c/x", "d/x", "e/x", "f/x"), 2.0),
        (("models/x.py", "views/x.py"), 1.0),
        (("models/x.py", "services/x.py", "views/x.py"), 2.0),
    ],
)
def test_coupling_grows_with_directories_and_layers(paths: tuple[str, ...], points: float) -> None:
    assert score(make(files_to_modify=paths), LIMITS).cross_file_deps == points


@pytest.mark.rows("L4")
@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("plain words", 0.0),
        ("an algorithm", 0.5),
        ("Cache, caching; CACHED", 0.5),
        ("asynchronously algorithmical cachet", 0.0),
        ("real-time and real time", 0.5),
        ("surreal timeline", 0.0),
        ("async–parallel", 1.0),
        ("algorithm async parallel security migration cache parser protocol", 3.0),
    ],
)
def test_each_distinct_hard_subject_is_half_a_point_up_to_three(text: str, points: float) -> None:
    assert score(make(text), LIMITS).semantic_complexity == points


@pytest.mark.parametrize(
    ("fields", "points"),
    [
        ({"title": "Handler for improvements"}, 0.0),
        ({"title": "Handle it somehow"}, 1.0),
        ({"title": "It was needed"}, 0.0),
        ({"title": "Retry as needed"}, 0.5),
        ({"title": "maybe somehow various etc appropriate tbd"}, 2.0),
        ({"files_to_modify": ("a.py",)}, 0.5),
        ({"files_to_modify": ("a.py",), "acceptance_criteria": ("it is",)}, 0.0),
        ({"test_files": ("a.py",)}, 0.0),
    ],
)
def test_each_vague_word_and_missing_criteria_add_uncertainty(fields: dict[str, Any], points: float) -> None:
    assert score(make(**fields), LIMITS).requirement_uncertainty == points


@pytest.mark.parametrize(
    ("section", "points"),
    [
        ("an async cache", 1.0),
        ("before\n```python\nasync cache\n```\nparallel", 0.5),
        ("~~~\nasync\n```\ncache\n~~~\n", 0.0),
        ("````\nasync\n```\ncache\n````\nparallel", 0.5),
        ("```\nasync\n``` not the end\ncache", 0.0),
        ("inline ``` async", 0.5),
    ],
)
def test_words_in_code_fences_do_not_count(section: str, points: float) -> None:
    assert score(make(section=section), LIMITS).semantic_complexity == points


@pytest.mark.rows("L4")
@pytest.mark.parametrize(
    ("chars", "points"), [(0, 0.0), (24_000, 0.0), (36_000, 0.5), (48_000, 1.0), (96_000, 1.0)]
)
def test_tokens_beyond_the_budget_cost_up_to_one_point(chars: int, points: float) -> None:
    assert score(make(section=" " * chars), LIMITS).token_penalty == points


def test_a_budget_of_zero_does_no_harm() -> None:
    assert score(make(), replace(LIMITS, max_input_tokens=0)).token_penalty == 0.0


def test_files_are_read_and_cost_tokens() -> None:
    assert estimate_tokens(make(section="x" * 40, files_to_modify=("a", "b"))) == 810


def test_a_piece_answers_for_title_and_story_and_its_own_criteria_only() -> None:
    piece = make(
        "async", user_story="cache", acceptance_criteria=("parallel",), section="a parser " + " " * 48_000
    )
    complexity = score_piece(replace(piece, files_to_modify=("a",)), LIMITS)
    assert complexity.semantic_complexity == 1.5
    assert complexity.token_penalty == 1.0
    assert score_piece(make(files_to_modify=("a",)), LIMITS).requirement_uncertainty == 0.0


@pytest.mark.rows("L7")
@pytest.mark.parametrize(
    ("complexity", "strategy"),
    [
        (Complexity(3.0, 2.0, 2.5, 1.0, 0.0), Strategy.LAYERS),
        (Complexity(5.0, 1.0, 0.0, 0.0, 0.0), Strategy.FILES),
        (Complexity(5.0, 2.0, 3.0, 2.0, 1.0), Strategy.LAYERS),
        (Complexity(1.0, 0.0, 3.0, 0.0, 0.0), Strategy.CRITERIA),
        (Complexity(1.0, 0.0, 0.5, 2.0, 0.0), Strategy.CRITERIA),
        (Complexity(1.0, 0.0, 0.5, 0.5, 1.0), Strategy.FILES),
    ],
)
def test_the_part_nearest_to_its_maximum_chooses_the_strategy(
    complexity: Complexity, strategy: Strategy
) -> None:
    assert dominant(complexity) is strategy


def test_minutes_grow_with_files_criteria_and_difficulty() -> None:
    assert estimate_minutes(make()) == 1.0
    assert estimate_minutes(replace(T1, complexity=score(T1, LIMITS))) == 6.75


def test_a_small_task_is_within_all_limits() -> None:
    assert soft_limits(make(), LIMITS) == []


@pytest.mark.rows("L6")
@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("many-files-to-create", {"files_to_create": tuple("abcdef")}),
        ("many-files-to-modify", {"files_to_modify": tuple("abcdefghi")}),
        ("many-criteria", {"acceptance_criteria": tuple("abcdefgh")}),
        ("many-tokens", {"section": "x" * 24_004}),
        ("long-time", {"files_to_modify": tuple("abcdefgh"), "acceptance_criteria": ("x",)}),
        ("high-complexity", {"complexity": Complexity(5.0, 0.5)}),
    ],
)
def test_every_exceeded_limit_is_one_warning_at_the_line_of_the_task(
    code: str, fields: dict[str, Any]
) -> None:
    (found,) = [each for each in soft_limits(make(**fields), LIMITS) if each.code == code]
    assert (found.severity, found.line) == (Severity.WARNING, 3)
    assert found.hint


@pytest.mark.rows("L6")
def test_at_the_limit_nothing_is_said() -> None:
    task = make(files_to_create=tuple("abcde"), acceptance_criteria=tuple("abcd"), complexity=Complexity(5.0))
    assert soft_limits(replace(task, acceptance_criteria=()), replace(LIMITS, max_time_minutes=9)) == []


def test_high_complexity_says_score_level_and_what_to_do() -> None:
    (found,) = soft_limits(make(complexity=Complexity(5.0, 2.0, 1.5)), replace(LIMITS, max_time_minutes=9))
    assert found.message == "Task 'T' scores 8.5 (HIGH: consider decomposition); the limit is 5."
