"""What reviewers and evaluators answer, validated here whatever the agent validates itself.

Fails closed: an answer that is not exactly what was asked for is no answer, and a word that is not known
counts as the stricter one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from amelia.model.findings import Disposition, Finding, FindingId, Ruling, Weight, finding_id

_LONGEST = 4000
_MOST = 200
_MINOR = frozenset({"minor", "suggestion", "nit", "nitpick", "info", "low", "optional"})
_NO_REASON = "The reviewer did not approve and gave no reason."


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    file: str | None = None
    line: int | None = None
    severity: str = "blocking"


@dataclass(frozen=True, slots=True)
class _Review:
    approved: bool
    comments: tuple[_Comment, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    finding: int
    disposition: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Invalid:
    """An answer that cannot be used, and why."""

    detail: str


def read_review(report: Mapping[str, object] | None) -> tuple[bool, tuple[Finding, ...]] | Invalid:
    """Returns whether the work is approved, and what was found."""
    if report is None:
        return Invalid("the reviewer gave no report")
    try:
        review = msgspec.convert(report, _Review)
    except msgspec.ValidationError as problem:
        return Invalid(f"the review is not as asked for: {problem}")
    comments = review.comments if review.comments or review.approved else (_Comment(_NO_REASON),)
    return review.approved, _distinct(map(_finding, comments))


def read_rulings(report: Mapping[str, object] | None, findings: Sequence[Finding]) -> tuple[Ruling, ...]:
    """Returns a ruling for every finding, exactly one: where no valid one came, it is to be implemented."""
    items = report.get("items") if report is not None else None
    ruled: dict[int, Ruling] = {}
    for entry in cast("list[object]", items) if isinstance(items, list) else ():
        try:
            item = msgspec.convert(entry, _Item)
            disposition = Disposition(item.disposition.upper())
        except (msgspec.ValidationError, ValueError):
            continue
        if 1 <= item.finding <= len(findings):
            found = findings[item.finding - 1]
            ruled.setdefault(item.finding, Ruling(found.id, disposition, item.reason[:_LONGEST]))
    no_ruling = "no valid ruling"
    return tuple(
        ruled.get(number, Ruling(found.id, Disposition.IMPLEMENT, no_ruling))
        for number, found in enumerate(findings, start=1)
    )


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns each finding once, those that block first: none of them is cut off for a minor one."""
    found: dict[FindingId, Finding] = {}
    for finding in sorted(findings, key=lambda finding: finding.weight is Weight.MINOR):
        found.setdefault(finding.id, finding)
    return tuple(found.values())[:_MOST]


def _finding(comment: _Comment) -> Finding:
    text = comment.text.strip()[:_LONGEST] or _NO_REASON
    weight = Weight.MINOR if comment.severity.casefold() in _MINOR else Weight.BLOCKING
    file = (comment.file or "")[:_LONGEST] or None
    return Finding(finding_id(file, text), text, file, comment.line, weight)
