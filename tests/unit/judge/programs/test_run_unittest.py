"""The program that runs unittest, on small trees; the runners of real trees are in the integration tests."""

from pathlib import Path

from amelia.model.evidence import TestStatus
from unit.judge.programs.running import run_program

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


def test_every_way_to_end_has_its_status(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_every_way.py").write_text(CASES, encoding="utf-8")
    (tmp_path / "tests" / "test_no_import.py").write_text("import not_there_yet\n", encoding="utf-8")
    ran = run_program("run_unittest", tmp_path)
    assert ran.code == 1
    found = {result.id: result for result in ran.results}
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


def test_a_tree_where_all_is_well_ends_with_success(tmp_path: Path) -> None:
    text = "import unittest\nclass Case(unittest.TestCase):\n    def test_a(self): pass\n"
    (tmp_path / "test_all_well.py").write_text(text, encoding="utf-8")
    ran = run_program("run_unittest", tmp_path)
    assert (ran.code, [result.status for result in ran.results]) == (0, [TestStatus.PASSED])


def test_a_tree_without_tests_has_an_empty_report(tmp_path: Path) -> None:
    assert run_program("run_unittest", tmp_path).results == ()
