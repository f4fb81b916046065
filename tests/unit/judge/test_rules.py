"""What the evidence means for a unit."""

from dataclasses import replace

import pytest

from amelia.judge.rules import judge, judge_branch
from amelia.model.evidence import (
    THE_COMMAND,
    Change,
    ChangeStatus,
    Delta,
    Demands,
    NoteCode,
    Problem,
    ProblemCode,
    Receipt,
    RunnerKind,
    TestResult,
    TestStatus,
    Verdict,
    VerifySettings,
)
from amelia.model.plan import TaskType

CODE = Change(path="src/app.py", status=ChangeStatus.MODIFIED, added=3, deleted=1)
NEW_TESTS = Change(path="tests/test_app.py", status=ChangeStatus.ADDED, added=9)
STATUS = {".": TestStatus.PASSED, "F": TestStatus.FAILED, "E": TestStatus.ERROR, "s": TestStatus.SKIPPED}


def one(name: str, letter: str, message: str = "") -> TestResult:
    return TestResult(name, STATUS[letter], name.partition("::")[0], message)


def receipt(
    *results: TestResult,
    exit_code: int | None = None,
    kind: RunnerKind = RunnerKind.PYTEST,
    fault: Problem | None = None,
) -> Receipt:
    if exit_code is None:
        exit_code = int(any(result.status.is_failing for result in results))
    return Receipt(
        tree="t",
        kind=kind,
        command=("python", "-m", "pytest"),
        exit_code=exit_code,
        seconds=0.1,
        results=results,
        detail="the tail",
        fault=fault,
    )


def ran(**letters: str) -> Receipt:
    return receipt(*(one(f"tests/test_app.py::{name}", letter) for name, letter in letters.items()))


def whole(exit_code: int) -> Receipt:
    return Receipt(
        tree="t",
        kind=RunnerKind.MAKE,
        command=("make", "test"),
        exit_code=exit_code,
        seconds=0.1,
        results=None,
        detail="assertion failed",
    )


def verdict(
    before: Receipt | None,
    now: Receipt | None,
    demands: Demands,
    *,
    changes: tuple[Change, ...] = (CODE,),
    again: Receipt | None = None,
    files: frozenset[str] = frozenset(),
    settings: VerifySettings | None = None,
) -> Verdict:
    delta = Delta(base="b", tree="t", changes=changes, files=files)
    return judge(
        demands=demands,
        delta=delta,
        settings=settings or VerifySettings(),
        baseline=before,
        result=now,
        again=again,
    )


def codes(found: Verdict) -> list[ProblemCode]:
    return [problem.code for problem in found.problems]


def noted(found: Verdict) -> list[NoteCode]:
    return [note.code for note in found.notes]


IMPL = Demands(types=(TaskType.IMPL,))
TEST = Demands(types=(TaskType.TEST,))
RED = Demands(types=(TaskType.TEST,), must_be_red=True)
REFACTOR = Demands(types=(TaskType.REFACTOR,))
UNTYPED = Demands(types=(None,))
EVERY_TYPE = [*((kind,) for kind in TaskType), (None,)]


@pytest.mark.parametrize("types", EVERY_TYPE)
def test_a_test_that_passed_and_fails_now_is_a_regression_for_every_type(
    types: tuple[TaskType | None, ...],
) -> None:
    found = verdict(ran(a="."), ran(a="F"), Demands(types=types), changes=(CODE, NEW_TESTS))
    assert codes(found) == [ProblemCode.REGRESSION]
    assert "tests/test_app.py::a passed before this unit and fails now" in found.problems[0].message


@pytest.mark.parametrize("types", EVERY_TYPE)
def test_a_test_that_failed_before_is_noted_and_not_blamed(types: tuple[TaskType | None, ...]) -> None:
    found = verdict(ran(a="F", b="."), ran(a="F", b="."), Demands(types=types), changes=(CODE, NEW_TESTS))
    assert found.passed
    assert noted(found) == [NoteCode.ALREADY_RED]


def test_new_tests_for_a_later_implementation_have_to_fail() -> None:
    found = verdict(ran(a="."), ran(a=".", b="F"), RED, changes=(NEW_TESTS,))
    assert found.passed
    assert found.red == ("tests/test_app.py::b",)


def test_new_tests_that_pass_before_the_implementation_are_not_red() -> None:
    found = verdict(ran(a="."), ran(a=".", b="."), RED, changes=(NEW_TESTS,))
    assert codes(found) == [ProblemCode.NOT_RED]
    assert found.red == ()


def test_a_module_that_cannot_import_what_is_to_come_is_red() -> None:
    module = one("tests/test_new.py", "E", "E   ModuleNotFoundError: No module named 'app.new'")
    found = verdict(ran(a="."), receipt(one("tests/test_app.py::a", "."), module), RED, changes=(NEW_TESTS,))
    assert found.passed
    assert found.red == ("tests/test_new.py",)


def test_a_module_with_a_syntax_error_is_broken_and_not_red() -> None:
    module = one("tests/test_new.py", "E", "E   SyntaxError: invalid syntax")
    found = verdict(ran(a="."), receipt(one("tests/test_app.py::a", "."), module), RED, changes=(NEW_TESTS,))
    assert codes(found) == [ProblemCode.BROKEN_TEST]
    assert "SyntaxError" in found.problems[0].message


def test_a_script_says_syntax_error_for_an_export_that_is_still_to_come() -> None:
    module = one("a.test.mjs", "E", "SyntaxError: './a.mjs' does not provide an export named 'x'")
    now = receipt(module, kind=RunnerKind.NODE)
    found = verdict(receipt(kind=RunnerKind.NODE), now, RED, changes=(NEW_TESTS,))
    assert found.passed
    assert found.red == ("a.test.mjs",)


def test_an_existing_test_may_turn_red_in_a_file_that_the_test_unit_changed() -> None:
    changed = Change(path="tests/test_app.py", status=ChangeStatus.MODIFIED, added=1, deleted=1)
    found = verdict(ran(a="."), ran(a="F"), RED, changes=(changed,))
    assert found.passed
    assert found.red == ("tests/test_app.py::a",)


def test_an_existing_module_may_turn_red_if_the_test_unit_changed_it() -> None:
    changed = Change(path="tests/test_app.py", status=ChangeStatus.MODIFIED, added=1)
    module = one("tests/test_app.py", "E", "ImportError: cannot import name 'new'")
    found = verdict(ran(a="."), receipt(module), RED, changes=(changed,))
    assert found.passed
    assert found.red == ("tests/test_app.py",)
    assert found.notes == ()


def test_a_test_unit_that_breaks_a_module_it_did_not_touch_is_blamed() -> None:
    module = one("tests/test_app.py", "E", "ImportError: cannot import name 'old'")
    other = Change(path="tests/test_other.py", status=ChangeStatus.ADDED, added=1)
    found = verdict(ran(a="."), receipt(module), RED, changes=(other,))
    assert ProblemCode.REGRESSION in codes(found)


def test_a_failing_test_in_a_file_that_has_to_be_green_is_not_red_by_design() -> None:
    demands = Demands(types=(TaskType.TEST,), must_be_red=True, green_files=("tests/test_app.py",))
    found = verdict(ran(), ran(b="F"), demands, changes=(NEW_TESTS,))
    assert codes(found) == [ProblemCode.FAILING_TESTS, ProblemCode.NOT_RED]


def test_tests_that_nobody_implements_later_have_to_pass() -> None:
    assert verdict(ran(), ran(a="."), TEST, changes=(NEW_TESTS,)).passed
    found = verdict(ran(), ran(a="F"), TEST, changes=(NEW_TESTS,))
    assert codes(found) == [ProblemCode.FAILING_TESTS]


@pytest.mark.parametrize("demands", [TEST, RED])
def test_a_test_unit_that_touches_no_test_wrote_none(demands: Demands) -> None:
    assert codes(verdict(ran(a="."), ran(a="."), demands)) == [ProblemCode.NO_NEW_TESTS]


def test_deleting_tests_is_not_writing_them() -> None:
    deleted = Change(path="tests/test_app.py", status=ChangeStatus.DELETED, deleted=9)
    assert codes(verdict(ran(a="."), ran(a="."), TEST, changes=(deleted,))) == [ProblemCode.NO_NEW_TESTS]


def test_the_run_itself_is_no_new_test() -> None:
    assert codes(verdict(None, whole(0), TEST)) == [ProblemCode.NO_NEW_TESTS]


def test_new_tests_beside_the_code_count_as_new_tests() -> None:
    inline = Change(path="src/lib.rs", status=ChangeStatus.MODIFIED, added=9)
    assert verdict(ran(a="."), ran(a=".", b="."), TEST, changes=(inline,)).passed


def owing(*names: str, types: tuple[TaskType | None, ...] = (TaskType.IMPL,)) -> Demands:
    return Demands(types=types, required_green=names)


A, B = "tests/test_app.py::a", "tests/test_app.py::b"


def test_an_implementation_has_to_make_its_tests_pass() -> None:
    assert verdict(ran(a="F"), ran(a="."), owing(A)).passed
    found = verdict(ran(a="F"), receipt(one(A, "F", "assert 1 == 2")), owing(A))
    assert codes(found) == [ProblemCode.STILL_RED]
    assert "assert 1 == 2" in found.problems[0].message


def test_a_skipped_test_is_not_a_test_made_to_pass() -> None:
    assert codes(verdict(ran(a="F"), ran(a="s"), owing(A))) == [ProblemCode.STILL_RED]


def test_a_removed_test_is_not_a_test_made_to_pass() -> None:
    found = verdict(ran(a="F", b="."), ran(b="."), owing(A))
    assert codes(found) == [ProblemCode.MISSING_TEST]


def test_a_test_never_heard_of_is_missing() -> None:
    assert codes(verdict(ran(b="."), ran(b="."), owing("nowhere"))) == [ProblemCode.MISSING_TEST]


def test_a_red_module_is_green_once_its_tests_ran_and_passed() -> None:
    module = one("tests/test_app.py", "E", "ModuleNotFoundError")
    before = receipt(module)
    demands = owing("tests/test_app.py")
    assert verdict(before, ran(a=".", b="s"), demands).passed
    assert codes(verdict(before, ran(a=".", b="F"), demands)) == [ProblemCode.STILL_RED]
    assert codes(verdict(before, ran(a="s"), demands)) == [ProblemCode.STILL_RED]
    assert codes(verdict(before, before, demands)) == [ProblemCode.STILL_RED]
    assert verdict(before, ran(a=".", b="F"), demands).notes == (), "what is owed is said once"


def test_a_test_hidden_by_a_module_that_fails_is_still_red() -> None:
    module = one("tests/test_app.py", "E", "ImportError: circular")
    found = verdict(ran(a="F"), receipt(module), owing(A))
    assert ProblemCode.STILL_RED in codes(found)
    assert any("circular" in problem.message for problem in found.problems)


def test_tests_of_other_units_stay_red_without_blame() -> None:
    demands = Demands(types=(TaskType.IMPL,), open_red=(A, "tests/test_b.py"))
    inside = one("tests/test_b.py::x", "F")
    before = receipt(one(A, "F"), one("tests/test_b.py", "E", "ImportError"))
    found = verdict(before, receipt(one(A, "F"), inside), demands)
    assert found.passed
    assert noted(found) == [NoteCode.OPEN_RED, NoteCode.OPEN_RED]


def test_new_failing_tests_of_an_implementation_are_its_own() -> None:
    assert codes(verdict(ran(a="."), ran(a=".", b="F"), IMPL)) == [ProblemCode.FAILING_TESTS]


def test_tests_in_a_module_that_could_not_be_read_before_are_not_blamed() -> None:
    before = receipt(one("tests/test_app.py", "E", "SyntaxError"))
    found = verdict(before, ran(a="F", b="."), IMPL)
    assert found.passed
    assert noted(found) == [NoteCode.ALREADY_RED]


@pytest.mark.parametrize("kind", [TaskType.IMPL, TaskType.REFACTOR, TaskType.DOCS, TaskType.CHORE])
def test_a_unit_without_a_test_task_may_not_lose_or_skip_tests(kind: TaskType) -> None:
    found = verdict(ran(a=".", b=".", c="."), ran(b="s", c="."), Demands(types=(kind,)))
    assert codes(found) == [ProblemCode.MISSING_TEST, ProblemCode.DISABLED_TEST]


def test_a_unit_with_a_test_task_may_lose_and_skip_tests_but_not_unseen() -> None:
    demands = Demands(types=(TaskType.TEST, TaskType.REFACTOR))
    found = verdict(ran(a=".", b=".", c="."), ran(b="s", c="."), demands, changes=(NEW_TESTS,))
    assert found.passed
    assert noted(found) == [NoteCode.VANISHED_TEST, NoteCode.DISABLED_TEST]


def test_an_untyped_unit_may_lose_tests_only_in_files_that_the_plan_gives_to_it() -> None:
    before, now = ran(a=".", b=".", c="."), ran(b="s", c=".")
    assert codes(verdict(before, now, UNTYPED)) == [ProblemCode.MISSING_TEST, ProblemCode.DISABLED_TEST]
    found = verdict(before, now, replace(UNTYPED, declared=("tests",)))
    assert codes(found) == [ProblemCode.DISABLED_TEST]
    assert NoteCode.VANISHED_TEST in noted(found)


def test_each_type_of_a_unit_has_to_be_satisfied() -> None:
    demands = Demands(types=(TaskType.TEST, TaskType.IMPL), must_be_red=True, required_green=(A,))
    before = ran(a="F")
    assert verdict(before, ran(a=".", b="F"), demands, changes=(NEW_TESTS,)).passed
    found = verdict(before, ran(a="F", b="."), demands, changes=(NEW_TESTS,))
    assert set(codes(found)) == {ProblemCode.STILL_RED, ProblemCode.NOT_RED}


def test_no_tests_at_all_is_no_success_where_tests_must_prove() -> None:
    empty = receipt(exit_code=5)
    assert codes(verdict(empty, empty, IMPL)) == [ProblemCode.NO_TESTS]
    assert codes(verdict(empty, empty, RED, changes=(NEW_TESTS,))) == [ProblemCode.NO_TESTS]


def test_no_tests_at_all_is_noted_where_none_were_asked_for() -> None:
    empty = receipt(exit_code=5)
    for demands in (UNTYPED, Demands(types=(TaskType.IMPL,), tests_waived=True)):
        found = verdict(empty, empty, demands)
        assert found.passed
        assert noted(found) == [NoteCode.NO_TESTS]


def test_losing_all_tests_is_no_success_for_anybody() -> None:
    found = verdict(ran(a="."), receipt(exit_code=5), UNTYPED)
    assert codes(found) == [ProblemCode.MISSING_TEST, ProblemCode.NO_TESTS]


def test_nothing_executed_is_enough_for_documents_and_for_nothing_else() -> None:
    found = verdict(None, None, Demands(types=(TaskType.DOCS, None, TaskType.CHORE)))
    assert found.passed
    assert noted(found) == [NoteCode.NOTHING_EXECUTED]
    for kind in (TaskType.IMPL, TaskType.REFACTOR):
        assert codes(verdict(None, None, Demands(types=(kind,)))) == [ProblemCode.NOT_EXECUTED]
        assert verdict(None, None, Demands(types=(kind,), tests_waived=True)).passed


def test_a_refactor_without_a_baseline_passes_only_if_its_tests_are_waived() -> None:
    demands = Demands(types=(TaskType.REFACTOR,))
    assert codes(verdict(None, ran(a="."), demands)) == [ProblemCode.NO_BASELINE]
    waived = verdict(None, ran(a="."), replace(demands, tests_waived=True))
    assert waived.passed
    assert noted(waived) == [NoteCode.NO_BASELINE]


def test_a_run_that_cannot_be_believed_is_a_problem_for_every_type() -> None:
    fault = Problem(ProblemCode.TIMED_OUT, "too long")
    for demands in (UNTYPED, IMPL, RED):
        found = verdict(ran(a="."), receipt(fault=fault), demands, changes=(NEW_TESTS,))
        assert codes(found) == [ProblemCode.TIMED_OUT]


@pytest.mark.parametrize("before", [None, receipt(fault=Problem(ProblemCode.CRASHED, "killed"))])
def test_without_a_baseline_every_failure_is_the_units_own(before: Receipt | None) -> None:
    found = verdict(before, ran(a="F"), IMPL)
    assert codes(found) == [ProblemCode.FAILING_TESTS]
    assert noted(found) == [NoteCode.NO_BASELINE]
    assert verdict(before, ran(a="."), IMPL).passed


def test_a_refactoring_without_a_baseline_proves_nothing() -> None:
    assert codes(verdict(None, ran(a="."), REFACTOR)) == [ProblemCode.NO_BASELINE]


def test_an_exit_code_without_a_failing_test_fails_the_run_itself() -> None:
    good = one(A, ".")
    found = verdict(receipt(good), receipt(good, exit_code=1), IMPL)
    assert codes(found) == [ProblemCode.REGRESSION]
    assert "exit code 1" in found.problems[0].message
    assert "the tail" in found.problems[0].message
    same = receipt(good, exit_code=1)
    assert verdict(same, same, IMPL).passed


def test_the_run_itself_is_never_red_by_design_where_single_tests_are_seen() -> None:
    found = verdict(ran(a="."), receipt(one(A, "."), exit_code=1), RED, changes=(NEW_TESTS,))
    assert set(codes(found)) == {ProblemCode.REGRESSION, ProblemCode.NOT_RED}


def test_a_runner_with_an_exit_code_only_is_judged_by_the_same_rules() -> None:
    assert noted(verdict(whole(0), whole(0), IMPL)) == [NoteCode.EXIT_CODE_ONLY]
    assert codes(verdict(whole(0), whole(2), IMPL)) == [ProblemCode.REGRESSION]
    assert verdict(whole(2), whole(2), IMPL).passed
    assert verdict(whole(2), whole(0), owing(THE_COMMAND)).passed
    assert codes(verdict(whole(2), whole(2), owing(THE_COMMAND))) == [ProblemCode.STILL_RED]
    found = verdict(whole(0), whole(2), RED, changes=(NEW_TESTS,))
    assert found.passed
    assert found.red == (THE_COMMAND,)


def test_an_exit_code_that_was_red_already_cannot_show_new_red_tests() -> None:
    assert codes(verdict(whole(2), whole(2), RED, changes=(NEW_TESTS,))) == [ProblemCode.NOT_RED]
    demands = Demands(types=(TaskType.TEST,), must_be_red=True, open_red=(THE_COMMAND,))
    found = verdict(whole(2), whole(2), demands, changes=(NEW_TESTS,))
    assert found.passed
    assert found.red == (THE_COMMAND,)


def test_a_build_that_breaks_on_new_tests_is_red_and_says_that_nothing_was_seen() -> None:
    before = receipt(one(A, "."), kind=RunnerKind.CARGO)
    broken = receipt(exit_code=101, kind=RunnerKind.CARGO)
    found = verdict(before, broken, RED, changes=(NEW_TESTS,))
    assert found.passed
    assert found.red == (THE_COMMAND,)
    assert noted(found) == [NoteCode.VANISHED_TEST]
    assert codes(verdict(before, broken, IMPL)) == [ProblemCode.REGRESSION]
    assert verdict(broken, before, owing(THE_COMMAND)).passed


def test_a_failure_that_passes_the_second_time_is_flaky_and_noted() -> None:
    found = verdict(ran(a="."), ran(a="F"), IMPL, again=ran(a="."))
    assert found.passed
    assert found.flaky == (A,)
    assert noted(found) == [NoteCode.FLAKY]


def test_a_failure_that_comes_back_is_no_chance() -> None:
    found = verdict(ran(a=".", b="."), ran(a="F", b="."), IMPL, again=ran(a="F", b="F"))
    assert codes(found) == [ProblemCode.REGRESSION]
    assert found.flaky == (B,)


def test_a_flaky_test_is_not_red_by_design() -> None:
    found = verdict(ran(), ran(a="F"), RED, again=ran(a="."), changes=(NEW_TESTS,))
    assert codes(found) == [ProblemCode.NOT_RED]


def test_a_second_run_without_a_fault_replaces_a_first_one_with_it() -> None:
    broken = receipt(fault=Problem(ProblemCode.CRASHED, "killed"))
    found = verdict(ran(a="."), broken, IMPL, again=ran(a="."))
    assert found.passed
    assert found.flaky == (THE_COMMAND,)
    assert not verdict(ran(a="."), broken, IMPL, again=ran(a="F")).passed
    assert codes(verdict(ran(a="."), ran(a="F"), IMPL, again=broken)) == [ProblemCode.REGRESSION]
    assert codes(verdict(ran(a="."), broken, IMPL, again=broken)) == [ProblemCode.CRASHED]


def test_a_second_run_is_judged_by_what_it_saw_itself() -> None:
    killed = replace(whole(1), kind=RunnerKind.PYTEST, fault=Problem(ProblemCode.CRASHED, "killed"))
    again = receipt(one(A, "."), exit_code=1)
    found = verdict(ran(a="."), killed, RED, again=again, changes=(NEW_TESTS,))
    assert set(codes(found)) == {ProblemCode.REGRESSION, ProblemCode.NOT_RED}


def test_a_unit_that_changes_nothing_is_not_accepted() -> None:
    assert codes(verdict(ran(a="."), ran(a="."), UNTYPED, changes=())) == [ProblemCode.NO_CHANGES]


def test_files_that_the_plan_declares_have_to_exist() -> None:
    demands = Demands(types=(None,), required_files=("src/a.py", "src/new/", "src/*.go", "gone.py"))
    found = verdict(None, None, demands, files=frozenset({"src/a.py", "src/new/x.py", "src/b.go"}))
    assert [(p.code, p.file) for p in found.problems] == [(ProblemCode.MISSING_FILE, "gone.py")]


def test_a_declared_pattern_asks_for_a_file_that_matches_it() -> None:
    demands = Demands(types=(None,), required_files=("db/XXXX_add.sql", "docs/<name>.md", "src/*.go"))
    files = frozenset({"db/0007_add.sql", "src/b.go", "README.md"})
    found = verdict(
        None, None, demands, files=files, changes=(Change(path="db/0007_add.sql", status=ChangeStatus.ADDED),)
    )
    assert [p.message for p in found.problems] == [
        "The plan declares docs/<name>.md, and no file matches docs/*.md."
    ]
    assert [n.message for n in found.notes if n.code is NoteCode.UNCHANGED_PATTERN] == [
        "The plan declares src/*.go; files match src/*.go, and this unit changed none of them."
    ]


def test_a_placeholder_is_in_scope_under_any_name() -> None:
    demands = Demands(types=(None,), declared=("db/XXXX_add.sql",))
    enforced = VerifySettings(scope="enforce")
    made = (
        Change(path="db/0007_add.sql", status=ChangeStatus.ADDED),
        Change(path="db/other.sql", status=ChangeStatus.ADDED),
    )
    found = verdict(None, None, demands, changes=made, settings=enforced)
    assert [p.file for p in found.problems] == ["db/other.sql"]


def test_a_test_twice_in_a_report_has_its_worst_status() -> None:
    twice = receipt(one(A, "."), one(A, "E", "failed on teardown"), one(A, "s"))
    found = verdict(ran(a="."), twice, IMPL)
    assert codes(found) == [ProblemCode.REGRESSION]
    assert "failed on teardown" in found.problems[0].message


def test_what_is_too_much_to_list_is_counted() -> None:
    many = {f"n{number:03}": "." for number in range(40)}
    found = verdict(ran(**many), ran(**dict.fromkeys(many, "F")), IMPL)
    assert len(found.problems) == 26
    assert found.problems[-1].message == "15 more of this kind."
    assert not found.passed


def test_the_branch_is_good_when_nothing_waits_and_nothing_new_fails() -> None:
    assert judge_branch(base=ran(a="F", b="."), result=ran(a="F", b="."), open_red=()).passed
    assert judge_branch(base=ran(b="."), result=ran(a=".", b="."), open_red=(A,)).passed
    red = judge_branch(base=ran(b="."), result=ran(a="F", b="."), open_red=(A,))
    assert codes(red) == [ProblemCode.STILL_RED]
    worse = judge_branch(base=ran(b="."), result=ran(b="F", a="F"), open_red=())
    assert codes(worse) == [ProblemCode.REGRESSION, ProblemCode.FAILING_TESTS]
    assert codes(judge_branch(base=None, result=None, open_red=(A,))) == [ProblemCode.NOT_EXECUTED]
    assert judge_branch(base=None, result=None, open_red=()).passed
    lost = judge_branch(base=ran(a=".", b="."), result=ran(b="s", c="."), open_red=())
    assert lost.passed
    assert noted(lost) == [NoteCode.VANISHED_TEST, NoteCode.DISABLED_TEST]


def test_tests_that_a_person_gave_up_are_neither_required_nor_blamed_but_noted() -> None:
    before, now = ran(b="."), ran(a="F", b=".", c="F")
    waived = judge_branch(base=before, result=now, open_red=(A,), waived=(A, "tests/test_app.py::c"))
    assert waived.passed
    assert noted(waived) == [NoteCode.OPEN_RED, NoteCode.OPEN_RED]
    assert codes(judge_branch(base=before, result=now, open_red=(A,), waived=("x",))) == [
        ProblemCode.FAILING_TESTS,
        ProblemCode.STILL_RED,
    ]
    assert judge_branch(base=before, result=before, open_red=(A,), waived=(A,)).passed
    assert judge_branch(base=None, result=None, open_red=(A,), waived=(A,)).passed


def test_a_module_that_a_person_gave_up_covers_its_tests_and_no_others() -> None:
    module = "tests/test_new.py"
    now = receipt(one(f"{module}::x", "F"), one(A, "F"))
    found = judge_branch(base=ran(a="."), result=now, open_red=(), waived=(module,))
    assert codes(found) == [ProblemCode.REGRESSION]
    assert noted(found) == [NoteCode.OPEN_RED]
