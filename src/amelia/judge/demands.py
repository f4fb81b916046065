"""What a unit has to show, from the tasks it carries out and their place in the plan.

Pure. A test task is red by design only if a later unit implements it, which the caller knows; the test files
of the other test tasks have to be green.
"""

from collections.abc import Collection, Iterator, Sequence

from amelia.model.evidence import Demands
from amelia.model.plan import Task, TaskId, TaskType
from amelia.plan.declared import Asked, as_pattern, required, spelled_out


def demands_of(
    tasks: Sequence[Task],
    *,
    red_tasks: Collection[TaskId] = (),
    must_be_green: tuple[str, ...] = (),
    may_be_red: tuple[str, ...] = (),
    granted: tuple[str, ...] = (),
) -> Demands:
    """Returns what the tasks of a unit have to show; `red_tasks` write tests that a later unit implements."""
    red = [task for task in tasks if task.id in red_tasks]
    red_files = {path for task in red for path in _files(task)}
    green = [task for task in tasks if task.type is TaskType.TEST and task.id not in red_tasks]
    return Demands(
        types=tuple(dict.fromkeys(task.type for task in tasks)),
        must_be_red=bool(red),
        green_files=_each_once(
            as_pattern(path) for task in green for path in _files(task) if path not in red_files
        ),
        required_green=must_be_green,
        open_red=tuple(name for name in may_be_red if name not in must_be_green),
        tests_waived=not any(task.is_proved_by_tests for task in tasks),
        required_files=_each_once(
            found.path for task in tasks for found in required(task) if found.asked is not Asked.NOTHING
        ),
        declared=_each_once(path for task in tasks for path in _files(task)),
        own_tests=_each_once(path for task in tasks if task.type is TaskType.TEST for path in _files(task)),
        granted=granted,
        section="\n".join(task.section for task in tasks),
    )


def _files(task: Task) -> Iterator[str]:
    return (path for declared in task.files for path in spelled_out(declared))


def _each_once(paths: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
