"""Which languages a repository is written in, by the names of its files."""

from pathlib import Path

import pytest

from amelia.app.detection import languages_of

WITH_TYPESCRIPT = '{"devDependencies": {"typescript": "^5"}}'


def make(top: Path, *names: str, **texts: str) -> Path:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()
    for name, text in texts.items():
        (top / f"{name}.json").write_text(text)
    return top


@pytest.mark.parametrize(
    ("names", "manifest"),
    [
        (["tsconfig.json"], "{}"),
        (["tsconfig.base.json"], "{}"),
        ([], WITH_TYPESCRIPT),
        ([], '{"dependencies": {"typescript": "latest"}}'),
        (["src/index.ts"], "{}"),
        (["src/App.tsx", "eslint.config.js"], "{}"),
        (["packages/core/src/a.mts", "packages/core/tsconfig.json"], "{}"),
        (["src/a.ts", "scripts/build.js"], "{}"),
        (["tsconfig.json", "jest.config.js", ".eslintrc.cjs"], "{}"),
    ],
)
def test_typescript_is_called_typescript(tmp_path: Path, names: list[str], manifest: str) -> None:
    assert languages_of(make(tmp_path, *names, package=manifest)) == ["TypeScript"]


@pytest.mark.parametrize("name", ["tsconfig.json", "deno.json", "deno.jsonc"])
def test_typescript_needs_no_package(tmp_path: Path, name: str) -> None:
    assert languages_of(make(tmp_path, name, "main.ts")) == ["TypeScript"]


@pytest.mark.parametrize(
    ("names", "manifest"),
    [
        ([], "{}"),
        ([], "not JSON"),
        ([], '{"dependencies": ["typescript"]}'),
        ([], "[]"),
        (["src/index.js", "index.d.ts"], "{}"),
        (["src/index.mjs", "tsconfig.json"], WITH_TYPESCRIPT),  # whose types are only checked
        (["src/index.js", "node_modules/other/index.ts"], "{}"),
    ],
)
def test_javascript_is_called_javascript(tmp_path: Path, names: list[str], manifest: str) -> None:
    assert languages_of(make(tmp_path, *names, package=manifest)) == ["JavaScript"]


def test_every_language_is_named_once(tmp_path: Path) -> None:
    names = ("pyproject.toml", "setup.py", "requirements.txt", "package.json", "web/app.ts", "go.mod")
    assert languages_of(make(tmp_path, *names, "Cargo.toml")) == ["Python", "TypeScript", "Go", "Rust"]
    assert languages_of(tmp_path / "nothing") == []


def test_a_file_of_another_kind_is_no_language(tmp_path: Path) -> None:
    assert languages_of(make(tmp_path, "pyproject.toml", "translations/de.ts")) == ["Python"]
