"""An issue in a file: its title, its text, and the id it has in a tracker."""

import re
from dataclasses import dataclass

from amelia.plan.labels import clean_title
from amelia.plan.markdown import parse, read_front_matter, split_lines
from amelia.plan.source import decode

LARGEST = 400_000
"""How many bytes an issue may have."""

_KEYED = re.compile(r"(?P<id>[A-Za-z][A-Za-z0-9]{0,15}-\d{1,8})(?![A-Za-z0-9])")
_NUMBERED = re.compile(r"#?(?P<id>\d{1,8})(?=-|$)")
_ID = re.compile(r"[\w#.-]{1,40}")
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class Issue:
    """What somebody asks for, as it stands in a file."""

    title: str
    text: str
    tracker_id: str | None


def read_issue(data: bytes, *, stem: str) -> Issue:
    """Returns the issue of a file; `stem` is the file's name without its ending."""
    text = decode(data).text
    lines = split_lines(text)
    fields, start = read_front_matter(lines)
    document = parse("".join(lines[start - 1 :]))
    heading = next((clean_title(found.text) for found in document.headings), "")
    first = next((line.strip() for line in document.lines if line.strip()), "")
    stated = fields.get("title")
    title = stated if isinstance(stated, str) and stated.strip() else heading or first or stem
    return Issue(" ".join(title.split())[:_LONGEST_TITLE], text, _tracker_id(fields.get("id"), stem))


def _tracker_id(stated: object, stem: str) -> str | None:
    said = str(stated).strip() if isinstance(stated, str | int) and not isinstance(stated, bool) else ""
    if _ID.fullmatch(said):
        return said
    found = _KEYED.match(stem) or _NUMBERED.match(stem)
    return found["id"] if found else None
