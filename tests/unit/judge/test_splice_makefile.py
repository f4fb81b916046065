"""Makefiles: rules of tests are as they were, rules that build are as they are."""

import subprocess  # noqa: TID251 - the program itself is asked what a makefile means
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.splice import splice
from amelia.model.evidence import RunnerKind, TestCommand

MAKE = TestCommand(RunnerKind.MAKE, ("make", "test"))
BASE = """\
CC = cc
CFLAGS = -Wall
RUN = sh ./run_it
SOURCES = calc.c

.PHONY: all test clean

all: calc

calc: $(SOURCES)
\t@echo build calc $(CFLAGS) $(SOURCES)

test: calc test_calc
\t@echo run $(RUN) $(CFLAGS)

test_calc: test.c
\t@echo build tests $(CFLAGS)

clean:
\t@echo clean
"""


def spliced(after: str, before: str = BASE, command: TestCommand | None = MAKE) -> str:
    found = splice("Makefile", before, after, command=command)
    assert found is not None
    return found


def said(tmp_path: Path, text: str, *goals: str) -> list[str]:
    (tmp_path / "Makefile").write_text(text)
    for name in ("calc.c", "test.c", "extra.c"):
        (tmp_path / name).touch()
    done = subprocess.run(["make", "-s", *goals], cwd=tmp_path, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()


HONEST = ["build calc -Wall calc.c", "build tests -Wall", "run sh ./run_it -Wall"]
LIES = {
    "a rule that does nothing": BASE.replace("run $(RUN)", "nothing"),
    "an error that is ignored": BASE.replace("\t@echo run $(RUN)", "\t-@echo nothing; exit 1"),
    "a second rule": BASE + "\ntest:\n\t@echo nothing\n",
    "a rule by another name": BASE.replace("test: calc test_calc", "tests: calc test_calc") + "\ntest:\n",
    "a variable of tests": BASE.replace("sh ./run_it", "true"),
    "a variable set again": BASE + "RUN = true\n",
    "a variable added to": BASE + "RUN += ; true\n",
    "a variable for one target": BASE + "test: RUN = true\n",
    "a shell": BASE + "SHELL = /bin/true\n",
    "flags of a shell": ".SHELLFLAGS = -n -c\n" + BASE,
    "a shell for one target": BASE + "test: SHELL = /bin/true\n",
    "a shell for every target": BASE + "%: SHELL = /bin/true\n",
    "flags of make": "MAKEFLAGS += -n\n" + BASE,
    "errors that are ignored": BASE + ".IGNORE:\n",
    "an include": BASE + "-include more.mk\n",
    "an include of a name": BASE + "sinclude $(MORE)\n",
    "an override": BASE + "override RUN = true\n",
    "an export": BASE + "export PATH := /nowhere\n",
    "an evaluation": BASE + "$(eval RUN = true)\n",
    "an evaluation in a variable": BASE + "X := $(eval RUN = true)\n",
    "a condition": BASE + "ifdef CC\nRUN = true\nendif\n",
    "a condition around the rule": BASE.replace("test: calc test_calc", "ifdef NO\ntest: calc test_calc").replace(
        "test_calc: test.c", "endif\n\ntest_calc: test.c"
    ),
    "a target that is no longer phony": BASE.replace(".PHONY: all test clean", ".PHONY: all clean"),
    "a definition": BASE + "define RUN\ntrue\nendef\n",
    "no rule for tests": BASE.replace("test_calc: test.c\n\t@echo build tests $(CFLAGS)\n", "test_calc:\n"),
    "flags that switch assertions off": BASE.replace("-Wall", "-Wall -DNDEBUG"),
    "another build if tests are asked for": BASE + "ifeq ($(MAKECMDGOALS),test)\nSOURCES = extra.c\nCC = true\nendif\n",
    "other sources if tests are asked for": BASE + "SOURCES := $(if $(filter test,$(MAKECMDGOALS)),extra.c,calc.c)\n",
    "other sources for tests": BASE + "test: SOURCES = extra.c\n",
    "a new default goal": BASE + ".DEFAULT_GOAL = clean\n",
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_tests_run_as_they_did_whatever_a_makefile_has_now(tmp_path: Path, lie: str) -> None:
    (tmp_path / "more.mk").write_text("RUN = true\n")
    assert said(tmp_path, BASE, "test") == HONEST
    assert said(tmp_path, spliced(LIES[lie]), "test") == HONEST
    assert said(tmp_path, spliced(LIES[lie], command=None), "test") == HONEST


def test_what_is_built_is_built_as_it_is_now(tmp_path: Path) -> None:
    after = BASE.replace("SOURCES = calc.c", "SOURCES = calc.c extra.c\nNEW = x").replace(
        "build calc", "build new calc $^ $(NEW)"
    )
    found = spliced(after.replace("run $(RUN)", "nothing"))
    assert said(tmp_path, found, "test")[0] == "build new calc calc.c extra.c x -Wall calc.c extra.c"
    assert spliced(after) == after


def test_places_that_the_new_code_needs_are_kept_among_the_flags(tmp_path: Path) -> None:
    found = spliced(BASE.replace("-Wall", "-Wall -Iinclude -DNDEBUG"))
    assert said(tmp_path, found, "test")[-1] == "run sh ./run_it -Wall -Iinclude"


def test_a_rule_with_several_targets_is_parted(tmp_path: Path) -> None:
    before = "all test:\n\t@echo $@\n"
    found = spliced("all test:\n\t@echo nothing $@\n", before)
    assert said(tmp_path, found, "all", "test") == ["nothing all", "test"]


def test_the_first_target_is_the_test_if_the_command_names_none(tmp_path: Path) -> None:
    bare = TestCommand(RunnerKind.CUSTOM, ("make",))
    before = "run_all: \n\t@echo checked\n"
    found = spliced("first:\n\t@echo nothing\n" + before.replace("checked", "nothing"), before, bare)
    assert said(tmp_path, found) == ["checked"]


def test_a_makefile_that_was_not_there_is_absent() -> None:
    for path in ("GNUmakefile", "makefile", "Makefile", "rules.mk", "sub/more.mk", "sub/GNUmakefile"):
        assert splice(path, None, BASE) is None
    assert splice("sub/Makefile", None, BASE) == BASE
    assert splice("Makefile", BASE, None) == BASE


LINES = st.lists(
    st.sampled_from([
        "test: calc\n\t@echo a\n", "test: calc\n\t@echo b\n", "calc: calc.c\n\tcc\n", "A = 1\n", "A = 2\n", "SHELL = sh\n",
        "check: test\n\t$(A)\n", ".PHONY: test all\n", "all: calc\n", "ifdef A\nA = 3\nendif\n", "include x.mk\n", "# note\n", "\n",
        "define A\nx\nendef\n", "$(info x)\n", "x y: z\n\t$(MAKE) calc\n", "CFLAGS = -O2\n", "a\\\nb: c\n",
    ]),
    max_size=7,
).map("".join)  # fmt: skip


@given(LINES, LINES)
def test_splicing_twice_is_splicing_once(before: str, after: str) -> None:
    once = spliced(after, before)
    assert spliced(before, before) == before
    assert spliced(once, before).split() == once.split()
