"""How tests are run is not an agent's to change."""

import pytest

from amelia.judge.recipe import changed_recipes, recipe_files
from amelia.model.evidence import Change, ChangeStatus, Delta, RunnerKind, TestCommand

MAKE = TestCommand(RunnerKind.MAKE, ("make", "test"))
NPM = TestCommand(RunnerKind.NODE, ("npm", "test"))
PYTEST = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
SHELL = TestCommand(RunnerKind.CUSTOM, ("sh", "-c", "cd . && ./ci/check.sh | tee log"))
UNITTEST = TestCommand(RunnerKind.UNITTEST, ("python", "-m", "unittest"))


def changed(
    command: TestCommand | None,
    path: str,
    texts: tuple[str | None, str | None],
    *,
    declared: tuple[str, ...] = (),
    others: dict[str, str] | None = None,
) -> list[str]:
    before, after = texts
    status = ChangeStatus.ADDED if before is None else ChangeStatus.MODIFIED
    status = ChangeStatus.DELETED if after is None else status
    delta = Delta(
        base="b",
        tree="t",
        changes=(Change(path=path, status=status),),
        before={**(others or {}), **({path: before} if before is not None else {})},
        after={**(others or {}), **({path: after} if after is not None else {})},
    )
    return [found.file for found in changed_recipes(command, delta, declared)]


@pytest.mark.parametrize(
    ("command", "path", "before", "after"),
    [
        (MAKE, "Makefile", "test:\n\tpytest\n", "test:\n\t@true\n"),
        (MAKE, "Makefile", "test:\n\tpytest\n", None),
        (NPM, "package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}'),
        (NPM, "package.json", '{"scripts": {"test": "jest"}}', "{"),
        (PYTEST, "pytest.ini", "[pytest]\n", "[pytest]\naddopts = --collect-only\n"),
        (PYTEST, "pytest.ini", None, "[pytest]\naddopts = -p cheat\n"),
        (PYTEST, "pyproject.toml", "", "[tool.pytest.ini_options]\ntestpaths = ['nowhere']\n"),
        (PYTEST, "pyproject.toml", "", "[tool\n"),
        (SHELL, "ci/check.sh", "exit 1", "exit 0"),
    ],
)
def test_what_says_how_tests_run_may_not_be_changed(
    command: TestCommand, path: str, before: str | None, after: str | None
) -> None:
    assert changed(command, path, (before, after)) == [path]
    assert not changed(command, path, (before, after), declared=(path,))


@pytest.mark.parametrize(
    ("command", "path", "before", "after"),
    [
        (NPM, "package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "jest"}, "x": 1}'),
        (PYTEST, "pyproject.toml", "[tool.ruff]\n", "[tool.ruff]\nline-length = 99\n"),
        (NPM, "package.json", None, '{"scripts": {"test": "jest"}}'),
        (PYTEST, "Makefile", "test:\n\tpytest\n", "test:\n\t@true\n"),
        (UNITTEST, "setup.cfg", "a", "b"),
        (SHELL, "ci/check.shell", "a", "b"),
        (None, "Makefile", "a", "b"),
    ],
)
def test_everything_else_is_free(
    command: TestCommand | None, path: str, before: str | None, after: str | None
) -> None:
    assert not changed(command, path, (before, after))


def test_a_script_that_make_starts_is_part_of_how_tests_run() -> None:
    makefile = {"Makefile": "test:\n\tsh tools/run.sh\n"}
    assert changed(MAKE, "tools/run.sh", ("exit 1", "exit 0"), others=makefile) == ["tools/run.sh"]
    assert not changed(MAKE, "tools/other.sh", ("exit 1", "exit 0"), others=makefile)
    assert not changed(MAKE, "tools/run.sh", (None, "exit 0"), others=makefile)


def test_only_the_texts_that_are_needed_are_asked_for() -> None:
    assert recipe_files(PYTEST, ["src/a.py"]) == ()
    assert recipe_files(PYTEST, ["src/a.py", "tox.ini"]) == ("tox.ini",)
    assert recipe_files(NPM, ["src/a.js"]) == ("package.json",)
    assert recipe_files(NPM, []) == ()
    assert recipe_files(None, ["Makefile"]) == ()
