import io
import json
import os
import pty
import sys
from typing import TextIO, cast
from unicodedata import category

import click
import pytest

from amelia.show.output import SafeStream, escaped, hand_on, safe, safe_streams, sequence, styled

EVIL = "a\x1b]0;owned\x07b\x9b31mc\x7fd\u202ee\udc9bf\U000e0041g"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def written(text: str, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    SafeStream(stream).write(text)
    return stream.getvalue()


def test_every_character_that_a_terminal_obeys_is_written_out() -> None:
    kept = "\t\n\u200c\u200d"
    obeyed = {
        chr(number)
        for number in range(sys.maxunicode)
        if category(chr(number)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }
    for char in obeyed - set(kept):
        assert escaped(char).isascii(), ascii(char)
        assert escaped(char).isprintable(), ascii(char)
        assert json.loads(f'"{escaped(char)}"') == char
    assert escaped(kept) == kept


def test_tabs_and_line_ends_stay_and_a_lone_return_does_not() -> None:
    assert escaped("+\ta\r\n-b\rc\n") == "+\ta\r\n-b\\u000dc\n"


def test_json_stays_json_and_means_the_same_whatever_the_encoding() -> None:
    told = {"title": f"\\{EVIL} ü 日本 🎉"}
    for encoding in ("utf-8", "ascii", "latin-1"):
        raw = io.BytesIO()
        stream = safe(io.TextIOWrapper(raw, encoding=encoding))
        stream.write(json.dumps(told, ensure_ascii=False))
        stream.flush()
        assert json.loads(raw.getvalue().decode(encoding)) == told


def test_colours_of_ours_reach_a_terminal_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    text = styled("ready", "green", "bold") + sequence("\x1b[K") + "\x1b[31mforeign"
    assert written(text, Terminal()) == "\x1b[32;1mready\x1b[0m\x1b[K\\u001b[31mforeign"
    assert written(text) == "ready\\u001b[31mforeign"
    monkeypatch.setenv("NO_COLOR", "1")
    assert written(text, Terminal()) == "ready\x1b[K\\u001b[31mforeign"


def test_click_takes_it_for_a_stream_of_text_and_may_write_bytes() -> None:
    stream = Terminal()
    for text in ("ü\x1b".encode(), "\u202e"):
        click.echo(text, file=cast("TextIO", SafeStream(stream)))
    assert stream.getvalue() == "ü\\u001b\n\\u202e\n"


def test_a_guessed_mark_is_no_mark() -> None:
    assert written("\0" + "0" * 16 + "\0[31m", Terminal()) == "\\u0000" + "0" * 16 + "\\u0000[31m"


def test_standard_streams_are_safe_for_a_block_and_then_as_before() -> None:
    before = sys.stdout, sys.stderr
    with safe_streams():
        assert isinstance(sys.stdout, SafeStream)
        assert isinstance(sys.stderr, SafeStream)
    assert (sys.stdout, sys.stderr) == before


def handed(data: bytes, write: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    with os.fdopen(write, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        return hand_on(data)


def test_a_pipe_gets_bytes_of_other_encodings_but_none_that_a_terminal_obeys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for data, shown in {
        b"gr\xfc\xdf\xe9\r\n": b"gr\xfc\xdf\xe9\r\n",
        b"\x1b[31m\x9b": b"\\u001b[31m\\udc9b",
    }.items():
        read, write = os.pipe()
        assert handed(data, write, monkeypatch) is (data != shown)
        assert os.read(read, 100) == shown
        os.close(read)


def test_a_terminal_gets_what_it_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    person, terminal = pty.openpty()
    assert handed(b"\xff\x1b[31m\tx\n", terminal, monkeypatch)
    assert os.read(person, 100).decode() == "\ufffd\\u001b[31m\tx\r\n"
    os.close(person)


def test_a_file_gets_what_was_written(monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]) -> None:
    place = os.path.join(tmp_path, "out")  # noqa: PTH118
    assert not handed(b"\xff\x1b[31m\n", os.open(place, os.O_WRONLY | os.O_CREAT), monkeypatch)
    with open(place, "rb") as file:  # noqa: PTH123
        assert file.read() == b"\xff\x1b[31m\n"
