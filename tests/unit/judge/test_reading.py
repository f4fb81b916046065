"""What a finished run left behind becomes a receipt."""

import os
from pathlib import Path

import pytest

from amelia.judge.reading import Remains, make_room, read_receipt
from amelia.model.evidence import ProblemCode, Receipt, RunnerKind, TestCommand, TestStatus
from amelia.system.process import Finished
from amelia.system.secrets import Redactor

PYTEST = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
CUSTOM = TestCommand(RunnerKind.CUSTOM, ("tox",), "out.xml")
MAKE = TestCommand(RunnerKind.MAKE, ("make", "test"))
SECRET = "http://user:hush-hush@proxy.example:8080"  # noqa: S105
GOOD = '<testsuite><testcase classname="t" name="a" file="t.py"/></testsuite>'
BAD = '<testsuite><testcase classname="t" name="a" file="t.py"><failure>no</failure></testcase></testsuite>'


class Run:
    """A run that has just ended."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.report = root / "report"
        self.output = root / "output"
        self.output.write_text("what it said", encoding="utf-8")

    def read(
        self,
        command: TestCommand,
        exit_code: int | None,
        *,
        has_report: bool = True,
        truncated: bool = False,
        piped: bytes = b"",
    ) -> Receipt:
        finished = Finished(exit_code, exit_code is None, 1.23456, truncated, piped)
        report = self.report if has_report else None
        secrets = Redactor([SECRET])
        return read_receipt(command, "t", Remains(finished, self.output, report, self.root, secrets))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def fault(receipt: Receipt) -> ProblemCode | None:
    return receipt.fault.code if receipt.fault else None


def test_a_run_that_ended_well_has_results_and_no_fault(run: Run) -> None:
    run.report.write_text(GOOD, encoding="utf-8")
    receipt = run.read(CUSTOM, 0)
    assert receipt.results is not None
    assert [(one.id, one.status) for one in receipt.results] == [("t.py::a", TestStatus.PASSED)]
    assert (receipt.fault, receipt.seconds, receipt.detail) == (None, 1.235, "what it said")


def test_secrets_that_tests_print_are_in_no_receipt(run: Run) -> None:
    run.report.write_text(BAD.replace("no</", f"the proxy is {SECRET}</"), encoding="utf-8")
    run.output.write_text(f"HTTP_PROXY={SECRET[:20]}\n{SECRET[20:]}\n", encoding="utf-8")
    receipt = run.read(CUSTOM, 1)
    assert "the proxy is [redacted]" in str(receipt.results)
    assert receipt.detail == "HTTP_PROXY=[redacted]\n[redacted]"


def test_a_failing_test_is_no_fault(run: Run) -> None:
    run.report.write_text(BAD, encoding="utf-8")
    assert fault(run.read(CUSTOM, 1)) is None


def test_success_with_a_failing_test_is_a_contradiction(run: Run) -> None:
    run.report.write_text(BAD, encoding="utf-8")
    assert fault(run.read(CUSTOM, 0)) is ProblemCode.CONTRADICTION


def test_a_failure_without_a_failing_test_is_left_to_the_rules(run: Run) -> None:
    run.report.write_text(GOOD, encoding="utf-8")
    assert fault(run.read(CUSTOM, 1)) is None


@pytest.mark.parametrize("command", [PYTEST, CUSTOM, MAKE])
@pytest.mark.parametrize(
    ("exit_code", "code"),
    [(None, ProblemCode.TIMED_OUT), (127, ProblemCode.CRASHED), (137, ProblemCode.CRASHED)],
)
def test_a_run_that_did_not_end_by_itself_is_not_believed(
    run: Run, command: TestCommand, exit_code: int | None, code: ProblemCode
) -> None:
    run.report.write_text(GOOD, encoding="utf-8")
    receipt = run.read(command, exit_code)
    assert fault(receipt) is code
    assert receipt.fault is not None
    assert "what it said" in receipt.fault.message


@pytest.mark.parametrize("exit_code", [2, 3, 4])
def test_pytest_that_gave_up_is_not_believed(run: Run, exit_code: int) -> None:
    run.report.write_text(GOOD, encoding="utf-8")
    assert fault(run.read(PYTEST, exit_code)) is ProblemCode.CRASHED


def test_pytest_without_tests_ran(run: Run) -> None:
    receipt = run.read(PYTEST, 5, piped=b'{"key": "k"}\n{"key": "k", "end": 0}\n')
    assert (receipt.fault, receipt.results) == (None, ())


@pytest.mark.parametrize("command", [PYTEST, CUSTOM])
def test_a_missing_report_is_not_taken_for_success(run: Run, command: TestCommand) -> None:
    receipt = run.read(command, 0)
    assert fault(receipt) is ProblemCode.UNREADABLE_RESULTS
    assert receipt.fault is not None
    assert "left no report" in receipt.fault.message


def test_a_broken_report_is_not_taken_for_success(run: Run) -> None:
    run.report.write_text("<testsuite>", encoding="utf-8")
    assert fault(run.read(CUSTOM, 0)) is ProblemCode.UNREADABLE_RESULTS


def test_a_link_a_pipe_a_directory_and_a_giant_are_no_reports(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run.root / "good").write_text(GOOD, encoding="utf-8")
    run.report.symlink_to(run.root / "good")
    assert fault(run.read(CUSTOM, 0)) is ProblemCode.UNREADABLE_RESULTS
    run.report.unlink()
    os.mkfifo(run.report)
    assert fault(run.read(CUSTOM, 0)) is ProblemCode.UNREADABLE_RESULTS
    run.report.unlink()
    run.report.mkdir()
    assert fault(run.read(CUSTOM, 0)) is ProblemCode.UNREADABLE_RESULTS
    run.report.rmdir()
    run.report.write_text(GOOD, encoding="utf-8")
    monkeypatch.setattr("amelia.judge.reading._LARGEST_REPORT", 10)
    assert fault(run.read(CUSTOM, 0)) is ProblemCode.UNREADABLE_RESULTS


def test_a_runner_without_a_report_has_only_its_exit_code(run: Run) -> None:
    receipt = run.read(MAKE, 2, has_report=False)
    assert (receipt.results, receipt.exit_code, receipt.fault) == (None, 2, None)


@pytest.mark.parametrize("kind", [RunnerKind.GO, RunnerKind.CARGO])
def test_results_in_an_output_that_was_cut_are_not_believed(run: Run, kind: RunnerKind) -> None:
    command = TestCommand(kind, ("x", "test"))
    assert fault(run.read(command, 0, truncated=True)) is ProblemCode.UNREADABLE_RESULTS
    assert run.read(command, 0).results == ()


def test_a_run_whose_output_is_gone_is_still_judged(run: Run) -> None:
    run.output.unlink()
    assert not run.read(MAKE, 0, has_report=False).detail


def test_only_so_many_messages_are_kept_and_every_status_is(run: Run) -> None:
    case = '<testcase classname="t" name="n{}" file="t.py"><failure>{}</failure></testcase>'
    cases = "".join(case.format(number, "x" * 4_000) for number in range(150))
    run.report.write_text(f"<testsuite>{cases}</testsuite>", encoding="utf-8")
    results = run.read(CUSTOM, 1).results
    assert results is not None
    assert len(results) == 150
    assert all(result.status is TestStatus.FAILED for result in results)
    assert sum(len(result.message) for result in results) <= 400_000


def test_an_old_report_is_removed_and_nothing_outside_is(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    tree.mkdir()
    outside.mkdir()
    for folder in (tree, outside):
        (folder / "out.xml").touch()
    (tree / "link").symlink_to(outside)
    assert make_room(None, (tree,)) is None
    assert make_room(tree / "out.xml", (tree,)) is None
    assert not (tree / "out.xml").exists()
    assert make_room(tree / "link" / "out.xml", (tree,)) is not None
    assert (outside / "out.xml").exists()
    (tree / "out.xml").mkdir()
    assert make_room(tree / "out.xml", (tree,)) is not None


def test_what_came_through_the_pipe_counts_and_no_file_beside_it(run: Run) -> None:
    run.report.write_text(GOOD, encoding="utf-8")
    test = b'{"key": "k", "file": "t.py", "names": ["a"], "status": "failed"}'
    receipt = run.read(PYTEST, 1, piped=b'{"key": "k"}\n%s\n{"key": "k", "end": 1}\n' % test)
    assert receipt.results is not None
    assert [(one.id, one.status) for one in receipt.results] == [("t.py::a", TestStatus.FAILED)]
