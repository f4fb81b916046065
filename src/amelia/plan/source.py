"""Bytes become text: byte-order marks, encodings, and files that are no text at all."""

import codecs
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from amelia.model.diagnostics import Diagnostic, error, warning

LARGEST = 10_000_000
"""How many bytes a plan may have."""

_GARBAGE = 20  # one unreadable character in so many makes a binary file
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A plan file as text; `text` is empty when an error diagnostic says why it cannot be read."""

    text: str = field(repr=False)
    hash: str
    diagnostics: Sequence[Diagnostic] = ()


def decode(data: bytes) -> Source:
    """Turns the bytes of a plan file into text, never raising; the hash is that of the bytes."""
    digest = hashlib.sha256(data).hexdigest()
    if len(data) > LARGEST:
        message = f"The file has more than {LARGEST:,} bytes, which is too much for a plan."
        return Source("", digest, (error("large-file", message, hint="Write several plans of it."),))
    encoding = "utf-8"
    for mark, name in _BOMS:
        if data.startswith(mark):
            data, encoding = data.removeprefix(mark), name
            break
    text = data.decode(encoding, errors="replace")
    if "\0" in text or text.count("�") * _GARBAGE > len(text):
        problem = error(
            "binary-file", "This is a binary file, not a plan.", hint="Give a Markdown or JSON file."
        )
        return Source("", digest, (problem,))
    if not text.strip():
        problem = error(
            "empty-plan", "The plan is empty.", hint="Write at least one task, or a goal in prose."
        )
        return Source("", digest, (problem,))
    if "�" in text and "�".encode(encoding) not in data:
        line = text.count("\n", 0, text.index("�")) + 1
        problem = warning(
            "not-utf-8",
            "The file is not valid UTF-8; unreadable bytes are shown as �.",
            line=line,
            hint="Save the file as UTF-8.",
        )
        return Source(text, digest, (problem,))
    return Source(text, digest)
