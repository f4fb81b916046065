"""The score of a run: what its agents answered and what people wished, in order, to be played again.

- Only the journal is read: what counted is there, and nothing else. An answer is one turn, also where an
  agent was asked twice for its report; a turn that a crash cut off left no answer, and is no part of it.
- What became of the branch is no part of it: nothing is delivered a second time.
- No time passes: limits in a row become one that is over, a silent agent is one that crashed, and a question
  has no deadline.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast, get_args

from amelia.model import events as ev
from amelia.model.agents import Ending, Role, Usage, total
from amelia.model.delivery import FinishChosen
from amelia.model.errors import InternalError
from amelia.model.findings import Finding, Ruling, Weight
from amelia.model.git import CommitId, TreeId
from amelia.model.journal import Recorded, Wanted, since_start
from amelia.model.outcome import Reason
from amelia.model.plan import TaskId, UnitId
from amelia.model.questions import Question
from amelia.model.state import Active, Driving, Resting, RunState
from amelia.schedule.machine import begin, evolve

Key: TypeAlias = tuple[Role, UnitId, int]
"""Whose turn: the role, the unit and the attempt, as a script tells turns apart."""

_ROLES = {ev.Step.DRIVE: Role.DEVELOPER, ev.Step.REVIEW: Role.REVIEWER, ev.Step.EVALUATE: Role.EVALUATOR}
_TOLD_APART = frozenset(
    {Ending.OK, Ending.FAILED, Ending.NO_REPORT, Ending.LIMITED, Ending.OUT_OF_BUDGET, Ending.OVERFLOW}
)
_FAULTS = {
    Reason.AUTH: Ending.AUTH,
    Reason.NO_CREDIT: Ending.NO_CREDIT,
    Reason.MODEL_NOT_FOUND: Ending.MODEL_NOT_FOUND,
    Reason.AGENT_UNUSABLE: Ending.UNUSABLE,
}
"""The reasons for which a person has to mend something, and how the turn ended that stopped there."""
_STOPS = (ev.CancelRequested, ev.AbortRequested)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of an agent; a developer's turn led from the files of `start` to those of `tree`.

    A turn that was under way when a person stopped the run has no answer: it was killed.
    """

    role: Role
    unit: UnitId
    attempt: int
    ending: Ending
    said: str = ""
    report: Mapping[str, object] | None = None
    usage: Usage | None = None
    start: CommitId | None = None
    tree: TreeId | None = None
    seconds: float = 0.0

    @property
    def key(self) -> Key:
        """Whose turn it is."""
        return self.role, self.unit, self.attempt


@dataclass(frozen=True, slots=True)
class Reached:
    """A unit landed or was parked; wishes that came later have to wait for it."""

    unit: UnitId
    is_landed: bool


@dataclass(frozen=True, slots=True)
class Resumed:
    """A person let a run go on that had stopped."""


Cue: TypeAlias = Turn | Reached | Resumed | Wanted
"""One entry of a score."""


def is_played(wish: Wanted) -> bool:
    """Says whether a replay repeats what a person wished: nobody waits for it, and it delivers nothing."""
    return not isinstance(wish, ev.PauseRequested | FinishChosen)


def playable(past: Sequence[Recorded]) -> tuple[Sequence[Recorded], UnitId | None]:
    """Returns what can be played again, and the unit whose repair by hand ends it, if one does."""
    for index, recorded in enumerate(past):
        if isinstance(recorded.event, ev.UnitFixed):
            # Whoever went on with the run did so for the repair: before that it had come to an end.
            end = index - 1 if isinstance(past[index - 1].event, ev.RunResumed) else index
            return past[:end], recorded.event.unit
    return past, None


def answered(run: RunState, event: ev.Event) -> Key | None:
    """Returns whose turn an event is the answer of, given where the run stood before it."""
    match event:
        case ev.AttemptEnded():
            return Role.DEVELOPER, event.unit, event.attempt
        case ev.AttemptReviewed() | ev.ReviewFailed():
            return Role.REVIEWER, event.unit, event.attempt
        case ev.FindingsEvaluated():
            return Role.EVALUATOR, event.unit, event.attempt
        case ev.AnswerDelayed():
            return _asked(run, event.unit)
        case ev.StepBroke(reason=reason) if reason in _FAULTS:
            return _asked(run, event.unit)
        case _:
            return None


def reached(event: ev.Event) -> Reached | None:
    """Returns what an event is of which later wishes know."""
    match event:
        case ev.UnitLanded(unit):
            return Reached(unit, is_landed=True)
        case ev.UnitParked(unit):
            return Reached(unit, is_landed=False)
        case _:
            return None


def read_score(past: Sequence[Recorded]) -> list[Cue]:
    """Returns the score of a run."""
    start, *rest = since_start(past)
    assert isinstance(start.event, ev.RunStarted)
    listener = _Listener(begin(start.event))
    for recorded in rest:
        listener.hear(recorded)
    return listener.score


class _Listener:
    """Follows a journal and writes the score."""

    def __init__(self, run: RunState) -> None:
        self.score: list[Cue] = []
        self._run = run
        self._used: dict[Key, Usage | None] = {}
        self._began: dict[UnitId, Recorded] = {}
        self._subtasks: dict[UnitId, dict[TaskId, bool]] = {}

    def hear(self, recorded: Recorded) -> None:
        """Takes one event in."""
        event = recorded.event
        if (key := answered(self._run, event)) is not None:
            self._add_turn(self._turn(key, recorded))
        elif (place := reached(event)) is not None:
            self.score.append(place)
        else:
            self._hear_else(recorded)
        self._run = evolve(self._run, event)

    def _hear_else(self, recorded: Recorded) -> None:
        match event := recorded.event:
            case ev.StepStarted(unit):
                self._began[unit] = recorded
            case ev.UsageReported(unit=unit, attempt=attempt, role=role, usage=usage):
                self._used[role, unit, attempt] = total(self._used.get((role, unit, attempt)), usage)
            case ev.SubtaskCompleted(unit, task) | ev.SubtaskFailed(unit, task):
                is_done = isinstance(event, ev.SubtaskCompleted)
                self._subtasks.setdefault(unit, {})[task] = is_done
            case ev.RunResumed() if self._run.outcome is not None:
                self.score.append(Resumed())
            case _ if isinstance(event, get_args(Wanted)) and is_played(wish := cast("Wanted", event)):
                self.score.append(wish)
                if isinstance(event, _STOPS):
                    self.score += _cut_off(self._run)
            case _:
                pass

    def _turn(self, key: Key, recorded: Recorded) -> Turn:
        role, unit, attempt = key
        turn = Turn(
            role=role,
            unit=unit,
            attempt=attempt,
            ending=Ending.OK,
            usage=self._used.pop(key, None),
            seconds=max(0.0, (recorded.at - self._began[unit].at).total_seconds()),
        )
        match event := recorded.event:
            case ev.AttemptEnded():
                return self._developed(turn, event)
            case ev.AttemptReviewed(approved=approved, findings=findings):
                comments = [_comment(finding) for finding in findings]
                return replace(turn, report={"approved": approved, "comments": comments})
            case ev.FindingsEvaluated(rulings=rulings):
                return replace(turn, report={"items": _items(rulings)})
            case ev.ReviewFailed(detail=detail):
                return replace(turn, ending=Ending.NO_REPORT, said=detail)
            case ev.AnswerDelayed():
                return replace(turn, ending=Ending.LIMITED)
            case ev.StepBroke(reason=reason) if reason in _FAULTS:
                return replace(turn, ending=_FAULTS[reason])
            case _:
                raise InternalError(f"{type(event).__name__} is no answer of an agent")

    def _developed(self, turn: Turn, event: ev.AttemptEnded) -> Turn:
        state = self._run.units[event.unit]
        assert isinstance(state, Driving)
        subtasks = self._subtasks.pop(event.unit, {})
        turn = replace(turn, start=state.start, tree=event.work.tree)
        if not event.reported:
            return replace(turn, ending=Ending.NO_REPORT)
        if event.ending in {Ending.OK, Ending.FAILED}:
            status = "completed" if event.ending is Ending.OK else "failed"
            return replace(turn, report=_report(status, event.summary, subtasks) | _asking(event.question))
        ending = event.ending if event.ending in _TOLD_APART else Ending.CRASHED
        return replace(turn, ending=ending, said=event.summary)

    def _add_turn(self, turn: Turn) -> None:
        """Adds a turn; of limits that came in a row only one is left, which did all of their work."""
        before = next((cue for cue in reversed(self.score) if _is_of(cue, turn.key)), None)
        if turn.ending is Ending.LIMITED and isinstance(before, Turn) and before.ending is Ending.LIMITED:
            self.score.remove(before)
            turn = replace(
                turn,
                start=before.start,
                usage=total(before.usage, turn.usage),
                seconds=before.seconds + turn.seconds,
            )
        self.score.append(turn)


def _is_of(cue: Cue, key: Key) -> bool:
    return isinstance(cue, Turn) and cue.key == key


def _asked(run: RunState, unit: UnitId) -> Key | None:
    """Returns whose turn of a unit is under way."""
    state = run.units[unit]
    if not isinstance(state, Active) or isinstance(state, Resting) or state.step not in _ROLES:
        return None
    return _ROLES[state.step], unit, state.track.attempt


def _cut_off(run: RunState) -> Iterable[Turn]:
    """Yields the turns that are under way when a person stops the run."""
    for unit in run.open:
        state = run.units[unit]
        if isinstance(state, Active) and state.is_busy and (key := _asked(run, unit)) is not None:
            role, _, attempt = key
            yield Turn(role=role, unit=unit, attempt=attempt, ending=Ending.KILLED)


def _report(status: str, summary: str, subtasks: Mapping[TaskId, bool]) -> dict[str, object]:
    report: dict[str, object] = {"status": status, "summary": summary}
    if subtasks:
        report["subtasks_completed"] = [task for task, is_done in subtasks.items() if is_done]
        report["subtasks_failed"] = [task for task, is_done in subtasks.items() if not is_done]
    return report


def _asking(question: Question | None) -> dict[str, object]:
    """Returns a question as a developer asks it; its answer is a wish of the score, also one by default."""
    if question is None:
        return {}
    asked: dict[str, object] = {"question": question.text, "options": list(question.options)}
    if question.default is not None:
        asked["default"] = question.default
    return {"needs_clarification": asked}


def _comment(finding: Finding) -> dict[str, object]:
    comment: dict[str, object] = {
        "text": finding.text,
        "severity": "minor" if finding.weight is Weight.MINOR else "blocking",
    }
    if finding.file is not None:
        comment["file"] = finding.file
    if finding.line is not None:
        comment["line"] = finding.line
    return comment


def _items(rulings: Iterable[Ruling]) -> list[dict[str, object]]:
    """Returns rulings as an evaluator answers them; they stand in the order of the findings."""
    return [
        {"finding": number, "disposition": str(ruling.disposition), "reason": ruling.reason}
        for number, ruling in enumerate(rulings, start=1)
    ]
