"""The ways out that a person has, of units and of runs that wait for one, and other words of views.

Nothing here is stored anywhere: it follows from the state of a run.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from amelia.app.splitting import has_seam
from amelia.judge.globs import covered
from amelia.model.agents import Allowance, Spent
from amelia.model.delivery import DeliveryRefused, FinishChosen
from amelia.model.outcome import Reason, Result
from amelia.model.plan import UnitId
from amelia.model.questions import Question
from amelia.model.state import Asking, Branch, Driving, Failing, Parked, RunState, Skipped, UnitState, Waiting
from amelia.schedule.budget import is_held, is_run_out
from amelia.schedule.standing import Blocked, run_status
from amelia.show.text import counted, printable

_THOUSAND = 1_000
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Exit:
    """A way out that a person has: the command to type, and what it does."""

    command: str
    effect: str


def outcome_in_words(run: RunState) -> str:
    """Returns the status of a run in few words for a person, with what became of its branch."""
    if run.outcome is None:
        return run_status(run)
    result = "waits for you" if run.outcome.result is Result.NEEDS_HUMAN else str(run.outcome.result)
    if run.outcome.reason is not None:
        return f"{result} ({run.outcome.reason.replace('_', ' ')})"
    if run.delivery.undone is not None:
        return f"{result}, taken back"
    if run.delivery.done is not None:
        return f"{result}, {'merged' if run.delivery.done.finish.is_merge else 'pull request'}"
    return result


def is_settled(run: RunState) -> bool:
    """Says whether nothing of a run waits for a person any more, its delivery included."""
    return run.is_final and run.delivery.refused is None


def error_of(state: UnitState) -> str | None:
    """Returns why a unit failed, or why its turn before the present one was not good enough."""
    match state:
        case Parked(asking=Asking()):
            return None
        case Parked(reason=reason, detail=detail):
            return detail or reason.meaning
        case Driving(feedback=feedback) | Failing(feedback=feedback) | Waiting(feedback=feedback):
            return feedback or None
        case _:
            return None


def exits_of(run: RunState, unit: UnitId, blocked: Blocked) -> tuple[Exit, ...]:
    """Returns what a person can do about a unit that waits for one; nothing for any other."""
    if run.is_final:
        return ()
    state = run.units[unit]
    if isinstance(state, Parked):
        return (*_ways(run, unit, state), _abort(run))
    culprits = blocked.get(unit, ())
    if culprits and all(isinstance(run.units[culprit], Skipped) for culprit in culprits):
        return (
            *(
                _exit(run, "skip", culprit, "--satisfied", effect=f"go on without {culprit}")
                for culprit in culprits
            ),
            _exit(run, "skip", unit, effect="leave it out, too"),
            _abort(run),
        )
    return ()


def _ways(run: RunState, unit: UnitId, state: Parked) -> tuple[Exit, ...]:
    again = "go on where it stopped" if state.stage else "try again, with all its attempts"
    split = _exit(run, "split", unit, effect="carry it out in pieces")
    return (
        *(_answers(run, unit, state.asking.question) if state.asking is not None else ()),
        _exit(run, "retry", unit, effect=again),
        *_grants(run, unit, state),
        _exit(run, "fix", unit, effect="do it by hand"),
        *((split,) if has_seam(run, unit) else ()),
        _exit(run, "skip", unit, effect="leave it out; what needs it waits"),
        _exit(run, "skip", unit, "--satisfied", effect="leave it out, and go on with what needs it"),
        _exit(run, "log", unit, effect="see what happened in full"),
    )


def _grants(run: RunState, unit: UnitId, state: Parked) -> Iterator[Exit]:
    """Yields how a person lets a unit change the tests that it was given up for."""
    files = [file for file in state.track.to_grant if not covered(file, run.granted.get(unit, ()))]
    if files:
        options = (word for file in files for word in ("--grant", file))
        named = printable(", ".join(files))
        yield _exit(run, "retry", unit, *options, effect=f"try again, and let it change {named}")


def _answers(run: RunState, unit: UnitId, question: Question) -> Iterator[Exit]:
    """Yields how a question can be answered: with each of its options, and in a person's own words."""
    place = printable(f"{run.facts.run}/{unit}")
    for number, option in enumerate(question.options, start=1):
        by_default = ", which is the default" if option == question.default else ""
        yield Exit(
            shlex.join(["amelia", "answer", place, str(number)]), f"answer: {printable(option)}{by_default}"
        )
    yield Exit(shlex.join(["amelia", "answer", place, "TEXT"]), "answer in your own words")
    if question.default is not None and question.deadline is not None:
        effect = f"after {question.deadline}, go on with the default: {printable(question.default)}"
        yield _exit(run, "resume", effect=effect)


def question_json(question: Question | None) -> dict[str, Any] | None:
    """Returns a question with nothing in it but what JSON knows."""
    if question is None:
        return None
    return {
        "text": question.text,
        "options": list(question.options),
        "default": question.default,
        "deadline": question.deadline,
    }


def spent_text(run: RunState) -> str:
    """Returns what a run used, as far as anybody knows: `$1.20, 45k tokens of unknown cost`."""
    spent = run.spent_in_all
    parts = [f"${spent.cost:.2f}"] if spent.cost is not None else []
    if spent.unpriced:
        parts.append(f"{_thousands(spent.unpriced)} tokens of unknown cost")
    if spent.untold and (parts or not run.facts.is_all_played):
        parts.append(f"{counted(spent.untold, 'turn')} of unknown use")
    return ", ".join(parts)


def _thousands(number: int) -> str:
    return (
        f"{number / 1e6:.1f}M"
        if number >= _MILLION
        else f"{number / 1e3:.0f}k"
        if number >= _THOUSAND
        else str(number)
    )


def exits_of_run(run: RunState) -> tuple[Exit, ...]:
    """Returns what a person can do about a run that waits for one as a whole, not for one of its units."""
    if run.outcome is None:
        return (_exit(run, "resume", effect="go on"), _abort(run)) if run.is_paused else ()
    if run.outcome.reason is Reason.BUDGET:
        return (*_more(run), _abort(run))
    if run.outcome.reason is Reason.BRANCH_RED:
        return (_exit(run, "resume", effect="verify the branch again"), _abort(run))
    if run.branch is Branch.UNRECORDED:
        return (_exit(run, "resume", effect="put the record on the branch again"), _abort(run))
    return tuple(_delivering(run, refused)) if (refused := run.delivery.refused) else ()


def _delivering(run: RunState, refused: DeliveryRefused) -> Iterator[Exit]:
    """Yields what can be done about a branch that was not delivered: by hand, once more, or not at all."""
    wish = FinishChosen(refused.finish, run.delivery.without_record)
    again = _exit(run, "finish", *wish.options, effect="try it again; what you did by hand is found")
    by_hand = (printable(command) for command in refused.commands)
    yield from (Exit(command, "") for command in by_hand if command != again.command)
    yield again
    yield _exit(run, "finish", "--leave", effect="leave the branch as it is")


def _more(run: RunState) -> Iterator[Exit]:
    """Yields how a person raises what is used up: the budget of the run, or that of a unit."""
    if is_run_out(run):
        return raised(run.facts.run, run.budget.run, run.spent_in_all)
    used = (run.spent.get(unit, Spent()) for unit in run.units if is_held(run, unit))
    most = max(used, key=lambda one: (one.cost or 0.0, one.unpriced))
    return raised(run.facts.run, run.budget.unit, most, whose="-unit")


def raised(run: str, allowed: Allowance, spent: Spent, *, whose: str = "") -> Iterator[Exit]:
    """Yields how a person gives more than was allowed: twice of that, or of what was used."""
    cost = spent.cost or 0.0
    if allowed.cost is not None and cost >= allowed.cost:
        much = f"{2 * max(cost, allowed.cost):g}"
        yield way_out("resume", run, f"--max{whose}-cost", much, effect="let it cost that much in all")
    if allowed.tokens is not None and spent.unpriced >= allowed.tokens:
        many = str(2 * max(spent.unpriced, allowed.tokens))
        yield way_out("resume", run, f"--max{whose}-tokens", many, effect="let it use that many in all")


def _abort(run: RunState) -> Exit:
    return _exit(run, "abort", effect="give the run up")


def _exit(run: RunState, verb: str, *more: str, effect: str) -> Exit:
    return way_out(verb, run.facts.run, *more, effect=effect)


def way_out(*words: str, effect: str) -> Exit:
    """Makes a command that can be copied to a shell, whatever the ids are made of."""
    return Exit(shlex.join(["amelia", *map(printable, words)]), effect)
