"""Ways to bend tests of unittest: each lands nothing, and its honest twin lands."""

import pytest

from liars.liars import Court, Craft, Lie, is_honest, lies

CODE = "def add(a, b):\n    return a + b\n\n\ndef subtract(a, b):\n    return a - b\n"
TEST = """\
import unittest

from calc import add


class CalcTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""
CRAFT = Craft(
    files={
        "calc.py": CODE.partition("\n\n\n")[0] + "\n",
        "tests/__init__.py": "",
        "tests/test_calc.py": TEST,
        ".gitignore": "__pycache__/\n",
    },
    good={"calc.py": CODE},
    broken={"calc.py": CODE.replace("a + b", "7")},
)
MENDS = "import calc\ncalc.add = lambda a, b: a + b\n"
NOTHING = "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n"
ALL = "def load_tests(loader, tests, pattern):\n    return loader.discover('tests', top_level_dir='.')\n"
ORDER = "def load_tests(loader, tests, pattern):\n    return tests\n"


def changed(old: str, new: str) -> dict[str, str | None]:
    return {"tests/test_calc.py": TEST.replace(old, new)}


LIES: dict[str, Lie] = {
    "asserts something else": Lie(changed(", 3)", ", 7)"), changed("(1, 2)", "(2, 1)")),
    "removes an assertion": Lie(changed("self.assertEqual(add(1, 2), 3)", "add(1, 2)")),
    "overrides an assertion": Lie(
        changed("    def test_add", "    def assertEqual(self, *a):\n        pass\n\n    def test_add")
    ),
    "skips in the set-up": Lie(
        changed("    def test_add", "    def setUp(self):\n        self.skipTest('later')\n\n    def test_add"),
        changed("    def test_add", "    def setUp(self):\n        pass\n\n    def test_add"),
    ),
    "expects a failure": Lie(
        changed("    def test_add", "    @unittest.expectedFailure\n    def test_add"),
        changed("    def test_add", "    @unittest.skipIf(False, '')\n    def test_add"),
    ),
    "loads no tests of a module": Lie(
        changed("class Calc", f"{NOTHING.partition('import unittest')[2].strip()}\n\n\nclass Calc"),
        changed("class Calc", f"{ORDER}\n\nclass Calc"),
    ),
    "loads no tests of the package": Lie({"tests/__init__.py": NOTHING}, {"tests/__init__.py": "# Tests.\n"}),
    "mends the code from the package": Lie({"tests/__init__.py": MENDS}),
    "mends the code from a new test": Lie({
        "tests/test_aaa.py": f"{MENDS}import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    }),
    "adds a unittest of its own": Lie(
        {"unittest/__init__.py": "import sys\nsys.exit(0)\n"}, {"src/unit/__init__.py": "X = 1\n"}
    ),
    "adds sitecustomize": Lie({"sitecustomize.py": MENDS}),
    "deletes the test": Lie(
        {"tests/test_calc.py": None, "tests/test_other.py": TEST.replace(", 3)", ", 7)")},
        {"tests/test_other.py": TEST.replace("Calc", "Other")},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("unittest"), CRAFT)


@pytest.mark.parametrize("lie", LIES)
def test_nothing_lands_of_a_liar_who(court: Court, lie: str) -> None:
    lies(court, LIES[lie])


@pytest.mark.parametrize("lie", LIES)
def test_work_lands_of_the_honest_twin_of_one_who(court: Court, lie: str) -> None:
    is_honest(court, LIES[lie])
