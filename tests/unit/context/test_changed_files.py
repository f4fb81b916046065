"""The list of changed files: complete, with sizes, and what is folded says why."""

import pytest

from amelia.context.changed_files import change_list, not_shown, why_folded
from amelia.model.evidence import Change, ChangeStatus

ADDED, MODIFIED = ChangeStatus.ADDED, ChangeStatus.MODIFIED


def test_every_file_has_a_line_with_its_size() -> None:
    changes = [
        Change(path="a.py", status=MODIFIED, added=3, deleted=1),
        Change(path="gone.py", status=ChangeStatus.DELETED, deleted=7),
        Change(path="logo.png", status=ADDED, is_binary=True),
        Change(path="other.png", status=ADDED, is_binary=True),
        Change(path="lib", status=ChangeStatus.TYPE, is_submodule=True),
        Change(path="mode.sh", status=MODIFIED),
        Change(path="uv.lock", status=MODIFIED, added=900),
        Change(path="evil\n\x1b\udcff.txt", status=ADDED, added=1),
    ]
    listed = change_list(changes, {"uv.lock": "lock file"}, {"logo.png": 1234})
    assert listed.splitlines() == [
        "8 files changed, +904 -8:",
        "  M a.py +3 -1",
        "  D gone.py -7",
        "  A logo.png binary, 1234 bytes",
        "  A other.png binary",
        "  T lib submodule",
        "  M mode.sh no lines",
        "  M uv.lock +900 (lock file, folded)",
        *listed.splitlines()[8:],
    ]
    assert len(listed.splitlines()) == 9
    assert listed.encode().decode() == listed


def test_of_very_many_files_the_rest_is_counted_by_directory() -> None:
    changes = [Change(path=f"vendor/{number}.c", status=ADDED, added=1) for number in range(2500)]
    listed = change_list(changes, {}, {}).splitlines()
    assert listed[0] == "2500 files changed, +2500 -0:"
    assert listed[-1] == "  and 500 more in vendor/"
    assert change_list(changes[:1], {}, {}).startswith("1 file changed")


def test_a_pattern_that_would_take_for_ever_folds_nothing() -> None:
    assert (
        why_folded("a" * 200, {".": f"{'*a' * 30}b linguist-generated\n{'*' * 9} linguist-generated\n"})
        is None
    )


def test_what_is_not_shown_is_named() -> None:
    assert not_shown(["a", "b"]).splitlines()[1:] == ["  a", "  b"]
    assert not_shown([str(number) for number in range(2001)]).endswith("\n  and 1 more")


@pytest.mark.parametrize(
    "path", ["package-lock.json", "web/pnpm-lock.yaml", "Cargo.lock", "x/go.sum", "uv.lock"]
)
def test_lock_files_are_folded_wherever_they_are(path: str) -> None:
    assert why_folded(path, {}) == "lock file"


@pytest.mark.parametrize("path", ["lock.py", "src/clock", "my.lock.py", "package.json", "tests/x.snap"])
def test_other_files_are_shown(path: str) -> None:
    assert why_folded(path, {".": "# *.py linguist-generated\n*.py text\n\n"}) is None


@pytest.mark.parametrize(
    ("path", "is_folded"),
    [
        ("api.pb.go", True),
        ("deep/down/api.pb.go", True),
        ("gen/a/b.py", True),
        ("other/gen/a.py", False),
        ("gen/keep.py", False),
        ("sub/made.txt", True),
        ("made.txt", False),
        ("docs/one/api.md", True),
        ("docs/api.md", True),
        ("v1x.ts", True),
        ("v10x.ts", False),
        ("no.css", False),
    ],
)
def test_what_the_repository_called_generated_is_folded(path: str, is_folded: bool) -> None:  # noqa: FBT001
    attributes = {
        ".": (
            "*.pb.go linguist-generated\n/gen/** linguist-generated=true text\ngen/keep.py -linguist-generated\n"
            "docs/**/api.md linguist-generated\nv?x.ts linguist-generated\n*.css linguist-generated=false\n"
        ),
        "sub": "made.txt linguist-generated=true\n",
    }
    assert (why_folded(path, attributes) == "generated") is is_folded
