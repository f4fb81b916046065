"""Fixtures of the tests that run real test runners."""

from pathlib import Path

import pytest

from integration.judge.places import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def anyio_backend() -> str:
    """Runs asynchronous tests as the product runs."""
    return "asyncio"
