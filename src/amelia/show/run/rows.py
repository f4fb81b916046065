"""Which rows of a run's tree are drawn: all of them, or, on a small screen, those that matter.

What runs and what waits for a person stays longest. Rows are made one by one and only as many as there is
room for, so that the size of a run hardly matters.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby, islice
from typing import TypeAlias

from amelia.model.plan import Mode, Task, Unit
from amelia.model.state import Landed, Parked, RunState, Skipped, Waiting


@dataclass(frozen=True, slots=True)
class Group:
    """The units of one level of the graph, and how many of them landed, were skipped, or wait."""

    number: int
    units: Sequence[Unit]
    landed: int
    skipped: int
    waiting: int

    @property
    def is_finished(self) -> bool:
        """Says whether nothing is left to do in the group."""
        return self.landed + self.skipped == len(self.units)

    @property
    def is_waiting(self) -> bool:
        """Says whether nothing of the group has started."""
        return self.waiting == len(self.units)


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above the units of a group."""

    group: Group


@dataclass(frozen=True, slots=True)
class UnitRow:
    """The line of a unit."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class SubtaskRow:
    """The line of a task below its phase."""

    unit: Unit
    task: Task
    is_last: bool


@dataclass(frozen=True, slots=True)
class StoryRow:
    """The line of a user story below its task."""

    task: Task
    is_of_subtask: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """One line for groups that stand side by side and in which nothing happens."""

    groups: Sequence[Group]


@dataclass(frozen=True, slots=True)
class Rest:
    """One line for those units of a group in which nothing happens."""

    group: Group


@dataclass(frozen=True, slots=True)
class More:
    """One line for units under way for which there is no room."""

    count: int


Row: TypeAlias = Heading | UnitRow | SubtaskRow | StoryRow | Folded | Rest | More


class _Detail(IntEnum):
    """How much is shown; each step leaves out what the one before does, and more."""

    EVERYTHING = 0
    NO_STORIES = 1
    FINISHED_FOLDED = 2
    WAITING_FOLDED = 3
    MERGED = 4
    LIVE_UNITS = 5
    NO_SUBTASKS = 6

    def folds(self, group: Group) -> bool:
        """Says whether a group becomes one line."""
        return (group.is_finished and self >= _Detail.FINISHED_FOLDED) or (
            group.is_waiting and self >= _Detail.WAITING_FOLDED
        )


def groups_of(run: RunState) -> list[Group]:
    """Returns the groups of a run from the first to the last."""
    members: dict[int, list[Unit]] = {}
    for unit in run.facts.units:
        members.setdefault(unit.group, []).append(unit)
    return [_group(number, units, run) for number, units in sorted(members.items())]


def _group(number: int, units: Sequence[Unit], run: RunState) -> Group:
    kinds = [type(run.units[unit.id]) for unit in units]
    return Group(number, units, kinds.count(Landed), kinds.count(Skipped), kinds.count(Waiting))


def is_flat(groups: Sequence[Group]) -> bool:
    """Says whether all units stand in one line, so that headings of groups would only be in the way."""
    return all(len(group.units) == 1 for group in groups)


def choose_rows(run: RunState, groups: Sequence[Group], *, room: int | None) -> list[Row]:
    """Returns the rows to draw, no more than there is room for."""
    has_headings = not is_flat(groups)
    if room is None:
        return list(_rows(run, groups, _Detail.EVERYTHING, has_headings=has_headings))
    for detail in _Detail:
        rows = list(islice(_rows(run, groups, detail, has_headings=has_headings), room + 1))
        if len(rows) <= room:
            return _unfolded(rows, spare=room - len(rows))
    return _most_important(run, groups, room)


def _rows(run: RunState, groups: Sequence[Group], detail: _Detail, *, has_headings: bool) -> Iterator[Row]:
    for is_folded, some in groupby(groups, key=detail.folds):
        if not is_folded:
            for group in some:
                yield from _opened(run, group, detail=detail, has_heading=has_headings)
        elif detail >= _Detail.MERGED:
            yield _folded(list(some))
        else:
            yield from (_folded([group]) for group in some)


def _folded(groups: Sequence[Group]) -> Row:
    units = groups[0].units
    return UnitRow(units[0]) if len(groups) == len(units) == 1 else Folded(groups)


def _unfolded(rows: Sequence[Row], *, spare: int) -> list[Row]:
    """Uses spare room for what was done last and what comes next: a line for each group instead of one."""
    folds = sum(isinstance(row, Folded) and len(row.groups) > 1 for row in rows)
    share = spare // folds if folds else 0
    return [new for row in rows for new in (_parted(row, share) if isinstance(row, Folded) else (row,))]


def _parted(row: Folded, count: int) -> Iterator[Row]:
    """Takes up to a number of groups out of a fold: the last ones if it begins with finished groups."""
    groups = row.groups
    if len(groups) - 1 <= count:
        yield from (_folded([group]) for group in groups)
    elif groups[0].is_finished:
        yield _folded(groups[: len(groups) - count])
        yield from (_folded([group]) for group in groups[len(groups) - count :])
    else:
        yield from (_folded([group]) for group in groups[:count])
        yield _folded(groups[count:])


def _opened(run: RunState, group: Group, *, detail: _Detail, has_heading: bool) -> Iterator[Row]:
    if has_heading:
        yield Heading(group)
    only_live = detail >= _Detail.LIVE_UNITS
    for unit in group.units:
        if only_live and not _is_live(run, unit):
            continue
        yield UnitRow(unit)
        if detail < _Detail.NO_SUBTASKS:
            yield from _below(unit, run.facts.mode, has_stories=detail < _Detail.NO_STORIES)
    if only_live and (group.landed or group.skipped or group.waiting):
        yield Rest(group)


def _below(unit: Unit, mode: Mode, *, has_stories: bool) -> Iterator[Row]:
    """Yields the tasks of a phase, and the stories of tasks that have one."""
    for task in unit.pieces:
        if mode is Mode.PHASED:
            yield SubtaskRow(unit, task, task is unit.pieces[-1])
        if has_stories and task.user_story:
            yield StoryRow(task, is_of_subtask=mode is Mode.PHASED)


def _is_live(run: RunState, unit: Unit) -> bool:
    return not isinstance(run.units[unit.id], Landed | Skipped | Waiting)


def _most_important(run: RunState, groups: Iterable[Group], room: int) -> list[Row]:
    """Returns what is under way, then what waits for a person, as far as there is room."""
    live = [unit for group in groups for unit in group.units if _is_live(run, unit)]
    live.sort(key=lambda unit: isinstance(run.units[unit.id], Parked))
    if len(live) <= room:
        return [UnitRow(unit) for unit in live]
    if room == 0:
        return []
    return [*(UnitRow(unit) for unit in live[: room - 1]), More(len(live) - room + 1)]
