"""Which changed files are tools of the tests."""

import pytest

from amelia.judge.tools import planted_tools
from amelia.model.evidence import Change, ChangeStatus, ProblemCode

DELETED = ChangeStatus.DELETED


def added(path: str) -> Change:
    return Change(path=path, status=ChangeStatus.ADDED)


@pytest.mark.parametrize(
    "path",
    [
        "node_modules/.bin/jest",
        "packages/a/node_modules/.bin/vitest",
        "node_modules/jest/bin/jest.js",
        "node_modules/jest-cli/index.js",
        "node_modules/@vitest/runner/index.js",
        ".venv/bin/python",
        ".venv/lib/python3.12/site-packages/evil.pth",
        "venv/pyvenv.cfg",
    ],
)
def test_a_tool_that_a_unit_brings_is_refused_by_name(path: str) -> None:
    problem = planted_tools([added("src/a.js"), added(path)])
    assert problem is not None
    assert problem.code is ProblemCode.PLANTED_TOOL
    assert path in problem.message
    assert planted_tools([Change(path=path, status=DELETED)]) is None


@pytest.mark.parametrize(
    "path",
    [
        "node_modules/left-pad/index.js",
        "tests/fixtures/project/node_modules/.bin/tool",
        "src/venv/bin/a.py",
        "venv/code.py",
        "bin/jest",
        "jest/index.js",
    ],
)
def test_other_files_are_none(path: str) -> None:
    assert planted_tools([added(path)]) is None


def test_only_so_many_are_named() -> None:
    problem = planted_tools([added(f"node_modules/.bin/{number}") for number in range(9)])
    assert problem is not None
    assert "and 4 more" in problem.message
