"""Fixtures of the tests that run real test runners."""

import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from integration.judge.places import Place

PYTEST_AND_WHAT_IT_NEEDS = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture(scope="session")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes an environment with pytest and without plugins, which would take longer to load than the tests."""
    folder = tmp_path_factory.mktemp("lean") / "venv"
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in PYTEST_AND_WHAT_IT_NEEDS:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        code = origin.parent if origin.name == "__init__.py" else origin
        (packages / code.name).symlink_to(code)
    return folder


@pytest.fixture
def place(tmp_path: Path, lean: Path) -> Place:
    """Gives a place whose worktree has an environment of its own."""
    place = Place(tmp_path)
    (place.worktree / ".venv").symlink_to(lean)
    return place


@pytest.fixture
def anyio_backend() -> str:
    """Runs asynchronous tests as the product runs."""
    return "asyncio"
