"""The line of one unit: what it is called, where it stands, its title, and what is worth knowing about it.

A state is a sign and a word, never a colour alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from amelia.model.events import Step
from amelia.model.outcome import Reason
from amelia.model.plan import Mode, Task, Unit, unit_title
from amelia.model.standing import UnitStatus, by_hand
from amelia.model.state import Active, Driving, Failing, Landed, Landing, Parked, Resting, Skipped, Waiting
from amelia.schedule.budget import is_held
from amelia.schedule.decide import is_over
from amelia.schedule.pick import blockers
from amelia.show.run.scene import Scene, clock_time, kinds
from amelia.show.run.spans import Charset, Line, Span, Style
from amelia.show.run.times import duration, lasted
from amelia.show.text import width

_LEAST_TITLE = 12
_REPORTED = "reported done"
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
    """Draws a task of a phase below it; what is only reported says so, for the phase may not be accepted."""
    charset, standing = scene.charset, scene.standing(unit)
    status = standing.subtasks.get(task.id, standing.status)
    mark = _marks(charset)[status]
    branch = charset.last_branch if is_last else charset.branch
    is_accepted = standing.status is UnitStatus.COMPLETED
    is_claim = status is UnitStatus.COMPLETED and not is_accepted
    kind = f"[{task.type}] " if task.type else ""
    return scene.line(
        Span(f"{' ' * indent}{branch} ", Style.FAINT),
        Span(mark.sign, Style.FAINT if is_claim else mark.style),
        Span(f" {kind}{charset.shown(task.title)}"),
        Span(f" {charset.dot} {_REPORTED}" if is_claim else "", Style.FAINT),
        Span(f" {charset.dot} not reported" if task.id in standing.unreported else "", Style.FAINT),
    )


def _marks(charset: Charset) -> Mapping[UnitStatus, _Mark]:
    """Returns how each status is shown; there is one word for each, and no other."""
    return {
        UnitStatus.PENDING: _Mark(charset.waiting, "Pending", Style.PLAIN),
        UnitStatus.BLOCKED: _Mark(charset.waiting, "Blocked", Style.PLAIN),
        UnitStatus.RUNNING: _Mark(charset.running, "Running", Style.BUSY),
        UnitStatus.RETRYING: _Mark(charset.running, "Retrying", Style.BUSY),
        UnitStatus.RESTING: _Mark(charset.running, "Waiting", Style.BUSY),
        UnitStatus.HELD: _Mark(charset.asking, "Over budget", Style.ASKING),
        UnitStatus.STOPPED: _Mark(charset.waiting, "Stopped", Style.PLAIN),
        UnitStatus.ASKING: _Mark(charset.asking, "Asks you", Style.ASKING),
        UnitStatus.FAILED: _Mark(charset.failed, "Failed", Style.BAD),
        UnitStatus.COMPLETED: _Mark(charset.done, "Done", Style.GOOD),
        UnitStatus.SKIPPED: _Mark(charset.skipped, "Skipped", Style.FAINT),
    }


def _mark_of(unit: Unit, scene: Scene) -> _Mark:
    mark = _marks(scene.charset)[scene.standing(unit).status]
    if isinstance(scene.run.units[unit.id], Waiting) and mark.style is Style.BUSY:
        return _Mark(scene.charset.waiting, mark.word, Style.PLAIN)  # to be tried again, but not under way
    return mark


def _facts(unit: Unit, scene: Scene) -> Iterator[str]:
    """Yields what is worth knowing about a unit, the most important first."""
    state = scene.run.units[unit.id]
    match state:
        case Waiting():
            yield _waiting_for(unit, scene)
        case Parked(reason=reason):
            yield _why(reason, unit, scene)
            yield from _tries(unit, scene)
            yield _time(unit, scene)
        case Landed(by_person=by_person, accepted=accepted):
            yield by_hand(accepted) if by_person else ""
            yield from _tries(unit, scene)
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


def _why(reason: Reason, unit: Unit, scene: Scene) -> str:
    """Returns why a unit waits for a person; work that its agent reported as done was not accepted."""
    why = reason.replace("_", " ")
    is_claimed = UnitStatus.COMPLETED in scene.standing(unit).subtasks.values()
    return f"not accepted: {why}" if is_claimed and reason is not Reason.QUESTION else why


def _tries(unit: Unit, scene: Scene) -> Iterator[str]:
    """Yields how many attempts a unit took, and how many iterations the last of them had."""
    counters = scene.standing(unit).counters
    if counters.attempts > 1:
        yield f"{counters.attempts} attempts"
    if counters.iterations > 1:
        yield f"{counters.iterations} iterations"


def _time(unit: Unit, scene: Scene) -> str:
    times = scene.timeline.of(unit.id)
    is_ended = isinstance(scene.run.units[unit.id], Landed | Parked)
    time = lasted(times.started_at, times.ended_at if is_ended else scene.now)
    return "" if time is None else duration(time)


def _progress(state: Active | Failing, unit: Unit, scene: Scene) -> Iterator[str]:
    """Yields the step under way with its time, attempt and iteration after the first, and all the time."""
    counters, policy = scene.standing(unit).counters, scene.run.facts.policy
    if not is_over(scene.run):
        yield _step(state, lasted(scene.timeline.of(unit.id).step_started_at, scene.now), scene)
    if counters.attempts > 1:
        yield f"attempt {counters.attempts}/{policy.attempts}"
    if counters.iterations > 1:
        yield f"iteration {counters.iterations}/{policy.iterations}"
    if scene.run.facts.mode is Mode.PHASED:
        yield _subtasks_done(unit, scene)
    if counters.turns > 1 or not isinstance(state, Driving):
        yield f"{_time(unit, scene)} in all"


def _subtasks_done(unit: Unit, scene: Scene) -> str:
    done = list(scene.standing(unit).subtasks.values()).count(UnitStatus.COMPLETED)
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
