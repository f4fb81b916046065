"""What a unit asks a person, what follows from the answer, and which questions have waited long enough.

An answer costs no attempt. It goes to the developer, in the session that asked if that is still there; if it
rules out everything that a review had found, the work that was reviewed is accepted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from amelia.model.events import QuestionAnswered
from amelia.model.findings import Disposition, Finding, Ruling
from amelia.model.plan import UnitId
from amelia.model.questions import DO_IT, LEAVE_IT, Answered, Question
from amelia.model.standing import UnitStatus
from amelia.model.state import Asking, Driving, Landing, Parked, RunState, Waiting


def about_findings(findings: Sequence[Finding], rulings: Iterable[Ruling] = ()) -> Question:
    """Returns the question whether findings are to be dealt with, and how; rulings say why it is asked."""
    reasons = {ruling.finding: " ".join(ruling.reason.split()) for ruling in rulings}
    lines = (
        f"- {found}\n  The evaluator says: {reason}" if (reason := reasons.get(found.id)) else f"- {found}"
        for found in findings
    )
    return Question(
        text="\n".join(lines), options=(DO_IT, LEAVE_IT), about=tuple(found.id for found in findings)
    )


def bullets(findings: Sequence[Finding]) -> str:
    """Returns findings as a list for people and agents."""
    return "\n".join(f"- {finding}" for finding in findings)


def answered(state: Parked, asking: Asking, event: QuestionAnswered) -> Waiting:
    """Returns how a unit goes on with an answer."""
    assert state.work is not None, "who asks has had a turn"
    before, question = state.track, asking.question
    left = tuple(found for found in before.findings if found.id not in event.dismissed)
    track = replace(
        before,
        findings=left,
        ruled=(*before.ruled, *event.dismissed),
        questions=before.questions + 1,
        answers=(*before.answers, Answered(question.text, event.answer)),
    )
    if question.about and not left:
        landing = Landing(track=track, work=state.work, red=asking.red)
        return Waiting(before.attempt, ruled=track.ruled, then=landing, answers=track.answers)
    done = tuple((task, UnitStatus.COMPLETED) for task in asking.finished)
    turn = Driving(
        track=replace(track, attempt=before.attempt + 1, subtasks=done),
        start=state.work.commit,
        session=asking.session,
        feedback=bullets(left) if question.about else "",
        is_answer=True,
        finished=asking.finished,
    )
    return Waiting(before.attempt, ruled=track.ruled, then=turn, answers=track.answers)


def ruled_by_person(state: Parked, event: QuestionAnswered) -> Iterator[tuple[UnitId, Finding, Ruling]]:
    """Yields the findings that an answer rules out."""
    for found in state.track.findings:
        if found.id in event.dismissed:
            yield event.unit, found, Ruling(found.id, Disposition.REJECT, f"a person: {event.answer}")


def overdue(run: RunState, now: datetime) -> Iterator[QuestionAnswered]:
    """Yields the default answers to the questions whose time has passed."""
    for unit, default, deadline in _defaults(run):
        if deadline <= now:
            yield QuestionAnswered(unit, default, by_default=True)


def awaits_default(run: RunState) -> bool:
    """Says whether a run goes on by itself at some moment, with the default answer to a question."""
    return not run.is_paused and any(True for _ in _defaults(run))


def _defaults(run: RunState) -> Iterator[tuple[UnitId, str, datetime]]:
    """Yields the units whose question is answered by default, with the answer and the moment."""
    if run.is_final:
        return
    for unit in run.open:
        match run.units[unit]:
            case Parked(asking=Asking(question=Question(default=str(default), deadline=str(deadline)))):
                yield unit, default, datetime.fromisoformat(deadline)
            case _:
                pass
