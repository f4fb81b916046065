import pytest

from amelia.show.text import fit, printable, width


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("Ünï", 3), ("", 0), ("ｆ", 2)]
)
def test_wide_and_combining_characters_are_counted_as_a_terminal_shows_them(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("abc", 5, "abc  "),
        ("abcdef", 4, "abc…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日… "),
        ("abc", 3, "abc"),
    ],
)
def test_a_text_is_cut_or_filled_to_its_columns(text: str, columns: int, shown: str) -> None:
    assert fit(text, columns) == shown


def test_what_a_terminal_would_obey_is_removed() -> None:
    assert printable("a\x1b[31mb\x07\u202ec\td\ne\u2028f") == "a[31mbc d ef"
    assert printable("plain ✓") == "plain ✓"
