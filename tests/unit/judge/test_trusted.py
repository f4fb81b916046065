"""Whose files are, by the runner and by what its command and recipes name."""

import pytest

from amelia.judge.trusted import Custody, custody, recipe_texts
from amelia.model.evidence import RunnerKind, TestCommand

SOURCE, TEST, SUPPORT = Custody.SOURCE, Custody.TEST, Custody.SUPPORT
SETTINGS, PART, MIXED = Custody.SETTINGS, Custody.PART, Custody.MIXED
PYTEST = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
UNITTEST = TestCommand(RunnerKind.UNITTEST, ("python", "-m", "unittest"))
NODE = TestCommand(RunnerKind.NODE, ("npm", "test"))
GO = TestCommand(RunnerKind.GO, ("go", "test", "./..."))
CARGO = TestCommand(RunnerKind.CARGO, ("cargo", "test"))
MAKE = TestCommand(RunnerKind.MAKE, ("make", "test"))
MAVEN = TestCommand(RunnerKind.CUSTOM, ("mvn", "test"))
SHELL = TestCommand(RunnerKind.CUSTOM, ("sh", "ci/all.sh"))


@pytest.mark.parametrize(
    ("command", "path", "whose"),
    [
        (PYTEST, "calc.py", SOURCE),
        (PYTEST, "tests/test_calc.py", TEST),
        (PYTEST, "src/calc/test_calc.py", TEST),
        (PYTEST, "src/calc/calc_test.py", TEST),
        (PYTEST, "tests/helpers.py", SUPPORT),
        (PYTEST, "tests/__init__.py", SUPPORT),
        (PYTEST, "tests/data/a.json", SUPPORT),
        (PYTEST, "tests/run.sh", SUPPORT),
        (PYTEST, "conftest.py", SUPPORT),
        (PYTEST, "fixtures/a.json", SUPPORT),
        (PYTEST, "pytest.ini", SETTINGS),
        (PYTEST, "pytest.py", SETTINGS),
        (PYTEST, "src/_pytest/main.py", SETTINGS),
        (PYTEST, "evil.dist-info/entry_points.txt", SETTINGS),
        (PYTEST, "lib/evil.pth", SETTINGS),
        (PYTEST, "pyproject.toml", PART),
        (PYTEST, "requirements-dev.txt", PART),
        (PYTEST, "requirements/base.txt", PART),
        (PYTEST, ".gitattributes", SETTINGS),
        (MAVEN, "docker-compose.yml", MIXED),
        (PYTEST, "setup.py", MIXED),
        (PYTEST, "Makefile", SOURCE),
        (PYTEST, "src/calc/testing/client.py", SOURCE),
        (PYTEST, "src/testing.py", SOURCE),
        (PYTEST, "src/spec/parser.py", SOURCE),
        (PYTEST, "spec/openapi.yaml", SOURCE),
        (PYTEST, "src/latest.py", SOURCE),
        (PYTEST, "src/contest/model.py", SOURCE),
        (PYTEST, "src/run_test_suite_command.py", SOURCE),
        (PYTEST, "src/calc/pytest/plugin.py", SOURCE),
        (PYTEST, "docs/tests.md", SOURCE),
        (PYTEST, "docs/spec/a.md", SOURCE),
        (PYTEST, "TESTING.md", SOURCE),
        (PYTEST, ".github/workflows/test.yml", SOURCE),
        (PYTEST, "app/fixtures/initial.json", SOURCE),
        (UNITTEST, "test_calc.py", TEST),
        (UNITTEST, "tests/__init__.py", SUPPORT),
        (UNITTEST, "unittest/__init__.py", SETTINGS),
        (UNITTEST, "sitecustomize.py", SETTINGS),
        (NODE, "calc.test.js", TEST),
        (NODE, "src/__tests__/calc.ts", TEST),
        (NODE, "spec/calc_spec.js", TEST),
        (NODE, "spec/helpers.js", SUPPORT),
        (NODE, "src/spec/parser.ts", SOURCE),
        (NODE, "src/spec/parser.spec.ts", TEST),
        (NODE, "src/test-utils/render.tsx", SUPPORT),
        (NODE, "src/setupTests.ts", SUPPORT),
        (NODE, "src/__snapshots__/a.snap", SUPPORT),
        (NODE, "src/__mocks__/fs.js", SUPPORT),
        (NODE, "package.json", PART),
        (NODE, ".npmrc", SETTINGS),
        (NODE, "jest.config.ts", SETTINGS),
        (NODE, "vitest.config.mts", SETTINGS),
        (NODE, "node_modules/.bin/jest", SETTINGS),
        (NODE, "tsconfig.json", MIXED),
        (NODE, "vite.config.ts", MIXED),
        (NODE, "src/abTesting/model.ts", SOURCE),
        (NODE, "src/features/login/form.tsx", SOURCE),
        (NODE, "features/step_definitions/login.js", SUPPORT),
        (NODE, "features/login.feature", TEST),
        (GO, "calc.go", SOURCE),
        (GO, "calc_test.go", TEST),
        (GO, "cmd/test.go", SOURCE),
        (GO, "internal/testutil/a.go", SUPPORT),
        (GO, "testdata/golden.txt", SUPPORT),
        (GO, "spec/parser.go", SOURCE),
        (GO, "go.mod", PART),
        (GO, "go.work", MIXED),
        (CARGO, "src/lib.rs", PART),
        (CARGO, "tests/calc.rs", TEST),
        (CARGO, "tests/common/mod.rs", SUPPORT),
        (CARGO, "src/tests.rs", TEST),
        (CARGO, "Cargo.toml", PART),
        (CARGO, ".cargo/config.toml", SETTINGS),
        (CARGO, "rust-toolchain.toml", SETTINGS),
        (CARGO, "build.rs", MIXED),
        (MAKE, "Makefile", PART),
        (MAKE, "rules/more.mk", PART),
        (MAKE, "GNUmakefile", PART),
        (MAKE, "calc.c", SOURCE),
        (MAKE, "test_calc.c", TEST),
        (MAVEN, "src/main/java/a/Test.java", SOURCE),
        (MAVEN, "src/main/java/test/Client.java", SOURCE),
        (MAVEN, "src/test/java/a/CalcTest.java", TEST),
        (MAVEN, "src/test/resources/a.xml", SUPPORT),
        (MAVEN, "src/integrationTest/kotlin/A.kt", SUPPORT),
        (MAVEN, "pom.xml", MIXED),
        (MAVEN, ".mvn/maven.config", SETTINGS),
        (MAVEN, "Calc.Tests/CalcTests.cs", TEST),
        (MAVEN, "Calc.Tests/Calc.Tests.csproj", SUPPORT),
        (MAVEN, "Calc/Calc.csproj", MIXED),
        (MAVEN, "spec/spec_helper.rb", SUPPORT),
        (MAVEN, "test/test_helper.exs", SUPPORT),
        (NODE, "src/utils.test.js", TEST),
        (NODE, "src/model/TestRun.ts", SOURCE),
        (NODE, "src/speedTest.ts", SOURCE),
        (NODE, "src/crypto/e2e/keys.ts", SOURCE),
        (NODE, "e2e/login.ts", SUPPORT),
        (NODE, "test-calc.js", TEST),
        (NODE, "src/testUtils.ts", SUPPORT),
        (NODE, "src/jest-plugin.js", SOURCE),
        (MAVEN, "app/tasks.py", SOURCE),
        (MAVEN, "tasks.py", SOURCE),
        (TestCommand(RunnerKind.CUSTOM, ("invoke", "test")), "tasks.py", MIXED),
        (NODE, "test.js", TEST),
        (MAVEN, ".rspec", SETTINGS),
        (MAVEN, "phpunit.xml.dist", SETTINGS),
        (MAVEN, "composer.json", PART),
        (MAVEN, "mix.exs", MIXED),
        (MAVEN, "test/calc_test.exs", TEST),
        (MAVEN, "deno.json", PART),
        (MAVEN, "src/calc.rs", SOURCE),
        (SHELL, "ci/all.sh", SETTINGS),
        (None, "calc.py", SOURCE),
        (None, "tests/test_calc.py", TEST),
    ],
)  # fmt: skip
def test_files_are_whose_they_are(command: TestCommand | None, path: str, whose: Custody) -> None:
    assert custody(path, command) is whose


def test_sources_that_a_makefile_names_stay_sources_and_scripts_that_test_do_not() -> None:
    text = "test: calc.sh calc.c src/check.c test.c\n\tcc calc.c && sh ci/run.sh && sh build.sh && cd tools && ./all.sh\n\tpython tools/check_it.py\n"
    for path in ("calc.c", "src/check.c", "build.sh", "calc.sh"):
        assert custody(path, MAKE, [text]) is SOURCE
    for path in ("ci/run.sh", "tools/all.sh", "tools/check_it.py"):
        assert custody(path, MAKE, [text]) is SETTINGS
    assert custody("test.c", MAKE, [text]) is TEST


def test_what_the_command_itself_names_is_the_judges() -> None:
    command = TestCommand(RunnerKind.CUSTOM, ("python", "./try.py", "--all"))
    assert custody("try.py", command) is SETTINGS
    assert custody("other.py", command) is SOURCE
    script = TestCommand(RunnerKind.CUSTOM, ("sh", "-c", "python calc.py && sh ci/run.sh"))
    assert custody("calc.py", script) is SOURCE
    assert custody("ci/run.sh", script) is SETTINGS


def test_main_files_of_a_package_stay_sources() -> None:
    text = '{"main": "src/index.js", "scripts": {"test": "node scripts/run-checks.js", "lint": "eslint src/**/*.js"}}'
    assert custody("src/index.js", NODE, [text]) is SOURCE
    assert custody("src/other.js", NODE, [text]) is SOURCE
    assert custody("scripts/run-checks.js", NODE, [text]) is SETTINGS


def test_sources_hold_tests_inside_where_the_command_runs_them() -> None:
    doctests = "[tool.pytest.ini_options]\naddopts = '--doctest-modules'\n"
    assert custody("calc.py", PYTEST, [doctests]) is PART
    assert (
        custody(
            "calc.py",
            TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest", "--doctest-modules", "calc.py")),
        )
        is PART
    )
    assert custody("README.md", PYTEST, ["addopts = --doctest-glob='*.md'"]) is TEST
    vitest = '{"scripts": {"test": "vitest run"}}'
    assert custody("src/calc.ts", NODE, [vitest]) is PART
    assert custody("src/calc.ts", NODE, ['{"scripts": {"test": "jest"}}']) is SOURCE
    assert custody("src/lib.rs", MAKE, ["test:\n\tcargo test\n"]) is PART


def test_tests_are_where_a_runner_is_told_to_look() -> None:
    assert custody("checks/helpers.py", PYTEST, ['testpaths = ["checks", "calc"]']) is SUPPORT
    assert custody("calc/model.py", PYTEST, ['testpaths = ["checks", "calc"]']) is SOURCE
    assert custody("calc/check_model.py", PYTEST, ["python_files = check_*.py\n"]) is TEST
    assert custody("calc/model.py", PYTEST, ["python_files = *.py\n"]) is SOURCE
    assert custody("src/a.check.ts", NODE, ['{"jest": {"testMatch": ["**/*.check.ts"]}}']) is TEST
    assert custody("src/a.js", NODE, ['{"scripts": {"test": "mocha src/**/*.js"}}']) is SOURCE
    assert custody("qa/a.js", NODE, ['{"scripts": {"test": "mocha qa/*.js"}}']) is TEST
    assert custody("green.py", PYTEST, ["addopts = -p green -p no:cacheprovider\n"]) is SETTINGS


def test_files_that_are_loaded_into_a_runner_are_the_judges() -> None:
    scripts = '{"main": "src/a.js", "exports": {"require": "./src/b.js"}, "scripts": {"test": "node --import ./boot.mjs --test"}}'
    settings = (
        "module.exports = { setupFilesAfterEnv: ['<rootDir>/config/boot.js'], require: ['./lib/load.js'] }\n"
    )
    for path in ("boot.mjs", "config/boot.js", "lib/load.js"):
        assert custody(path, NODE, [scripts, settings]) is SETTINGS
    for path in ("src/a.js", "src/b.js"):
        assert custody(path, NODE, [scripts, settings]) is SOURCE


def test_programs_without_a_suffix_are_the_judges_if_their_names_say_that_they_test() -> None:
    text = "test: bin/calc\n\t./run && ci/go && bin/calc 1 2 && python tools/run_all.py\n"
    for path in ("run", "ci/go", "tools/run_all.py"):
        assert custody(path, MAKE, [text]) is SETTINGS
    assert custody("bin/calc", MAKE, [text]) is SOURCE


def test_a_new_module_does_not_take_the_place_of_one_of_pythons_own() -> None:
    for path in ("json.py", "random/__init__.py"):
        assert custody(path, PYTEST, is_new=True) is SETTINGS
        assert custody(path, PYTEST) is SOURCE
    for path in ("calc/json.py", "src/types/model.py", "types/index.ts", "json.js", "calc.py"):
        assert custody(path, PYTEST, is_new=True) is SOURCE


def test_scripts_that_scripts_run_are_recipes_as_well() -> None:
    files = {
        "Makefile": "test:\n\tsh ci/all.sh\n",
        "ci/all.sh": "sh ci/one.sh\nnpm test\n",
        "ci/one.sh": "python tools/verify.py\n",
        "package.json": '{"scripts": {"test": "vitest"}}',
    }
    texts = recipe_texts(MAKE, files.get)
    assert set(texts) == set(files.values())
    assert custody("ci/one.sh", MAKE, texts) is SETTINGS
    assert custody("tools/verify.py", MAKE, texts) is SETTINGS
    assert recipe_texts(None, files.get) == recipe_texts(GO, files.get) == ()


def test_recipes_that_name_each_other_come_to_an_end() -> None:
    assert len(recipe_texts(MAKE, lambda path: f"sh {path}.sh a.sh b.sh")) == 50
