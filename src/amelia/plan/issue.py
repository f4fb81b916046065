"""An issue in a file: its title, its text, and the id it has in a tracker."""

from dataclasses import dataclass

from amelia.plan.labels import clean_title
from amelia.plan.markdown import parse, read_front_matter, split_lines
from amelia.plan.preamble import tracker_id, tracker_in, tracker_in_issue
from amelia.plan.source import decode

LARGEST = 400_000
"""How many bytes an issue may have."""

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
    tracker = tracker_id(fields.get("id")) or tracker_in(fields) or tracker_in_issue(stem)
    return Issue(" ".join(title.split())[:_LONGEST_TITLE], text, tracker)
