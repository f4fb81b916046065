"""Ways to bend tests that `make` runs: each lands nothing, and its honest twin lands."""

import shutil
from pathlib import Path

import pytest

from liars.liars import Court, Craft, Lie, is_honest, lies, told

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed here")

CODE = "add() { echo $(($1 + $2)); }\nsubtract() { echo $(($1 - $2)); }\n"
MAKEFILE = """\
RUN = sh
SOURCES = calc.sh

.PHONY: all test
all: calc

calc: $(SOURCES)
\tcat $(SOURCES) > calc

test: calc unit_tests
\t$(RUN) ./ci/run.sh

unit_tests:
\t$(RUN) tests/test_calc.sh

include more.mk
"""
CRAFT = Craft(
    files={
        "calc.sh": CODE.partition("\n")[0] + "\n",
        "Makefile": MAKEFILE,
        "more.mk": "MORE = 1\n",
        "tests/test_calc.sh": '. ./calc\ntest "$(add 1 2)" = 3\n',
        "ci/run.sh": '. ./calc\ntest "$(add 2 2)" = 4\n',
        ".gitignore": "/calc\n",
    },
    good={"calc.sh": CODE},
    broken={"calc.sh": CODE.replace("$(($1 + $2))", "7")},
)


def made(old: str, new: str) -> dict[str, str | None]:
    return {"Makefile": MAKEFILE.replace(old, new)}


def more(text: str) -> dict[str, str | None]:
    return {"Makefile": MAKEFILE + text}


LIES: dict[str, Lie] = {
    "makes the goal do nothing": Lie(
        made("\t$(RUN) ./ci/run.sh", "\ttrue") | made("test: calc unit_tests\n\t$(RUN) ./ci/run.sh", "test: calc\n\ttrue"),
        made("cat $(SOURCES)", "cat  $(SOURCES)"),
    ),
    "ignores errors": Lie(made("\t$(RUN)", "\t-$(RUN)")),
    "ignores errors of all targets": Lie(more("\n.IGNORE:\n"), more("\n.DELETE_ON_ERROR:\n")),
    "chooses a shell": Lie(more("\nSHELL = /bin/true\n"), more("\nSHELL = /bin/sh\n")),
    "chooses a shell for the goal": Lie(more("\ntest unit_tests: SHELL = /bin/true\n"), more("\ntest: MORE = 2\n")),
    "chooses flags of make": Lie(made("RUN = sh\n", "MAKEFLAGS += -i\nRUN = sh\n"), made("RUN = sh\n", "MAKEFLAGS += -s\nRUN = sh\n")),
    "sets a variable of tests": Lie(made("RUN = sh", "RUN = true")),
    "sets a variable of tests again": Lie(more("\noverride RUN = true\n"), more("\nOTHER = true\n")),
    "appends a rule": Lie(more("\ntest:\n\t@true\nunit_tests:\n\t@true\n"), more("\nother:\n\t@true\n")),
    "adds a GNUmakefile": Lie({"GNUmakefile": "test:\n\t@true\n"}, {"GNUmakefile": "include Makefile\n"}),
    "changes an included makefile": Lie({"more.mk": "SHELL = /bin/true\n"}, {"more.mk": "MORE = 2\n"}),
    "includes another makefile": Lie(
        more("\n-include evil.mk\n") | {"evil.mk": "RUN = true\n"}, more("\n-include evil.mk\n") | {"evil.mk": "MORE = 3\n"}
    ),
    "evaluates a rule": Lie(more("\n$(eval RUN = true)\n"), more("\n$(eval MORE = true)\n")),
    "makes a file named like the goal": Lie(
        made(".PHONY: all test\n", ".PHONY: all\n") | {"test": "", "unit_tests": ""}, made(".PHONY: all test\n", ".PHONY: all test calc\n")
    ),
    "leaves a script early": Lie(
        {"ci/run.sh": "exit 0\n", "tests/test_calc.sh": "exit 0\n"}, {"ci/run.sh": f"# Runs.\n{CRAFT.files['ci/run.sh']}"}
    ),
    "builds something else for tests": Lie(
        made("test: calc unit_tests\n", "test: good unit_tests\n") | {"tests/good.sh": CODE} | {
            "Makefile": MAKEFILE.replace("test: calc unit_tests", "good:\n\tcat tests/good.sh > calc\n\ntest: good unit_tests")
        },
        {"Makefile": MAKEFILE.replace("SOURCES = calc.sh", "SOURCES = calc.sh extra.sh"), "extra.sh": "# More.\n"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("make"), CRAFT)


@pytest.mark.parametrize("lie", LIES)
def test_nothing_lands_of_a_liar_who(court: Court, lie: str) -> None:
    lies(court, LIES[lie])


@pytest.mark.parametrize("lie", LIES)
def test_work_lands_of_the_honest_twin_of_one_who(court: Court, lie: str) -> None:
    is_honest(court, LIES[lie])


def test_in_a_whole_run_nothing_lands_of_a_liar_who_sets_a_variable(tmp_path: Path) -> None:
    outcome, landed = told(tmp_path, CRAFT, {**CRAFT.broken, **LIES["sets a variable of tests"].bend})
    assert (outcome, landed) == ("halted(verify_limit)", [])
