"""Runs the tests on the tree before a unit and on the unit's own, and judges what was seen.

Every run happens on a checkout that the caller makes of exactly the tree in question, and only when no
receipt of it is at hand. A failure that would be held against the unit is run once more on the same tree;
both runs count.
"""

import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from anyio import to_thread

from amelia.judge.environment import Environment
from amelia.judge.reading import Remains, make_room, read_receipt, unable
from amelia.judge.receipts import Receipts
from amelia.judge.rules import MAY_BE_CHANCE, judge, judge_branch
from amelia.judge.runners import invocation
from amelia.model.errors import ConfigError
from amelia.model.evidence import (
    Delta,
    Demands,
    Problem,
    Receipt,
    TestCommand,
    Verdict,
    VerifySettings,
)
from amelia.system.process import run_supervised
from amelia.system.secrets import Redactor, secrets_of

Checkout: TypeAlias = Callable[[str], Awaitable[Path]]
"""Puts exactly one tree into a worktree and returns where that is."""


class Verifier:
    """Verifies the units of one run. `home` is a directory of its own for receipts and stamps.

    `known` are the digests of the receipts there that can be believed.
    `lock_of` names, for a worktree, the file that tells which processes work there.
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
    ) -> None:
        self._lock_of = lock_of
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
        self, delta: Delta, demands: Demands, checkout: Checkout
    ) -> tuple[Verdict, Receipt | None]:
        """Judges a unit, with the receipt of its own tree."""
        baseline = await self.receipt(delta.base, checkout)
        result = await self.receipt(delta.tree, checkout)

        def judged(again: Receipt | None) -> Verdict:
            return judge(
                demands=demands,
                delta=delta,
                settings=self._settings,
                command=self.command,
                baseline=baseline,
                result=result,
                again=again,
            )

        return await self._twice(judged, delta.tree, checkout), result

    async def verify_branch(
        self,
        base: str,
        tree: str,
        *,
        open_red: tuple[str, ...],
        checkout: Checkout,
        waived: tuple[str, ...] = (),
    ) -> tuple[Verdict, Receipt | None]:
        """Judges the whole branch against what the run started from, without the tests that are waived."""
        before = await self.receipt(base, checkout)
        result = await self.receipt(tree, checkout)

        def judged(again: Receipt | None) -> Verdict:
            return judge_branch(base=before, result=result, open_red=open_red, waived=waived, again=again)

        return await self._twice(judged, tree, checkout), result

    async def _twice(
        self, judged: Callable[[Receipt | None], Verdict], tree: str, checkout: Checkout
    ) -> Verdict:
        """Judges, and where chance may have had a part in it, runs the tests again and judges both runs."""
        verdict = judged(None)
        if not any(problem.code in MAY_BE_CHANCE for problem in verdict.problems):
            return verdict
        return judged(await self.receipt(tree, checkout, run=2))

    async def _run(self, command: TestCommand, tree: str, worktree: Path) -> Receipt:
        ready = await self._environment.prepare(command, worktree)
        if isinstance(ready, Problem):
            return unable(command, tree, ready)
        with tempfile.TemporaryDirectory(prefix="amelia-") as private:
            how = invocation(command, program=ready.program, worktree=worktree, private=Path(private))
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
            )
            secrets = Redactor(secrets_of({**ready.env, **how.env}))
            remains = Remains(finished, output, how.report, worktree, secrets)
            return await to_thread.run_sync(read_receipt, command, tree, remains)
