"""Receipts on disk."""

from dataclasses import replace
from pathlib import Path

import pytest

from amelia.judge.receipts import Receipts, digest, fingerprint, red_as_wanted, told
from amelia.model.evidence import (
    THE_COMMAND,
    Problem,
    ProblemCode,
    Receipt,
    RunnerKind,
    TestCommand,
    TestResult,
    TestStatus,
)

COMMAND = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
RECEIPT = Receipt(
    tree="4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    kind=RunnerKind.PYTEST,
    command=COMMAND.argv,
    exit_code=1,
    seconds=1.5,
    results=(TestResult("t.py::a", TestStatus.FAILED, "t.py", "assert 0"),),
    detail="1 failed",
)


def test_a_receipt_reads_back_the_same(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path / "new", COMMAND)
    assert receipts.load(RECEIPT.tree) is None
    receipts.save(RECEIPT)
    assert receipts.load(RECEIPT.tree) == RECEIPT


def test_receipts_are_kept_apart_by_tree_command_setup_and_run(tmp_path: Path) -> None:
    Receipts(tmp_path, COMMAND).save(RECEIPT)
    known = [digest(RECEIPT)]
    assert Receipts(tmp_path, COMMAND, known=known).load("other") is None
    assert Receipts(tmp_path, COMMAND, known=known).load(RECEIPT.tree, run=2) is None
    assert Receipts(tmp_path, COMMAND, ("make", "env"), known=known).load(RECEIPT.tree) is None
    assert Receipts(tmp_path, replace(COMMAND, argv=("tox",)), known=known).load(RECEIPT.tree) is None
    assert Receipts(tmp_path, replace(COMMAND, others=("make",)), known=known).load(RECEIPT.tree) == RECEIPT


def test_what_somebody_else_wrote_is_not_believed_after_a_restart_either(tmp_path: Path) -> None:
    Receipts(tmp_path, COMMAND).save(replace(RECEIPT, exit_code=0))
    assert Receipts(tmp_path, COMMAND).load(RECEIPT.tree) is None
    assert Receipts(tmp_path, COMMAND, known=[digest(RECEIPT)]).load(RECEIPT.tree) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b"{}", b'{"tree": "x"}'])
def test_a_damaged_receipt_counts_as_absent(tmp_path: Path, damage: bytes) -> None:
    receipts = Receipts(tmp_path, COMMAND)
    receipts.save(RECEIPT)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage)
    assert receipts.load(RECEIPT.tree) is None


def test_a_receipt_of_another_tree_is_not_believed(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path, COMMAND)
    receipts.save(RECEIPT)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b"4b825dc", b"5b825dc"))
    assert receipts.load(RECEIPT.tree) is None


def test_a_tree_that_is_forgotten_has_no_receipts_and_others_keep_theirs(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path, COMMAND)
    other = replace(RECEIPT, tree="other")
    for receipt in (RECEIPT, other):
        for run in (1, 2):
            receipts.save(receipt, run=run)
    receipts.forget(RECEIPT.tree)
    receipts.forget("never seen")
    assert [receipts.load(RECEIPT.tree, run=run) for run in (1, 2)] == [None, None]
    assert [receipts.load("other", run=run) for run in (1, 2)] == [other, other]


def test_a_run_that_proves_nothing_is_not_kept(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path, COMMAND)
    receipts.save(replace(RECEIPT, fault=Problem(ProblemCode.TIMED_OUT, "slow")))
    assert not list(tmp_path.iterdir())


def test_a_tree_is_never_taken_for_a_path(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path / "in", COMMAND)
    odd = replace(RECEIPT, tree="../../out")
    receipts.save(odd)
    assert receipts.load(odd.tree) == odd
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_the_fingerprint_depends_on_statuses_and_on_nothing_else() -> None:
    same = (TestResult("t.py::a", TestStatus.FAILED, None, "said otherwise"),)
    slower = replace(RECEIPT, seconds=9.0, detail="", results=same)
    assert fingerprint(slower) == fingerprint(RECEIPT)
    assert fingerprint(replace(RECEIPT, results=())) != fingerprint(RECEIPT)
    assert fingerprint(replace(RECEIPT, exit_code=0)) != fingerprint(RECEIPT)
    assert fingerprint(replace(RECEIPT, fault=Problem(ProblemCode.CRASHED, ""))) != fingerprint(RECEIPT)
    assert not fingerprint(None)


def test_a_line_tells_what_ran_what_it_showed_and_which_tests_were_to_fail() -> None:
    passed = (TestResult("t.py::b", TestStatus.PASSED, "t.py"), TestResult("u.py", TestStatus.ERROR, "u.py"))
    receipt = replace(RECEIPT, results=(*(RECEIPT.results or ()), *passed))
    ran = "python -m pytest: exit code 1; 1 error, 1 failed, 1 passed"
    assert told(receipt) == ran
    assert told(receipt, red=("t.py::a",)) == f"{ran}; red, as wanted: 1 test"
    assert told(receipt, red=("t.py::a", "u.py")) == f"{ran}; red, as wanted: 1 test and 1 test file"
    assert told(replace(receipt, results=None), red=(THE_COMMAND,)) == (
        "python -m pytest: exit code 1; red, as wanted: the tests as a whole"
    )
    assert red_as_wanted(("a", "b")) == "red, as wanted: 2 tests"
