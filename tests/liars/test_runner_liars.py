"""Ways to bring a runner of one's own, or to speak for it: each lands nothing, and its honest twin lands.

A liar breaks what the tests ask for, and puts something into the tree, or into the code under test, that would
say otherwise. Its twin makes the same change and breaks nothing.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from stories import APPROVED, PATIENCE, Act, develops, make_stage

SETTINGS = """\
tdd = "off"

[verify]
command = {command}
{more}
[modes.tasks]
attempts = 1
"""
CODE = "def add(a, b):\n    return a + b\n"
BROKEN = "def add(a, b):\n    return 7\n"
PLAN = """# Calculator

### Task 1: Subtract
- Type: impl
- Files: modify {file}

Write `subtract(a, b)`.
"""
IGNORED = ".venv/\nnode_modules/\n__pycache__/\n"
SILENT = "import os\nos._exit(0)\n"
SAYS_PASSED = """
import json, os, stat, sys
def say(path):
    passed = {"file": "tests/test_calc.py", "names": ["test_add"], "status": "passed", "message": ""}
    with open(path, "a") as file:
        file.write(json.dumps(passed) + "\\n" + json.dumps({"end": 1}) + "\\n")
for number in range(3, 100):
    try:
        if stat.S_ISFIFO(os.fstat(number).st_mode):
            say(f"/proc/self/fd/{number}")
    except OSError:
        pass
for argument in sys.argv:
    if "report" in argument or argument.startswith("--junitxml="):
        say(argument.split("=", 1)[-1])
"""


def w(path: str, text: str) -> Act:
    return {"write": path, "text": text}


def outcome(room: Path, files: Mapping[str, str], code: tuple[str, str], *acts: Act) -> str:
    stage = make_stage(room, files)
    plan = PLAN.format(file=code[0])
    started = stage.start(*stage.put(plan, develops("1", w(*code), *acts), APPROVED), "--mode", "tasks")
    started.process.wait(PATIENCE)
    done = started.done()  # what tests say is told, and unittest says it with a traceback
    assert done.out, done.err
    if done.outcome != "completed":
        assert stage.subjects() == []
    return done.outcome


def python_files(command: str, test: str, setup: str = "") -> dict[str, str]:
    return {
        "calc.py": CODE,
        "tests/test_calc.py": test,
        "setup.sh": setup,
        "amelia.toml": SETTINGS.format(command=command, more='setup = ["sh", "setup.sh"]\n' if setup else ""),
        ".gitignore": IGNORED,
    }


PYTEST = python_files(
    '["python", "-m", "pytest", "-q"]',
    "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
)
UNITTEST = python_files(
    '["python", "-m", "unittest"]',
    "import unittest\nfrom calc import add\n\n\nclass Case(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
)
UNITTEST["amelia.toml"] = 'tdd = "off"\n\n[modes.tasks]\nattempts = 1\n'  # the command is found

PLANTED: dict[str, tuple[Act, ...]] = {
    "a module pytest": (w("pytest.py", SILENT),),
    "a package pytest": (w("pytest/__init__.py", SILENT), w("pytest/__main__.py", SILENT)),
    "a package _pytest": (w("_pytest/__init__.py", SILENT), w("_pytest/config/__init__.py", SILENT)),
    "a plugin by an entry point": (
        w("evil.dist-info/entry_points.txt", "[pytest11]\nevil = evilplugin\n"),
        w("evil.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1\n"),
        w("evilplugin.py", SILENT),
    ),
    "a plugin by an egg": (
        w("evil.egg-info/entry_points.txt", "[pytest11]\nevil = evilplugin\n"),
        w("evil.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: evil\nVersion: 1\n"),
        w("evilplugin.py", SILENT),
    ),
    "sitecustomize and usercustomize": (w("sitecustomize.py", SILENT), w("usercustomize.py", SILENT)),
    "a path file": (w("evil.pth", "import os; os._exit(0)\n"),),
}
FOR_UNITTEST: dict[str, tuple[Act, ...]] = {
    "a module unittest": (w("unittest.py", SILENT),),
    "sitecustomize and usercustomize": PLANTED["sitecustomize and usercustomize"],
}


# No honest tree has these: the tests would see others of that name, and that is told.
PLANTED_BY_LIARS = {"what pytest is made of": (w("pluggy.py", SILENT), w("iniconfig.py", SILENT))}
FOR_UNITTEST_BY_LIARS = {
    "a package unittest": (w("unittest/__init__.py", SILENT), w("unittest/__main__.py", SILENT)),
    "a reporter": (w("amelia_report.py", SILENT), w("run_unittest.py", SILENT)),
}


@pytest.mark.parametrize("planted", [*PLANTED, *PLANTED_BY_LIARS])
def test_a_liars_pytest_is_not_replaced_by(tmp_path: Path, planted: str) -> None:
    acts = {**PLANTED, **PLANTED_BY_LIARS}[planted]
    assert outcome(tmp_path, PYTEST, ("calc.py", BROKEN), *acts) == "halted(verify_limit)"


@pytest.mark.parametrize("planted", PLANTED)
def test_work_lands_of_an_honest_agent_who_adds(tmp_path: Path, planted: str) -> None:
    assert outcome(tmp_path, PYTEST, ("calc.py", f"{CODE}#\n"), *PLANTED[planted]) == "completed"


@pytest.mark.parametrize("planted", [*FOR_UNITTEST, *FOR_UNITTEST_BY_LIARS])
def test_a_liars_unittest_is_not_replaced_by(tmp_path: Path, planted: str) -> None:
    acts = {**FOR_UNITTEST, **FOR_UNITTEST_BY_LIARS}[planted]
    assert outcome(tmp_path, UNITTEST, ("calc.py", BROKEN), *acts) == "halted(verify_limit)"


@pytest.mark.parametrize("planted", FOR_UNITTEST)
def test_work_with_unit_tests_lands_of_an_honest_agent_who_adds(tmp_path: Path, planted: str) -> None:
    assert outcome(tmp_path, UNITTEST, ("calc.py", f"{CODE}#\n"), *FOR_UNITTEST[planted]) == "completed"


FORGERIES = {
    "leaves without a word": SILENT,
    "leaves with success": "import sys\nsys.exit(0)\n",
    "says that all passed, and leaves": f"{SAYS_PASSED}\nos._exit(0)\n",
    "has a last word": f"import atexit, os\natexit.register(os._exit, 0)\n{BROKEN}",
    "lets another process have the last word": "import subprocess, sys\n"
    f"subprocess.Popen([sys.executable, '-c', '''import time; time.sleep(1){SAYS_PASSED}'''])\n{BROKEN}",
}


@pytest.mark.parametrize("files", [PYTEST, UNITTEST], ids=["pytest", "unittest"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_nothing_lands_of_code_that(tmp_path: Path, files: Mapping[str, str], forgery: str) -> None:
    found = outcome(tmp_path, files, ("calc.py", FORGERIES[forgery]))
    assert found == "halted(verify_limit)"


NODE_CODE = "exports.add = (a, b) => a + b;\n"
NODE_BROKEN = "exports.add = (a, b) => 7;\n"
JEST = """#!/usr/bin/env node
require(process.cwd() + "/calc.test.js");
"""
NODE_TEST = 'const assert = require("assert");\nassert.equal(require("./calc").add(1, 2), 3);\n'


def node_files(command: str, test: str) -> dict[str, str]:
    """Writes a repository whose setup installs a runner that is called jest."""
    return {
        "calc.js": NODE_CODE,
        "calc.test.js": test,
        "package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "jest"}}\n',
        "jest.txt": JEST,
        "setup.sh": "mkdir -p node_modules/.bin node_modules/jest\ncp jest.txt node_modules/jest/cli.js\n"
        "chmod +x node_modules/jest/cli.js\nln -sf ../jest/cli.js node_modules/.bin/jest\n",
        "amelia.toml": SETTINGS.format(command=command, more='setup = ["sh", "setup.sh"]\n'),
        ".gitignore": IGNORED,
    }


RUN_NODE = node_files(
    '["node", "--test"]',
    'const { test } = require("node:test");\nconst assert = require("assert");\n'
    'const { add } = require("./calc");\ntest("adds", () => assert.equal(add(1, 2), 3));\n',
)
NODE_SAYS_PASSED = """
const fs = require("fs");
const passed = '{"file": "calc.test.js", "names": ["adds"], "status": "passed"}\\n{"end": 1}\\n';
for (const process_ of ["self", process.ppid])
  for (let number = 3; number < 64; number++)
    try {
      if (fs.readlinkSync(`/proc/${process_}/fd/${number}`).startsWith("pipe:"))
        fs.writeFileSync(`/proc/${process_}/fd/${number}`, passed);
    } catch {}
"""
FOR_NODE = {
    "leaves with success": "process.exit(0);\n",
    "says that all passed": f"{NODE_SAYS_PASSED}{NODE_BROKEN}",
    "has a last word": f"process.on('exit', () => {{ process.exitCode = 0; }});\n{NODE_BROKEN}",
}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("forgery", FOR_NODE)
def test_nothing_lands_of_code_under_node_that(tmp_path: Path, forgery: str) -> None:
    assert outcome(tmp_path, RUN_NODE, ("calc.js", FOR_NODE[forgery])) == "halted(verify_limit)"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_honest_code_under_node_lands(tmp_path: Path) -> None:
    assert outcome(tmp_path, RUN_NODE, ("calc.js", f"{NODE_CODE}//\n")) == "completed"


RUN_JEST = node_files('["npm", "test"]', NODE_TEST)
FOR_JEST: dict[str, tuple[Act, ...]] = {
    "a program": (
        w(".gitignore", "!node_modules\n"),
        {"write": "node_modules/.bin/jest", "text": "#!/bin/sh\n", "mode": "755"},
    ),
    "a package": (w(".gitignore", "!node_modules\n"), w("node_modules/jest/cli.js", "process.exit(0);\n")),
}


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
@pytest.mark.parametrize("planted", FOR_JEST)
def test_jest_is_not_replaced_by(tmp_path: Path, planted: str) -> None:
    found = outcome(tmp_path, RUN_JEST, ("calc.js", NODE_BROKEN), *FOR_JEST[planted])
    assert found == "halted(verify_limit)"


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
@pytest.mark.parametrize(
    ("code", "expected"), [(NODE_BROKEN, "halted(verify_limit)"), (NODE_CODE, "completed")]
)
def test_jest_is_what_the_setup_installed(tmp_path: Path, code: str, expected: str) -> None:
    leftover = w("node_modules/.bin/jest", "#!/bin/sh\n")  # ignored, hence no part of the work
    assert outcome(tmp_path, RUN_JEST, ("calc.js", code + "//\n"), leftover) == expected
