"""What a unit changed: scope, protected paths, weakened tests."""

import time

import pytest

from amelia.judge.globs import covers
from amelia.judge.rules import judge
from amelia.judge.scope import protected_paths, undeclared, unknown_submodules
from amelia.judge.weaken import is_test_code, weakenings
from amelia.model.evidence import (
    Change,
    ChangeStatus,
    Delta,
    Demands,
    Note,
    NoteCode,
    Problem,
    ProblemCode,
    Receipt,
    RunnerKind,
    TestResult,
    TestStatus,
    VerifySettings,
)
from amelia.model.plan import TaskType


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


@pytest.mark.parametrize(
    "path",
    """
    tests/test_a.py test_a.py pkg/a_test.go src/a.test.ts src/__tests__/a.jsx web/a.spec.mjs tests/it.rs
    conftest.py sub/conftest.py spec/a_spec.rb
    """.split(),
)
def test_test_code_is_known_by_whole_words_of_its_path(path: str) -> None:
    assert is_test_code(path)


@pytest.mark.parametrize(
    "path", "latest.py contest/a.py src/attest.go docs/test-plan.md tests/data/a.json specs/a.md".split()
)
def test_other_files_are_no_test_code(path: str) -> None:
    assert not is_test_code(path)


def lost(path: str, before: str, after: str) -> list[str]:
    delta = Delta(
        base="b", tree="t", changes=(modified(path, deleted=1),), before={path: before}, after={path: after}
    )
    return [found.message for found in weakenings(delta, ())]


@pytest.mark.parametrize(
    ("path", "before", "after", "word"),
    [
        (
            "test_a.py",
            "def test_a():\n    assert a\n    assert b\n",
            "def test_a():\n    assert a\n",
            "1 assertions",
        ),
        ("test_a.py", "    self.assertEqual(1, x)\n", "    x\n", "0 assertions"),
        ("test_a.py", "    assert x\n", "    # assert x\n", "0 assertions"),
        (
            "test_a.py",
            "def test_a(): ...\nasync def test_b(): ...\n",
            "def test_a(): ...\n",
            "1 test functions",
        ),
        ("test_a.py", "def test_a(): ...\n", "@pytest.mark.skip\ndef test_a(): ...\n", "1 marks"),
        ("test_a.py", "def test_a(): ...\n", "@pytest.mark.xfail\ndef test_a(): ...\n", "1 marks"),
        ("test_a.py", "def test_a(): ...\n", "@unittest.skipIf(True, '')\ndef test_a(): ...\n", "1 marks"),
        ("conftest.py", "", "def pytest_collection_modifyitems(items): ...\n", "1 marks"),
        ("conftest.py", "", "def pytest_pyfunc_call(pyfuncitem): return True\n", "1 marks"),
        ("conftest.py", "", "pytest_plugins = ['cheat']\n", "1 marks"),
        (
            "a.test.ts",
            "it('a', () => { expect(a).toBe(1) })",
            "it.skip('a', () => { expect(a).toBe(1) })",
            "1 marks",
        ),
        ("a.test.ts", "it('a', f)", "it.only('a', f)", "1 marks"),
        ("a.test.js", "test('a', f)", "test('a', { skip: true }, f)", "1 marks"),
        ("a.test.js", "test('a', f); test('b', f)", "test('a', f)", "1 test functions"),
        ("a.test.js", "expect(a)", "a", "0 assertions"),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n t.Fatal(1)\n}",
            "func TestA(t *testing.T) {\n}",
            "0 assertions",
        ),
        ("a_test.go", "func TestA(t *testing.T) {", "func TestA(t *testing.T) {\n t.Skip()", "1 marks"),
        ("a_test.go", "package a", "//go:build never\npackage a", "1 marks"),
        ("a_test.go", "func TestA(t *testing.T) {}", "func helper() {}", "0 test functions"),
        ("tests/it.rs", "#[test]\nfn a() { assert_eq!(1, x); }", "#[test]\nfn a() { x; }", "0 assertions"),
        ("tests/it.rs", "#[test]\nfn a() {}", "#[test]\n#[ignore]\nfn a() {}", "1 marks"),
        ("tests/it.rs", "#[tokio::test]\nasync fn a() {}", "async fn a() {}", "0 test functions"),
    ],
)
def test_tests_that_demand_less_are_found_in_each_language(
    path: str, before: str, after: str, word: str
) -> None:
    (message,) = lost(path, before, after)
    assert f"{path} has {word}" in message


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("test_a.py", "def test_a():\n    assert a\n", "def test_a():\n    assert a\n    assert b\n"),
        ("src/app.py", "assert a\n", ""),
        ("tests/a.rb", "expect(a)\n", ""),
    ],
)
def test_more_assertions_and_other_files_are_no_weakening(path: str, before: str, after: str) -> None:
    assert not lost(path, before, after)


def test_a_new_test_file_takes_nothing_away() -> None:
    change = Change(path="test_n.py", status=ChangeStatus.ADDED, added=2)
    delta = Delta(
        base="b", tree="t", changes=(change,), after={"test_n.py": "@pytest.mark.skip\ndef test_a(): ..."}
    )
    assert not list(weakenings(delta, ()))


def test_a_new_conftest_may_take_tests_away() -> None:
    change = Change(path="tests/conftest.py", status=ChangeStatus.ADDED, added=1)
    after = {"tests/conftest.py": "collect_ignore = ['test_a.py']\n"}
    (found,) = weakenings(Delta(base="b", tree="t", changes=(change,), after=after), ())
    assert found.file == "tests/conftest.py"


def test_a_deleted_test_file_is_a_weakening() -> None:
    change = Change(path="tests/test_a.py", status=ChangeStatus.DELETED, deleted=9)
    (found,) = weakenings(Delta(base="b", tree="t", changes=(change,)), ())
    assert found.file == "tests/test_a.py"
    assert "deleted" in found.message


def test_a_test_file_without_text_is_left_to_the_reviewer() -> None:
    assert not list(weakenings(Delta(base="b", tree="t", changes=(modified("test_a.py"),)), ()))


def of_owed_tests(change: Change, *types: TaskType | None) -> list[ProblemCode | NoteCode]:
    name = "tests/test_a.py::test_a"

    def receipt(status: TestStatus) -> Receipt:
        return Receipt(
            tree="t",
            kind=RunnerKind.PYTEST,
            command=("python",),
            exit_code=int(status is TestStatus.FAILED),
            seconds=0,
            results=(TestResult(name, status, "tests/test_a.py"),),
        )

    verdict = judge(
        demands=Demands(types=types, required_green=(name,)),
        delta=Delta(base="b", tree="t", changes=(change,)),
        settings=VerifySettings(),
        command=None,
        baseline=receipt(TestStatus.FAILED),
        result=receipt(TestStatus.PASSED),
    )
    return [found.code for found in (*verdict.problems, *verdict.notes)]


def test_the_tests_a_unit_is_judged_by_may_be_added_to_and_not_changed() -> None:
    assert not of_owed_tests(modified("tests/test_a.py", added=5), TaskType.IMPL)
    changed = modified("tests/test_a.py", added=1, deleted=1)
    assert of_owed_tests(changed, TaskType.IMPL) == [ProblemCode.WEAKENED_TESTS]
    gone = Change(path="tests/test_a.py", status=ChangeStatus.DELETED, deleted=1)
    assert of_owed_tests(gone, TaskType.IMPL) == [ProblemCode.WEAKENED_TESTS]


@pytest.mark.parametrize("types", [(TaskType.TEST, TaskType.IMPL), (None,)])
def test_weakening_is_noted_where_tests_may_be_edited(types: tuple[TaskType | None, ...]) -> None:
    changed = modified("tests/test_a.py", added=1, deleted=1)
    assert of_owed_tests(changed, *types) == [NoteCode.WEAKENED_TESTS]
