"""Real runners, started in real trees."""

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from amelia.model.evidence import ProblemCode, RunnerKind, TestStatus, VerifySettings
from integration.judge.places import Place, seen

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PASSED, FAILED, ERROR, SKIPPED = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED


async def test_pytest_is_read_test_by_test_and_a_broken_module_hides_nothing(place: Place) -> None:
    receipt = await place.run(
        {
            "pytest.ini": "[pytest]\naddopts = -x --lf\n",
            "tests/test_a.py": """
                import pytest

                def test_bad(): assert 1 == 2, "one is not two"
                def test_good(): pass
                @pytest.mark.skip
                def test_later(): pass
                class TestGroup:
                    @pytest.mark.parametrize("n", [1, 2])
                    def test_n(self, n): pass
                @pytest.fixture
                def leaves(): yield; raise ValueError
                def test_teardown(leaves): pass
            """,
            "tests/test_b.py": "from not_there_yet import x\ndef test_b(): pass\n",
        }
    )
    assert receipt.kind is RunnerKind.PYTEST
    assert receipt.exit_code == 1
    assert seen(receipt) == {
        "tests/test_a.py::test_bad": FAILED,
        "tests/test_a.py::test_good": PASSED,
        "tests/test_a.py::test_later": SKIPPED,
        "tests/test_a.py::TestGroup::test_n[1]": PASSED,
        "tests/test_a.py::TestGroup::test_n[2]": PASSED,
        "tests/test_a.py::test_teardown": ERROR,
        "tests/test_b.py": ERROR,
    }
    messages = {result.id: result.message for result in receipt.results or ()}
    assert "one is not two" in messages["tests/test_a.py::test_bad"]
    assert "ModuleNotFoundError: No module named 'not_there_yet'" in messages["tests/test_b.py"]
    left = {path.name for path in place.worktree.rglob("*")}
    assert not left & {".pytest_cache", "__pycache__"}


async def test_pytest_without_tests_has_no_results_and_no_fault(place: Place) -> None:
    receipt = await place.run({"pytest.ini": "[pytest]\n"})
    assert seen(receipt) == {}
    assert receipt.exit_code == 5


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("import os\nos._exit(0)", ProblemCode.UNREADABLE_RESULTS),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", ProblemCode.CRASHED),
        ("import pytest\npytest.exit('enough')", ProblemCode.CRASHED),
        ("import time\ntime.sleep(60)", ProblemCode.TIMED_OUT),
    ],
)
async def test_a_test_that_ends_the_run_is_a_fault(place: Place, body: str, code: ProblemCode) -> None:
    inside = "\n".join(f"    {line}" for line in body.splitlines())
    limit = timedelta(seconds=2) if code is ProblemCode.TIMED_OUT else timedelta(minutes=5)
    settings = VerifySettings(timeout=limit)
    receipt = await place.run({"test_a.py": f"def test_a():\n{inside}\n"}, settings)
    assert receipt.fault is not None
    assert receipt.fault.code is code


async def test_a_hook_that_hides_failures_behind_the_exit_code_is_a_contradiction(place: Place) -> None:
    receipt = await place.run(
        {
            "conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n",
            "test_a.py": "def test_a(): assert False\n",
        }
    )
    assert receipt.fault is not None
    assert receipt.fault.code is ProblemCode.CONTRADICTION


UNITTEST = """
    import unittest

    class Case(unittest.TestCase):
        def test_good(self):
            '''Says something else in the output.'''
            print("test_fake (x.Y) ... ok")
        def test_bad(self): self.assertEqual(1, 2)
        def test_error(self): raise ValueError("odd")
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
        def setUpClass(cls): raise RuntimeError("no database")
        def test_never(self): pass
"""


async def test_unittest_is_read_test_by_test(place: Place) -> None:
    receipt = await place.run(
        {
            "tests/test_a.py": UNITTEST,
            "pkg/__init__.py": "",
            "pkg/test_b.py": "import unittest\nimport not_there_yet\n",
            "pkg/test_c.py": "import unittest\n)\n",
        }
    )
    assert receipt.kind is RunnerKind.UNITTEST
    assert seen(receipt) == {
        "tests/test_a.py::Case::test_good": PASSED,
        "tests/test_a.py::Case::test_bad": FAILED,
        "tests/test_a.py::Case::test_error": ERROR,
        "tests/test_a.py::Case::test_parts": FAILED,
        "tests/test_a.py::Case::test_later": SKIPPED,
        "tests/test_a.py::Case::test_known": SKIPPED,
        "tests/test_a.py::Case::test_surprise": FAILED,
        "setUpClass (test_a.Broken)": ERROR,
        "pkg/test_b.py": ERROR,
        "pkg/test_c.py": ERROR,
    }
    messages = {result.id: result.message for result in receipt.results or ()}
    assert "1 != 2" in messages["tests/test_a.py::Case::test_bad"]
    assert messages["pkg/test_b.py"].endswith("ModuleNotFoundError: No module named 'not_there_yet'")
    assert "ImportError" not in messages["pkg/test_c.py"]


async def test_a_unit_test_that_ends_the_run_is_a_fault(place: Place) -> None:
    text = """
        import os, unittest
        class Case(unittest.TestCase):
            def test_a(self): os._exit(0)
    """
    receipt = await place.run({"test_a.py": text})
    assert receipt.fault is not None
    assert receipt.fault.code is ProblemCode.UNREADABLE_RESULTS


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
async def test_node_is_read_test_by_test_with_files(place: Place) -> None:
    receipt = await place.run(
        {
            "package.json": '{"scripts": {"test": "node --test"}}',
            "a.test.js": """
                const { test, describe, it } = require("node:test");
                const assert = require("node:assert");
                test("good", () => {});
                test("bad", () => assert.equal(1, 2));
                test("later", { skip: true }, () => {});
                test("todo", { todo: true }, () => assert.fail());
                describe("group", () => { it("works", () => {}); it("breaks", () => { throw new Error("\\u001b[31mred"); }); });
                test("parent", async (t) => { await t.test("child", () => {}); });
            """,
            "b.test.js": 'require("./not-there-yet");\n',
        }
    )
    assert receipt.kind is RunnerKind.NODE
    assert seen(receipt) == {
        "a.test.js::good": PASSED,
        "a.test.js::bad": FAILED,
        "a.test.js::later": SKIPPED,
        "a.test.js::todo": SKIPPED,
        "a.test.js::group::works": PASSED,
        "a.test.js::group::breaks": FAILED,
        "a.test.js::parent::child": PASSED,
        "a.test.js::parent": PASSED,
        "b.test.js": ERROR,
    }
    messages = {result.id: result.message for result in receipt.results or ()}
    assert "Cannot find module './not-there-yet'" in messages["b.test.js"]
    assert "1 == 2" in messages["a.test.js::bad"]


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
async def test_another_test_script_has_only_its_exit_code(place: Place) -> None:
    receipt = await place.run({"package.json": '{"scripts": {"test": "exit 3"}}'})
    assert (receipt.kind, receipt.results, receipt.exit_code) == (RunnerKind.NODE, None, 3)


async def test_make_has_only_its_exit_code(place: Place) -> None:
    receipt = await place.run({"Makefile": "test:\n\techo no good; exit 1\n"})
    assert (receipt.results, receipt.exit_code, receipt.fault) == (None, 2, None)
    assert "no good" in receipt.detail


async def test_a_configured_command_may_write_a_report(place: Place) -> None:
    script = """\
        #!/bin/sh
        mkdir -p out
        echo '<testsuite name="s"><testcase classname="c" name="n"/></testsuite>' > out/junit.xml
    """
    settings = VerifySettings(command=("sh", "run.sh"), junit="out/junit.xml")
    assert seen(await place.run({"run.sh": script}, settings)) == {"s::c::n": PASSED}


async def test_an_old_report_does_not_speak_for_a_new_run(place: Place) -> None:
    old = '<testsuite><testcase classname="c" name="n"/></testsuite>'
    settings = VerifySettings(command=("true",), junit="junit.xml")
    receipt = await place.run({"junit.xml": old}, settings)
    assert receipt.fault is not None
    assert receipt.fault.code is ProblemCode.UNREADABLE_RESULTS


async def test_a_report_that_a_link_leads_away_is_not_written(place: Place, tmp_path: Path) -> None:
    settings = VerifySettings(command=("true",), junit="out/junit.xml")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "junit.xml").write_text("precious", encoding="utf-8")
    place.tree("only", {"a": ""})
    verifier = await place.verifier("only", settings)

    async def checkout(tree: str) -> Path:
        worktree = await place.checkout(tree)
        (worktree / "out").symlink_to(tmp_path / "outside")
        return worktree

    receipt = await verifier.receipt("only", checkout)
    assert receipt is not None
    assert receipt.fault is not None
    assert (tmp_path / "outside" / "junit.xml").read_text(encoding="utf-8") == "precious"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
async def test_cargo_is_read_test_by_test_and_a_broken_build_has_no_tests(place: Place) -> None:
    manifest = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n'
    library = """
        pub fn add(a: i32, b: i32) -> i32 { a + b }
        #[cfg(test)]
        mod tests {
            #[test] fn works() { assert_eq!(super::add(1, 1), 2); }
            #[test] fn fails() { assert_eq!(super::add(1, 1), 3); }
            #[test] #[ignore] fn later() {}
        }
    """
    integration = "#[test] fn outside() { assert_eq!(demo::add(2, 2), 4); }\n"
    files = {"Cargo.toml": manifest, "src/lib.rs": library, "tests/it.rs": integration}
    receipt = await place.run(files)
    assert seen(receipt) == {
        "demo:src/lib.rs::tests::works": PASSED,
        "demo:src/lib.rs::tests::fails": FAILED,
        "demo:src/lib.rs::tests::later": SKIPPED,
        "it:tests/it.rs::outside": PASSED,
    }
    place.tree("broken", {**files, "tests/new.rs": "#[test] fn n() { demo::not_there_yet(); }\n"})
    broken = await (await place.verifier("broken")).receipt("broken", place.checkout)
    assert broken is not None
    assert (broken.results, broken.fault) == ((), None)
    assert broken.exit_code not in {0, None}
    assert "not_there_yet" in broken.detail


async def test_nothing_of_the_callers_environment_reaches_the_tests(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert "VIRTUAL_ENV" in os.environ or monkeypatch.setenv("VIRTUAL_ENV", "/nowhere") is None
    text = """
        import os
        def test_a():
            assert not {"PYTHONPATH", "VIRTUAL_ENV", "SOME_API_KEY", "PYTEST_ADDOPTS"} & os.environ.keys()
    """
    assert seen(await place.run({"test_a.py": text})) == {"test_a.py::test_a": PASSED}
