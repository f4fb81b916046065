"""What runners write becomes results."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.judge.excerpt import excerpt
from amelia.judge.junit import parse_junit
from amelia.judge.results import Unreadable, parse_cargo, parse_go, parse_lines
from amelia.model.evidence import TestResult, TestStatus

PASSED, FAILED, ERROR, SKIPPED = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED


def junit(inside: str) -> tuple[TestResult, ...] | Unreadable:
    text = f'<?xml version="1.0"?><testsuites><testsuite name="s">{inside}</testsuite></testsuites>'
    return parse_junit(text.encode(), root="/tree")


def seen(inside: str) -> list[tuple[str, TestStatus]]:
    results = junit(inside)
    assert not isinstance(results, Unreadable)
    return [(result.id, result.status) for result in results]


def test_a_pytest_case_has_the_name_that_pytest_uses() -> None:
    assert seen(
        '<testcase classname="tests.test_a.TestK.Inner" name="test_m[a.b]" file="tests/test_a.py"/>'
        '<testcase classname="tests.test_a" name="test_f" file="tests/test_a.py"/>'
    ) == [("tests/test_a.py::TestK::Inner::test_m[a.b]", PASSED), ("tests/test_a.py::test_f", PASSED)]


def test_each_kind_of_end_has_its_status() -> None:
    cases = "".join(
        f'<testcase name="{tag}"><{tag} message="why"/></testcase>' for tag in ("failure", "error", "skipped")
    )
    assert [status for _, status in seen(cases)] == [FAILED, ERROR, SKIPPED]


def test_a_module_that_pytest_could_not_collect_is_one_error_with_its_file() -> None:
    results = junit(
        '<testcase classname="" name="tests.test_b" file="tests/test_b.py">'
        '<error message="collection failure">E   ModuleNotFoundError: x</error></testcase>'
    )
    assert results == (
        TestResult(
            "tests/test_b.py", ERROR, "tests/test_b.py", "collection failure\nE   ModuleNotFoundError: x"
        ),
    )
    assert isinstance(results, tuple)
    assert results[0].is_module


def test_cases_of_other_runners_are_named_by_suite_class_and_name() -> None:
    assert seen('<testcase classname="c" name="n"/><testcase name="n" file="/tree/web/a.js"/>') == [
        ("s::c::n", PASSED),
        ("web/a.js::n", PASSED),
    ]


def test_a_suite_may_name_the_file_of_its_cases() -> None:
    results = junit(
        '<testsuite name="inner" file="a.js"><testcase name="n"/></testsuite><testcase name="m"/>'
    )
    assert results == (TestResult("a.js::n", PASSED, "a.js"), TestResult("s::m", PASSED))


def test_a_test_that_is_still_to_do_counts_as_skipped_though_it_fails() -> None:
    assert seen('<testcase name="n"><skipped type="todo"/><failure/></testcase>') == [("s::n", SKIPPED)]


def test_a_failure_outweighs_a_skip() -> None:
    assert seen('<testcase name="n"><skipped/><failure/></testcase>') == [("s::n", FAILED)]


def test_output_that_is_no_message_is_not_kept() -> None:
    results = junit('<testcase name="n"><failure>why</failure><system-out>noise</system-out></testcase>')
    assert isinstance(results, tuple)
    assert results[0].message == "why"


def test_long_messages_keep_their_start_and_their_end() -> None:
    results = junit(f'<testcase name="n"><failure>start{"x" * 200_000}</failure></testcase>')
    assert isinstance(results, tuple)
    assert results[0].message.startswith("start")
    assert len(results[0].message) < 4_100


def test_entities_are_refused() -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "aa">]><testsuites>&a;</testsuites>'
    for data in (bomb, bomb.decode().encode("utf-16")):
        assert isinstance(parse_junit(data, root="/"), Unreadable)
    refused = parse_junit(bomb, root="/")
    assert isinstance(refused, Unreadable)
    assert "document type" in refused.reason


def test_a_document_type_in_a_message_is_only_text() -> None:
    assert seen('<testcase name="n"><failure><![CDATA[<!DOCTYPE html>]]></failure></testcase>') == [
        ("s::n", FAILED)
    ]


@pytest.mark.parametrize("data", [b"", b"<testsuites>", b"no xml", b"<a></b>", b"\xff\xfe\x00"])
def test_what_is_no_xml_is_said_to_be_none(data: bytes) -> None:
    result = parse_junit(data, root="/")
    assert isinstance(result, Unreadable)
    assert "not XML" in result.reason


def test_characters_that_xml_does_not_allow_do_no_harm() -> None:
    assert seen('<testcase name="a\x1b[31m"/>') == [("s::a[31m", PASSED)]


def test_deep_nesting_does_no_harm() -> None:
    depth = 50_000
    assert seen("<testsuite>" * depth + '<testcase name="n"/>' + "</testsuite>" * depth) == [("n", PASSED)]


@given(st.binary(max_size=200))
def test_reading_a_report_never_raises(data: bytes) -> None:
    for parse in (parse_junit, parse_lines):
        result = parse(data, root="/tree")
        assert isinstance(result, tuple | Unreadable)
    text = data.decode(errors="replace")
    assert isinstance(parse_go(text), tuple)
    assert isinstance(parse_cargo(text), tuple)


def lines(*values: object) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def keyed(*values: dict[str, object]) -> bytes:
    return lines({"key": "k"}, *({"key": "k", **value} for value in values))


GOOD: dict[str, object] = {"file": "a", "names": ["n"], "status": "passed", "message": ""}
END: dict[str, object] = {"end": 1}


def test_our_own_reporters_write_a_line_for_each_test_and_their_number() -> None:
    data = keyed(
        {"file": "/tree/a.test.js", "names": ["group", "works"], "status": "passed", "message": ""},
        {"file": "/tree/b.test.js", "names": [], "status": "error", "message": "Cannot find module"},
        {"file": None, "names": ["setUpClass (a.B)"], "status": "error", "message": "x"},
        {"end": 3},
    )
    assert parse_lines(data, root="/tree") == (
        TestResult("a.test.js::group::works", PASSED, "a.test.js"),
        TestResult("b.test.js", ERROR, "b.test.js", "Cannot find module"),
        TestResult("setUpClass (a.B)", ERROR, None, "x"),
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        keyed(),
        keyed(GOOD),
        keyed(GOOD, {"end": 2}),
        keyed({"end": 0}, GOOD),
        keyed(GOOD, END, END),
        keyed(GOOD, END, GOOD),
        keyed(GOOD, END) + lines(END),
        keyed(GOOD, END) + keyed(GOOD, END),
        keyed({"status": "splendid"}, END),
        lines(GOOD, END),
        lines({"key": "k"}, GOOD, {"key": "k", "end": 1}),
        lines({"key": "k"}, {"key": "other", **GOOD}, {"key": "k", "end": 1}),
        b"{",
        b'"\xff"\n',
    ],
)
def test_a_report_that_breaks_off_or_makes_no_sense_is_not_believed(data: bytes) -> None:
    assert isinstance(parse_lines(data, root="/tree"), Unreadable)


# As `go test -json` documents it: a package that passes, one that fails, one that cannot be built.
GO = r"""
{"Time":"2025-01-01T00:00:00Z","Action":"start","Package":"example.com/m"}
{"Action":"run","Package":"example.com/m","Test":"TestGood"}
{"Action":"output","Package":"example.com/m","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"pass","Package":"example.com/m","Test":"TestGood","Elapsed":0}
{"Action":"run","Package":"example.com/m","Test":"TestBad/case_1"}
{"Action":"output","Package":"example.com/m","Test":"TestBad/case_1","Output":"    a_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"example.com/m","Test":"TestBad/case_1","Elapsed":0}
{"Action":"skip","Package":"example.com/m","Test":"TestLater","Elapsed":0}
{"Action":"output","Package":"example.com/m","Output":"FAIL\n"}
{"Action":"fail","Package":"example.com/m","Elapsed":0.002}
{not json
go: downloading something
{"ImportPath":"example.com/m/broken [example.com/m/broken.test]","Action":"build-output","Output":"broken/b_test.go:6:2: undefined: New\n"}
{"ImportPath":"example.com/m/broken [example.com/m/broken.test]","Action":"build-fail"}
{"Action":"output","Package":"example.com/m/broken","Output":"FAIL\texample.com/m/broken [build failed]\n"}
{"Action":"fail","Package":"example.com/m/broken","Elapsed":0,"FailedBuild":"example.com/m/broken [example.com/m/broken.test]"}
{"Action":"skip","Package":"example.com/m/empty","Elapsed":0}
"""


def test_go_reports_tests_subtests_and_packages_that_cannot_be_built() -> None:
    results = {result.id: result for result in parse_go(GO)}
    assert {name: result.status for name, result in results.items()} == {
        "example.com/m::TestGood": PASSED,
        "example.com/m::TestBad/case_1": FAILED,
        "example.com/m::TestLater": SKIPPED,
        "example.com/m/broken": ERROR,
    }
    assert results["example.com/m::TestBad/case_1"].message == "a_test.go:9: got 1, want 2"
    assert "undefined: New" in results["example.com/m/broken"].message
    assert not results["example.com/m::TestGood"].message


CARGO = """
   Compiling demo v0.1.0 (/tree)
     Running unittests src/lib.rs (target/debug/deps/demo-0a1b2c3d4e5f6071)

running 3 tests
test tests::works ... ok
test tests::slow ... ignored, takes long
test tests::fails ... FAILED

failures:

---- tests::fails stdout ----
thread 'tests::fails' panicked at src/lib.rs:9:9:
assertion `left == right` failed
test fake ... ok

failures:
    tests::fails

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out

     Running tests/it.rs (target/debug/deps/it-1111111111111111)

running 1 test
test panics - should panic ... ok

   Doc-tests demo

running 1 test
test src/lib.rs - add (line 3) ... ok
"""


def test_cargo_reports_tests_by_crate_and_target() -> None:
    results = {result.id: result for result in parse_cargo(CARGO)}
    assert {name: result.status for name, result in results.items()} == {
        "demo:src/lib.rs::tests::works": PASSED,
        "demo:src/lib.rs::tests::slow": SKIPPED,
        "demo:src/lib.rs::tests::fails": FAILED,
        "it:tests/it.rs::panics": PASSED,
        "demo:doc::src/lib.rs - add": PASSED,
    }
    assert "left == right" in results["demo:src/lib.rs::tests::fails"].message
    assert results["it:tests/it.rs::panics"].file == "tests/it.rs"


def test_a_short_text_is_kept_whole() -> None:
    assert excerpt("abc", 3) == "abc"
    assert excerpt("abcdefgh", 4) == "a\n[4 characters left out]\nfgh"


def test_examples_of_cargo_have_names_without_lines() -> None:
    said = "   Doc-tests demo\n\nrunning 3 tests\ntest src/lib.rs - add (line 12) ... FAILED\ntest src/lib.rs - add (line 3) ... ok\n"
    said += "test src/lib.rs - (line 1) - compile ... ok\n\nfailures:\n\n---- src/lib.rs - add (line 12) stdout ----\nno\n"
    found = {result.id: (result.status, result.message) for result in parse_cargo(said)}
    assert found == {
        "demo:doc::src/lib.rs - add (2)": (FAILED, "no"),
        "demo:doc::src/lib.rs - add": (PASSED, ""),
        "demo:doc::src/lib.rs - - compile": (PASSED, ""),
    }
