"""How a repository is tested."""

from pathlib import Path

import pytest

from amelia.judge.detect import find_command, planned_commands
from amelia.judge.surroundings import files_below, opening
from amelia.model.evidence import RunnerKind, TestCommand, VerifySettings

PYTEST = ("python", "-m", "pytest")
UNITTEST = ("python", "-m", "unittest")


def found(root: Path, **files: str) -> TestCommand | None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return find_command(root, VerifySettings())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest_dot_ini", ""),
        ("pyproject_dot_toml", "[tool.pytest.ini_options]\n"),
        ("pyproject_dot_toml", '[dependency-groups]\ndev = ["pytest>=8"]\n'),
        ("tox_dot_ini", "[pytest]\n"),
        ("setup_dot_cfg", "[tool:pytest]\n"),
        ("requirements-dev_dot_txt", "pytest==8\n"),
        ("tests__conftest_dot_py", ""),
        ("tests__test_a_dot_py", "import pytest\n"),
        ("tests__test_a_dot_py", "def test_a():\n    assert True\n"),
        ("pkg__a_test_dot_py", "from pytest import raises\n"),
    ],
)
def test_pytest_is_known_by_its_settings_or_by_tests_in_its_style(
    tmp_path: Path, name: str, text: str
) -> None:
    command = found(tmp_path, **{name: text})
    assert command == TestCommand(RunnerKind.PYTEST, PYTEST)


def test_tests_that_need_no_pytest_are_run_without_it(tmp_path: Path) -> None:
    text = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self): ...\n"
    assert found(tmp_path, tests__test_a_dot_py=text) == TestCommand(RunnerKind.UNITTEST, UNITTEST)


@pytest.mark.parametrize(
    ("script", "argv"),
    [
        ("node --test", ("node", "--test")),
        ("node --test test/a.js", ("node", "--test", "test/a.js")),
        ("node --test && echo ok", ("npm", "test")),
        ("node --test 'a b.js'", ("npm", "test")),
        ("jest", ("npm", "test")),
    ],
)
def test_a_script_that_is_node_itself_is_run_directly(
    tmp_path: Path, script: str, argv: tuple[str, ...]
) -> None:
    text = f'{{"name": "x", "scripts": {{"test": "{script}"}}}}'
    assert found(tmp_path, package_dot_json=text) == TestCommand(RunnerKind.NODE, argv)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "no json",
        "[" * 100_000,
        '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}',
        '{"scripts": {"test": 1}}',
    ],
)
def test_a_manifest_without_a_test_script_suggests_nothing(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, package_dot_json=text) is None


def test_go_cargo_and_make_are_known_by_their_files(tmp_path: Path) -> None:
    assert found(tmp_path / "g", go_dot_mod="") == TestCommand(RunnerKind.GO, ("go", "test", "./..."))
    assert found(tmp_path / "c", Cargo_dot_toml="") == TestCommand(RunnerKind.CARGO, ("cargo", "test"))
    make = found(tmp_path / "m", Makefile="all:\n\ntest: all\n\ttrue\n")
    assert make == TestCommand(RunnerKind.MAKE, ("make", "test"))


def test_a_makefile_without_the_target_suggests_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, Makefile="test := 1\ntests:\n\ttrue\n") is None


def test_the_most_specific_runner_wins_and_the_others_are_named(tmp_path: Path) -> None:
    command = found(tmp_path, Makefile="test:\n", Cargo_dot_toml="", pytest_dot_ini="")
    assert command == TestCommand(RunnerKind.PYTEST, PYTEST, others=("cargo", "make"))


def test_a_repository_without_tests_has_no_command(tmp_path: Path) -> None:
    assert found(tmp_path, src__latest_dot_py="def latest(): ...\n", README="pytest") is None


def test_what_tools_put_into_a_tree_is_not_looked_at(tmp_path: Path) -> None:
    text = "import pytest\n"
    files = {f"{place}__test_a_dot_py": text for place in ("node_modules", "venv", ".venv", "build", ".git")}
    assert found(tmp_path, **files) is None


@pytest.mark.parametrize(
    ("argv", "kind", "instead"),
    [
        (("pytest", "-k", "fast"), RunnerKind.PYTEST, (*PYTEST, "-k", "fast")),
        (("python3", "-m", "pytest"), RunnerKind.PYTEST, PYTEST),
        (("node", "--test"), RunnerKind.NODE, ("node", "--test")),
        (("go", "test", "./a"), RunnerKind.GO, ("go", "test", "./a")),
        (("cargo", "test"), RunnerKind.CARGO, ("cargo", "test")),
        (("tox", "-q"), RunnerKind.CUSTOM, ("tox", "-q")),
    ],
)
def test_a_configured_command_wins_over_what_is_found(
    tmp_path: Path, argv: tuple[str, ...], kind: RunnerKind, instead: tuple[str, ...]
) -> None:
    (tmp_path / "Cargo.toml").touch()
    assert find_command(tmp_path, VerifySettings(command=argv)) == TestCommand(kind, instead)


def test_a_configured_report_is_read_whatever_the_command_is(tmp_path: Path) -> None:
    settings = VerifySettings(command=("pytest", "--junitxml=out.xml"), junit="out.xml")
    assert find_command(tmp_path, settings) == TestCommand(
        RunnerKind.CUSTOM, ("pytest", "--junitxml=out.xml"), "out.xml"
    )


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        (["tests/test_a.py"], ["pytest", "unittest"]),
        (["src/a.py", "pkg/a_test.py"], ["pytest", "unittest"]),
        (["test/a.test.mjs"], ["node"]),
        (["a_test.go"], ["go"]),
        (["src/latest.py", "contest/a.py", "README.md"], []),
    ],
)
def test_tests_to_come_are_run_as_their_names_say(declared: list[str], kinds: list[str]) -> None:
    assert [command.kind for command in planned_commands(declared)] == kinds


def test_files_are_listed_in_order_and_within_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.py", "a.py", "sub/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in files_below(tmp_path)] == ["a.py", "b.py", "c.py"]
    monkeypatch.setattr("amelia.judge.surroundings._MOST_FILES", 2)
    assert [path.name for path in files_below(tmp_path)] == ["a.py", "b.py"]


def test_what_cannot_be_opened_reads_as_nothing(tmp_path: Path) -> None:
    assert not opening(tmp_path)
    assert not opening(tmp_path / "absent")
    assert not opening(tmp_path / ("long" * 1_000))
