"""What agents answer: the schemas they are asked by, and the same answers validated here all the same.

Fails closed: an answer that is not exactly what was asked for is no answer, and a word that is not known
counts as the stricter one. Every schema is strict, as some providers demand: all properties are required,
and what may be missing may be null.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import msgspec

from amelia.model.findings import Disposition, Finding, FindingId, Ruling, Weight, finding_id

_LONGEST = 4000
_MOST = 200
_MINOR = frozenset({"minor", "suggestion", "nit", "nitpick", "info", "low", "optional"})
_NO_RULING = "no valid ruling"
_NO_REASON = "The reviewer did not approve and gave no reason."


def json_object(**properties: object) -> dict[str, object]:
    """Returns the schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def json_list(items: object) -> dict[str, object]:
    """Returns the schema of a list."""
    return {"type": "array", "items": items}


def or_null(schema: Mapping[str, object]) -> dict[str, object]:
    """Returns the schema of a value that may be null; some providers refuse a list of types."""
    return {"anyOf": [schema, {"type": "null"}]}


_TEXT = {"type": "string"}
_TEXT_OR_NULL = or_null(_TEXT)
_NUMBER = {"type": "integer"}
_NUMBER_OR_NULL = or_null(_NUMBER)

REPORT_SCHEMA: Mapping[str, object] = json_object(
    status={"type": "string", "enum": ["completed", "partial", "failed"]},
    summary=_TEXT,
    subtasks_completed=json_list(_TEXT),
    subtasks_failed=json_list(_TEXT),
    error_context=_TEXT_OR_NULL,
    needs_clarification=or_null(
        json_object(
            question=_TEXT,
            options=json_list(_TEXT),
            default=_TEXT_OR_NULL,
            deadline_minutes=_NUMBER_OR_NULL,
        )
    ),
)
REVIEW_SCHEMA: Mapping[str, object] = json_object(
    approved={"type": "boolean"},
    comments=json_list(
        json_object(
            file=_TEXT_OR_NULL,
            line=_NUMBER_OR_NULL,
            severity={"type": "string", "enum": ["blocking", "minor"]},
            text=_TEXT,
        )
    ),
)
REVIEW_OF_TESTS_SCHEMA: Mapping[str, object] = json_object(
    **cast("Mapping[str, object]", REVIEW_SCHEMA["properties"]),
    tests=json_list(json_object(test=_TEXT, accepted={"type": "boolean"}, reason=_TEXT)),
)
"""A review of work that changed tests itself: it rules on each of them."""
EVALUATION_SCHEMA: Mapping[str, object] = json_object(
    items=json_list(
        json_object(
            finding=_NUMBER,
            disposition={"type": "string", "enum": list(Disposition)},
            reason=_TEXT,
        )
    )
)


@dataclass(frozen=True, slots=True)
class Clarification:
    """What a developer needs to know from a person, possible answers, and how long that may take."""

    question: str
    options: tuple[str, ...] = ()
    default: str | None = None
    deadline_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a developer says of its own work; proof it is not."""

    status: Literal["completed", "partial", "failed"]
    summary: str = ""
    subtasks_completed: tuple[str, ...] = ()
    subtasks_failed: tuple[str, ...] = ()
    error_context: str | None = None
    needs_clarification: Clarification | None = None


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    file: str | None = None
    line: int | None = None
    severity: str = "blocking"


@dataclass(frozen=True, slots=True)
class _RuledTest:
    test: str
    accepted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Review:
    approved: bool
    comments: tuple[_Comment, ...] = ()
    tests: tuple[_RuledTest, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    finding: int
    disposition: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Invalid:
    """An answer that cannot be used, and why."""

    detail: str


def read_report(report: Mapping[str, object] | None) -> Report | Invalid:
    """Returns what a developer reports."""
    if report is None:
        return Invalid("there is no report")
    try:
        return msgspec.convert(report, Report)
    except msgspec.ValidationError as problem:
        return Invalid(f"the report is not as asked for: {problem}")


def read_review(
    report: Mapping[str, object] | None, changed_tests: Sequence[str] = ()
) -> tuple[bool, tuple[Finding, ...]] | Invalid:
    """Returns whether the work is approved, and what was found.

    Who approves has to rule on every changed test by name; one that is not accepted is a finding that blocks.
    """
    if report is None:
        return Invalid("the reviewer gave no report")
    try:
        review = msgspec.convert(report, _Review)
    except msgspec.ValidationError as problem:
        return Invalid(f"the review is not as asked for: {problem}")
    by_name = {_plain(test): test for test in changed_tests}
    review = replace(
        review,
        tests=tuple(replace(one, test=by_name.get(_plain(one.test), one.test)) for one in review.tests),
    )
    unruled = set(changed_tests).difference(ruled.test for ruled in review.tests)
    if review.approved and unruled:
        return Invalid(f'"tests" of the review has no ruling of {", ".join(sorted(unruled))}')
    refused = tuple(_refused_tests(review, changed_tests))
    comments = (*review.comments, *refused)
    if not review.approved and not comments:
        comments = (_Comment(_NO_REASON),)
    return review.approved and not refused, _distinct(map(_finding, comments))


def _plain(name: str) -> str:
    """Returns a name as a prompt shows it: on one line."""
    return " ".join(name.split())


def _refused_tests(review: _Review, changed_tests: Iterable[str]) -> Iterator[_Comment]:
    """Yields a comment for each changed test that is not accepted; of two rulings the no counts."""
    reasons = {ruled.test: ruled.reason.strip() for ruled in review.tests if not ruled.accepted}
    for test in changed_tests:
        if test in reasons:
            why = reasons[test] or "the reviewer does not accept it"
            yield _Comment(f"The change of {test}, with which this work passes: {why}")


def check_rulings(
    report: Mapping[str, object] | None, findings: Sequence[Finding]
) -> tuple[Ruling, ...] | Invalid:
    """Returns a ruling for every finding, if there is a valid one for each."""
    rulings = read_rulings(report, findings)
    missing = [str(number) for number, ruling in enumerate(rulings, start=1) if ruling.reason == _NO_RULING]
    return Invalid(f"there is no valid ruling of finding {', '.join(missing)}") if missing else rulings


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
    return tuple(
        ruled.get(number, Ruling(found.id, Disposition.IMPLEMENT, _NO_RULING))
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
