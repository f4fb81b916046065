"""A run for people: groups, units and tasks as a tree, what waits for a person, and how far it is.

- No line is wider than the screen; with a height there are no more lines than that, and what runs and what
  waits for a person is drawn before anything else.
- Pure: the same run at the same moment is always drawn the same.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import assert_never

from amelia.model.plan import TaskStatus, milestone_title
from amelia.model.state import RunState
from amelia.schedule.standing import blocked_units, run_standing
from amelia.show.run.closing import draw_asks, draw_summary
from amelia.show.run.rows import (
    Folded,
    Group,
    Heading,
    More,
    Rest,
    Row,
    StoryRow,
    SubtaskRow,
    UnitRow,
    choose_rows,
    groups_of,
    is_flat,
)
from amelia.show.run.scene import Scene
from amelia.show.run.spans import UNICODE, Charset, Line, Span, Style
from amelia.show.run.times import Timeline
from amelia.show.run.unit_line import draw_subtask, draw_unit

_MILESTONES = {
    TaskStatus.PENDING: ("waiting", Style.PLAIN),
    TaskStatus.IN_PROGRESS: ("running", Style.BUSY),
    TaskStatus.COMPLETED: ("done", Style.GOOD),
    TaskStatus.FAILED: ("failed", Style.BAD),
}
_ROOMY = 16  # lines of a screen on which there is room for a title and for empty lines


def draw_run(
    run: RunState,
    timeline: Timeline,
    now: datetime,
    *,
    width: int,
    height: int | None = None,
    charset: Charset = UNICODE,
) -> list[Line]:
    """Draws a run as it stands now, or as it stood when it stopped."""
    groups = groups_of(run)
    scene = Scene(
        run=run,
        timeline=timeline,
        now=timeline.finished_at.astimezone(now.tzinfo) if timeline.finished_at else now,
        width=width,
        charset=charset,
        groups=groups,
        is_flat=is_flat(groups),
        blocked=blocked_units(run),
    )
    is_roomy = height is None or height >= _ROOMY
    gap: list[Line] = [()] if is_roomy else []
    asks = draw_asks(scene, room=None if height is None else height // 2)
    above = [_title(scene)] if is_roomy else []
    stones = list(_milestones(scene)) if is_roomy else []
    if height is not None and len(stones) > height // 4:
        stones = []  # what runs and what waits for a person goes first
    below = [
        *(gap if stones else ()),
        *stones,
        *(gap if asks else ()),
        *asks,
        *gap,
        draw_summary(scene),
    ]
    room = None if height is None else max(height - len(above) - len(below), 0)
    body = [_draw(row, scene) for row in choose_rows(run, groups, room=room)]
    return [*above, *body, *below]


def _title(scene: Scene) -> Line:
    facts, shown = scene.run.facts, scene.charset.shown
    goal = shown(facts.goal)
    return scene.line(Span(shown(facts.run), Style.STRONG), Span(f"  {goal}" if goal else ""))


def _milestones(scene: Scene) -> Iterator[Line]:
    """Draws the milestones, each with how far it is."""
    if not scene.run.facts.milestones:
        return
    yield scene.line(Span("Milestones", Style.STRONG))
    for each in run_standing(scene.run).milestones:
        sign, style = _MILESTONES[each.status]
        name = scene.charset.shown(milestone_title(each.milestone))
        far = f" {each.done} of {len(each.milestone.task_ids)} done"
        yield scene.line(Span(f"  {name}: "), Span(getattr(scene.charset, sign), style), Span(far))


def _draw(row: Row, scene: Scene) -> Line:
    indent = 0 if scene.is_flat else 2
    match row:
        case Heading(group):
            return _heading(group, scene)
        case UnitRow(unit):
            return draw_unit(unit, scene, indent=indent)
        case SubtaskRow(unit, task, is_last):
            return draw_subtask(unit, task, scene, indent=indent + 2, is_last=is_last)
        case StoryRow(task, is_of_subtask):
            depth = indent + (8 if is_of_subtask else 4)
            return scene.line(Span(f"{' ' * depth}{scene.charset.shown(task.user_story)}", Style.FAINT))
        case Folded(groups):
            return _folded(list(groups), scene)
        case Rest(group):
            return scene.line(Span("  "), *_tally([group], scene))
        case More(count):
            text = f"{scene.charset.ellipsis} {count} more under way or waiting for you"
            return scene.line(Span(text, Style.FAINT))
        case _:
            assert_never(row)


def _heading(group: Group, scene: Scene) -> Line:
    """Draws the line above a group; what is parallel in it, or what it waits for, stands in parentheses."""
    is_parallel = len(group.units) > 1 and scene.run.facts.policy.parallel_workers > 1
    note = "parallel" if is_parallel else ""
    before = next((other for other in scene.groups if other.number == group.number - 1), None)
    if group.is_waiting and before is not None and not before.is_finished:
        note = f"waiting on Group {before.number}"
    return scene.line(
        Span(f"Group {group.number}", Style.STRONG), Span(f" ({note})" if note else "", Style.FAINT)
    )


def _folded(groups: list[Group], scene: Scene) -> Line:
    first, last = groups[0], groups[-1]
    if scene.is_flat:
        name = f"{scene.label(first.units[0].id)} to {scene.label(last.units[0].id)}"
    elif first is last:
        name = f"Group {first.number}"
    else:
        name = f"Groups {first.number} to {last.number}"
    return scene.line(Span(f"{name}: ", Style.STRONG), *_tally(groups, scene))


def _tally(groups: list[Group], scene: Scene) -> list[Span]:
    """Returns how many units of groups are done, skipped and waiting."""
    charset = scene.charset
    counts = (
        (charset.done, sum(group.landed for group in groups), "done", Style.GOOD),
        (charset.skipped, sum(group.skipped for group in groups), "skipped", Style.FAINT),
        (charset.waiting, sum(group.waiting for group in groups), "waiting", Style.PLAIN),
    )
    spans: list[Span] = []
    for sign, count, word, style in counts:
        if count:
            spans += [Span("  " if spans else ""), Span(f"{sign} {count} {word}", style)]
    return spans
