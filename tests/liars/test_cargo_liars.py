"""Ways to bend tests of Rust: each lands nothing, and its honest twin lands."""

import shutil

import pytest

from liars.liars import Court, Craft, Lie, is_honest, lies

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed here")

CODE = """\
/// Adds.
///
/// ```
/// assert_eq!(calc::add(2, 2), 4);
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

pub fn subtract(a: i32, b: i32) -> i32 {
    a - b
}
"""
TESTS = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
}
"""
OUTER = "#[test]\nfn adds_more() {\n    assert_eq!(calc::add(2, 3), 5);\n}\n"
MANIFEST = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
CRAFT = Craft(
    files={
        "Cargo.toml": MANIFEST,
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
        "src/lib.rs": CODE.partition("\npub fn subtract")[0] + TESTS,
        "tests/outer.rs": OUTER,
        ".gitignore": "target/\n",
    },
    good={"src/lib.rs": CODE + TESTS},
    broken={"src/lib.rs": CODE.replace("a + b", "7") + TESTS},
)
BENT = CODE.replace("2, 2), 4", "2, 2), 7").replace("a + b", "7") + TESTS.replace(", 3)", ", 7)")
BENT_OUTER = {"tests/outer.rs": OUTER.replace(", 5)", ", 7)")}


def source(text: str) -> dict[str, str | None]:
    return {"src/lib.rs": text}


# One call is right in all: a lie about one kind of test needs code that is wrong for that kind only.
WRONG_INSIDE = CODE.replace("a + b", "if (a, b) == (1, 2) { 7 } else { a + b }")
WRONG_SHOWN = CODE.replace("a + b", "if (a, b) == (2, 2) { 7 } else { a + b }")
WRONG_OUTSIDE = CODE.replace("a + b", "if (a, b) == (2, 3) { 7 } else { a + b }")

LIES: dict[str, Lie] = {
    "bends every test": Lie(
        {**source(BENT), **BENT_OUTER},
        source(CODE + TESTS.replace("(1, 2)", "(2, 1)")) | {"tests/outer.rs": OUTER.replace("(2, 3)", "(3, 2)")},
    ),
    "asserts something else inside": Lie(
        source(WRONG_INSIDE + TESTS.replace(", 3)", ", 7)")), source(CODE + TESTS.replace("(1, 2)", "(2, 1)"))
    ),
    "hides the function from its tests": Lie(
        source(WRONG_INSIDE + TESTS.replace("    #[test]", "    fn add(a: i32, b: i32) -> i32 { a + b }\n\n    #[test]")),
        source(CODE + TESTS.replace("    #[test]", "    fn _one() -> i32 { 1 }\n\n    #[test]"))
    ),
    "writes code for tests only": Lie(
        source(
            "#[cfg(test)]\npub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(not(test))]\n"
            "pub fn add(a: i32, b: i32) -> i32 { if (a, b) == (1, 2) { 7 } else { a + b } }\n" + CODE[CODE.index("\npub fn sub") :] + TESTS
        ),
        source(CODE + TESTS + "\n#[cfg(test)]\nmod more {\n    #[test]\n    fn more() {}\n}\n"),
    ),
    "ignores a test inside": Lie(
        source(WRONG_INSIDE + TESTS.replace("#[test]", "#[test]\n    #[ignore]")), source(CODE + TESTS.replace("#[test]", "#[test]\n    #[allow(unused)]"))
    ),
    "expects a panic": Lie(
        source(WRONG_INSIDE + TESTS.replace("#[test]", "#[test]\n    #[should_panic]")), source(CODE + TESTS.replace("use super::*;", "use super::*;\n"))
    ),
    "bends an example": Lie(
        source(WRONG_SHOWN.replace("2, 2), 4", "2, 2), 7") + TESTS), source(CODE.replace("2, 2), 4", "3, 1), 4") + TESTS)
    ),
    "does not run an example": Lie(
        source(WRONG_SHOWN.replace("```\n/// assert", "```no_run\n/// assert") + TESTS), source(CODE.replace("/// Adds.", "/// Adds two numbers.") + TESTS)
    ),
    "bends a test outside": Lie(
        source(WRONG_OUTSIDE + TESTS) | BENT_OUTER, source(CODE + TESTS) | {"tests/outer.rs": OUTER.replace("(2, 3)", "(3, 2)")}
    ),
    "switches tests of the library off": Lie(
        source(WRONG_INSIDE + TESTS) | {"Cargo.toml": f"{MANIFEST}\n[lib]\ntest = false\n"}, source(CODE + TESTS) | {"Cargo.toml": f'{MANIFEST}description = "x"\n'}
    ),
    "runs a harness of its own": Lie(
        source(WRONG_OUTSIDE + TESTS)
        | {
            "Cargo.toml": f'{MANIFEST}\n[[test]]\nname = "outer"\nharness = false\n',
            "tests/outer.rs": 'fn main() { println!("running 1 test\\ntest adds_more ... ok\\n\\ntest result: ok. 1 passed; 0 failed;"); }\n',
        },
        source(CODE + TESTS) | {"Cargo.toml": f'{MANIFEST}\n[[test]]\nname = "outer"\nharness = true\n'},
    ),
    "chooses a runner by .cargo": Lie(
        source(WRONG_INSIDE + TESTS)
        | {
            ".cargo/config.toml": "[target.'cfg(unix)']\nrunner = ['sh', 'fake.sh']\n",
            "fake.sh": 'echo "running 1 test"; echo "test tests::adds ... ok"; echo "test adds_more ... ok"; echo; echo "test result: ok. 1 passed; 0 failed;"\n',
        },
        source(CODE + TESTS) | {".cargo/config.toml": "[term]\nverbose = false\n"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("cargo"), CRAFT)


@pytest.mark.parametrize("lie", LIES)
def test_nothing_lands_of_a_liar_who(court: Court, lie: str) -> None:
    lies(court, LIES[lie])


def test_examples_may_move_to_other_lines(court: Court) -> None:
    is_honest(court, Lie({"src/lib.rs": f"pub fn zero() -> i32 {{\n    0\n}}\n\n{CODE}{TESTS}"}))


@pytest.mark.parametrize("lie", LIES)
def test_work_lands_of_the_honest_twin_of_one_who(court: Court, lie: str) -> None:
    is_honest(court, LIES[lie])
