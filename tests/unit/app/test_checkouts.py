"""The files of a checkout that walls hide, and those that tell which caches it needs."""

from pathlib import Path

from amelia.app.checkouts import find_manifests, find_secrets

SECRET = (
    *(".env", ".env.local", ".env.test.local", ".envrc", "prod.env", "deploy/my-service.env"),
    "a/b/c/d/e/f/.env",
)
PLAIN = (
    *(".env.example", ".env.local.example", ".env.test", ".envrc.sample", "example.env", "my-template.env"),
    *("environment", "env.py", "x.envelope", "node_modules/x/.env", "state/runs/1/.env", ".env.d/file"),
)


def fill(top: Path, *names: str) -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()


def test_files_with_variables_are_found_also_deep_in_a_checkout_but_not_those_to_be_copied(
    tmp_path: Path,
) -> None:
    fill(tmp_path, *SECRET, *PLAIN)
    (tmp_path / "linked").symlink_to(tmp_path)
    found = find_secrets(tmp_path, without=tmp_path / "state")
    assert {str(path.relative_to(tmp_path)) for path in found} == set(SECRET)


def test_a_wide_checkout_is_not_looked_at_as_a_whole_but_its_upper_levels_are(tmp_path: Path) -> None:
    fill(tmp_path, *(f"wide/{number}/file" for number in range(3100)), "z/z/z/.env", "z/z/z/z/.env")
    found = find_secrets(tmp_path, without=tmp_path / "state")
    assert found == (tmp_path / "z/z/z/.env",)


def test_manifests_are_looked_for_in_the_upper_levels(tmp_path: Path) -> None:
    fill(tmp_path, "package.json", "a/b/c/pyproject.toml", "a/b/c/d/go.mod")
    assert find_manifests(tmp_path) == {"package.json", "pyproject.toml"}
