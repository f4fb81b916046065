"""The page of requirements tells which tests prove which row, and no row is without one unless that is said."""

from collections import Counter
from pathlib import Path

import pytest

from rows.page import PAGE, Part, Row, UnreadableMarkerError, page, read_parts, read_proofs

ROWS = [row for part in read_parts() for row in part.rows]
CARRIED = {name for proof in read_proofs() for name in proof.rows}


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read_parts(), read_proofs()), "scripts/requirements-table"


def test_every_row_is_proved_by_a_test_or_told_as_not_yet() -> None:
    assert [row.id for row in ROWS if row.id not in CARRIED and row.not_yet is None] == []


def test_every_marker_names_a_row_that_exists() -> None:
    assert sorted(CARRIED - {row.id for row in ROWS}) == []


def test_a_row_stands_once_and_has_a_text() -> None:
    assert [name for name, count in Counter(row.id for row in ROWS).items() if count > 1] == []
    assert [row.id for row in ROWS if not row.text.strip() or "|" in row.text] == []


def _tests(tmp_path: Path, text: str) -> Path:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_some_part.py").write_text(text, encoding="utf-8")
    return tests


def test_a_test_carries_the_rows_of_itself_of_its_class_and_of_its_module(tmp_path: Path) -> None:
    tests = _tests(
        tmp_path,
        'pytestmark = [pytest.mark.slow, pytest.mark.rows("A1")]\n'
        "def test_alone(): ...\n"
        "def helps(): ...\n"
        '@pytest.mark.rows("B1", "B2")\n@pytest.mark.parametrize("x", [1])\nasync def test_both(x): ...\n'
        '@pytest.mark.rows("C1")\nclass TestOf:\n    pytestmark = pytest.mark.rows("D1")\n'
        '    @pytest.mark.rows("E1")\n    def test_inside(self): ...\n',
    )
    assert [(proof.test, proof.rows) for proof in read_proofs(tests)] == [
        ("test_alone", ("A1",)),
        ("test_both", ("A1", "B1", "B2")),
        ("test_inside", ("A1", "C1", "D1", "E1")),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@pytest.mark.rows(NAME)\ndef test_a(): ...\n", "a plain text, not NAME"),
        ("@pytest.mark.rows(*NAMES)\ndef test_a(): ...\n", "a plain text, not *NAMES"),
        ('X = [pytest.param(1, marks=pytest.mark.rows("A1"))]\n', "test_some_part.py:1: rows are carried by"),
        ('@pytest.mark.rows("A1")\ndef helps(): ...\n', "rows are carried by a test"),
    ],
)  # fmt: skip
def test_a_marker_that_the_page_would_miss_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnreadableMarkerError) as caught:
        read_proofs(_tests(tmp_path, text))
    assert said in str(caught.value)


def test_a_row_that_is_not_yet_says_why_and_shows_the_tests_of_what_there_is(tmp_path: Path) -> None:
    tests = _tests(tmp_path, '@pytest.mark.rows("A2")\ndef test_it_is_said(): ...\n')
    rows = (Row("A1", "One"), Row("A2", "Two", "Soon."))
    text = page([Part("Some", rows)], read_proofs(tests))
    assert "Rows: 2; proved: 0; not yet: 1." in text
    link = "[some part: it is said](../../tests/test_some_part.py)"
    assert f"| A2 | Two | *Not yet.* Soon.<br>{link} |" in text
