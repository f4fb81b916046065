"""What a unit may do to tests: the table of verdicts, row by row."""

from dataclasses import replace

import pytest

from amelia.judge.licence import (
    Evidence,
    JudgeTree,
    Touched,
    Trial,
    is_declared,
    of_trial,
    touched,
    without_mixed,
)
from amelia.judge.trusted import custody
from amelia.model.evidence import (
    THE_COMMAND,
    Change,
    ChangeStatus,
    Demands,
    Note,
    Problem,
    ProblemCode,
    TestResult,
    TestStatus,
)
from amelia.model.plan import TaskType

FILE = "tests/test_calc.py"
TEST = f"{FILE}::test_add"
PASSED, FAILED, SKIPPED = TestStatus.PASSED, TestStatus.FAILED, TestStatus.SKIPPED
IMPL = Demands(types=(TaskType.IMPL,), declared=("calc.py",))


def results(status: TestStatus, name: str = TEST, file: str | None = FILE) -> dict[str, TestResult]:
    return {name: TestResult(name, status, file=file)}


def trial(demands: Demands = IMPL, *, files: Touched | None = None, was: TestStatus = FAILED) -> Trial:
    """A test that passed before and passes as the unit left it, and how it ends as it was."""
    return Trial(
        demands=demands,
        judges=JudgeTree(touched=files or Touched(tests=(FILE,)), tree="tree"),
        before=results(PASSED),
        now=results(PASSED),
        trusted=results(was),
        texts={FILE: "from calc import add\n"},
    )


def verdicts(tried: Trial) -> list[Problem | Note | Evidence]:
    return list(of_trial(tried))


def codes(tried: Trial) -> list[ProblemCode]:
    return [each.code for each in of_trial(tried) if isinstance(each, Problem)]


def change(path: str, status: ChangeStatus = ChangeStatus.MODIFIED) -> Change:
    return Change(path=path, status=status)


def sorted_out(*changes: Change, demands: Demands = IMPL, guarded: tuple[str, ...] = ()) -> Touched:
    return touched(changes, demands, custody=lambda path: custody(path, None), guarded=guarded)


def test_changes_are_sorted_by_whose_the_file_is() -> None:
    found = sorted_out(
        change("calc.py"),
        change(FILE),
        change("tests/test_new.py", ChangeStatus.ADDED),
        change("tests/data.json"),
        change("CMakeLists.txt"),
    )
    assert found == Touched(
        tests=(FILE,),
        new_tests=("tests/test_new.py",),
        others=("tests/data.json",),
        mixed=("CMakeLists.txt",),
    )


@pytest.mark.parametrize(
    "demands",
    [
        Demands(types=(TaskType.TEST,), own_tests=(FILE,)),
        Demands(types=(TaskType.TEST,)),
        replace(IMPL, granted=(FILE,)),
    ],
    ids=["its test task's own file", "a test task without files", "a granted file"],
)
def test_a_file_is_the_units_own_if_it_is(demands: Demands) -> None:
    assert sorted_out(change(FILE), demands=demands).own == (FILE,)


def test_a_test_task_that_declares_other_files_does_not_own_this_one() -> None:
    demands = Demands(types=(TaskType.TEST,), own_tests=("tests/test_other.py",))
    assert sorted_out(change(FILE), demands=demands).tests == (FILE,)


def test_a_test_task_does_not_own_the_settings_of_the_runner() -> None:
    assert sorted_out(change("pytest.ini"), demands=Demands(types=(TaskType.TEST,))).others == ("pytest.ini",)


def test_tests_that_the_unit_is_to_make_pass_are_never_its_own() -> None:
    demands = Demands(types=(TaskType.TEST, TaskType.IMPL), own_tests=(FILE,))
    assert sorted_out(change(FILE), demands=demands, guarded=(FILE,)).tests == (FILE,)


def test_a_test_that_passes_as_it_was_is_noted() -> None:
    (note,) = verdicts(trial(was=PASSED))
    assert isinstance(note, Note)
    assert note.file == FILE


@pytest.mark.parametrize("was", [FAILED, SKIPPED])
def test_a_test_that_does_not_pass_as_it_was_sends_a_unit_back_that_declares_others(was: TestStatus) -> None:
    (problem,) = verdicts(trial(was=was))
    assert isinstance(problem, Problem)
    assert problem.code is ProblemCode.WEAKENED_TESTS
    assert "a person can grant it" in problem.message


def test_a_test_that_did_not_run_as_it_was_did_not_pass() -> None:
    assert codes(replace(trial(), trusted=results(PASSED, "tests/test_x.py::test_x", "tests/test_x.py")))


@pytest.mark.parametrize(
    "demands",
    [
        Demands(types=(None,)),
        replace(IMPL, declared=("calc.py", FILE)),
        replace(IMPL, section="Rename `calc.add` to `calc.sum_of`."),
        replace(IMPL, section="Update test_calc.py for the new signature."),
    ],
    ids=["declares nothing", "declares the test", "says to rename what it names", "speaks of the file"],
)
def test_the_reviewer_rules_on_a_test_if_the_unit(demands: Demands) -> None:
    assert verdicts(trial(demands)) == [Evidence(TEST, (FILE,))]
    assert codes(replace(trial(demands), is_frozen=True)) == [ProblemCode.WEAKENED_TESTS]


@pytest.mark.parametrize(
    "section",
    ["Do not change test_calc.py.", "Rename the module.", "add more cases", "Remove `subtract_all`."],
)
def test_a_section_that_says_nothing_of_the_kind_licenses_nothing(section: str) -> None:
    assert codes(trial(replace(IMPL, section=section))) == [ProblemCode.WEAKENED_TESTS]


def test_a_snapshot_may_change_where_the_section_speaks_of_output() -> None:
    snapshot = Touched(others=("tests/__snapshots__/page.snap",))
    shows = replace(IMPL, section="Change the greeting that the page displays.")
    assert verdicts(trial(shows, files=snapshot)) == [Evidence(TEST, snapshot.others)]
    assert codes(trial(files=snapshot)) == [ProblemCode.WEAKENED_TESTS]


def test_a_test_that_was_to_pass_must_pass_as_it_was_written() -> None:
    owed = replace(IMPL, required_green=(TEST,), declared=("calc.py", FILE))
    tried = replace(trial(owed), before=results(FAILED))
    assert codes(tried) == [ProblemCode.STILL_RED]
    assert codes(replace(tried, trusted=results(PASSED))) == []


def test_a_file_that_could_not_be_loaded_is_to_pass_with_all_its_tests() -> None:
    owed = replace(IMPL, required_green=(FILE,))
    module = {FILE: TestResult(FILE, TestStatus.ERROR, file=FILE)}
    tried = replace(trial(owed, files=Touched(new_tests=("tests/test_new.py",))), before=module)
    assert codes(replace(tried, trusted=results(PASSED))) == []
    both = results(PASSED) | results(FAILED, f"{FILE}::test_more")
    assert codes(replace(tried, trusted=both)) == [ProblemCode.STILL_RED]
    assert codes(replace(tried, trusted=module)) == [ProblemCode.STILL_RED]
    assert codes(replace(tried, trusted={})) == [ProblemCode.STILL_RED]


def test_a_test_that_failed_before_is_nobodys_fault() -> None:
    assert codes(replace(trial(), before=results(FAILED))) == []


def test_a_test_that_fails_now_is_not_held_against_the_unit_twice() -> None:
    assert codes(replace(trial(), now=results(FAILED))) == []


def test_the_command_as_a_whole_counts_only_where_no_single_test_is_seen() -> None:
    whole = results(PASSED, THE_COMMAND, None)
    failed = results(FAILED, THE_COMMAND, None)
    alone = replace(trial(), before=whole, now=whole, trusted=failed)
    assert codes(alone) == [ProblemCode.WEAKENED_TESTS]
    both = replace(
        trial(), before=whole | results(PASSED), now=whole | results(PASSED), trusted=failed | results(PASSED)
    )
    assert codes(both) == []


def test_tests_that_could_not_be_run_as_they_were_prove_nothing() -> None:
    fault = Problem(ProblemCode.TIMED_OUT, "no end after 20 minutes")
    assert codes(replace(trial(), trusted={}, fault=fault)) == [ProblemCode.TIMED_OUT]


def test_files_that_build_and_test_at_once_are_ruled_on_by_name() -> None:
    tried = replace(trial(files=Touched(mixed=("tsconfig.json",))), trusted=results(PASSED))
    assert verdicts(tried) == [Evidence("tsconfig.json", ("tsconfig.json",))]
    assert verdicts(replace(tried, judges=replace(tried.judges, tree=None))) == [
        Evidence("tsconfig.json", ("tsconfig.json",))
    ]


MIXED = JudgeTree(touched=Touched(mixed=("tsconfig.json",)), tree="tree")


@pytest.mark.parametrize(
    ("before", "strictly", "is_excused"),
    [
        (results(PASSED), results(PASSED), True),
        (results(PASSED), results(FAILED), False),
        (results(PASSED), {}, False),
        (results(FAILED), results(FAILED, THE_COMMAND, None), False),
        (results(PASSED, THE_COMMAND, None), results(PASSED, THE_COMMAND, None), True),
    ],
    ids=["all passes", "a test fails", "nothing was seen", "nothing passed before", "the command passes"],
)
def test_files_that_build_and_test_are_excused_if_all_passes_with_them_as_they_were(
    before: dict[str, TestResult],
    strictly: dict[str, TestResult],
    is_excused: bool,  # noqa: FBT001 - a row of the table
) -> None:
    found = without_mixed(MIXED, before, strictly).touched
    assert (found.excused if is_excused else found.mixed) == ("tsconfig.json",)
    assert (found.mixed if is_excused else found.excused) == ()


def test_who_declares_a_source_does_not_declare_the_tests_inside() -> None:
    inside = Touched(inside=("src/lib.rs",))
    declares = replace(IMPL, declared=("src/lib.rs",))
    assert codes(trial(declares, files=inside)) == [ProblemCode.WEAKENED_TESTS]
    assert not is_declared("src/lib.rs", declares, inside)
    assert is_declared("src/lib.rs", declares, Touched(others=("src/lib.rs",)))


def test_tests_that_cannot_be_told_from_their_source_are_ruled_on() -> None:
    tried = trial(files=Touched(inside=("src/lib.rs",), unclear=("src/lib.rs",)), was=PASSED)
    assert Evidence("src/lib.rs", ("src/lib.rs",)) in verdicts(tried)


def test_a_new_test_file_that_makes_others_pass_is_licensed_by_nothing() -> None:
    declares = replace(IMPL, declared=("calc.py", "tests/test_new.py"))
    assert codes(trial(declares, files=Touched(new_tests=("tests/test_new.py",)))) == [
        ProblemCode.WEAKENED_TESTS
    ]


def test_a_declared_test_file_does_not_cover_for_support_that_is_not() -> None:
    both = Touched(tests=(FILE,), others=("conftest.py",))
    assert codes(trial(replace(IMPL, declared=(FILE,)), files=both)) == [ProblemCode.WEAKENED_TESTS]


def test_tests_as_a_whole_are_ruled_on_by_the_files_that_were_changed() -> None:
    whole, failed = results(PASSED, THE_COMMAND, None), results(FAILED, THE_COMMAND, None)
    files = Touched(tests=("a.test.js",), others=("package.json",))
    tried = replace(trial(Demands(types=(None,)), files=files), before=whole, now=whole, trusted=failed)
    assert {each.test for each in verdicts(tried) if isinstance(each, Evidence)} == {
        "a.test.js",
        "package.json",
    }


def test_a_red_test_of_another_unit_may_not_be_bent() -> None:
    later = replace(IMPL, open_red=(TEST,), declared=("calc.py", FILE))
    assert codes(replace(trial(later), before=results(FAILED))) == [ProblemCode.WEAKENED_TESTS]
    assert codes(replace(trial(later), before=results(FAILED), now=results(FAILED))) == []


def test_tests_that_could_not_be_built_before_have_to_pass_as_they_were_written() -> None:
    owed = replace(IMPL, required_green=(THE_COMMAND,))
    before = results(FAILED, THE_COMMAND, None)
    tried = replace(trial(owed), before=before, trusted=results(FAILED, "t", None))
    assert codes(tried) == [ProblemCode.STILL_RED]
    assert codes(replace(tried, trusted=results(PASSED, "t", None))) == []


def test_without_anything_seen_before_every_test_as_it_was_counts() -> None:
    assert codes(replace(trial(), before={})) == [ProblemCode.WEAKENED_TESTS]
    assert codes(replace(trial(was=PASSED), before={})) == []


def test_nothing_is_excused_that_a_test_needs_which_the_unit_owes() -> None:
    found = without_mixed(MIXED, results(PASSED), results(PASSED), owed=("tests/test_new.py::test_new",))
    assert found.touched.mixed == ("tsconfig.json",)


def test_own_files_that_were_there_before_are_named() -> None:
    demands = Demands(types=(TaskType.TEST,), own_tests=(FILE, "tests/test_new.py"))
    found = sorted_out(change(FILE), change("tests/test_new.py", ChangeStatus.ADDED), demands=demands)
    assert found.replaced == (FILE,)
    (note,) = verdicts(Trial(demands=demands, judges=JudgeTree(touched=found), before={}, now={}))
    assert isinstance(note, Note)
    assert note.file == FILE
