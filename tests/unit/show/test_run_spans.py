"""Lines are made of safe text, fit a screen, and get their colours last."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.show.output import coloured
from amelia.show.run.spans import ASCII, UNICODE, Charset, Span, Style, charset_for, fitted, painted, text_of
from amelia.show.text import width


@pytest.mark.parametrize(
    ("encoding", "sign"),
    [
        ("utf-8", "✓"),
        ("UTF-16", "✓"),
        ("ascii", "+"),
        ("latin-1", "+"),
        ("cp1252", "+"),
        ("", "+"),
        (None, "+"),
    ],
)
def test_signs_are_those_an_encoding_can_carry(encoding: str | None, sign: str) -> None:
    assert charset_for(encoding).done == sign


def test_an_encoding_nobody_knows_gets_ascii() -> None:
    assert charset_for("klingon") == ASCII


@given(st.text(max_size=80))
def test_foreign_text_can_always_be_written(text: str) -> None:
    for encoding in ("utf-8", "ascii", "cp1252"):
        shown = charset_for(encoding).shown(text)
        assert shown.encode(encoding).decode(encoding) == shown
        assert "\x1b" not in shown
        assert "\n" not in shown


def test_plain_signs_are_kept_where_letters_are_not_only_ascii() -> None:
    assert charset_for("latin-1").shown("Größe ✓") == "Größe ?"


def test_a_text_without_end_is_not_looked_at_to_its_end() -> None:
    assert len(UNICODE.shown("x" * 10**6)) == 1000


@given(st.text(max_size=30), st.integers(0, 40), st.sampled_from([UNICODE, ASCII]))
def test_a_cut_text_is_never_too_wide(text: str, columns: int, charset: Charset) -> None:
    assert width(charset.cut(text, columns)) <= columns


def test_a_text_that_is_cut_says_so() -> None:
    assert UNICODE.cut("Write the tests", 10) == "Write the…"
    assert ASCII.cut("Write the tests", 10) == "Write t..."
    assert ASCII.cut("Write the tests", 2) == ".."
    assert UNICODE.cut("日本語", 4) == "日…"
    assert UNICODE.cut("fits", 4) == "fits"


def test_a_line_is_cut_at_its_end_and_keeps_its_styles() -> None:
    line = (Span("Phase 2 ", Style.STRONG), Span("Running", Style.BUSY), Span(" more"))
    assert fitted(line, 12, UNICODE) == (Span("Phase 2 ", Style.STRONG), Span("Run…", Style.BUSY))
    assert fitted(line, 20, UNICODE) == line


def test_a_plain_span_has_no_escape_sequences() -> None:
    line = (Span("a"), Span("b", Style.BAD))
    assert text_of(line) == "ab"
    assert painted(line) == "a" + coloured("b", "31")
