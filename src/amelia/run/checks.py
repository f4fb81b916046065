"""Executed verification of a unit's tree, of a merged tree, and of the whole branch.

The tests run on a clean checkout of exactly the tree in question, in the lane's own place for checks.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import to_thread

from amelia.judge.demands import demands_of
from amelia.judge.feedback import feedback
from amelia.judge.generated import without_generated
from amelia.judge.person import DOUBTS, of_a_person
from amelia.judge.receipts import digest, fingerprint, told
from amelia.judge.rules import of_files
from amelia.judge.trusted import is_test_code
from amelia.judge.verify import Checkout
from amelia.model import events as ev
from amelia.model.commands import LandWork, Place, VerifyBranch, VerifyWork
from amelia.model.evidence import Delta, Demands, Problem, Receipt, TestEdits, Verdict
from amelia.model.git import CommitId, TreeId
from amelia.run.judging import branch_tree, judge_tree, texts_at
from amelia.run.workshop import Workshop
from amelia.workspace.diff import changes, paths_in

_BRANCH_LANE = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks said of a tree, and a short name of the results they saw."""

    verdict: Verdict
    receipt: Receipt | None

    @property
    def results(self) -> str:
        """A name for what was seen: two rounds with the same one got nowhere."""
        problems = sorted(f"{problem.code} {problem.file}" for problem in self.verdict.problems)
        return hashlib.sha256(repr((fingerprint(self.receipt), problems)).encode()).hexdigest()[:16]


async def verify_work(shop: Workshop, command: VerifyWork) -> tuple[ev.Event, ...]:
    """Checks what an attempt left."""
    checked = await check_work(shop, command, base=command.at.base, tree=command.work.tree)
    verdict = checked.verdict
    return (
        ev.AttemptVerified(
            unit=command.at.unit,
            attempt=command.at.attempt,
            passed=verdict.passed,
            problems=verdict.problems,
            notes=tuple(note.message for note in verdict.notes),
            feedback=feedback(verdict, is_promised=command.is_promised),
            red=verdict.red,
            results=checked.results,
            receipt=command.work.tree if checked.receipt is not None else None,
            proof=digest(checked.receipt) if checked.receipt is not None else None,
            edits=verdict.edits,
        ),
    )


async def check_work(
    shop: Workshop, command: VerifyWork | LandWork, *, base: CommitId, tree: TreeId
) -> Checked:
    """Checks a tree against the base it came from, or was merged onto."""
    at = command.at
    demands = demands_of(
        at.assigned.pieces,
        red_tasks=command.expected.red_tasks,
        must_be_green=command.expected.must_be_green,
        may_be_red=command.expected.may_be_red,
        granted=at.granted,
    )
    delta = await to_thread.run_sync(lambda: _delta(shop, demands, base=base, tree=tree))
    # What a person did by hand is theirs: no test is held against it as it was.
    judges = None if at.by_person else await to_thread.run_sync(judge_tree, shop, delta, demands)
    verdict, receipt = await shop.verifier.verify(delta, demands, _checkout_of(shop, at), judges=judges)
    verdict = without_generated(verdict, command.work.left_out)
    if at.by_person:
        theirs = TestEdits(licensed=tuple(change.path for change in delta.changes))
        verdict = replace(of_a_person(verdict, at.accepted), edits=theirs)
    return Checked(verdict, receipt)


def doubts_about(shop: Workshop, at: Place, tree: TreeId) -> list[Problem]:
    """Returns the problems of work by hand that only its person can set aside, before anything runs."""
    demands = demands_of(at.assigned.pieces)
    delta = _delta(shop, demands, base=at.base, tree=tree)
    found = of_files(demands, delta, shop.facts.verify)
    return [each for each in found if isinstance(each, Problem) and each.code in DOUBTS]


async def verify_branch(shop: Workshop, command: VerifyBranch) -> tuple[ev.Event, ...]:
    """Checks the whole branch against what the run started from."""
    base, tip = await to_thread.run_sync(lambda: [shop.tree(one) for one in (command.base, command.tip)])
    verdict, receipt = await shop.verifier.verify_branch(
        base,
        tip,
        open_red=command.open_red,
        waived=command.waived,
        checkout=_checkout_in(shop, _BRANCH_LANE, base=command.base),
        judges=await to_thread.run_sync(branch_tree, (base, tip), (command.restored, command.licensed), shop),
    )
    if not verdict.passed:
        shop.verifier.forget(tip)  # whoever resumes the run wants it tested anew
    return (
        ev.BranchVerified(
            passed=verdict.passed, feedback=feedback(verdict), receipt=tip if receipt is not None else None
        ),
    )


def _checkout_in(shop: Workshop, number: int, *, base: CommitId) -> Checkout:
    """Returns what puts a tree into a lane's place for checks."""

    async def checkout(tree: str) -> Path:
        lane = await to_thread.run_sync(lambda: shop.check_out(number, tree=TreeId(tree), base=base))
        return lane.directory

    return checkout


def _checkout_of(shop: Workshop, at: Place) -> Checkout:
    return _checkout_in(shop, at.lane, base=at.base)


async def account(shop: Workshop, at: Place, tree: TreeId, *, red: Sequence[str] = ()) -> str:
    """Returns what a reviewer is told of the checks; `red` are the tests that were to fail."""
    receipt = await shop.verifier.receipt(tree, _checkout_of(shop, at))
    if receipt is None:
        return "Nothing was executed: this repository has no test command."
    if receipt.results is None:
        return f"{told(receipt, red=red)}\n{receipt.detail}"
    failing = [f"{result.status}: {result.id}" for result in receipt.results if result.status.is_failing]
    return "\n".join([told(receipt, red=red), *failing[:50]])


def _delta(shop: Workshop, demands: Demands, *, base: CommitId, tree: TreeId) -> Delta:
    changed = changes(shop.store, base, tree)
    tests = [change.path for change in changed if is_test_code(change.path) and not change.is_binary]
    return Delta(
        base=shop.tree(base),
        tree=tree,
        changes=changed,
        files=frozenset(paths_in(shop.store, tree)) if demands.required_files else frozenset(),
        before=texts_at(shop, base, tests),
    )
