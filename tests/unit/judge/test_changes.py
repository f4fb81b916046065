"""What a unit changed: scope and protected paths."""

import time

import pytest

from amelia.judge.globs import covers
from amelia.judge.scope import protected_paths, undeclared, unknown_submodules
from amelia.model.evidence import (
    Change,
    ChangeStatus,
    Note,
    Problem,
    ProblemCode,
)


def modified(path: str, *, added: int = 1, deleted: int = 0) -> Change:
    return Change(path=path, status=ChangeStatus.MODIFIED, added=added, deleted=deleted)


@pytest.mark.parametrize(
    ("pattern", "path", "is_covered"),
    [
        ("src/a.py", "src/a.py", True),
        ("./src/a.py", "src/a.py", True),
        ("src/", "src/deep/a.py", True),
        ("src", "src/deep/a.py", True),
        ("src", "srcs/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/deep/er/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("**/conftest.py", "a/b/conftest.py", True),
        ("**/conftest.py", "conftest.txt", False),
        ("docs/amelia/**", "docs/amelia/x/plan.md", True),
        ("docs/amelia/**", "docs/other/plan.md", False),
        ("pages/[id].tsx", "pages/[id].tsx", True),
        ("pages/[id]", "pages/[id]/edit.tsx", True),
        ("a?.py", "ab.py", True),
        ("a?.py", "abc.py", False),
        ("**/a/**/b/**/c", "x/a/y/a/b/z/c", True),
    ],
)
def test_a_pattern_covers_what_it_names_and_what_is_below(
    *, pattern: str, path: str, is_covered: bool
) -> None:
    assert covers(pattern, path) is is_covered


def test_a_hostile_pattern_costs_little() -> None:
    started = time.monotonic()
    assert not covers("**/a" * 60 + "/b", "a/" * 400 + "c")
    assert not covers("*a" * 60 + "b", "a" * 400 + "c")
    assert time.monotonic() - started < 1


def test_settings_and_records_of_runs_are_protected_in_any_spelling() -> None:
    changes = [modified(path) for path in ("amelia.toml", "AMELIA.toml", "docs/amelia/x/plan.md", "src/a.py")]
    found = list(protected_paths(changes, ()))
    assert [problem.file for problem in found] == ["amelia.toml", "AMELIA.toml", "docs/amelia/x/plan.md"]
    assert {problem.code for problem in found} == {ProblemCode.PROTECTED_PATH}


def test_configured_paths_are_protected_too() -> None:
    found = list(protected_paths([modified(".github/workflows/ci.yml")], (".github/**",)))
    assert [problem.file for problem in found] == [".github/workflows/ci.yml"]


def test_what_no_task_declares_is_noted_or_refused() -> None:
    changes = [modified("src/a.py"), Change(path="x.py", status=ChangeStatus.TYPE)]
    (note,) = undeclared(changes, ("src/",), enforce=False)
    assert isinstance(note, Note)
    assert note.file == "x.py"
    (problem,) = undeclared(changes, ("src/",), enforce=True)
    assert isinstance(problem, Problem)
    assert problem.code is ProblemCode.OUT_OF_SCOPE


def test_tasks_that_declare_nothing_have_no_scope() -> None:
    assert not list(undeclared([modified("x.py")], (), enforce=True))


def test_a_submodule_at_a_commit_that_nobody_has_is_refused() -> None:
    known = Change(path="lib", status=ChangeStatus.MODIFIED, is_submodule=True)
    lost = Change(path="ext", status=ChangeStatus.MODIFIED, is_submodule=True, submodule_known=False)
    assert [problem.file for problem in unknown_submodules([known, lost])] == ["ext"]
