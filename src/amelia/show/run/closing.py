"""What stands below the tree of a run: what waits for a person, with the commands to type, and a summary."""

from collections import Counter
from collections.abc import Iterator, Sequence

from amelia.model.findings import Disposition
from amelia.model.git import branch_ref
from amelia.model.outcome import Reason, Result
from amelia.model.plan import UnitId
from amelia.model.standing import UnitStatus
from amelia.model.state import Branch, Parked, RunState, Wish
from amelia.schedule.budget import is_run_out
from amelia.schedule.standing import unit_status
from amelia.show.run.scene import Scene
from amelia.show.run.spans import Line, Span, Style
from amelia.show.run.standing import Exit, exits_of, exits_of_run, spent_text
from amelia.show.run.times import duration, lasted
from amelia.show.text import printable, width

_MOST_DETAIL = 6
_ROOM_FOR_DETAIL = 10
_INDENT = " " * 4
_ENDINGS = {
    Result.COMPLETED: ("completed", Style.GOOD),
    Result.HALTED: ("halted", Style.BAD),
    Result.NEEDS_HUMAN: ("waits for you", Style.ASKING),
    Result.ABORTED: ("aborted", Style.BAD),
    Result.CANCELLED: ("cancelled", Style.BAD),
}
_COUNTED = {
    UnitStatus.RUNNING: "running",
    UnitStatus.RETRYING: "retrying",
    UnitStatus.STOPPED: "stopped",
    UnitStatus.ASKING: "asking",
    UnitStatus.FAILED: "failed",
    UnitStatus.SKIPPED: "skipped",
    UnitStatus.HELD: "held",
    UnitStatus.PENDING: "waiting",
    UnitStatus.BLOCKED: "blocked",
}


def draw_asks(scene: Scene, *, room: int | None) -> list[Line]:
    """Draws what waits for a person: all of it, or the first of it where there is little room."""
    asking = _asking(scene)
    has_detail = room is None or room >= _ROOM_FOR_DETAIL * len(asking)
    unheld = scene.run.facts.unheld(scene.run.spent_in_all.untold)
    lines = [*([scene.line(Span(unheld, Style.FAINT))] if unheld else []), *_run_block(scene)]
    for number, unit in enumerate(asking):
        block = _unit_block(unit, scene, has_detail=has_detail)
        left = len(asking) - number
        if room is not None and len(lines) + len(block) + (left > 1) > room:
            more = scene.line(Span(f"{scene.charset.ellipsis} {left} more wait for you", Style.ASKING))
            return [*lines, more][:room] if lines else block[:room]
        lines += block
    return lines


def draw_summary(scene: Scene) -> Line:
    """Draws in one line how far a run is, and how it ended if it has."""
    word, style, detail = _ending(scene)
    counts = scene.joined([*_counts(scene), *_whole(scene)])
    head = f"{word}: {detail}" if detail else word
    parts = [Span(head, style), Span(f" {scene.charset.dot} {counts}")] if head else [Span(counts)]
    return scene.line(*parts)


def _asking(scene: Scene) -> Sequence[UnitId]:
    """Returns the units that wait for a person; those behind skipped work only if nothing else does."""
    if scene.run.is_final:
        return ()
    parked = [unit for unit in scene.run.open if isinstance(scene.run.units[unit], Parked)]
    if parked or scene.run.outcome is None:
        return parked
    return [unit for unit in scene.blocked if exits_of(scene.run, unit, scene.blocked)]


def _unit_block(unit: UnitId, scene: Scene, *, has_detail: bool) -> list[Line]:
    state = scene.run.units[unit]
    sign, label = scene.charset.asking, scene.label(unit)
    if isinstance(state, Parked):
        why, detail = state.reason.meaning, state.detail
    else:
        why, detail = f"it needs {scene.labels(scene.blocked[unit])}, which was skipped", ""
    return [
        scene.line(Span(f"{sign} {label} waits for you: {why}", Style.ASKING)),
        *(_detail(detail, scene) if has_detail else ()),
        *_commands(exits_of(scene.run, unit, scene.blocked), scene),
    ]


def _run_block(scene: Scene) -> list[Line]:
    ways = exits_of_run(scene.run)
    if not ways:
        return []
    return [
        scene.line(Span(f"{scene.charset.asking} {_what_stopped(scene.run)}", Style.ASKING)),
        *_detail(scene.run.branch_feedback, scene),
        *_detail(refused.detail if (refused := scene.run.delivery.refused) else "", scene),
        *_commands(ways, scene),
    ]


def _what_stopped(run: RunState) -> str:
    if run.is_paused:
        return "the run is paused"
    if run.outcome is not None and run.outcome.reason is Reason.BUDGET:
        whose = "of the run" if is_run_out(run) else "of a unit"
        return f"the budget {whose} is used up"
    if run.delivery.refused is not None:
        return "the branch was not delivered; what you can do"
    if run.branch is Branch.UNRECORDED:
        return "the record of the run could not be put on its branch"
    return "the whole branch does not pass its checks"


def _detail(text: str, scene: Scene) -> Iterator[Line]:
    shown = [line for line in text[: scene.width * 10].splitlines() if line.strip()][:_MOST_DETAIL]
    return (scene.line(Span(f"{_INDENT}{scene.charset.shown(line)}", Style.FAINT)) for line in shown)


def _commands(ways: Sequence[Exit], scene: Scene) -> Iterator[Line]:
    commands = [scene.charset.shown(way.command) for way in ways]
    widest = max(width(command) for command in commands)
    for command, way in zip(commands, ways, strict=True):
        gap = " " * (widest - width(command) + 2)
        yield scene.line(Span(_INDENT), Span(command, Style.STRONG), Span(f"{gap}{way.effect}", Style.FAINT))


def _ending(scene: Scene) -> tuple[str, Style, str]:
    """Returns how the run ended or what it is about to do, its style, and why."""
    run = scene.run
    if run.outcome is not None:
        word, style = _ENDINGS[run.outcome.result]
        return word, style, run.outcome.reason.meaning if run.outcome.reason else ""
    if run.is_paused:
        return "paused", Style.ASKING, ""
    if run.wish is Wish.PAUSE:
        return "pausing", Style.ASKING, "what is under way is finished first; once more ends it at once"
    return "", Style.PLAIN, ""


def _counts(scene: Scene) -> Iterator[str]:
    run = scene.run
    counts = Counter(unit_status(run, unit, scene.blocked) for unit in run.units)
    counts[UnitStatus.RUNNING] += counts.pop(UnitStatus.RESTING, 0)
    yield f"{counts[UnitStatus.COMPLETED]} of {len(run.units)} done"
    yield from (f"{counts[status]} {word}" for status, word in _COUNTED.items() if counts[status])


def _delivered(run: RunState) -> Iterator[str]:
    done, undone = run.delivery.done, run.delivery.undone
    if done is not None:
        yield f"{'merged into' if done.finish.is_merge else 'pull request'} {printable(done.where)}"
    if undone is not None:
        yield f"taken back by {undone.revert[:12]}" if undone.revert else "taken back"


def _whole(scene: Scene) -> Iterator[str]:
    """Yields what is to be said about the run as a whole."""
    run, timeline = scene.run, scene.timeline
    if run.outcome is not None and run.outcome.result is Result.COMPLETED:
        branch = scene.charset.shown(branch_ref(run.facts.run).removeprefix("refs/heads/"))
        is_users = run.facts.replay_of is None
        yield f"branch {branch}" if is_users else "a replay in a repository of its own"
    yield from _delivered(run)
    if run.branch is Branch.CHECKING:
        yield "testing the whole branch"
    time = lasted(timeline.started_at, scene.now)
    if time is not None:
        yield duration(time)
    if used := spent_text(run):
        yield used
    if run.outcome is not None and run.facts.test_command is None:
        yield "nothing was executed"
    if run.outcome is not None and (red := sum(len(tests) for tests in run.red.values())):
        yield f"{red} test{'s' if red > 1 else ''} still red"
    if put_off := sum(ruling.disposition is Disposition.DEFER for _, _, ruling in run.rulings):
        yield f"{put_off} finding{'s' if put_off > 1 else ''} put off"
