"""Tests of what paths mean."""

import pytest

from amelia.plan.paths import (
    Layer,
    folder,
    is_in_git,
    is_malformed,
    is_outside,
    is_plain,
    is_test,
    layer_of,
    normal_path,
    shared_kind,
    stem_words,
    words,
)


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src//a.py", "src/a.py"),
        ("src/./b/../a.py", "src/a.py"),
        ("src\\a.py", "src/a.py"),
        (" src/a.py ", "src/a.py"),
        ("src/a.py:123-145", "src/a.py"),
        ("src/a.py:12", "src/a.py"),
        ("../a", "../a"),
        ("a/../../b", "../b"),
        ("../../b", "../../b"),
        ("/etc/passwd", "/etc/passwd"),
        (".github/ci.yml", ".github/ci.yml"),
        (".", ""),
    ],
)
def test_a_path_has_one_spelling(path: str, normal: str) -> None:
    assert normal_path(path) == normal


@pytest.mark.parametrize(("path", "expected"), [("a.py", ""), ("./b/c/a.py", "b/c")])
def test_the_folder_is_what_stands_before_the_name(path: str, expected: str) -> None:
    assert folder(path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("UserTest", ["user", "test"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("user_test-case.x", ["user", "test", "case", "x"]),
        ("Übung größe", ["übung", "größe"]),
    ],
)
def test_words_part_at_case_digits_and_punctuation(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("src/models/user.py", ("user",)),
        ("tests/test_user.py", ("user",)),
        ("src/user.test.ts", ("user",)),
        ("spec/user_spec.rb", ("user",)),
        ("src/UserTest.java", ("user",)),
        ("pkg/user_test.go", ("user",)),
        ("src/users/index.ts", ("users",)),
        ("src/users/__init__.py", ("users",)),
        ("index.ts", ("index",)),
        ("Makefile", ("makefile",)),
        (".env", ("env",)),
    ],
)
def test_a_stem_says_what_a_file_is_about(path: str, stem: tuple[str, ...]) -> None:
    assert stem_words(path) == stem


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/user.py", True),
        ("src/__tests__/a.ts", True),
        ("a.spec.ts", True),
        ("src/latest.py", False),
        ("contest/a.py", False),
        ("src/inspector.py", False),
    ],
)
def test_tests_are_recognised_by_whole_words(path: str, expected: bool) -> None:  # noqa: FBT001
    assert is_test(path) is expected


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("src/models/user.py", Layer.DATA),
        ("db/0001.sql", Layer.DATA),
        ("src/main/UserService.java", Layer.BUSINESS),
        ("src/api/models/user.py", Layer.DATA),
        ("src/models/user_view.py", Layer.PRESENTATION),
        ("web/App.tsx", Layer.PRESENTATION),
        ("README.md", None),
    ],
)
def test_the_word_nearest_to_the_end_names_the_layer(path: str, layer: Layer | None) -> None:
    assert layer_of(path) is layer


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("package-lock.json", "package-lock.json"),
        ("web/yarn.lock", "yarn.lock"),
        ("Cargo.lock", "cargo.lock"),
        ("app/migrations/0001_init.py", "migrations"),
        ("migrations", None),
        ("src/a.py", None),
    ],
)
def test_files_that_work_fights_over_have_a_kind(path: str, kind: str | None) -> None:
    assert shared_kind(path) == kind


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "~/x",
        "~root/x",
        "..",
        "../x",
        "a/../../x",
        "C:\\x",
        "c:x",
        "\\\\host\\x",
        " /x",
        "./../x",
    ],
)
def test_paths_that_lead_out_are_outside(path: str) -> None:
    assert is_outside(path)
    assert not is_plain(path)


@pytest.mark.parametrize("path", ["a/../x", "./x", "a..b/c", "src/~x", "...", ".github/x", "src/a:b"])
def test_paths_that_stay_in_are_not_outside(path: str) -> None:
    assert not is_outside(path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "sub/.GIT/hooks/x",
        ".git ",
        ".git. . /x",
        "git~1/config",
        ".git::$INDEX_ALLOCATION/config",
        "a\\.git\\config",
        ".g\u200cit/config",
        ".git",
    ],
)
def test_what_a_file_system_takes_for_git_is_in_git(path: str) -> None:
    assert is_in_git(path)
    assert not is_plain(path)


@pytest.mark.parametrize("path", [".gitignore", ".github/x", "git/x", "x.git/config", "src/git.py", "a/b"])
def test_what_only_looks_like_git_is_not_in_git(path: str) -> None:
    assert not is_in_git(path)


@pytest.mark.parametrize("path", ["", " ", ".", "a/..", "a\x00b", "a\nb", "a\x7f", "a\u202eb", "\ud800"])
def test_paths_that_name_no_file_or_hide_something_are_malformed(path: str) -> None:
    assert is_malformed(path)
    assert not is_plain(path)


@pytest.mark.parametrize("path", ["a", "src/ä b.py", "日本/ファイル.txt"])
def test_ordinary_paths_are_not_malformed(path: str) -> None:
    assert not is_malformed(path)
