"""Caches behind the wall: layers over the user's, or directories of their own."""

from pathlib import Path

import pytest

from amelia.app.caches import CACHES, give_caches, usual_place, written_below

NODE = frozenset({"package.json"})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (tmp_path / "home/.npm").mkdir(parents=True)
    return tmp_path / "home"


def test_a_cache_that_is_there_gets_a_layer_and_any_other_a_directory(home: Path, tmp_path: Path) -> None:
    cached = give_caches(tmp_path / "own", written=(), manifests=NODE)
    assert [layer.place for layer in cached.layers] == [str(home / ".npm")]
    assert "npm_config_cache" not in cached.variables
    assert cached.variables["UV_CACHE_DIR"] == str(tmp_path / "own/own/uv")
    assert cached.variables["MAVEN_ARGS"] == f"-Dmaven.repo.local={tmp_path / 'own/own/maven'}"
    assert len(cached.layers) + len(cached.variables) == len(CACHES)


def test_a_cache_that_no_file_asks_for_is_a_directory(tmp_path: Path) -> None:
    cached = give_caches(tmp_path / "own", written=(), manifests=frozenset())
    assert cached.layers == ()
    assert cached.variables["npm_config_cache"] == str(tmp_path / "own/own/npm")


def test_what_the_user_allows_stays_the_users(home: Path, tmp_path: Path) -> None:
    cached = give_caches(tmp_path / "own", written=(home / ".npm",), manifests=NODE)
    assert cached.layers == ()
    assert "npm_config_cache" not in cached.variables


def test_tests_see_what_the_setup_wrote(tmp_path: Path) -> None:
    give_caches(tmp_path / "setup", written=(), manifests=NODE)
    (layer,) = give_caches(tmp_path / "tests", written=(), manifests=NODE, over=tmp_path / "setup").layers
    assert layer.over == (str(tmp_path / "setup/layers/npm"),)
    (alone,) = give_caches(tmp_path / "tests", written=(), manifests=NODE, over=tmp_path / "none").layers
    assert alone.over == ()


def test_the_place_of_caches_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert usual_place("~cache/uv") == tmp_path / "caches/uv"


def test_only_what_was_written_to_has_to_go(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    assert list(written_below(folder)) == []
    give_caches(folder, written=(), manifests=NODE)
    assert list(written_below(folder)) == []
    (folder / "layers/npm/package").write_text("x")
    (folder / "layers/npm.work/work").mkdir()
    (folder / "own/uv").mkdir()
    assert sorted(written_below(folder)) == [folder / "layers/npm", folder / "own"]
