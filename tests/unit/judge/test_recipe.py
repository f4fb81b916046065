"""What says how tests run, and which changes of it count."""

import time

import pytest

from amelia.judge.recipe import changed_recipes, recipe_files
from amelia.judge.rules import judge
from amelia.model.evidence import (
    Change,
    ChangeStatus,
    Delta,
    Demands,
    NoteCode,
    ProblemCode,
    Receipt,
    RunnerKind,
    TestCommand,
    VerifySettings,
)
from amelia.model.plan import TaskType

MAKE = TestCommand(RunnerKind.MAKE, ("make", "test"))
NPM = TestCommand(RunnerKind.NODE, ("npm", "test"))
PYTEST = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))


def custom(*argv: str) -> TestCommand:
    return TestCommand(RunnerKind.CUSTOM, argv)


def delta_of(before: dict[str, str], after: dict[str, str]) -> Delta:
    changes: list[Change] = []
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            changes.append(Change(path=path, status=ChangeStatus.ADDED))
        elif path not in after:
            changes.append(Change(path=path, status=ChangeStatus.DELETED))
        elif before[path] != after[path]:
            changes.append(Change(path=path, status=ChangeStatus.MODIFIED))
    return Delta(base="b", tree="t", changes=tuple(changes), before=before, after=after)


def found(
    command: TestCommand | None, before: dict[str, str], after: dict[str, str], *declared: str
) -> list[str]:
    return [one.message for one in changed_recipes(command, delta_of(before, after), declared)]


def found_in(command: TestCommand, name: str, *, before: str, after: str) -> list[str]:
    return found(command, {name: before}, {name: after})


MAKEFILE = """\
# Builds and tests.
CC = cc
PYTEST = pytest
OBJS = a.o b.o

.PHONY: test unit clean

all: app

app: $(OBJS) test_app.o
	$(CC) -o app $(OBJS) -lm

test: unit
	$(PYTEST) -q

unit: app
	./app --check

clean:
	rm -f app
"""


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("\t$(PYTEST) -q\n", "\t@true\n", "`PYTEST`, `test`"),
        ("test: unit\n", "test:\n", "`CC`, `OBJS`, `app`, `test`, `unit`"),
        ("test: unit\n", "test: unit; @true\n\n", "`test`"),
        ("\t./app --check\n", "\t@true\n", "`unit`"),
        ("PYTEST = pytest\n", "PYTEST = pytest --collect-only\n", "`PYTEST`"),
        ("PYTEST = pytest\n", "override PYTEST := true\n", "`PYTEST`"),
        ("\t$(CC) -o app $(OBJS) -lm\n", "\tcp /bin/true app\n", "`CC`, `app`"),
        ("CC = cc\n", "CC = cc -DNDEBUG\n", "`CC`"),
        ("$(OBJS) test_app.o\n", "$(OBJS)\n", "`app`"),
        ("\trm -f app\n", "\trm -f app\ntest:\n\t@true\n", "`test`"),
        (".PHONY: test unit clean\n", ".PHONY: unit clean\n", "`test`"),
        ("CC = cc\n", "CC = cc\nSHELL = /bin/true\n", "`SHELL`"),
        ("CC = cc\n", "CC = cc\n.IGNORE:\n", "`.IGNORE`"),
        ("CC = cc\n", "CC = cc\ninclude other.mk\n", "what holds for all rules"),
        ("CC = cc\n", "CC = cc\n$(GOAL): ; @true\n", "what holds for all rules"),
    ],
)
def test_a_change_of_what_make_runs_is_found(old: str, new: str, what: str) -> None:
    assert old in MAKEFILE
    (message,) = found_in(MAKE, "Makefile", before=MAKEFILE, after=MAKEFILE.replace(old, new, 1))
    assert message == f"Makefile says how the tests run, and this unit changed {what}."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\trm -f app\n", "\trm -rf app build\n"),
        ("all: app\n", "all: app docs\n"),
        ("# Builds and tests.\n", "# Builds, and tests.\n\n"),
        ("OBJS = a.o b.o\n", "OBJS = a.o \\\n  b.o c.o\n"),
        ("-lm\n", "-lm -lz\n"),
        ("test: unit\n", "test:   unit\r\n"),
        (".PHONY: test unit clean\n", ".PHONY: test unit clean docs\n"),
        ("clean:\n", "docs:\n\tmkdocs\n\nclean:\n"),
    ],
)
def test_what_the_tests_do_not_reach_and_what_is_compiled_may_change(old: str, new: str) -> None:
    assert old in MAKEFILE
    assert not found_in(MAKE, "Makefile", before=MAKEFILE, after=MAKEFILE.replace(old, new, 1))


def test_a_makefile_that_make_would_prefer_is_a_change() -> None:
    before = {"Makefile": MAKEFILE}
    after = {**before, "GNUmakefile": "test:\n\t@true\n"}
    assert found(MAKE, before, after) == ["GNUmakefile says how the tests run, and this unit changed `test`."]


def test_make_without_a_goal_runs_the_first_rule() -> None:
    assert found_in(custom("make"), "makefile", before="all:\n\tcheck\n", after="all:\n\ttrue\n")
    assert not found_in(custom("make"), "makefile", before="all:\na:\n\tb\n", after="all:\na:\n\tc\n")


def test_another_goal_and_another_folder_are_followed() -> None:
    command = custom("sh", "-c", "make -C sub/deep verify")
    (message,) = found_in(command, "sub/deep/Makefile", before="verify:\n\tx\n", after="verify:\n\ty\n")
    assert message.startswith("sub/deep/Makefile says")
    assert not found_in(command, "other/Makefile", before="verify:\n\tx\n", after="verify:\n\ty\n")


@pytest.mark.parametrize("path", ["test", "test/test_a.py"])
def test_a_file_that_make_would_take_for_the_finished_rule_is_found(path: str) -> None:
    bare = {"Makefile": "test:\n\tpytest\n"}
    (message,) = found(MAKE, bare, {**bare, path: ""})
    assert message.startswith(f"With {path} there")
    phony = {"Makefile": ".PHONY: test\ntest:\n\tpytest\n"}
    assert not found(MAKE, phony, {**phony, path: ""})
    needing = {"Makefile": "test: always\n\tpytest\n"}
    assert not found(MAKE, needing, {**needing, path: ""})


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}', "the script `test`"),
        ('{"scripts": {"test": "jest"}}', '{"scripts": {}}', "the script `test`"),
        (
            '{"scripts": {"test": "jest"}}',
            '{"scripts": {"test": "jest", "pretest": "rm -r tests"}}',
            "the script `pretest`",
        ),
        (
            '{"scripts": {"test": "npm run test:unit", "test:unit": "jest"}}',
            '{"scripts": {"test": "npm run test:unit", "test:unit": "true"}}',
            "the script `test:unit`",
        ),
    ],
)
def test_a_change_of_what_npm_runs_is_found(before: str, after: str, what: str) -> None:
    (message,) = found_in(NPM, "package.json", before=before, after=after)
    assert message == f"package.json says how the tests run, and this unit changed {what}."


def test_the_rest_of_a_package_may_change() -> None:
    before = '{"scripts": {"test": "jest", "build": "tsc"}}'
    after = '{"scripts": {"build": "vite", "test": "jest"}, "dependencies": {"left-pad": "1"}}'
    assert not found_in(NPM, "package.json", before=before, after=after)


def test_the_script_that_a_command_names_is_the_one_that_counts() -> None:
    before, after = '{"scripts": {"ci": "jest"}}', '{"scripts": {"ci": "true"}}'
    assert found_in(custom("yarn", "run", "ci"), "package.json", before=before, after=after)
    assert not found_in(NPM, "package.json", before=before, after=after)


def test_node_itself_reads_no_script() -> None:
    before, after = '{"scripts": {"test": "node --test"}}', '{"scripts": {"test": "true"}}'
    assert not found_in(
        TestCommand(RunnerKind.NODE, ("node", "--test")), "package.json", before=before, after=after
    )


@pytest.mark.parametrize(
    ("name", "before", "after", "what"),
    [
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --collect-only\n", "its text"),
        ("pytest.ini", "[pytest]\n", "[pytest]\ntestpaths = nowhere\n", "its text"),
        ("tox.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -k no\n", "`[pytest]`"),
        ("tox.ini", "[pytest]\naddopts = -q\n", "[pytest]\nADDOPTS = -q\n", "`[pytest]`"),
        ("setup.cfg", "[tool:pytest]\na = 1\n", "[metadata]\nname = x\n", "`[tool:pytest]`"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = ['-q']\n",
            "[tool.pytest.ini_options]\naddopts = ['-q', '--collect-only']\n",
            "`[tool.pytest]`",
        ),
    ],
)
def test_a_change_of_what_pytest_is_told_is_found(name: str, before: str, after: str, what: str) -> None:
    (message,) = found_in(PYTEST, name, before=before, after=after)
    assert message == f"{name} says how the tests run, and this unit changed {what}."


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("tox.ini", "[tox]\n[pytest]\na = 1\n", "[pytest]\n# why\n\na = 1\n[tox]\nenvlist = x\n"),
        ("setup.cfg", "[pytest]\na = 1\n[tool:pytest]\nb = 1\n", "[tool:pytest]\nb = 1\n"),
        (
            "pyproject.toml",
            "[project]\nname='a'\n[tool.pytest.ini_options]\na = 1\nb = 2\n",
            "[tool.pytest.ini_options]\nb = 2\na = 1\n[project]\nname = 'b'\n",
        ),
    ],
)
def test_other_settings_in_the_same_file_may_change(name: str, before: str, after: str) -> None:
    assert not found_in(PYTEST, name, before=before, after=after)


def test_settings_that_pytest_would_prefer_are_a_change() -> None:
    before = {"pyproject.toml": "[tool.pytest.ini_options]\na = 1\n"}
    assert found(PYTEST, before, {**before, "pytest.ini": "[pytest]\n"})
    command = custom("uv", "run", "pytest", "tests/unit")
    assert found(command, before, {**before, "tests/pytest.ini": "[pytest]\n"})


@pytest.mark.parametrize(
    ("command", "name", "good", "bad"),
    [
        (NPM, "package.json", '{"scripts": {"test": "jest"}}', "{"),
        (NPM, "package.json", '{"scripts": {"test": "jest"}}', '{"scripts": []}'),
        (NPM, "package.json", '{"scripts": {"test": "jest"}}', "[" * 100_000),
        (PYTEST, "pyproject.toml", "[tool.pytest]\na = 1\n", "[tool.pytest"),
        (PYTEST, "pyproject.toml", "[tool.pytest]\na = 1\n", "tool = 1\n"),
        (PYTEST, "pyproject.toml", "[tool.pytest]\na = 1\n", "a = " + "[" * 100_000),
    ],
)
def test_what_cannot_be_parsed_is_compared_as_text(
    command: TestCommand, name: str, good: str, bad: str
) -> None:
    (message,) = found_in(command, name, before=good, after=bad)
    assert "its text" in message
    assert not found_in(command, name, before=bad, after=bad)


@pytest.mark.parametrize(
    ("command", "path", "text"),
    [
        (MAKE, "Makefile", "test:\n\tpytest\n"),
        (NPM, "package.json", '{"scripts": {"test": "jest"}}'),
        (PYTEST, "pytest.ini", "[pytest]\n"),
        (PYTEST, "pyproject.toml", "[tool.pytest.ini_options]\na = 1\n"),
        (custom("sh", "check.sh"), "check.sh", "pytest\n"),
    ],
)
def test_saying_how_tests_run_where_nothing_did_is_no_change(
    command: TestCommand, path: str, text: str
) -> None:
    assert not found(command, {}, {path: text})


def test_settings_beside_which_nothing_was_said_may_begin_to_say_it() -> None:
    before = {"pyproject.toml": "[project]\nname = 'a'\n", "Makefile": "clean:\n\trm -f a\n"}
    after = {"pyproject.toml": "[tool.pytest.ini_options]\na = 1\n", "Makefile": "test:\n\tpytest\n"}
    assert not found(PYTEST, before, after)
    assert not found(MAKE, before, after)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (custom("sh", "check.sh"), "check.sh"),
        (custom("./ci/check", "--all"), "ci/check"),
        (custom("bash", "-c", "cd . && ./check.sh | tee log"), "check.sh"),
        (custom("python", "tests/run.py"), "tests/run.py"),
        (custom("mvn", "--settings=ci/maven.xml"), "ci/maven.xml"),
        (TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest", "-c", "ci.ini")), "ci.ini"),
        (custom("just", "test"), "justfile"),
        (custom("nox"), "noxfile.py"),
        (custom("tox", "-q"), "tox.ini"),
    ],
)
def test_a_file_that_a_command_names_or_reads_may_not_change(command: TestCommand, path: str) -> None:
    assert len(found_in(command, path, before="a", after="b")) == 1
    assert len(found(command, {path: "a"}, {})) == 1
    assert not found(command, {path: "a"}, {path: "a", "other.sh": ""})


@pytest.mark.parametrize(
    "line",
    [
        "@sh scripts/run.sh",
        "./scripts/run.sh --all",
        "scripts/run.sh",
        "-@bash -eu scripts/run.sh",
        "cd . && CI=1 ./scripts/run.sh",
        "(echo a; ./scripts/run.sh)",
    ],
)
def test_a_script_that_a_recipe_starts_may_not_change(line: str) -> None:
    makefile = {"Makefile": f"test:\n\t{line}\n"}
    before, after = {**makefile, "scripts/run.sh": "a"}, {**makefile, "scripts/run.sh": "b"}
    assert found(MAKE, before, after) == [
        "scripts/run.sh is part of how the tests run, and this unit changed it."
    ]


def test_a_script_that_npm_starts_may_not_change() -> None:
    package = {"package.json": '{"scripts": {"test": "node ./run.js"}}'}
    assert found(NPM, {**package, "run.js": "a"}, {**package, "run.js": "b"})


def test_what_a_recipe_only_looks_at_may_change() -> None:
    makefile = {"Makefile": "test:\n\tgrep -q Hello greet.txt && shellcheck greet.sh\n"}
    before = {**makefile, "greet.txt": "a", "greet.sh": "a"}
    assert not found(MAKE, before, {**makefile, "greet.txt": "b", "greet.sh": "b"})


def test_a_named_file_that_the_plan_gives_to_the_unit_is_its_work() -> None:
    before, after = {"app.py": "a"}, {"app.py": "b"}
    command = custom("python", "app.py", "--self-test")
    assert found(command, before, after, "lib.py")
    assert not found(command, before, after, "app.py")
    makefile = {"Makefile": "test:\n\tpytest\n"}
    assert found(MAKE, makefile, {"Makefile": "test:\n\ttrue\n"}, "Makefile"), "its parts have an owner"


def test_tests_that_a_recipe_names_are_counted_elsewhere() -> None:
    command = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest", "tests/test_a.py"))
    assert not found_in(command, "tests/test_a.py", before="a", after="b")
    makefile = {"Makefile": "test:\n\tpytest tests/test_a.py\n"}
    assert not found(MAKE, {**makefile, "tests/test_a.py": "a"}, {**makefile, "tests/test_a.py": "b"})


@pytest.mark.parametrize(
    "command",
    [
        None,
        TestCommand(RunnerKind.UNITTEST, ("python", "-m", "unittest")),
        TestCommand(RunnerKind.GO, ("go", "test", "./...")),
        TestCommand(RunnerKind.CARGO, ("cargo", "test")),
    ],
)
def test_other_runners_have_no_recipe(command: TestCommand | None) -> None:
    names = ("Makefile", "package.json", "pytest.ini")
    assert not found(command, dict.fromkeys(names, "a"), dict.fromkeys(names, "b"))
    assert recipe_files(command, names) == ()


def test_texts_are_wanted_at_the_top_and_where_the_command_leads_to_a_change() -> None:
    makefiles = ("GNUmakefile", "makefile", "Makefile")
    assert recipe_files(MAKE, ["src/a.py"]) == makefiles
    command = custom("make", "-C", "sub", "test")
    assert set(recipe_files(command, ["sub/deep/a.c"])) == {
        *makefiles,
        *(f"sub/{name}" for name in makefiles),
    }


@pytest.mark.slow
def test_a_hostile_makefile_costs_little() -> None:
    started = time.monotonic()
    chain = "".join(f"t{number}: t{number + 1}\n" for number in range(10_000))
    for text in (chain, " " * 200_000, "export " * 50_000, "a" * 200_000, "test" + " " * 200_000 + "x"):
        found_in(MAKE, "Makefile", before=f"test: t0\n{text}\n", after=f"test: t0\n{text}\n\n")
    assert time.monotonic() - started < 5


def codes(*types: TaskType | None) -> list[ProblemCode | NoteCode]:
    seen = Receipt(
        tree="t", kind=RunnerKind.MAKE, command=("make", "test"), exit_code=0, seconds=0, results=None
    )
    before = {"Makefile": "test:\n\tpytest\n"}
    after = {"Makefile": "test:\n\t@true\n", "test_new.py": "def test_a(): assert a\n"}
    verdict = judge(
        demands=Demands(types=types, declared=("Makefile", "test_new.py")),
        delta=delta_of(before, after),
        settings=VerifySettings(),
        command=MAKE,
        baseline=seen,
        result=seen,
    )
    assert all("type `test` may change it" in problem.message for problem in verdict.problems)
    assert verdict.passed == (not verdict.problems)
    return [one.code for one in (*verdict.problems, *verdict.notes) if one.file == "Makefile"]


@pytest.mark.parametrize(
    "types", [(TaskType.IMPL,), (TaskType.CHORE,), (TaskType.DOCS, None), (TaskType.REFACTOR,)]
)
def test_a_unit_without_a_test_task_may_not_change_how_tests_run(types: tuple[TaskType | None, ...]) -> None:
    assert codes(*types) == [ProblemCode.WEAKENED_TESTS]


@pytest.mark.parametrize("types", [(TaskType.TEST,), (TaskType.IMPL, TaskType.TEST), (None,)])
def test_a_unit_that_may_edit_tests_may_change_how_they_run_but_not_unseen(
    types: tuple[TaskType | None, ...],
) -> None:
    assert codes(*types) == [NoteCode.WEAKENED_TESTS]
