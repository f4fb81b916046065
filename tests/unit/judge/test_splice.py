"""Files of which only parts are the judge's: settings and manifests."""

import tomllib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.splice import PARTLY, splice
from amelia.judge.splice.tables import CARGO_TOML, INI, PACKAGE_JSON, PYPROJECT, is_tool

PYPROJECT_TEXT = """\
[project]
name = "calc"
dependencies = ["requests>=2", "pytest-xdist==3"]

[project.optional-dependencies]
dev = ["pytest==8", "ruff"]

[dependency-groups]
test = ["pytest>=8", {include-group = "dev"}]
dev = ["mypy"]

[tool.uv.sources]
requests = {path = "../requests"}

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff]
line-length = 100
"""


def pyproject(before: str, after: str) -> dict[str, Any]:
    spliced = splice("pyproject.toml", before, after)
    assert spliced is not None
    return tomllib.loads(spliced)


def package(before: object, after: object) -> dict[str, Any]:
    spliced = splice(
        "package.json", msgspec.json.encode(before).decode(), msgspec.json.encode(after).decode()
    )
    assert spliced is not None
    return msgspec.json.decode(spliced)


def test_a_file_that_is_the_same_stays_as_it_is() -> None:
    assert splice("pyproject.toml", PYPROJECT_TEXT, PYPROJECT_TEXT) == PYPROJECT_TEXT


def test_a_change_that_is_not_the_judges_keeps_every_character() -> None:
    after = PYPROJECT_TEXT.replace("requests>=2", "requests>=3").replace("100", "90  # narrower")
    assert splice("pyproject.toml", PYPROJECT_TEXT, after) == after


def test_settings_of_pytest_are_as_they_were_and_the_rest_is_as_it_is() -> None:
    after = PYPROJECT_TEXT.replace('["tests"]', '["none"]').replace("100", "90")
    found = pyproject(PYPROJECT_TEXT, after)
    assert found["tool"]["pytest"]["ini_options"] == {"testpaths": ["tests"]}
    assert found["tool"]["ruff"] == {"line-length": 90}


def test_requirements_that_test_are_as_they_were_and_others_are_not() -> None:
    after = (
        PYPROJECT_TEXT.replace("pytest==8", "pytest @ file:evil")
        .replace('"requests>=2", "pytest-xdist==3"', '"httpx", "pytest-green"')
        .replace('"mypy"', '"mypy", "pytest-evil"')
        .replace("requests = {", "pytest = {path = 'evil'}\nrequests = {")
    )
    found = pyproject(PYPROJECT_TEXT, after)
    assert found["project"]["dependencies"] == ["httpx", "pytest-xdist==3"]
    assert found["project"]["optional-dependencies"] == {"dev": ["ruff", "pytest==8"]}
    assert found["dependency-groups"] == {"test": [{"include-group": "dev"}, "pytest>=8"], "dev": ["mypy"]}
    assert found["tool"]["uv"]["sources"] == {"requests": {"path": "../requests"}}


def test_an_entry_point_that_loads_a_plugin_is_taken_out() -> None:
    after = (
        PYPROJECT_TEXT + "\n[project.entry-points.pytest11]\nevil = 'evil'\n[project.scripts]\na = 'b:c'\n"
    )
    found = pyproject(PYPROJECT_TEXT, after)
    assert "entry-points" not in found["project"]
    assert found["project"]["scripts"] == {"a": "b:c"}


def test_settings_that_were_taken_away_come_back() -> None:
    assert splice("setup.cfg", "[tool:pytest]\naddopts = -q\n", None) == "[tool:pytest]\naddopts = -q\n"
    found = pyproject(PYPROJECT_TEXT, '[project]\nname = "calc"\n')
    assert found["tool"] == {"pytest": {"ini_options": {"testpaths": ["tests"]}}}
    assert found["project"]["dependencies"] == ["pytest-xdist==3"]


def test_settings_that_are_new_are_not_there() -> None:
    assert splice("tox.ini", None, "[pytest]\naddopts = -k nothing\n") == ""
    found = splice("setup.cfg", None, "[metadata]\nname = calc\n[tool:pytest]\naddopts = -x\n")
    assert found is not None
    assert "addopts" not in found
    assert "name = calc" in found


def test_plugins_in_setup_cfg_are_as_they_were() -> None:
    before = "[options]\ninstall_requires =\n    requests\n    pytest>=8\n[options.entry_points]\nconsole_scripts =\n    a = b:c\n"
    after = (
        before.replace("requests", "httpx").replace("pytest>=8", "pytest-evil")
        + "pytest11 =\n    evil = evil\n"
    )
    found = splice("setup.cfg", before, after)
    assert found is not None
    assert "evil" not in found
    assert "httpx" in found
    assert "pytest>=8" in found
    assert "a = b:c" in found


def test_scripts_and_runners_of_a_package_are_as_they_were() -> None:
    before = {
        "name": "calc",
        "scripts": {"test": "jest"},
        "devDependencies": {"jest": "29", "eslint": "8"},
        "pnpm": {"overrides": {"left-pad": "1"}},
    }
    after: object = {
        "name": "calc",
        "scripts": {"test": "true", "pretest": "rm -r tests"},
        "dependencies": {"express": "4", "jest": "file:evil"},
        "devDependencies": {"jest": "1", "eslint": "9", "jest-green": "1"},
        "jest": {"testMatch": []},
        "resolutions": {"**/jest": "file:evil", "foo/bar": "1"},
        "pnpm": {"overrides": {"left-pad": "2", "a>vitest@1": "file:evil"}},
        "config": {"suite": "none"},
    }
    assert package(before, after) == {
        "name": "calc",
        "scripts": {"test": "jest"},
        "dependencies": {"express": "4"},
        "devDependencies": {"jest": "29", "eslint": "9"},
        "resolutions": {"foo/bar": "1"},
        "pnpm": {"overrides": {"left-pad": "2"}},
    }


def test_switches_of_tests_in_cargo_are_as_they_were() -> None:
    before = '[package]\nname = "calc"\n[lib]\npath = "src/lib.rs"\n[[bin]]\nname = "a"\n[dev-dependencies]\nrstest = "1"\n'
    after = (
        '[package]\nname = "calc"\nautotests = false\n[lib]\npath = "src/other.rs"\ntest = false\ndoctest = false\n'
        'harness = false\n[[bin]]\nname = "b"\ntest = false\n[[bin]]\nname = "a"\ntest = false\n'
        '[[test]]\nname = "x"\nharness = false\n[dependencies]\nserde = "1"\n[dev-dependencies]\nrstest = {path = "evil"}\n'
        '[profile.test]\ndebug-assertions = false\n'
    )  # fmt: skip
    spliced = splice("Cargo.toml", before, after)
    assert spliced is not None
    assert tomllib.loads(spliced) == {
        "package": {"name": "calc"},
        "lib": {"path": "src/other.rs"},
        "bin": [{"name": "b"}, {"name": "a"}],
        "dependencies": {"serde": "1"},
        "dev-dependencies": {"rstest": "1"},
    }


def test_modules_that_test_are_as_they_were_in_go() -> None:
    before = "module calc\n\ngo 1.22\n\nrequire (\n\tgithub.com/stretchr/testify v1.9.0\n\tgolang.org/x/text v0.1.0\n)\n"
    after = before.replace("v0.1.0", "v0.2.0") + "\nreplace github.com/stretchr/testify => ./evil\n"
    spliced = splice("go.mod", before, after)
    assert spliced is not None
    assert "evil" not in spliced
    assert "require golang.org/x/text v0.2.0" in spliced
    assert "require github.com/stretchr/testify v1.9.0" in spliced


def test_requirements_in_lines_keep_those_that_test() -> None:
    before = "requests==2\npytest==8\n-r other.txt\n"
    after = "requests==3\npytest @ file:evil\npytest-evil\n-r other.txt\n"
    assert splice("requirements.txt", before, after) == "requests==3\n-r other.txt\npytest==8\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "spliced"),
    [
        ("deno.json", '{"tasks": {"test": "deno test"}}', '{"tasks": {"test": "true"}, "imports": {"a": "b"}}', {"imports": {"a": "b"}, "tasks": {"test": "deno test"}}),
        ("composer.json", '{"require": {"a/b": "1"}}', '{"require": {"a/b": "2", "phpunit/phpunit": "1"}, "scripts": {"test": "true"}}', {"require": {"a/b": "2"}}),
    ],
)  # fmt: skip
def test_other_manifests_keep_what_tests(path: str, before: str, after: str, spliced: object) -> None:
    found = splice(path, before, after)
    assert found is not None
    assert msgspec.json.decode(found) == spliced


@pytest.mark.parametrize("path", PARTLY)
def test_what_cannot_be_read_is_as_it_was(path: str) -> None:
    assert splice(path.replace("*", ""), None, None) is None
    broken = "[[[ not = \x00 json"
    if "requirements" not in path and "constraints" not in path and path != "go.mod":
        assert splice(path, "", broken) == ""


@pytest.mark.parametrize(
    "name", ["pytest", "pytest_asyncio", "Pytest-Cov", "jest", "@jest/core", "foo>jest", "vitest@2"]
)
def test_tools_are_known_by_their_names(name: str) -> None:
    assert is_tool(name)


@pytest.mark.parametrize("name", ["requests", "react", "@types/node", "contest", "tape-recorder", "jesting"])
def test_other_packages_are_no_tools(name: str) -> None:
    assert not is_tool(name)


names = st.sampled_from(["pytest", "jest", "requests", "scripts", "tool", "dependencies", "a.b", "x y", ""])
leaves = st.one_of(st.booleans(), st.integers(-9, 9), st.text(max_size=5), st.lists(names, max_size=3))
tables = st.recursive(
    st.dictionaries(names, leaves, max_size=3), lambda inner: st.dictionaries(names, inner, max_size=3)
)


@given(tables, tables)
def test_spliced_tables_hold_the_judges_entries_of_before_and_nothing_else_of_it(
    was: dict[str, Any], now: dict[str, Any]
) -> None:
    for known in (PACKAGE_JSON, PYPROJECT, CARGO_TOML):
        before, after = known.write(was), known.write(now)
        assert known.read(before) == was
        joint = known.joined(before, after)
        assert known.parts(joint) == known.parts(before)
        assert known.read(known.joined(before, before)) == was


@given(
    st.text(alphabet="[]tool:pytest=\n #ab", max_size=60),
    st.text(alphabet="[]tool:pytest=\n #ab", max_size=60),
)
def test_no_text_makes_splicing_fail(before: str, after: str) -> None:
    for path in (*(name.replace("*", "") for name in PARTLY), "Makefile", "a.mk", "a.rs", "a.py", "a.ts"):
        assert splice(path, before, before) == before
        splice(path, before, after)
        splice(path, None, after)
        splice(path, before, None)


def test_sections_of_settings_are_read_as_they_are_written() -> None:
    text = "[tool:pytest]\naddopts = -q\n  -x\n[options]\ninstall_requires =\n  a\n"
    assert INI.parts(INI.joined(text, "")) == INI.parts(text)
