"""What a plan says about itself before its tasks: the page of its product, and its id in a tracker."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from amelia.model.plan import Plan
from amelia.plan.paths import is_outside, normal_path

_PRODUCT = re.compile(r"(?<![\w/.-])(?P<path>(?:[\w.-]{1,80}/){0,8}PRODUCT\.md)(?!\w)")
_LONGEST = 2000
_TRACKER_KEYS = (
    *("tracker", "tracker_id", "tracker-id", "issue", "issue_id", "issue-id", "ticket", "ticket_id"),
    *("linear", "linear_id", "linear_issue", "jira", "jira_key", "github_issue"),
)
_ID = re.compile(r"[\w#.-]{1,40}")
_KEYED = re.compile(r"(?P<id>[A-Za-z][A-Za-z0-9]{0,15}-\d{1,8})(?![A-Za-z0-9])")
_NUMBERED = re.compile(r"#?(?P<id>\d{1,8})(?=-|$)")
_ADDRESS = re.compile(r"https?://\S*?/(?P<id>[A-Za-z][A-Za-z0-9]{0,15}-\d{1,8}|\d{1,8})(?:[/?#]\S*)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d[-_]")
# "plan-2.md" and "phase-1.md" are numbered files, not issues of a tracker.
_NUMBERED_FILES = frozenset(
    """
    adr chapter day draft feature iteration milestone part phase plan plans prd release rev rfc section spec
    sprint step story task tasks test todo v version wave week
    """.split()
)


def product_in(front: Mapping[str, Any], lines: Iterable[str]) -> str | None:
    """Returns the path of the product's page that a plan refers to above its tasks."""
    stated = front.get("product")
    if isinstance(stated, str) and stated.strip() and not is_outside(stated):
        return normal_path(stated)
    found = (_PRODUCT.search(line[:_LONGEST]) for line in lines)
    mention = next(filter(None, found), None)
    return mention["path"] if mention and not is_outside(mention["path"]) else None


def tracker_in(front: Mapping[str, Any]) -> str | None:
    """Returns the tracker's id that a front matter states."""
    stated = (tracker_id(front.get(key)) for key in _TRACKER_KEYS)
    own = tracker_id(front.get("id"))
    return next(filter(None, stated), None) or (own if own and _KEYED.fullmatch(own) else None)


def tracker_id(stated: object) -> str | None:
    """Returns the tracker's id that a value holds, also as the address of an issue."""
    said = str(stated).strip() if isinstance(stated, str | int) and not isinstance(stated, bool) else ""
    if address := _ADDRESS.fullmatch(said):
        return address["id"]
    return said if _ID.fullmatch(said) else None


def tracker_of(plan: Plan, stem: str) -> str | None:
    """Returns the tracker's id of a plan: the one it states, or else that of its file's name."""
    return plan.tracker or tracker_in_name(stem)


def tracker_in_name(stem: str) -> str | None:
    """Returns the tracker's id at the start of the name of a plan's file: `LIN-42-add-login`."""
    found = _KEYED.match(_DATE.sub("", stem, count=1))
    is_numbered = found is not None and found["id"].partition("-")[0].casefold() in _NUMBERED_FILES
    return found["id"] if found is not None and not is_numbered else None


def tracker_in_issue(stem: str) -> str | None:
    """Returns the tracker's id at the start of the name of an issue's file, which may be a number alone."""
    found = _KEYED.match(stem) or _NUMBERED.match(stem)
    return found["id"] if found else None
