"""Tests inside Rust sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.splice import is_inseparable, splice

CODE = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"
BROKEN = CODE.replace("a + b", "7")
TESTS = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n"
DOCUMENTED = (
    "//! A calculator.\n\n/// Adds.\n///\n/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\n#[inline]\n"
    + CODE
)


def rust(before: str, after: str) -> str:
    spliced = splice("src/lib.rs", before, after)
    assert spliced is not None
    return spliced


def test_changed_tests_are_as_they_were_on_the_new_code() -> None:
    assert (
        rust(CODE + TESTS, BROKEN + TESTS.replace("== 3", "== 7").replace(", 3)", ", 7)")) == BROKEN + TESTS
    )


def test_removed_tests_come_back() -> None:
    assert TESTS.rstrip() in rust(CODE + TESTS, BROKEN)


def test_code_that_changes_alone_is_left_alone() -> None:
    assert rust(CODE + TESTS, BROKEN + TESTS) == BROKEN + TESTS


def test_new_tests_are_left_alone_where_there_were_none() -> None:
    assert rust(CODE, BROKEN + TESTS) == BROKEN + TESTS


def test_code_for_tests_only_is_taken_out() -> None:
    double = "#[cfg(test)]\npub fn add(a: i32, b: i32) -> i32 { a + b }\n#[cfg(not(test))]\n" + BROKEN
    assert rust(CODE + TESTS, double + TESTS).count("fn add(") == 1
    assert rust(CODE, double).count("fn add(") == 1
    in_impl = "struct A;\n#[cfg(test)]\nimpl A { fn f() {} }\n"
    assert "impl" not in rust("struct A;\n", in_impl)


@pytest.mark.parametrize(
    "attribute", ["#[cfg(all(test, unix))]", '#[cfg(any(test, feature = "x"))]', "#[test]", "#[tokio::test]"]
)  # fmt: skip
def test_items_for_tests_are_known_by_their_attributes(attribute: str) -> None:
    before = f"{CODE}{attribute}\nfn checks() {{ assert!(true) }}\n"
    assert rust(before, before.replace("true", "1 == 1").replace("a + b", "7")) == before.replace(
        "a + b", "7"
    )


@pytest.mark.parametrize(
    "trap",
    [
        'const A: &str = "#[cfg(test)] mod tests {";\n',
        'const A: &str = r#"}"}"#;\n',
        "const A: char = '{';\nconst B: char = '\\'';\n",
        "fn life<'a>(x: &'a str) -> &'a str { x }\n",
        "/* { /* nested { */ } */\n",
        "// #[cfg(test)] mod tests {\n",
        "use std::{fmt, io::{self, Read}};\n",
        "const N: [u8; 2] = [1, 2];\nstatic S: &[u8] = &[b'{'];\n",
        "macro_rules! twice { ($x:expr) => { $x * 2 }; }\n",
        "pub struct P { pub x: i32 }\nimpl P { fn f(&self) -> i32 { self.x } }\n",
        'type T = fn(i32) -> i32;\nextern "C" { fn c(); }\n',
        "const fn k() -> i32 { 3 }\npub const V: i32 = { 3 };\n",
        "#![allow(dead_code)]\n",
    ],
)
def test_tests_are_found_behind(trap: str) -> None:
    assert rust(trap + CODE + TESTS, trap + BROKEN + TESTS.replace("3", "7")) == trap + BROKEN + TESTS


def test_tests_in_a_module_or_an_implementation_stay_inside() -> None:
    before = f"pub mod inner {{\n{CODE}{TESTS}}}\nstruct A;\nimpl A {{\n    #[cfg(test)]\n    fn new() -> A {{ A }}\n}}\n"
    after = f"pub mod inner {{\n{BROKEN}}}\nstruct A;\nimpl A {{\n    fn old() {{}}\n}}\n"
    found = rust(before, after)
    assert found.index("mod tests") < found.index("struct A")
    assert found.index("fn new") > found.index("fn old")
    assert not is_inseparable("a.rs", before, after)


def test_a_test_whose_block_is_gone_cannot_be_spliced() -> None:
    before = f"mod inner {{\n{TESTS}}}\n"
    assert is_inseparable("a.rs", before, CODE)
    assert splice("a.rs", before, CODE) == CODE


def test_examples_in_documentation_are_as_they_were() -> None:
    bent = DOCUMENTED.replace(", 3)", ", 7)").replace("a + b", "7")
    assert rust(DOCUMENTED, bent) == DOCUMENTED.replace("a + b", "7")
    ignored = DOCUMENTED.replace("```\n/// assert", "```ignore\n/// assert")
    assert rust(DOCUMENTED, ignored) == DOCUMENTED


def test_examples_that_were_removed_come_back() -> None:
    found = rust(DOCUMENTED, "//! A calculator.\n\n#[inline]\n" + BROKEN)
    assert found == DOCUMENTED.replace("a + b", "7")


def test_examples_of_the_whole_file_are_as_they_were() -> None:
    head = "//! Adds.\n//!\n//! ```\n//! assert!(true);\n//! ```\n"
    assert rust(head + CODE, "use std::io;\n" + BROKEN).count("//! assert!(true);") == 1
    assert rust(head + CODE, head.replace("true", "1 == 1") + BROKEN) == head + BROKEN


def test_other_words_of_documentation_are_the_units() -> None:
    after = DOCUMENTED.replace("Adds.", "Adds two numbers.")
    assert rust(DOCUMENTED, after) == after


def test_brackets_that_are_not_closed_cannot_be_spliced() -> None:
    assert is_inseparable("a.rs", CODE + TESTS, "fn add() { {")
    assert splice("a.rs", CODE + TESTS, "fn add() { {") == "fn add() { {"


PIECES = st.lists(
    st.sampled_from([
        CODE, BROKEN, TESTS, TESTS.replace("adds", "other"), "#[test]\nfn one() {}\n", "#[test]\nfn one() { panic!() }\n",
        DOCUMENTED[20:], "impl A {\n    #[cfg(test)]\n    fn x() {}\n}\n", "impl A {}\n", "use a::b;\n", "// note\n",
    ]),
    max_size=6,
)  # fmt: skip


@given(PIECES, PIECES)
def test_splicing_twice_is_splicing_once(was: list[str], now: list[str]) -> None:
    before, after = "".join(was), "".join(now)
    spliced = rust(before, after)
    assert rust(before, before) == before
    if not is_inseparable("a.rs", before, after):
        assert rust(before, spliced) == spliced
        assert not is_inseparable("a.rs", before, spliced)
