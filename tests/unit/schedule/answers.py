"""What the world can answer to a step under way, in three alphabets: plain, mixed, and whole."""

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.evidence import Problem, ProblemCode
from amelia.model.findings import Disposition, Weight
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import UnitId
from amelia.model.state import Active, Driving, Evaluating, Landing, Resting, Reviewing, Verifying
from unit.schedule.worlds import LATER, ended, finding, rulings

Answers = Callable[[UnitId, Active], Iterable[ev.Event]]
BLOCKING = finding("leaks")
MINOR = finding("naming", Weight.MINOR)


def the_plain(name: UnitId, state: Active) -> Iterator[ev.Event]:
    """Yields, for the step under way, an answer that is good, and one that is not."""
    attempt = state.track.attempt
    match state:
        case Driving():
            yield ended(name, attempt)
        case Verifying():
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=True)
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=False)
        case Reviewing():
            yield ev.AttemptReviewed(unit=name, attempt=attempt, approved=True)
        case Landing():
            yield ev.UnitLanded(name, attempt, CommitId(f"commit of {name}"))
        case Evaluating() | Resting():
            raise AssertionError("nothing leads here")


def the_mixed(name: UnitId, state: Active) -> Iterator[ev.Event]:
    """Yields an answer of every kind that leads to another stage."""
    attempt = state.track.attempt
    match state:
        case Driving():
            yield ended(name, attempt)
            yield ended(name, attempt, Ending.LIMITED, until=LATER)
        case Reviewing():
            yield ev.AttemptReviewed(unit=name, attempt=attempt, approved=True)
            yield ev.AttemptReviewed(unit=name, attempt=attempt, approved=False, findings=(BLOCKING,))
        case Evaluating():
            yield ruled(name, attempt, Disposition.IMPLEMENT)
            yield ruled(name, attempt, Disposition.REJECT)
        case Landing():
            yield ev.UnitLanded(name, attempt, CommitId(f"commit of {name}"))
            yield ev.LandingRefused(name, attempt, Cause.CONFLICT, "conflict")
        case Verifying():
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=True)
        case Resting():
            yield ev.UnitRested(name)


def the_checked(name: UnitId, state: Active) -> Iterator[ev.Event]:
    """Yields answers between which an attempt goes on: trees and results that are new or known, and an error."""
    attempt = state.track.attempt
    match state:
        case Driving():
            yield from (ended(name, attempt, tree=tree) for tree in ("one", "other", f"{attempt}"))
            yield ended(name, attempt, Ending.CRASHED)
        case Verifying():
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=True, results="green")
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=False, results="red")
        case _:
            yield from the_mixed(name, state)


def the_whole(name: UnitId, state: Active) -> Iterator[ev.Event]:
    """Yields every kind of answer to the step under way."""
    attempt = state.track.attempt
    yield ev.StepBroke(name, state.step, "the disk is full")
    match state:
        case Driving():
            yield from (ended(name, attempt, tree=tree) for tree in ("one", "other"))
            yield ended(name, attempt, refused="the hook said no")
            yield ended(name, attempt, Ending.LIMITED, until=LATER)
            yield from (ended(name, attempt, ending) for ending in (Ending.FAILED, Ending.CRASHED))
            yield ended(name, attempt, question="which one?")
        case Verifying():
            nothing = Problem(ProblemCode.NO_CHANGES, "nothing changed")
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=True, results="green")
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=False, results="red")
            yield ev.AttemptVerified(unit=name, attempt=attempt, passed=False, problems=(nothing,))
        case Reviewing():
            yield from reviews(name, attempt)
        case Evaluating():
            yield from (ruled(name, attempt, disposition) for disposition in Disposition)
            yield ev.AnswerDelayed(name, attempt, LATER)
            yield ruled(name, attempt)
        case Landing():
            yield ev.UnitLanded(name, attempt, CommitId(f"commit of {name}"))
            yield ev.LandingRefused(name, attempt, Cause.CONFLICT, "conflict")
            yield ev.LandingRefused(name, attempt, Cause.MERGE_RED, "red")
        case Resting():
            yield ev.UnitRested(name)


def reviews(name: UnitId, attempt: int) -> Iterator[ev.Event]:
    for approved, found in product((True, False), ((), (MINOR,), (BLOCKING,))):
        yield ev.AttemptReviewed(unit=name, attempt=attempt, approved=approved, findings=found)
    yield ev.ReviewFailed(unit=name, attempt=attempt, detail="nonsense")
    yield ev.AnswerDelayed(name, attempt, LATER)


def ruled(name: UnitId, attempt: int, disposition: Disposition | None = None) -> ev.Event:
    """Returns one ruling about a finding that blocks, and one about a finding that nobody made."""
    found = () if disposition is None else rulings(disposition, BLOCKING, finding("never found"))
    return ev.FindingsEvaluated(unit=name, attempt=attempt, rulings=found)
