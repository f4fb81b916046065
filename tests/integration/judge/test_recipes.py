"""Work that makes its own tests pass by changing how they are run, with real runners."""

import shutil
from collections.abc import Mapping

import pytest

from amelia.model.evidence import (
    Change,
    ChangeStatus,
    Delta,
    Demands,
    NoteCode,
    ProblemCode,
    Verdict,
    VerifySettings,
)
from amelia.model.plan import TaskType
from integration.judge.places import Place

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CHECK = "grep -q Hello greet.txt\n"


async def verdict(
    place: Place,
    trees: tuple[Mapping[str, str], Mapping[str, str]],
    *types: TaskType,
    settings: VerifySettings | None = None,
) -> Verdict:
    base, tree = (place.tree(name, files) for name, files in zip(("base", "work"), trees, strict=True))
    before, after = place.trees[base], place.trees[tree]
    status = {path: ChangeStatus.MODIFIED if path in before else ChangeStatus.ADDED for path in after}
    changes = [
        Change(path=path, status=status[path], added=1) for path in after if before.get(path) != after[path]
    ]
    delta = Delta(base=base, tree=tree, changes=tuple(changes), before=before, after=after)
    verifier = await place.verifier(base, settings)
    found, _ = await verifier.verify(delta, Demands(types=types), place.checkout)
    return found


def problems(found: Verdict) -> list[tuple[ProblemCode, str | None]]:
    return [(problem.code, problem.file) for problem in found.problems]


MADE = {"Makefile": f"test:\n\t{CHECK}", "greet.txt": "Hello"}


async def test_an_implementation_that_makes_make_test_do_nothing_is_refused(place: Place) -> None:
    work = {"Makefile": "test:\n\t@true\n", "greet.txt": "nonsense"}
    assert problems(await verdict(place, (MADE, work), TaskType.IMPL)) == [
        (ProblemCode.WEAKENED_TESTS, "Makefile")
    ]


async def test_a_file_named_like_the_rule_is_no_way_around_make(place: Place) -> None:
    work = {**MADE, "greet.txt": "nonsense", "test": ""}
    assert problems(await verdict(place, (MADE, work), TaskType.IMPL)) == [
        (ProblemCode.WEAKENED_TESTS, "test")
    ]


async def test_another_rule_of_the_makefile_may_change(place: Place) -> None:
    work = {"Makefile": f"{MADE['Makefile']}\nclean:\n\trm -f x\n", "greet.txt": "Hello, you"}
    assert (await verdict(place, (MADE, work), TaskType.IMPL)).passed


async def test_a_test_task_may_change_how_make_tests_and_it_is_noted(place: Place) -> None:
    work = {"Makefile": f"test:\n\t{CHECK}\ttest -s greet.txt\n", "greet.txt": "Hello", "test_a.sh": ""}
    found = await verdict(place, (MADE, work), TaskType.TEST)
    assert found.passed
    assert (NoteCode.WEAKENED_TESTS, "Makefile") in [(note.code, note.file) for note in found.notes]


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
async def test_an_implementation_that_makes_npm_test_do_nothing_is_refused(place: Place) -> None:
    base = {"package.json": f'{{"scripts": {{"test": "{CHECK.strip()} && true"}}}}', "greet.txt": "Hello"}
    work = {"package.json": '{"scripts": {"test": "true"}}', "greet.txt": "nonsense"}
    assert problems(await verdict(place, (base, work), TaskType.IMPL)) == [
        (ProblemCode.WEAKENED_TESTS, "package.json")
    ]


@pytest.mark.parametrize("told", ["addopts = --collect-only", "testpaths = nowhere", "python_files = no.py"])
async def test_an_implementation_that_tells_pytest_to_run_less_is_refused(place: Place, told: str) -> None:
    base = {"test_a.py": "def test_a(): assert True\n", "pytest.ini": "[pytest]\n", "a.py": ""}
    work = {**base, "pytest.ini": f"[pytest]\n{told}\n", "a.py": "nonsense"}
    found = problems(await verdict(place, (base, work), TaskType.IMPL))
    assert (ProblemCode.WEAKENED_TESTS, "pytest.ini") in found


async def test_an_implementation_that_empties_the_configured_script_is_refused(place: Place) -> None:
    base = {"check.sh": CHECK, "greet.txt": "Hello"}
    work = {"check.sh": "exit 0\n", "greet.txt": "nonsense"}
    settings = VerifySettings(command=("sh", "check.sh"))
    assert problems(await verdict(place, (base, work), TaskType.IMPL, settings=settings)) == [
        (ProblemCode.WEAKENED_TESTS, "check.sh")
    ]


async def test_a_tree_that_is_forgotten_is_tested_anew(place: Place) -> None:
    place.tree("t", {"check.sh": "exit 0\n"})
    verifier = await place.verifier("t", VerifySettings(command=("sh", "check.sh")))
    for _ in range(2):
        await verifier.receipt("t", place.checkout)
    assert place.checkouts == ["t"]
    verifier.forget("t")
    await verifier.receipt("t", place.checkout)
    assert place.checkouts == ["t", "t"]
    place.tree("bare", {"README": ""})
    (await place.verifier("bare")).forget("bare")


async def test_a_branch_is_good_without_the_tests_that_a_person_gave_up(place: Place) -> None:
    base = {"test_old.py": "def test_old(): pass\n"}
    place.tree("base", base)
    place.tree("tested", {**base, "test_new.py": "from app import double\ndef test_new(): double(2)\n"})
    verifier = await place.verifier("base")
    given_up = ("test_new.py",)
    found, _ = await verifier.verify_branch(
        "base", "tested", open_red=given_up, waived=given_up, checkout=place.checkout
    )
    assert found.passed
    assert [(note.code, note.file) for note in found.notes] == [(NoteCode.OPEN_RED, "test_new.py")]
