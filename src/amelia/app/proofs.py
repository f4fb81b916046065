"""Refuses a run whose work no test could prove, before anything is spent on it."""

from collections.abc import Sequence
from pathlib import Path

import anyio

from amelia.app.walls import Walls
from amelia.app.workshops import make_verifier
from amelia.judge.outcomes import has_single_tests, outcomes
from amelia.judge.provable import proved_by_tests, without_tests_before
from amelia.judge.trusted import is_test_code
from amelia.judge.verify import Verifier
from amelia.model.errors import ConfigError
from amelia.model.evidence import TestCommand, VerifySettings
from amelia.model.git import CommitId
from amelia.model.plan import TaskId, Unit
from amelia.system.git_places import Lane
from amelia.workspace.diff import paths_in

_LISTED = 5
_WAIVER = "or write `- TDD waiver: REASON` into a task that is to land without tests"


def refuse_unproved(
    walls: Walls,
    lane: Lane,
    base: CommitId,
    *,
    units: Sequence[Unit],
    command: TestCommand | None,
    settings: VerifySettings,
) -> None:
    """Raises if tasks need tests and there are none to prove them with.

    The lane holds the files of the base.
    """
    if command is None:
        if needy := proved_by_tests(units):
            raise ConfigError(
                f"no way to run tests was found, and these tasks are proved by tests: {_listed(needy)}",
                hint='say how in amelia.toml:  [verify]  command = ["python", "-m", "pytest"];  ' + _WAIVER,
            )
        return
    needy = without_tests_before(units)
    # The runner decides, but is asked only where no file looks like a test: a run of all tests takes long.
    is_suspect = bool(needy) and not any(map(is_test_code, paths_in(lane.store, base)))
    if is_suspect and _finds_no_tests(make_verifier(walls, command, settings), lane, base):
        raise ConfigError(
            f"`{' '.join(command.argv)}` finds no tests, "
            f"and these tasks are proved only if the same tests stay green: {_listed(needy)}",
            hint=f"let a task before them write tests; {_WAIVER}",
        )


def _finds_no_tests(verifier: Verifier, lane: Lane, base: CommitId) -> bool:
    """Says whether the tests of a lane run, and there are none of them."""

    async def as_it_is(_: str) -> Path:
        return lane.directory

    seen = anyio.run(verifier.receipt, base, as_it_is)
    is_told = seen is not None and seen.fault is None and seen.results is not None
    return is_told and not has_single_tests(outcomes(seen))


def _listed(tasks: Sequence[TaskId]) -> str:
    return ", ".join(tasks[:_LISTED]) + (" …" if len(tasks) > _LISTED else "")
