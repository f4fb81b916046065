"""The line of one unit: what it is called, where it stands, its title, and what is worth knowing about it.

A state is a sign and a word, never a colour alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from amelia.model.events import Step
from amelia.model.outcome import Reason
from amelia.model.plan import Mode, Task, TaskStatus, Unit, unit_title
from amelia.model.state import (
    Active,
    Driving,
    Failing,
    Landed,
    Landing,
    Parked,
    Resting,
    Skipped,
    UnitState,
    Waiting,
)
from amelia.schedule.budget import is_held
from amelia.schedule.decide import is_over
from amelia.schedule.pick import blockers
from amelia.show.run.scene import Scene, clock_time, kinds
from amelia.show.run.spans import Line, Span, Style
from amelia.show.run.standing import attempt_number, last_attempt, subtask_status
from amelia.show.run.times import duration, lasted
from amelia.show.text import width

_LEAST_TITLE = 12
_STEPS = {
    Step.DRIVE: "writing",
    Step.VERIFY: "testing",
    Step.REVIEW: "reviewing",
    Step.EVALUATE: "weighing findings",
    Step.LAND: "landing",
}


@dataclass(frozen=True, slots=True)
class _Mark:
    """How a state is shown: a sign, a word and a style."""

    sign: str
    word: str
    style: Style


def draw_unit(unit: Unit, scene: Scene, *, indent: int) -> Line:
    """Draws a unit; where there is little room, the least important facts go first, then the title is cut."""
    mark, charset = _mark_of(unit, scene), scene.charset
    types = kinds(unit) if scene.run.facts.mode is Mode.PHASED else ""
    name = f"{' ' * indent}{scene.label(unit.id)}{f' ({types})' if types else ''}: "
    state = f"{mark.sign} {mark.word}"
    title = f" {charset.dash} {charset.shown(unit_title(unit, scene.run.facts.mode))}"
    facts = [f" {charset.dot} {fact}" for fact in _facts(unit, scene) if fact]
    room = scene.width - width(name) - width(state)
    while facts and room - width("".join(facts)) < min(width(title), _LEAST_TITLE):
        facts.pop()
    return scene.line(
        Span(name, Style.STRONG if mark.style is Style.BUSY else Style.PLAIN),
        Span(state, mark.style),
        Span(charset.cut(title, max(room - width("".join(facts)), 0))),
        Span("".join(facts), Style.FAINT),
    )


def draw_subtask(unit: Unit, task: Task, scene: Scene, *, indent: int, is_last: bool) -> Line:
    """Draws a task of a phase below it."""
    charset = scene.charset
    status = subtask_status(task.id, unit.id, run=scene.run, timeline=scene.timeline)
    sign, style = _subtask_sign(status, scene)
    branch = charset.last_branch if is_last else charset.branch
    # What an agent reports as done is proved only when its phase has landed.
    is_claim = status is TaskStatus.COMPLETED and not isinstance(scene.run.units[unit.id], Landed)
    kind = f"[{task.type}] " if task.type else ""
    seen = scene.timeline.of(unit.id).subtasks.get(task.id)
    return scene.line(
        Span(f"{' ' * indent}{branch} ", Style.FAINT),
        Span(sign, Style.FAINT if is_claim else style),
        Span(f" {kind}{charset.shown(task.title)}"),
        Span(f" {charset.dot} not reported" if seen is not None and seen.is_unreported else "", Style.FAINT),
    )


def _mark_of(unit: Unit, scene: Scene) -> _Mark:
    charset = scene.charset
    match scene.run.units[unit.id]:
        case Landed():
            return _Mark(charset.done, "Done", Style.GOOD)
        case Skipped():
            return _Mark(charset.skipped, "Skipped", Style.FAINT)
        case Parked(reason=Reason.QUESTION):
            return _Mark(charset.asking, "Asks you", Style.ASKING)
        case Parked():
            return _Mark(charset.failed, "Failed", Style.BAD)
        case Waiting(attempts=attempts):
            return _waiting_mark(unit, scene, has_begun=attempts > 0)
        case _ if is_over(scene.run):
            return _Mark(charset.waiting, "Stopped", Style.PLAIN)
        case Resting():
            return _Mark(charset.running, "Waiting", Style.BUSY)
        case _:
            return _Mark(charset.running, "Running", Style.BUSY)


def _waiting_mark(unit: Unit, scene: Scene, *, has_begun: bool) -> _Mark:
    if has_begun and is_held(scene.run, unit.id):
        return _Mark(scene.charset.asking, "Over budget", Style.ASKING)
    word = "Blocked" if unit.id in scene.blocked else "Retrying" if has_begun else "Pending"
    return _Mark(scene.charset.waiting, word, Style.PLAIN)


def _subtask_sign(status: TaskStatus, scene: Scene) -> tuple[str, Style]:
    charset = scene.charset
    match status:
        case TaskStatus.COMPLETED:
            return charset.done, Style.GOOD
        case TaskStatus.SKIPPED:
            return charset.skipped, Style.FAINT
        case TaskStatus.FAILED:
            return charset.failed, Style.BAD
        case TaskStatus.IN_PROGRESS if not is_over(scene.run):
            return charset.running, Style.BUSY
        case _:
            return charset.waiting, Style.PLAIN


def _facts(unit: Unit, scene: Scene) -> Iterator[str]:
    """Yields what is worth knowing about a unit, the most important first."""
    state = scene.run.units[unit.id]
    match state:
        case Waiting():
            yield _waiting_for(unit, scene)
        case Parked(reason=reason):
            yield reason.replace("_", " ")
            yield _attempts(state, unit, scene)
            yield _time(unit, scene)
        case Landed():
            yield _attempts(state, unit, scene)
            yield _time(unit, scene)
        case Skipped():
            return
        case _:
            yield from _progress(state, unit, scene)


def _waiting_for(unit: Unit, scene: Scene) -> str:
    if culprits := scene.blocked.get(unit.id):
        return f"by {scene.labels(culprits)}"
    if not (needs := blockers(scene.run, unit)):
        return "" if is_held(scene.run, unit.id) else "ready"
    # Where every unit waits for the one before it, there is no need to say so on every line.
    return "" if scene.run.facts.mode is Mode.TASKS else f"waits for {scene.labels(needs)}"


def _attempts(state: UnitState, unit: Unit, scene: Scene) -> str:
    number = attempt_number(state, scene.timeline.of(unit.id))
    return f"{number} attempts" if number > 1 else ""


def _time(unit: Unit, scene: Scene) -> str:
    times = scene.timeline.of(unit.id)
    is_ended = isinstance(scene.run.units[unit.id], Landed | Parked)
    time = lasted(times.started_at, times.ended_at if is_ended else scene.now)
    return "" if time is None else duration(time)


def _progress(state: Active | Failing, unit: Unit, scene: Scene) -> Iterator[str]:
    """Yields the step under way with its time, the attempt from the second on, and the time of the unit."""
    times = scene.timeline.of(unit.id)
    number = attempt_number(state, times)
    if not is_over(scene.run):
        yield _step(state, lasted(times.step_started_at, scene.now), scene)
    if number > 1:
        limit = f"/{last_attempt(scene.run, state, times)}" if isinstance(state, Active) else ""
        yield f"attempt {number}{limit}"
    if scene.run.facts.mode is Mode.PHASED:
        yield _subtasks_done(unit, scene)
    if number > 1 or not isinstance(state, Driving):
        yield f"{_time(unit, scene)} in all"


def _subtasks_done(unit: Unit, scene: Scene) -> str:
    done = sum(
        subtask_status(task, unit.id, run=scene.run, timeline=scene.timeline) is TaskStatus.COMPLETED
        for task in unit.tasks
    )
    return f"{done}/{len(unit.tasks)} subtasks" if done else ""


def _step(state: Active | Failing, time: timedelta | None, scene: Scene) -> str:
    match state:
        case Failing():
            return "between attempts"
        case Resting(until=until):
            at = clock_time(until, now=scene.now)
            return f"until {at}" if at else "for the agent's limit to end"
        case Landing(is_busy=False):
            return "in the queue to land"
        case _:
            word = _STEPS[state.step]
            return word if time is None else f"{word} {duration(time)}"
