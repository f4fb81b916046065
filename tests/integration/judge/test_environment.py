"""The environment that tests run in: interpreters, setup, and where imports come from."""

import os
import sys
import venv
from datetime import timedelta
from pathlib import Path

import pytest

from amelia.judge.canary import foreign_imports, top_level_names
from amelia.judge.environment import Environment, Ready
from amelia.judge.interpreters import Interpreters
from amelia.model.errors import ConfigError
from amelia.model.evidence import Problem, ProblemCode, RunnerKind, TestCommand, TestStatus, VerifySettings
from integration.judge.places import Place, seen

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PYTEST = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
UNITTEST = TestCommand(RunnerKind.UNITTEST, ("python", "-m", "unittest"))
MINUTE = timedelta(minutes=1)
WITH_SETUP = VerifySettings(setup=("true",))  # a tree's own environment counts if a setup made it


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Gives a place without an environment of its own."""
    return Place(tmp_path)


def python_in(folder: Path, *, can_import: str = "") -> Path:
    """Makes an interpreter that can import the standard library and the modules named."""
    venv.create(folder, with_pip=False)
    packages = packages_of(folder)
    for name in can_import.split():
        (packages / f"{name}.py").touch()
    return folder / "bin" / "python"


def packages_of(environment: Path) -> Path:
    (packages,) = environment.glob("lib/python*/site-packages")
    return packages


def path_of(folder: Path) -> dict[str, str]:
    return {"PATH": str(folder / "bin")}


async def test_the_trees_own_environment_comes_first(tmp_path: Path) -> None:
    own = python_in(tmp_path / "tree" / ".venv", can_import="pytest")
    other = python_in(tmp_path / "other", can_import="pytest")
    interpreters = Interpreters(path_of(other.parent.parent), None, has_setup=True)
    assert await interpreters.find(tmp_path / "tree", "pytest") == str(own)


async def test_an_environment_that_no_setup_made_is_not_believed(tmp_path: Path) -> None:
    python_in(tmp_path / "tree" / ".venv", can_import="pytest")
    other = python_in(tmp_path / "other", can_import="pytest")
    interpreters = Interpreters(path_of(other.parent.parent), None, has_setup=False)
    found = await interpreters.find(tmp_path / "tree", "pytest")
    assert found is not None
    assert Path(found).parent == other.parent


async def test_an_interpreter_without_the_tool_is_passed_over(tmp_path: Path) -> None:
    python_in(tmp_path / "tree" / "venv")
    python_in(tmp_path / "path")
    caller = python_in(tmp_path / "caller", can_import="sometool")
    interpreters = Interpreters(path_of(tmp_path / "path"), tmp_path / "caller", has_setup=True)
    assert await interpreters.find(tmp_path / "tree", "sometool") == str(caller)


async def test_our_own_interpreter_is_the_last_resort(tmp_path: Path) -> None:
    interpreters = Interpreters({"PATH": ""}, tmp_path / "absent", has_setup=True)
    assert await interpreters.find(tmp_path, "msgspec") == sys.executable
    assert await interpreters.find(tmp_path, "no_such_module_anywhere") is None


async def test_a_module_in_the_tree_does_not_answer_for_an_installed_one(tmp_path: Path) -> None:
    (tmp_path / "sometool.py").touch()
    assert await Interpreters({"PATH": ""}, None, has_setup=True).find(tmp_path, "sometool") is None


async def test_a_tool_that_is_not_installed_is_said_before_anything_depends_on_it(place: Place) -> None:
    place.tree("t", {"a": ""})
    verifier = await place.verifier("t", VerifySettings(command=("no-such-tool", "--all")))
    with pytest.raises(ConfigError, match="no-such-tool is not installed") as caught:
        await verifier.check("t", place.checkout)
    assert caught.value.hint
    receipt = await verifier.receipt("t", place.checkout)
    assert receipt is not None
    assert receipt.fault is not None
    assert receipt.fault.code is ProblemCode.TOOL_MISSING


async def test_a_python_without_the_tool_is_said_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = python_in(tmp_path / "bare")
    monkeypatch.setenv("PATH", str(bare.parent))
    monkeypatch.setattr(sys, "executable", str(bare))
    environment = Environment(setup=None, timeout=MINUTE, stamps=tmp_path / "stamps")
    problem = await environment.prepare(PYTEST, tmp_path)
    assert isinstance(problem, Problem)
    assert problem.code is ProblemCode.TOOL_MISSING
    assert "No Python here can import pytest" in problem.message
    assert "`setup`" in problem.message


async def test_a_script_of_the_tree_is_a_command(place: Place) -> None:
    settings = VerifySettings(command=("./check", "it"))
    place.tree("t", {"check": "#!/bin/sh\nexit 0\n"})
    verifier = await place.verifier("t", settings)

    async def checkout(tree: str) -> Path:
        worktree = await place.checkout(tree)
        (worktree / "check").chmod(0o755)
        return worktree

    await verifier.check("t", checkout)
    receipt = await verifier.receipt("t", checkout)
    assert receipt is not None
    assert (receipt.exit_code, receipt.fault) == (0, None)
    place.tree("without", {"a": ""})
    with pytest.raises(ConfigError, match=r"\./check"):
        await verifier.check("without", place.checkout)


async def test_without_a_command_there_is_nothing_to_check(place: Place) -> None:
    place.tree("t", {"README": ""})
    verifier = await place.verifier("t")
    await verifier.check("t", place.checkout)
    assert await verifier.receipt("t", place.checkout) is None
    assert place.checkouts == []


SETUP = ("sh", "-c", "mkdir -p .marks && date +%N >> .marks/setups")


def setups(worktree: Path) -> int:
    return len((worktree / ".marks" / "setups").read_text(encoding="utf-8").splitlines())


async def test_the_setup_runs_once_for_each_state_of_the_lock_files(place: Place) -> None:
    settings = VerifySettings(command=("true",), setup=SETUP)
    place.tree("one", {"requirements.txt": "a==1\n"})
    place.tree("same", {"requirements.txt": "a==1\n", "src/code.py": ""})
    place.tree("two", {"requirements.txt": "a==2\n"})
    verifier = await place.verifier("one", settings)
    for tree, expected in (("one", 1), ("same", 1), ("two", 2)):
        receipt = await verifier.receipt(tree, place.checkout)
        assert receipt is not None
        assert receipt.fault is None
        assert setups(place.worktree) == expected
    again = await place.verifier("two", settings)
    await again.check("two", place.checkout)
    assert setups(place.worktree) == 2, "a new run knows what an earlier one did"


async def test_a_setup_that_writes_the_lock_file_itself_is_not_run_again(place: Place) -> None:
    setup = ("sh", "-c", f"{SETUP[2]} && echo locked > .marks/../uv.lock")
    place.tree("t", {"test_a.py": "def test_a(): pass\n"})
    verifier = await place.verifier("t", VerifySettings(command=("true",), setup=setup))
    for _ in range(2):
        await verifier.check("t", place.checkout)
    (place.worktree / "uv.lock").write_text("locked\n", encoding="utf-8")

    async def as_it_is(_: str) -> Path:
        return place.worktree

    await verifier.check("t", as_it_is)
    assert setups(place.worktree) == 1


async def test_a_worktree_that_was_made_again_is_set_up_again(place: Place) -> None:
    place.tree("t", {"test_a.py": "def test_a(): pass\n", ".git": "gitdir: elsewhere\n"})
    verifier = await place.verifier("t", VerifySettings(command=("true",), setup=SETUP))
    await verifier.check("t", place.checkout)
    await verifier.check("t", place.checkout)  # the checkout writes the link anew
    assert setups(place.worktree) == 2


@pytest.mark.parametrize(
    ("setup", "words"), [("echo broken; exit 7", "exit code 7"), ("sleep 30", "took too long")]
)
async def test_a_setup_that_fails_is_a_problem_and_is_tried_again(
    place: Place, setup: str, words: str
) -> None:
    settings = VerifySettings(setup=("sh", "-c", setup), timeout=timedelta(seconds=0.5))
    place.tree("t", {"test_a.py": "def test_a(): pass\n"})
    verifier = await place.verifier("t", settings)
    for _ in range(2):
        receipt = await verifier.receipt("t", place.checkout)
        assert receipt is not None
        assert receipt.fault is not None
        assert receipt.fault.code is ProblemCode.SETUP_FAILED
        assert words in receipt.fault.message


async def test_programs_of_the_trees_own_environment_are_on_the_path(tmp_path: Path) -> None:
    python_in(tmp_path / ".venv")
    environment = Environment(setup=("true",), timeout=MINUTE, stamps=tmp_path / "stamps")
    ready = await environment.prepare(TestCommand(RunnerKind.MAKE, ("python",), None), tmp_path)
    assert isinstance(ready, Ready)
    assert ready.program == str(tmp_path / ".venv" / "bin" / "python")
    assert ready.env["PATH"].startswith(f"{tmp_path / '.venv' / 'bin'}{os.pathsep}")


def test_top_level_names_are_packages_and_modules_at_the_top_and_below_src(tmp_path: Path) -> None:
    for name in (
        "src/inner/__init__.py",
        "outer/a.py",
        "module.py",
        "json/x.py",
        "docs/a.md",
        "not-a-name/x.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert top_level_names(tmp_path) == ("inner", "module", "outer")
    (tmp_path / "src" / "__init__.py").touch()
    assert top_level_names(tmp_path) == ("module", "outer", "src")
    assert top_level_names(tmp_path / "docs") == ()


def install_elsewhere(root: Path, worktree: Path) -> Path:
    """Gives the tree an environment that knows the same package from another checkout."""
    elsewhere = root / "elsewhere" / "src"
    (elsewhere / "pkg").mkdir(parents=True)
    (elsewhere / "pkg" / "__init__.py").write_text("ANSWER = 42\n", encoding="utf-8")
    python = python_in(worktree / ".venv")
    packages = packages_of(worktree / ".venv")
    (packages / "editable.pth").write_text(f"{elsewhere}\n", encoding="utf-8")
    return python


TREE = {
    "src/pkg/__init__.py": "ANSWER = 41\n",
    "tests/test_pkg.py": """
        import unittest
        import pkg
        class Case(unittest.TestCase):
            def test_answer(self): self.assertEqual(pkg.ANSWER, 42)
    """,
}


async def test_code_that_would_be_imported_from_another_checkout_is_refused(
    place: Place, tmp_path: Path
) -> None:
    install_elsewhere(tmp_path, place.worktree)
    receipt = await place.run(TREE, WITH_SETUP)
    assert receipt.fault is not None
    assert receipt.fault.code is ProblemCode.FOREIGN_IMPORTS
    assert str(tmp_path / "elsewhere" / "src" / "pkg") in receipt.fault.message
    assert "`setup`" in receipt.fault.message


async def test_a_copy_in_the_trees_own_environment_is_refused_too(place: Place) -> None:
    python_in(place.worktree / ".venv")
    packages = packages_of(place.worktree / ".venv")
    (packages / "pkg").mkdir()
    (packages / "pkg" / "__init__.py").write_text("ANSWER = 42\n", encoding="utf-8")
    receipt = await place.run(TREE, WITH_SETUP)
    assert receipt.fault is not None
    assert receipt.fault.code is ProblemCode.FOREIGN_IMPORTS


async def test_an_installation_that_leads_into_the_tree_is_fine(place: Place) -> None:
    python_in(place.worktree / ".venv")
    packages = packages_of(place.worktree / ".venv")
    (packages / "editable.pth").write_text(f"{place.worktree / 'src'}\n", encoding="utf-8")
    assert seen(await place.run(TREE, WITH_SETUP)) == {
        "tests/test_pkg.py::Case::test_answer": TestStatus.FAILED
    }


async def test_pytest_settings_decide_where_pytest_imports_from(
    place: Place, tmp_path: Path, lean: Path
) -> None:
    install_elsewhere(tmp_path, place.worktree)
    packages_of(place.worktree / ".venv").joinpath("pytest.pth").write_text(
        f"{packages_of(lean)}\n", encoding="utf-8"
    )
    test = {"tests/test_pkg.py": "import pkg\ndef test_answer(): assert pkg.ANSWER == 41\n"}
    code = {"src/pkg/__init__.py": "ANSWER = 41\n"}
    refused = await place.run({**code, **test}, WITH_SETUP)
    assert refused.fault is not None
    assert refused.fault.code is ProblemCode.FOREIGN_IMPORTS
    place.tree("told", {**code, **test, "pytest.ini": "[pytest]\npythonpath = src\naddopts = --lf\n"})
    told = await (await place.verifier("told")).receipt("told", place.checkout)
    assert told is not None
    assert seen(told) == {"tests/test_pkg.py::test_answer": TestStatus.PASSED}


@pytest.mark.parametrize("said", ["", "amelia-origins:{"])
async def test_an_interpreter_that_does_not_answer_proves_nothing(tmp_path: Path, said: str) -> None:
    (tmp_path / "module.py").touch()
    silent = tmp_path / "silent"
    silent.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    silent.chmod(0o755)
    assert await foreign_imports(str(silent), tmp_path, env={}, as_pytest=False) is None


async def test_a_tree_without_packages_has_none_to_import_from_elsewhere(tmp_path: Path) -> None:
    assert await foreign_imports("/no/python", tmp_path, env={}, as_pytest=False) == ()
