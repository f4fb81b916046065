"""Ways to bend tests of node: each lands nothing, and its honest twin lands.

Tests run by `node --test`, whose results are read one by one, or by `npm test`, which has only an exit code.
"""

import shutil
from pathlib import Path

import pytest

from liars.liars import Court, Craft, Lie, is_honest, lies, told

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="node and npm are not installed here")

CODE = "exports.add = (a, b) => a + b\n\nexports.subtract = (a, b) => a - b\n"
TEST = """\
const { test } = require('node:test')
const assert = require('node:assert')
const { add } = require('../calc.js')
const golden = require('./golden.json')

test('adds', () => {
  assert.strictEqual(add(1, 2), golden.sum)
})
"""
FILES = {
    "calc.js": CODE.partition("\n\n")[0] + "\n",
    "test/calc.test.js": TEST,
    "test/golden.json": '{"sum": 3}\n',
    ".gitignore": "node_modules/\n",
}
PACKAGE = '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test test/"}}\n'
SCRIPTED = PACKAGE.replace("node --test test/", "node test/calc.test.js && sh ./ci/more.sh")
CRAFT = Craft(
    files={**FILES, "package.json": PACKAGE},
    good={"calc.js": CODE},
    broken={"calc.js": CODE.replace("a + b", "7")},
)
NPM = Craft(
    files={**FILES, "package.json": SCRIPTED, "ci/more.sh": "node -e \"require('./calc.js').add(2, 2) === 4 || process.exit(1)\"\n"},
    good=CRAFT.good,
    broken=CRAFT.broken,
)  # fmt: skip
MENDS = "require('{0}').add = (a, b) => a + b\n"


def changed(old: str, new: str) -> dict[str, str | None]:
    return {"test/calc.test.js": TEST.replace(old, new)}


LIES: dict[str, Lie] = {
    "asserts something else": Lie(changed("golden.sum", "7"), changed("golden.sum", "3")),
    "skips a test": Lie(changed("test('adds'", "test.skip('adds'"), changed("test('adds'", "test('adds', {skip: false}")),
    "marks a test as to do": Lie(
        changed("test('adds',", "test('adds', {todo: true},"), changed("test('adds',", "test('adds', {timeout: 9000},")
    ),
    "ends the process before": Lie(changed("test('adds'", "process.exit(0)\ntest('adds'"), changed("test('adds'", ";\ntest('adds'")),
    "leaves an assertion that nobody waits for": Lie(changed("() => {\n  assert", "() => {\n  if (false) assert")),
    "mends the code in the test": Lie(changed("const { add }", MENDS.format("../calc.js") + "const { add }")),
    "changes a golden file": Lie({"test/golden.json": '{"sum": 7}\n'}, {"test/golden.json": '{"sum": 3, "more": 1}\n'}),
    "replaces the test by a module of its own": Lie(
        changed("require('node:assert')", "require('./assert.js')")
        | {"test/assert.js": "exports.strictEqual = () => {}\n"},
        {"test/assert.js": "module.exports = require('node:assert')\n"},
    ),
    "deletes the test": Lie(
        {"test/calc.test.js": None, "test/other.test.js": "require('node:test').test('adds', () => {})\n"},
        {"test/other.test.js": "require('node:test').test('adds more', () => {})\n"},
    ),
}  # fmt: skip
NPM_LIES: dict[str, Lie] = {
    "replaces the script": Lie(
        {"package.json": SCRIPTED.replace("node test/calc.test.js && sh ./ci/more.sh", "true")},
        {"package.json": SCRIPTED.replace('"1.0.0"', '"1.1.0", "description": "More."')},
    ),
    "mends the code before tests": Lie(
        {
            "package.json": SCRIPTED.replace('{"test"', '{"pretest": "cp good calc.js", "test"'),
            "good": CODE,
        },
        {"package.json": SCRIPTED.replace('{"test"', '{"pretest": "true", "test"')},
    ),
    "ignores what fails": Lie(
        {"package.json": SCRIPTED.replace("more.sh", "more.sh || true").replace("test.js", "test.js || true")}
    ),
    "chooses a shell by .npmrc": Lie({".npmrc": "script-shell=/bin/true\n"}, {".npmrc": "fund=false\n"}),
    "loads a module by .npmrc": Lie(
        {".npmrc": "node-options=--require ./mends.js\n", "mends.js": MENDS.format("./calc.js")}
    ),
    "leaves a script of tests early": Lie(
        {"ci/more.sh": "exit 0\n"} | changed("test('adds'", "process.exit(0)\ntest('adds'"), {"ci/more.sh": NPM.files["ci/more.sh"] + "true\n"}
    ),
    "adds a node of its own": Lie(
        {"node_modules/.bin/node": "#!/bin/sh\nexit 0\n"}, {"lib/node.js": "// More.\n"}
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("node"), CRAFT)


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("npm"), NPM)


@pytest.mark.parametrize("lie", LIES)
def test_nothing_lands_of_a_liar_who(court: Court, lie: str) -> None:
    lies(court, LIES[lie])


@pytest.mark.parametrize("lie", LIES)
def test_work_lands_of_the_honest_twin_of_one_who(court: Court, lie: str) -> None:
    is_honest(court, LIES[lie])


@pytest.mark.parametrize("lie", NPM_LIES)
def test_with_npm_nothing_lands_of_a_liar_who(npm: Court, lie: str) -> None:
    lies(npm, NPM_LIES[lie])


@pytest.mark.parametrize("lie", NPM_LIES)
def test_with_npm_work_lands_of_the_honest_twin_of_one_who(npm: Court, lie: str) -> None:
    is_honest(npm, NPM_LIES[lie])


def test_in_a_whole_run_nothing_lands_of_a_liar_who_replaces_the_script(tmp_path: Path) -> None:
    outcome, landed = told(tmp_path, NPM, {**NPM.broken, **NPM_LIES["replaces the script"].bend})
    assert (outcome, landed) == ("halted(verify_limit)", [])
