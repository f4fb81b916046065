"""An issue in a file has a title, a text and, where that can be known, an id."""

import pytest

from amelia.plan.issue import read_issue


@pytest.mark.parametrize(
    ("stem", "text", "title", "tracker"),
    [
        ("ISSUE-123", "# Sign up\n\nPlease.\n", "Sign up", "ISSUE-123"),
        ("123-sign-up", "Sign up, please.\n", "Sign up, please.", "123"),
        ("notes", "---\nid: AB-7\ntitle: From above\n---\n# Other\n", "From above", "AB-7"),
        ("notes", "---\nid: 42\n---\n# Other\n", "Other", "42"),
        ("notes", "---\nid: [1]\n---\n# Other\n", "Other", None),
        ("2026", "# Year\n", "Year", "2026"),
        ("PROJ-9-slug", "# X\n", "X", "PROJ-9"),
        ("v2.1", "# X\n", "X", None),
        ("empty", "", "empty", None),
    ],
)
def test_an_issue_is_read(stem: str, text: str, title: str, tracker: str | None) -> None:
    issue = read_issue(text.encode(), stem=stem)
    assert (issue.title, issue.tracker_id) == (title, tracker)


def test_a_binary_file_is_no_issue() -> None:
    assert read_issue(b"\0\1\2", stem="x").text == ""
