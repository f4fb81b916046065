"""What a pull request says of a run: what landed, what was executed, and what was left out and why.

Titles and findings are untrusted: each is one line that cannot start a block of its own.
"""

from collections.abc import Iterator

from amelia.model.plan import unit_heading
from amelia.model.standing import by_hand
from amelia.model.state import Landed, RunState, Skipped

_LONGEST_TITLE = 100
_LONGEST_LINE = 300
_MOST = 200


def letter_title(run: RunState) -> str:
    """Returns the title: the goal of the plan, or the name of the run."""
    return one_line(run.facts.goal, _LONGEST_TITLE) or f"Run {run.facts.run}"


def letter_body(run: RunState) -> str:
    """Returns the rest, as Markdown."""
    return "\n".join([*_landed(run), "", *_proof(run), *_rulings(run), "", f"Run `{run.facts.run}`.", ""])


def one_line(text: str, longest: int = _LONGEST_LINE) -> str:
    """Returns text without breaks and without what would mean something to Markdown at its start."""
    line = " ".join("".join(char for char in text if char.isprintable() or char.isspace()).split())
    line = line.lstrip("#>-*+| ")
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _landed(run: RunState) -> Iterator[str]:
    units = run.facts.units[:_MOST]
    for unit in units:
        heading = one_line(unit_heading(unit, run.facts.mode))
        match run.units[unit.id]:
            case Landed(commit, by_person=by_person, accepted=accepted):
                yield f"- {heading} ({commit[:12]})" + (f": {by_hand(accepted)}" if by_person else "")
            case Skipped():
                yield f"- {heading}: skipped"
            case _:
                pass
    if len(run.facts.units) > len(units):
        yield f"- and {len(run.facts.units) - len(units)} more"


def _proof(run: RunState) -> Iterator[str]:
    if run.facts.test_command is None:
        yield "Nothing was executed: no way to run tests was found."
        return
    yield f"The whole branch passes `{' '.join(run.facts.test_command.argv).replace('`', '')}`."
    if red := sum(len(tests) for tests in run.red.values()):
        yield f"{red} tests are still red: what implements them was skipped."


def _rulings(run: RunState) -> Iterator[str]:
    for number, (_, finding, ruling) in enumerate(run.rulings[:_MOST]):
        if number == 0:
            yield from ("", "Findings of the review that were not implemented:", "")
        why = f" ({one_line(ruling.reason)})" if ruling.reason else ""
        yield f"- {ruling.disposition.lower()}: {one_line(str(finding))}{why}"
