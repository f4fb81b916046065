"""Baseline, run, judgement and second run, with real tests."""

from collections.abc import Mapping

import pytest

from amelia.judge.feedback import feedback
from amelia.model.evidence import (
    Change,
    ChangeStatus,
    Delta,
    Demands,
    NoteCode,
    ProblemCode,
    VerifySettings,
)
from amelia.model.plan import TaskType
from integration.judge.places import Place

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

RED = Demands(types=(TaskType.TEST,), must_be_red=True)
IMPL = Demands(types=(TaskType.IMPL,))
BASE = {"test_old.py": "def test_old(): pass\n", "app.py": "", "pytest.ini": "[pytest]\n"}
TESTED = {**BASE, "test_new.py": "from app import double\ndef test_new(): assert double(2) == 4\n"}
DONE = {**TESTED, "app.py": "def double(n): return 2 * n\n"}


def delta(place: Place, base: str, tree: str) -> Delta:
    """Compares two trees as git would."""
    before, after = place.trees[base], place.trees[tree]
    return Delta(
        base=base,
        tree=tree,
        changes=tuple(_changes(before, after)),
        files=frozenset(after),
        before=before,
    )


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    found: list[Change] = []
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            found.append(Change(path=path, status=ChangeStatus.ADDED, added=1))
        elif path not in after:
            found.append(Change(path=path, status=ChangeStatus.DELETED, deleted=1))
        elif before[path] != after[path]:
            found.append(Change(path=path, status=ChangeStatus.MODIFIED, added=1, deleted=1))
    return found


async def test_red_then_green_runs_every_tree_once(place: Place) -> None:
    for name, files in (("base", BASE), ("tested", TESTED), ("done", DONE)):
        place.tree(name, files)
    verifier = await place.verifier("base")
    red, of_tests = await verifier.verify(delta(place, "base", "tested"), RED, place.checkout)
    assert red.passed
    assert red.red == ("test_new.py",)
    demands = Demands(types=(TaskType.IMPL,), required_green=red.red)
    green, receipt = await verifier.verify(delta(place, "tested", "done"), demands, place.checkout)
    assert green.passed
    assert receipt is not None
    assert receipt.tree == "done"
    branch, _ = await verifier.verify_branch("base", "done", open_red=(), checkout=place.checkout)
    assert branch.passed
    assert place.checkouts == ["base", "tested", "done"]
    later = await place.verifier("base", known=(of_tests, receipt))
    again, _ = await later.verify(delta(place, "tested", "done"), demands, place.checkout)
    assert again == green
    assert place.checkouts == []


@pytest.mark.rows("L19")
async def test_an_implementation_that_breaks_something_is_told_what(place: Place) -> None:
    place.tree(
        "base",
        {"test_a.py": "import app\ndef test_a(): assert app.one() == 1\n", "app.py": "def one(): return 1\n"},
    )
    place.tree("broken", {**place.trees["base"], "app.py": "def one(): return 2\n"})
    verifier = await place.verifier("base")
    verdict, _ = await verifier.verify(delta(place, "base", "broken"), IMPL, place.checkout)
    assert [problem.code for problem in verdict.problems] == [ProblemCode.REGRESSION]
    text = feedback(verdict)
    assert "test_a.py::test_a passed before this unit and fails now" in text
    assert "assert 2 == 1" in text
    assert place.checkouts == ["base", "broken", "broken"], "a failure is run once more"


async def test_a_test_that_fails_now_and_then_is_flaky_and_not_green_in_silence(place: Place) -> None:
    flaky = """
        import pathlib
        mark = pathlib.Path(".marks")
        def test_a():
            if not mark.exists():
                mark.mkdir()
                assert False, "the first time"
    """
    place.tree("base", {"test_b.py": "def test_b(): pass\n"})
    place.tree("new", {**place.trees["base"], "test_a.py": flaky})
    verifier = await place.verifier("base")
    change = delta(place, "base", "new")
    verdict, _ = await verifier.verify(change, Demands(types=(TaskType.TEST,)), place.checkout)
    assert verdict.passed
    assert verdict.flaky == ("test_a.py::test_a",)
    assert [note.code for note in verdict.notes] == [NoteCode.FLAKY]


async def test_a_branch_with_a_red_test_left_is_not_good(place: Place) -> None:
    place.tree("base", BASE)
    place.tree("tested", TESTED)
    verifier = await place.verifier("base")
    verdict, _ = await verifier.verify_branch(
        "base", "tested", open_red=("test_new.py",), checkout=place.checkout
    )
    assert [problem.code for problem in verdict.problems] == [ProblemCode.STILL_RED]


async def test_a_run_that_could_not_be_judged_is_run_again_the_next_time(place: Place) -> None:
    place.tree("base", BASE)
    place.tree("ends", {**BASE, "test_x.py": "import os\ndef test_x(): os._exit(0)\n"})
    verifier = await place.verifier("base")
    change = delta(place, "base", "ends")
    for _ in range(2):
        verdict, _ = await verifier.verify(change, IMPL, place.checkout)
        assert [problem.code for problem in verdict.problems] == [ProblemCode.UNREADABLE_RESULTS]
    assert place.checkouts == ["base", *["ends"] * 4]


async def test_without_a_command_only_files_are_judged(place: Place) -> None:
    place.tree("base", {"README": ""})
    place.tree("new", {"README": "more"})
    verifier = await place.verifier("base")
    change = delta(place, "base", "new")
    documents, receipt = await verifier.verify(change, Demands(types=(TaskType.DOCS,)), place.checkout)
    assert documents.passed
    assert receipt is None
    assert [note.code for note in documents.notes] == [NoteCode.NOTHING_EXECUTED]
    code, _ = await verifier.verify(change, IMPL, place.checkout)
    assert [problem.code for problem in code.problems] == [ProblemCode.NOT_EXECUTED]
    assert place.checkouts == []


async def test_scope_and_protected_paths_follow_the_settings(place: Place) -> None:
    place.tree("base", {"README": ""})
    place.tree("new", {"README": "more", "ci.yml": "", "x": ""})
    settings = VerifySettings(scope="enforce", protected=("ci.yml",))
    verifier = await place.verifier("base", settings)
    demands = Demands(types=(None,), declared=("README", "ci.yml"))
    verdict, _ = await verifier.verify(delta(place, "base", "new"), demands, place.checkout)
    assert [(problem.code, problem.file) for problem in verdict.problems] == [
        (ProblemCode.PROTECTED_PATH, "ci.yml"),
        (ProblemCode.OUT_OF_SCOPE, "x"),
    ]


async def test_same_sized_sources_of_two_trees_are_never_confused(place: Place) -> None:
    test = "import app\ndef test_a(): assert app.N == 1\n"
    place.tree("one", {"app.py": "N = 1\n", "test_a.py": test})
    place.tree("two", {"app.py": "N = 2\n", "test_a.py": test})
    verifier = await place.verifier("one")
    codes: list[int | None] = []
    for tree in ("one", "two"):
        receipt = await verifier.receipt(tree, place.checkout)
        assert receipt is not None
        codes.append(receipt.exit_code)
    assert codes == [0, 1]
