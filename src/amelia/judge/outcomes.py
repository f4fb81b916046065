"""What a run of the tests says about each test, and about itself.

The run itself is one more test, `<command>`: it fails when the command failed and no test explains why. So a
runner with an exit code only, a coverage limit that is not reached, and a build that breaks are all judged by
the same rules. A receipt with a fault says nothing about any test.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from amelia.model.evidence import THE_COMMAND, Receipt, RunnerKind, TestResult, TestStatus

NO_TESTS_COLLECTED = 5
"""The exit code of pytest for a run without a single test."""

Outcomes = Mapping[str, TestResult]

_WORST_FIRST = (TestStatus.ERROR, TestStatus.FAILED, TestStatus.SKIPPED, TestStatus.PASSED)


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of one tree after one run, or two."""

    outcomes: Outcomes
    flaky: tuple[str, ...] = ()


def outcomes(receipt: Receipt | None) -> Outcomes:
    """Returns each test once, with its worst status, and the run itself; nothing if there is a fault."""
    if receipt is None or receipt.fault is not None:
        return {}
    found: dict[str, TestResult] = {}
    for result in receipt.results or ():
        known = found.get(result.id)
        if known is None or _WORST_FIRST.index(result.status) < _WORST_FIRST.index(known.status):
            found[result.id] = result
    found[THE_COMMAND] = _the_run_itself(receipt, found.values())
    return found


def observed(first: Receipt, again: Receipt | None) -> Observed:
    """Returns what two runs on one tree say together.

    A test that passed and failed is flaky, and counts as passed. A second run with a fault excuses nothing.
    """
    one, two = outcomes(first), outcomes(again)
    if not two:
        return Observed(one)
    if not one:
        return Observed(two, (THE_COMMAND,))
    flaky = tuple(sorted(name for name in one.keys() & two.keys() if _is_flaky(one[name], two[name])))
    settled = {name: two[name] if one[name].status.is_failing else one[name] for name in flaky}
    return Observed({**one, **settled}, flaky)


def has_single_tests(seen: Outcomes) -> bool:
    """Says whether anything but the run itself was seen."""
    return any(name != THE_COMMAND for name in seen)


def _is_flaky(one: TestResult, two: TestResult) -> bool:
    statuses = {one.status, two.status}
    return TestStatus.PASSED in statuses and any(status.is_failing for status in statuses)


def _the_run_itself(receipt: Receipt, results: Iterable[TestResult]) -> TestResult:
    is_empty = (
        receipt.kind is RunnerKind.PYTEST and receipt.exit_code == NO_TESTS_COLLECTED and not receipt.results
    )
    is_explained = any(result.status.is_failing for result in results)
    if receipt.exit_code == 0 or is_empty or is_explained:
        return TestResult(THE_COMMAND, TestStatus.PASSED)
    message = f"`{' '.join(receipt.command)}` ended with exit code {receipt.exit_code}:\n{receipt.detail}"
    return TestResult(THE_COMMAND, TestStatus.FAILED, message=message)
