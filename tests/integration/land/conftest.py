"""A repository and a run on it, without the settings of this machine."""

from pathlib import Path

import pytest

from repositories import Repo, Run, make_repository, start_run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return make_repository(tmp_path / "a user's repository")


@pytest.fixture
def run(repo: Repo, tmp_path: Path) -> Run:
    return start_run(repo, tmp_path / "run é")
