"""What the reviewer and the evaluator are told: the unit, what its tests show, the change, and the findings.

Both are told the same of the unit as its developer: what is its own, what belongs to others, and which tests
fail as they should.
"""

from collections.abc import Sequence

from amelia.context.prompts import Assignment, grant_line, joined, tests_that_fail, work_of
from amelia.context.quoting import fenced, one_line
from amelia.context.texts import Texts
from amelia.model.findings import Finding

_MOST_TESTS = 50


def reviewer_prompt(
    texts: Texts,
    assignment: Assignment,
    *,
    checks: str,
    diff: str,
    red: Sequence[str] = (),
    changed_tests: Sequence[str] = (),
    since: str | None = None,
    open_findings: Sequence[Finding] = (),
) -> str:
    """Returns what the reviewer is told; a later round sees what changed since the last one.

    `red` are the tests that fail, as they should; `changed_tests` were changed by the work, and fail as they
    were.
    """
    later: list[str] = []
    if since is not None:
        later.append(texts.fill("since_last_review", diff=fenced(since, "diff")))
    if open_findings:
        listed = "\n".join(f"- {finding}" for finding in open_findings)
        later.append(texts.fill("open_findings", findings=fenced(listed)))
    filled = texts.fill(
        "review",
        task=_under_review(texts, assignment, red),
        checks=fenced(checks),
        diff=fenced(diff, "diff"),
        later="\n\n".join(later),
        plan=assignment.places.plan,
    )
    ruled = (
        texts.fill("changed_tests", tests=fenced("\n".join(map(one_line, changed_tests))))
        if changed_tests
        else ""
    )
    return joined([filled, ruled])


def evaluator_prompt(
    texts: Texts, assignment: Assignment, *, diff: str, findings: Sequence[Finding], red: Sequence[str] = ()
) -> str:
    """Returns what the evaluator is told: which findings it has to rule, and how."""
    listed = "\n".join(f"{number}. {finding}" for number, finding in enumerate(findings, start=1))
    filled = texts.fill(
        "evaluation",
        task=_under_review(texts, assignment, red),
        diff=fenced(diff, "diff"),
        findings=fenced(listed),
    )
    return joined([filled])


def _under_review(texts: Texts, assignment: Assignment, red: Sequence[str]) -> str:
    """Returns what the work was meant to be: one unit, where it stands, and which tests are red by design."""
    progress = assignment.progress
    alone = progress.total == 1
    title = "**Task:**" if alone else f"**Current Task ({progress.position}/{progress.total}):**"
    parts = [f"{title} {one_line(assignment.heading)}", work_of(texts, assignment)]
    if tasks := tests_that_fail(assignment):
        parts.append(texts.fill("red_review", tasks=tasks, tests=fenced(_listed(red))))
    parts.append(grant_line("A person let this unit change", assignment.granted))
    return "\n\n".join(part for part in parts if part)


def _listed(tests: Sequence[str]) -> str:
    more = [f"and {len(tests) - _MOST_TESTS} more"] if len(tests) > _MOST_TESTS else []
    return "\n".join([*map(one_line, tests[:_MOST_TESTS]), *more])
