r"""Text on its way to a terminal, a pager or a file: the standard streams of the program.

- Control characters and marks of direction are written as `\u001b`, whoever wrote them, and so is whatever
  the encoding of a stream cannot carry. No text is refused. JSON stays JSON, and means the same.
- Tabs, line ends and line ends of Windows stay.
- Sequences of our own (colours, the cursor of a live tree) are known by a mark that nobody can guess. They
  reach a terminal only, colours not if `NO_COLOR` is set.
"""

import codecs
import io
import os
import re
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

_MARK = f"\0{os.urandom(8).hex()}\0"
_ESCAPE = "\x1b"
_OWN = re.compile(f"{_MARK}(\\r|\\[[0-9;?]*[A-Za-z])")
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_HANDLER = "amelia.escaped"

# Categories Cc, Cf, Cs, Zl and Zp, but for joiners, which letters and pictures are made with.
_OBEYED = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]|\r(?!\n)"
)
_FOREIGN = re.compile("([\udca0-\udcff]+)")  # bytes of other encodings that are letters in them


def sequence(text: str) -> str:
    """Returns a control sequence of our own, which a `SafeStream` lets a terminal obey."""
    return _MARK + text.removeprefix(_ESCAPE)  # which click would take out


def styled(text: str, *styles: str) -> str:
    """Returns a text in styles: a colour, `bold`, `dim`."""
    codes = ";".join(_CODES[style] for style in styles)
    return coloured(text, codes) if text else ""


def coloured(text: str, codes: str) -> str:
    """Returns a text in the style that has these parameters."""
    return sequence(f"\x1b[{codes}m") + text + sequence("\x1b[0m")


def escaped(text: str) -> str:
    """Returns a text in which every character that a terminal would obey is written out."""
    return (
        text if text.isascii() and text.isprintable() else _OBEYED.sub(lambda found: _written(found[0]), text)
    )


def _written(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _write_out(problem: UnicodeError) -> tuple[str, int]:
    assert isinstance(problem, UnicodeEncodeError)
    return _written(problem.object[problem.start : problem.end]), problem.end


codecs.register_error(_HANDLER, _write_out)


class SafeStream(io.TextIOBase):
    """A stream that shows every text and lets a terminal obey none but our own sequences."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._has_colours = self._is_terminal and not os.environ.get("NO_COLOR")

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The encoding of what is written."""
        return getattr(self._stream, "encoding", None) or "ascii"

    @property
    def errors(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The way in which characters are written that the encoding does not have."""
        return _HANDLER

    def write(self, text: str | bytes, /) -> int:
        """Writes a text, safely.

        click gives the bytes of a text at times; it must not take this for a stream of bytes, which it finds
        out by writing none.
        """
        if isinstance(text, bytes):
            if not text:
                raise TypeError("this is a stream of text")
            text = text.decode("utf-8", "replace")
        # Every second part is a sequence of our own.
        parts = _OWN.split(text)
        shown = "".join(self._own(part) if at % 2 else escaped(part) for at, part in enumerate(parts))
        if not shown.isascii():
            shown = shown.encode(self.encoding, _HANDLER).decode(self.encoding)
        self._stream.write(shown)
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Writes bytes as they are; nobody but a file or a person who asked for them is to get them."""
        self._stream.flush()
        cast("io.TextIOWrapper", self._stream).buffer.write(data)
        self.flush()

    def is_file(self) -> bool:
        """Tells whether what is written is kept in a file, and shown to nobody."""
        try:
            return stat.S_ISREG(os.fstat(self.fileno()).st_mode)
        except (OSError, ValueError):
            return False

    def flush(self) -> None:
        """Hands on what was written."""
        self._stream.flush()

    def fileno(self) -> int:
        """Returns the descriptor of the stream."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Tells whether a person looks at a terminal."""
        return self._is_terminal

    def writable(self) -> bool:
        """Tells that the stream is written to."""
        return True

    def _own(self, text: str) -> str:
        if not self._is_terminal or (text.endswith("m") and not self._has_colours):
            return ""
        return text if text == "\r" else _ESCAPE + text


def safe(stream: TextIO) -> SafeStream:
    """Returns a stream as a safe one."""
    return stream if isinstance(stream, SafeStream) else SafeStream(stream)


@contextmanager
def safe_streams() -> Generator[None]:
    """Makes the standard streams of the program safe for the length of a block."""
    before = sys.stdout, sys.stderr
    _read_anything(sys.stdin)
    sys.stdout, sys.stderr = map(safe, before)
    try:
        yield
    finally:
        for stream in before:
            _let_go(stream)
        sys.stdout, sys.stderr = before


def _let_go(stream: TextIO) -> None:
    """Hands on what was written; where the reader has gone, nobody gets it, and Python says nothing of it."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nobody = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nobody, stream.fileno())
            os.close(nobody)


def _read_anything(stream: TextIO) -> None:
    """Lets a stream give a text, whatever bytes a person types."""
    if isinstance(stream, io.TextIOWrapper):
        is_bare = codecs.lookup(stream.encoding).name == "ascii"
        with suppress(io.UnsupportedOperation):  # somebody has read from it
            stream.reconfigure(encoding="utf-8" if is_bare else None, errors="replace")


def hand_on(data: bytes, *, as_it_is: bool = False) -> bool:
    """Writes what somebody else wrote to standard output; says whether anything of it is written out.

    A file gets the bytes as they are. A terminal and a pipe do not, for a pager may be at its end.
    """
    stream = safe(sys.stdout)
    if as_it_is or stream.is_file():
        stream.write_bytes(data)
        return False
    text = data.decode("utf-8", "surrogateescape")
    if stream.isatty():
        shown = escaped(data.decode("utf-8", "replace"))
        stream.write(shown)
        return shown != text
    # Bytes that are no UTF-8 stay, unless a terminal could obey them.
    kept = "".join(part if at % 2 else escaped(part) for at, part in enumerate(_FOREIGN.split(text)))
    stream.write_bytes(kept.encode("utf-8", "surrogateescape"))
    return kept != text
