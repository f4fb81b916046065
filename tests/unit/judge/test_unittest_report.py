"""The reporter for unittest, run in this process; real trees are in the integration tests."""

import json
import sys
from pathlib import Path

import pytest

from amelia.judge import unittest_report
from amelia.judge.results import parse_lines
from amelia.model.evidence import TestResult, TestStatus

CASES = """
import unittest

class Case(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self): self.fail("said so")
    def test_error(self): raise ValueError
    def test_parts(self):
        for n in (1, 2):
            with self.subTest(n=n): self.assertEqual(n, 1)
    @unittest.skip("later")
    def test_later(self): pass
    @unittest.expectedFailure
    def test_known(self): self.fail()
    @unittest.expectedFailure
    def test_surprise(self): pass

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError
    def test_never(self): pass
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["somewhere", *sys.path])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "argv", ["unittest_report.py", "report"])
    return tmp_path


def results(tree: Path) -> dict[str, TestResult]:
    found = parse_lines((tree / "report").read_bytes(), root=str(tree))
    assert isinstance(found, tuple)
    return {result.id: result for result in found}


def test_every_way_to_end_has_its_status(tree: Path) -> None:
    (tree / "tests").mkdir()
    (tree / "tests" / "test_every_way.py").write_text(CASES, encoding="utf-8")
    (tree / "tests" / "test_no_import.py").write_text("import not_there_yet\n", encoding="utf-8")
    assert unittest_report.main() == 1
    found = results(tree)
    start = "tests/test_every_way.py::Case::"
    assert {name.removeprefix(start): result.status.value for name, result in found.items()} == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_error": "error",
        "test_parts": "failed",
        "test_later": "skipped",
        "test_known": "skipped",
        "test_surprise": "failed",
        "setUpClass (test_every_way.Broken)": "error",
        "tests/test_no_import.py": "error",
    }
    assert found["tests/test_no_import.py"].message.startswith("Traceback")


def test_a_tree_where_all_is_well_ends_with_success(tree: Path) -> None:
    text = "import unittest\nclass Case(unittest.TestCase):\n    def test_a(self): pass\n"
    (tree / "test_all_well.py").write_text(text, encoding="utf-8")
    assert unittest_report.main() == 0
    assert [result.status for result in results(tree).values()] == [TestStatus.PASSED]
    assert sys.path[0] == str(tree)


def test_a_tree_without_tests_has_an_empty_report(tree: Path) -> None:
    unittest_report.main()
    assert json.loads((tree / "report").read_text(encoding="utf-8")) == {"end": 0}
