"""Writes findings of a review as a plan: one task for each, in the order in which they were found.

What a reviewer wrote stands inside a fence, where it means nothing to whoever reads the plan; a title, which
may mean something, is made of the file alone.
"""

import re
from collections.abc import Sequence

from amelia.model.findings import Finding
from amelia.plan.write import fenced

_PLAIN_PATH = re.compile(r"[\w./@+-]{1,300}")


def plan_of(findings: Sequence[Finding], known: frozenset[str]) -> str:
    """Returns a plan that implements findings; files that are not `known` are not named as files."""
    tasks = (_task(number, finding, known) for number, finding in enumerate(findings, start=1))
    return "# What a review found\n\n" + "\n".join(tasks)


def _task(number: int, finding: Finding, known: frozenset[str]) -> str:
    text = "".join(char for char in str(finding) if char.isprintable() or char in "\n\t")
    is_there = finding.file in known and _PLAIN_PATH.fullmatch(finding.file)
    title = f"Mend {finding.file}" if is_there else "Mend what was found"
    lines = [f"### Task {number}: {title}", "- Type: chore"]
    lines += [f"- Files: modify {finding.file}"] if is_there else []
    return "\n".join([*lines, "", "A review found this; mend it:", "", fenced(text), ""])
