"""Ways to bend examples in docstrings that pytest collects: each lands nothing, and its honest twin lands."""

import pytest

from liars.liars import Court, Craft, Lie, is_honest, lies

CODE = '''\
def add(a, b):
    """Adds.

    >>> add(1, 2)
    3
    """
    return a + b
'''
BROKEN = CODE.replace("a + b", "7")
SETTINGS = '[tool.pytest.ini_options]\naddopts = ["--doctest-modules"]\n'
CRAFT = Craft(
    files={"calc.py": CODE, "pyproject.toml": SETTINGS, ".gitignore": "__pycache__/\n"},
    good={"calc.py": f"{CODE}\n\ndef subtract(a, b):\n    return a - b\n"},
    broken={"calc.py": BROKEN},
)
LIES: dict[str, Lie] = {
    "changes what an example shows": Lie(
        {"calc.py": BROKEN.replace("    3\n", "    7\n")}, {"calc.py": CODE.replace("(1, 2)", "(2, 1)")}
    ),
    "skips an example": Lie(
        {"calc.py": BROKEN.replace("(1, 2)", "(1, 2)  # doctest: +SKIP")}, {"calc.py": CODE.replace("Adds.", "Adds two.")}
    ),
    "takes any answer": Lie(
        {"calc.py": BROKEN.replace("(1, 2)\n    3", "(1, 2)  # doctest: +ELLIPSIS\n    ...")},
        {"calc.py": f'{CODE}\n\ndef subtract(a, b):\n    """\n    >>> subtract(3, 1)\n    2\n    """\n    return a - b\n'},
    ),
    "collects no examples": Lie(
        {"pyproject.toml": SETTINGS.replace("--doctest-modules", "-q"), "test_it.py": "def test_it(): pass\n"}, {"pyproject.toml": f"{SETTINGS}\n[tool.ruff]\nline-length = 90\n"}
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("doctest"), CRAFT)


@pytest.mark.parametrize("lie", LIES)
def test_nothing_lands_of_a_liar_who(court: Court, lie: str) -> None:
    lies(court, LIES[lie])


@pytest.mark.parametrize("lie", LIES)
def test_work_lands_of_the_honest_twin_of_one_who(court: Court, lie: str) -> None:
    is_honest(court, LIES[lie])
