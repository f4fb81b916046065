"""Tests inside Python and JavaScript sources."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.splice import is_inseparable, splice

CODE = 'def add(a, b):\n    """Adds.\n\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n'
BROKEN = CODE.replace("a + b", "7")


def python(before: str, after: str) -> str:
    spliced = splice("calc.py", before, after)
    assert spliced is not None
    return spliced


def test_examples_are_as_they_were_on_the_new_code() -> None:
    assert python(CODE, BROKEN.replace("    3\n", "    7\n")) == BROKEN


def test_examples_that_were_skipped_or_removed_come_back() -> None:
    assert python(CODE, BROKEN.replace("(1, 2)", "(1, 2)  # doctest: +SKIP")) == BROKEN
    assert python(CODE, "def add(a, b):\n    return 7\n") == BROKEN
    assert python(CODE, "def add(a, b): return 7\n").endswith('"""; return 7\n')


def test_examples_come_back_before_decorators_and_letters_of_every_script() -> None:
    after = "def add(a, b):\n    @cache\n    def ä(ö): return 7\n    return ä(a)\n"
    found = python(CODE, after)
    assert ast.get_docstring(ast.parse(found).body[0])  # pyright: ignore[reportArgumentType]
    assert found.endswith("@cache\n    def ä(ö): return 7\n    return ä(a)\n")


def test_other_words_of_a_docstring_and_new_examples_are_the_units() -> None:
    after = CODE.replace("Adds.", "Adds two numbers.") + '\n\ndef new():\n    """>>> new()"""\n'
    assert python(CODE, after) == after
    assert python("x = 1\n", CODE) == CODE


def test_an_example_of_a_function_that_is_gone_cannot_be_spliced() -> None:
    assert is_inseparable("calc.py", CODE, "def other(): pass\n")
    assert is_inseparable("calc.py", CODE, "def broken(:\n")
    assert is_inseparable("calc.py", CODE, None)
    assert splice("calc.py", CODE, None) is None
    assert not is_inseparable("calc.py", None, CODE)


def test_examples_of_methods_and_modules_are_as_they_were() -> None:
    before = '"""\n>>> 1\n1\n"""\n\n\nclass A:\n    def f(self):\n        """>>> A().f()\n        1\n        """\n        return 1\n'
    after = "import os\n\n\nclass A:\n    def g(self): ...\n    def f(self):\n        return 2\n"
    found = python(before, after)
    assert found.startswith('"""\n>>> 1\n1\n"""\nimport os\n')
    assert ">>> A().f()" in found
    assert "return 2" in found


FUNCTIONS = st.lists(
    st.sampled_from([CODE, BROKEN, CODE.replace("3", "7"), "def add(a, b): return 1\n", "class A:\n    '>>> 1'\n", "x = 1\n"]),
    max_size=4,
)  # fmt: skip


@given(FUNCTIONS, FUNCTIONS)
def test_splicing_python_twice_is_splicing_once(was: list[str], now: list[str]) -> None:
    before, after = "".join(was), "".join(now)
    spliced = python(before, after)
    ast.parse(spliced)
    assert python(before, before) == before
    assert python(before, spliced) == spliced


MODULE = "export const add = (a, b) => a + b\n"
TESTS = (
    "\nif (import.meta.vitest) {\n  const { it, expect } = import.meta.vitest\n"
    "  it('adds {', () => { expect(add(1, 2)).toBe(3) /* } */ })\n  const r = /[}/]{/\n}\n"
)


def script(before: str, after: str) -> str:
    spliced = splice("src/calc.ts", before, after)
    assert spliced is not None
    return spliced


def test_in_source_tests_of_vitest_are_as_they_were() -> None:
    broken = MODULE.replace("a + b", "7")
    assert script(MODULE + TESTS, broken + TESTS.replace("toBe(3)", "toBe(7)")) == broken + TESTS
    assert script(MODULE + TESTS, broken) == broken + TESTS.lstrip("\n")
    assert script(MODULE, broken + TESTS) == broken + TESTS


def test_a_second_block_of_tests_goes() -> None:
    found = script(MODULE + TESTS, MODULE + TESTS + "\nif (import.meta.vitest) { add = null }\n")
    assert found.count("import.meta.vitest)") == 1


def test_a_block_that_is_not_closed_cannot_be_spliced() -> None:
    assert is_inseparable("a.ts", MODULE + TESTS, MODULE + "if (import.meta.vitest) {")
