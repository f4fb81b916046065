"""Short commands whose whole answer fits in a text: probes, and the setup of an environment.

Each runs with a private directory for its output, which is gone afterwards.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from amelia.judge.excerpt import excerpt
from amelia.judge.surroundings import opening
from amelia.model.walls import Wall
from amelia.system.denials import denial_note, denials_in
from amelia.system.process import run_supervised

_LONGEST = 8_000
_MOST_READ = 1_048_576


@dataclass(frozen=True, slots=True)
class Answer:
    """How a short command ended and what it said; `exit_code` is None when its time was up."""

    exit_code: int | None
    text: str


async def ask(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limit: timedelta,
    lock: Path | None = None,
    wall: Wall | None = None,
) -> Answer:
    """Runs a command and returns its answer, with what the wall denied it if it did not end well."""
    with tempfile.TemporaryDirectory(prefix="amelia-") as private:
        output = Path(private, "output")
        finished = await run_supervised(
            argv, cwd=cwd, env=env, timeout=limit, output=output, lock=lock, wall=wall
        )
        said = excerpt(opening(output, _MOST_READ).strip(), _LONGEST)
        note = denial_note(denials_in(output, wall)) if finished.exit_code else ""
        return Answer(finished.exit_code, f"{said}\n{note}".strip())
