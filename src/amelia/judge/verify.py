"""Runs the tests on the tree before a unit and on the unit's own, and judges what was seen.

Every run happens on a checkout that the caller makes of exactly the tree in question, and only when no
receipt of it is at hand. A failure that would be held against the unit is run once more on the same tree;
both runs count.
"""

import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from anyio import to_thread

from amelia.judge.environment import Environment, Walls
from amelia.judge.leftovers import Managed
from amelia.judge.licence import JudgeTree, without_mixed
from amelia.judge.outcomes import outcomes
from amelia.judge.reading import Remains, make_room, read_receipt, unable
from amelia.judge.receipts import Receipts, joined
from amelia.judge.rules import MAY_BE_CHANCE, judge, judge_branch
from amelia.judge.runners import invocation, reports
from amelia.judge.tools import planted_tools
from amelia.model.errors import ConfigError
from amelia.model.evidence import (
    Delta,
    Demands,
    Note,
    NoteCode,
    Problem,
    Receipt,
    TestCommand,
    Verdict,
    VerifySettings,
)
from amelia.system.denials import denial_note, denials_in
from amelia.system.process import run_supervised
from amelia.system.secrets import Redactor, secrets_of

Checkout: TypeAlias = Callable[[str], Awaitable[Path]]
"""Puts exactly one tree into a worktree and returns where that is."""


class Verifier:
    """Verifies the units of one run. `home` is a directory of its own for receipts and stamps.

    `known` are the digests of the receipts there that can be believed.
    `lock_of` names, for a worktree, the file that tells which processes work there, `managed` its files that
    git takes care of.
    """

    def __init__(
        self,
        *,
        command: TestCommand | None,
        settings: VerifySettings,
        home: Path,
        known: Iterable[str] = (),
        caller: Path | None = None,
        lock_of: Callable[[Path], Path | None] = lambda worktree: None,  # noqa: ARG005 - none by default
        managed: Managed | None = None,
        walls: Walls | None = None,
    ) -> None:
        self._lock_of = lock_of
        self._denied: dict[str, tuple[str, ...]] = {}
        self.command = command
        self._settings = settings
        self._receipts = (
            Receipts(home / "receipts", command, settings.setup, known=known) if command else None
        )
        self._environment = Environment(
            setup=settings.setup,
            timeout=settings.timeout,
            stamps=home / "stamps",
            caller=caller,
            lock_of=lock_of,
            managed=managed,
            walls=walls,
        )

    async def check(self, tree: str, checkout: Checkout) -> None:
        """Raises if the tests of a tree cannot be run at all, before anything depends on them."""
        if self.command is None:
            return
        ready = await self._environment.prepare(self.command, await checkout(tree))
        if isinstance(ready, Problem):
            raise ConfigError(
                ready.message,
                hint="say how in amelia.toml, under [verify]: `command`, and `setup` if it needs one",
            )

    async def receipt(self, tree: str, checkout: Checkout, *, run: int = 1) -> Receipt | None:
        """Returns what the tests say of a tree, also from an earlier time; None without a command."""
        if self.command is None or self._receipts is None:
            return None
        known = self._receipts.load(tree, run=run)
        if known is not None:
            return known
        seen = await self._run(self.command, tree, await checkout(tree))
        self._receipts.save(seen, run=run)
        return seen

    def seen(self, tree: str) -> Receipt | None:
        """Returns what the tests said of a tree, if they ran and it can be believed."""
        return self._receipts.load(tree) if self._receipts is not None else None

    def forget(self, tree: str) -> None:
        """Forgets what was seen of a tree, so that it is tested anew."""
        if self._receipts is not None:
            self._receipts.forget(tree)

    async def verify(
        self, delta: Delta, demands: Demands, checkout: Checkout, *, judges: JudgeTree | None = None
    ) -> tuple[Verdict, Receipt | None]:
        """Judges a unit, with the receipt of its own tree; `judges` is that with the tests as they were."""
        baseline = await self.receipt(delta.base, checkout)
        trusted = await self._as_they_were(judges, checkout)
        result = self._refused(delta) or await self._landing(
            delta.tree, checkout, judges=judges, trusted=trusted
        )

        def judged(again: Receipt | None) -> Verdict:
            return judge(
                demands=demands,
                delta=delta,
                settings=self._settings,
                baseline=baseline,
                result=result,
                again=again,
                judges=judges,
                trusted=trusted,
            )

        if judges is not None and judges.stricter is not None:
            excuse = await self._as_they_were(judges.stricter, checkout)
            judges = without_mixed(
                judges, outcomes(baseline), outcomes(excuse[0]) if excuse else {}, owed=demands.required_green
            )
        if trusted and _is_doubtful(judged(None)):
            trusted = (*trusted, *await self._as_they_were(judges, checkout, run=2))

        async def again() -> Receipt | None:
            return await self._landing(delta.tree, checkout, judges=judges, trusted=trusted, run=2)

        return self._noted(await _twice(judged, again), delta.tree), result

    def _noted(self, verdict: Verdict, tree: str) -> Verdict:
        """Returns a verdict with what the wall denied to the tests, if they ended badly."""
        note = denial_note(self._denied.get(tree, ()))
        if not note:
            return verdict
        return replace(verdict, notes=(*verdict.notes, Note(NoteCode.DENIED, note)))

    def _refused(self, delta: Delta) -> Receipt | None:
        """Returns the receipt of a run that does not take place, because a unit brought its own tool."""
        problem = planted_tools(delta.changes)
        return unable(self.command, delta.tree, problem) if self.command and problem else None

    async def _as_they_were(
        self, judges: JudgeTree | None, checkout: Checkout, *, run: int = 1
    ) -> tuple[Receipt, ...]:
        """Returns what the tests as they were say of the work, if a unit changed any."""
        if judges is None or judges.tree is None:
            return ()
        seen = await self.receipt(judges.tree, checkout, run=run)
        return (seen,) if seen is not None else ()

    async def _landing(
        self,
        tree: str,
        checkout: Checkout,
        *,
        judges: JudgeTree | None,
        trusted: Sequence[Receipt],
        run: int = 1,
    ) -> Receipt | None:
        """Returns what the tests say of a unit's own tree, in the first or in a second run.

        Where nothing but test files differs from a tree that was tested just now, only those are run, and by
        themselves: so what they do to others when they are loaded changes nothing.
        """
        if self.command is None or self._receipts is None:
            return None
        known = self._receipts.load(tree, run=run)
        if known is None and judges is not None and judges.apart is not None and trusted:
            part = None
            if judges.apart:
                part = await self._run(self.command, tree, await checkout(tree), only=judges.apart)
            known = joined(trusted[-1], part, tree=tree, differing=judges.touched.foreign)
            if known is not None:
                self._receipts.save(known, run=run)
        return known if known is not None else await self.receipt(tree, checkout, run=run)

    async def verify_branch(
        self,
        base: str,
        tree: str,
        *,
        open_red: tuple[str, ...],
        checkout: Checkout,
        waived: tuple[str, ...] = (),
        judges: JudgeTree | None = None,
    ) -> tuple[Verdict, Receipt | None]:
        """Judges the whole branch against what the run started from, without the tests that are waived.

        The tests run once as one whole, also where they ran in parts for the last unit. `judges` is the
        branch with the tests of the run's base that no unit was to change.
        """
        before = await self.receipt(base, checkout)
        trusted = await self._as_they_were(judges, checkout)
        if (known := self.seen(tree)) is not None and known.is_joined:
            self.forget(tree)
        result = await self.receipt(tree, checkout)

        def judged(again: Receipt | None) -> Verdict:
            return judge_branch(
                base=before,
                result=result,
                open_red=open_red,
                waived=waived,
                again=again,
                judges=judges,
                trusted=trusted,
            )

        if trusted and _is_doubtful(judged(None)):
            trusted = (*trusted, *await self._as_they_were(judges, checkout, run=2))

        return await _twice(judged, lambda: self.receipt(tree, checkout, run=2)), result

    async def _run(
        self, command: TestCommand, tree: str, worktree: Path, *, only: Sequence[str] = ()
    ) -> Receipt:
        ready = await self._environment.prepare(command, worktree)
        if isinstance(ready, Problem):
            return unable(command, tree, ready)
        wall = self._environment.wall_of_tests(worktree)
        with tempfile.TemporaryDirectory(prefix="amelia-", dir=wall.temporary if wall else None) as private:
            how = invocation(
                command, found=ready.program, worktree=worktree, private=Path(private), only=only
            )
            if problem := make_room(how.report, (worktree, Path(private))):
                return unable(command, tree, problem)
            output = Path(private, "output")
            finished = await run_supervised(
                how.argv,
                cwd=worktree,
                env={**ready.env, **how.env},
                timeout=self._settings.timeout,
                output=output,
                lock=self._lock_of(worktree),
                reports=reports(command),
                wall=wall,
            )
            self._denied[tree] = denials_in(output, wall) if finished.exit_code else ()
            secrets = Redactor(secrets_of({**ready.env, **how.env}))
            remains = Remains(finished, output, how.report, worktree, secrets)
            return await to_thread.run_sync(read_receipt, command, tree, remains)


async def _twice(
    judged: Callable[[Receipt | None], Verdict], again: Callable[[], Awaitable[Receipt | None]]
) -> Verdict:
    """Judges, and where chance may have had a part in it, runs the tests again and judges both runs."""
    verdict = judged(None)
    if not any(problem.code in MAY_BE_CHANCE for problem in verdict.problems):
        return verdict
    return judged(await again())


def _is_doubtful(verdict: Verdict) -> bool:
    """Says whether the tests as they were may have failed by chance."""
    return bool(verdict.edits.ruled) or any(problem.code in MAY_BE_CHANCE for problem in verdict.problems)
