"""The table of faults as a page: what every fault came to with every driver, as the tests recorded it.

python -m real.fault_page RECORD...
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amelia.model.agents import Ending

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "faults.md"
EVERY_DRIVER = "script"
"""What was tried with this driver, too, is nothing a provider does: there is none behind it."""

DRIVERS = frozenset({"acp", "acp (claude)", "acp (codex)", "api", "claude", "codex", EVERY_DRIVER})
HEAD = """\
# Faults

Made by `scripts/fault-table` from the tests that drive real agents against a scripted provider, and from the contract that every driver keeps. A cell says how the turn ended and after how many seconds, on a machine with other work to do; – was not tried, or is nothing that this agent can have. The clock for silence is set to a few seconds in these tests; it is 15 minutes in a run. After all {count} turns of this page, **{left}** processes were left.

`acp (claude)` and `acp (codex)` are the adapters of these agents for the Agent Client Protocol; `acp` alone is a small agent of our own.
"""
MEANINGS = {
    Ending.FAILED: "The agent says that it failed. An attempt is used up; the next one is told why.",
    Ending.LIMITED: "A limit or an outage. The run waits without a slot, until the time that was given or for "
    "a while, and asks again. No attempt is used up.",
    Ending.AUTH: "The key or the login is refused, and stays so for as long as the agent tries. The run halts "
    "as `halted(auth)` until a person has mended that and resumes it. No attempt is used up.",
    Ending.NO_CREDIT: "Nothing is left to pay the provider with. The run halts as `halted(no_credit)` until a "
    "person resumes it. No attempt is used up.",
    Ending.MODEL_NOT_FOUND: "The provider does not have the model, or is not at that address. The run halts as "
    "`halted(model_not_found)` until a person resumes it. No attempt is used up.",
    Ending.UNUSABLE: "The program refuses its options, or cannot be started. The run halts as "
    "`halted(agent_unusable)` until a person resumes it. No attempt is used up.",
    Ending.OVERFLOW: "The session does not fit into the model's context window any more. An attempt is used up; "
    "the next one begins in a fresh session, is told why, and goes on with the files where the mode keeps them.",
    Ending.SESSION_LOST: "Nothing was done. A fresh session takes the turn, and is told everything.",
    Ending.OUT_OF_BUDGET: "The run halts as `halted(budget)` until a person gives it more.",
    Ending.CRASHED: "An attempt is used up; what was left in the worktree is kept.",
    Ending.TIMED_OUT_SILENCE: "The agent was heard of no more, and was ended. An attempt is used up; what was "
    "left in the worktree is kept.",
    Ending.TIMED_OUT_WALL: "The whole time of the turn was up, and the agent was ended; as for silence.",
    Ending.INTERRUPTED: "Somebody stops the run; it goes on when it is resumed.",
    Ending.KILLED: "The same, at once: by a second signal, or because the run is cancelled.",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One turn with a fault."""

    driver: str
    fault: str
    ending: str
    seconds: float
    processes_left: int

    @property
    def cell(self) -> str:
        left = f", **{self.processes_left} left**" if self.processes_left else ""
        return f"{self.ending}, {_rough(self.seconds)}{left}"


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Returns every turn that was recorded."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return [Row(**json.loads(line)) for line in lines]


def page(rows: Sequence[Row]) -> str:
    """Returns the page, the same whatever order the tests ran in."""
    common = {row.fault for row in rows if row.driver == EVERY_DRIVER}
    head = HEAD.format(count=len(rows), left=sum(row.processes_left for row in rows))
    seen = [ending for ending in Ending if ending in {row.ending for row in rows}]
    meanings = (f"| {ending} | {MEANINGS[ending]} |" for ending in seen)
    return "\n".join(
        [
            head,
            "## Of the provider",
            "",
            *_table([row for row in rows if row.fault not in common]),
            "",
            "## Of the agent, and by Amelia",
            "",
            *_table([row for row in rows if row.fault in common]),
            "",
            "## What an ending means for a run",
            "",
            "| ending | |",
            "|---|---|",
            *meanings,
            "",
        ]
    )


def _table(rows: Sequence[Row]) -> list[str]:
    drivers = sorted({row.driver for row in rows})
    cells = {(row.fault, row.driver): row.cell for row in rows}
    return [
        f"| fault | {' | '.join(drivers)} |",
        f"|---|{'---|' * len(drivers)}",
        *(
            f"| {fault} | {' | '.join(cells.get((fault, driver), '–') for driver in drivers)} |"
            for fault in sorted({row.fault for row in rows})
        ),
    ]


def _rough(seconds: float) -> str:
    """Says a duration so roughly that it stays the same from day to day."""
    bounds = (5, 10, 30, 60)
    return next((f"< {bound} s" for bound in bounds if seconds < bound), f"{seconds:.0f} s")


def main() -> None:
    """Writes the page."""
    rows = read_rows(map(Path, sys.argv[1:]))
    if missing := DRIVERS - {row.driver for row in rows}:
        sys.exit(f"the page stays as it is: nothing was recorded of {', '.join(sorted(missing))}")
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
