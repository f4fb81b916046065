"""Everything that is wrong with a plan's tasks, all at once.

The checks look at tasks whose references are resolved, and at the units they became. Each finding stands
once, with the line to look at. Near-linear: ten thousand wrong references cost no more than right ones.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise

from amelia.model.diagnostics import Diagnostic, error, info, warning
from amelia.model.plan import Task, TaskId, TaskType, Unit
from amelia.plan.declared import Asked, Declared, is_plain_file, required
from amelia.plan.digraph import ancestors
from amelia.plan.graph import DONE, detect_circular_dependencies
from amelia.plan.paths import is_in_git, is_malformed, is_outside, is_plain, is_test, normal_path

_CHANGES_TESTS = re.compile(
    r"\b(?:updat|adapt|adjust|chang|rewrit|modif|remov|delet|renam|migrat|replac)\w*\s+"
    r"(?:(?!(?:and|or|so|until|that|with|to|run|how|for)\b)[\w`'/.-]{1,40}\s+){0,4}tests?\b",
    re.IGNORECASE,
)
UNORDERABLE = frozenset({"duplicate-id", "dependency-cycle"})

_TITLE = 80
_PATH_SHOWN = 20
_CANDIDATES = 50
_HINTS = 20


def check_tasks(tasks: Sequence[Task]) -> list[Diagnostic]:
    """Returns what is wrong with ids, dependencies, paths and titles."""
    return [
        *_duplicates(tasks),
        *_unknown_dependencies(tasks),
        *_self_dependencies(tasks),
        *_cycles(tasks),
        *_paths(tasks),
        *_demands(tasks),
        *_titles(tasks),
        *_undeclared_tests(tasks),
    ]


def check_shared_files(units: Sequence[Unit]) -> list[Diagnostic]:
    """Returns a warning for every file that two units touch although neither waits for the other.

    The units stand in an order in which each comes after what it depends on.
    """
    touching: dict[str, list[Unit]] = {}
    for unit in units:
        paths = (path for piece in unit.pieces for path in piece.files)
        for path in dict.fromkeys(map(normal_path, paths)):
            touching.setdefault(path, []).append(unit)
    shared = {path: who for path, who in touching.items() if len(who) > 1}
    if not shared:
        return []
    graph = {unit.id: unit.depends_on for unit in units}
    bits, before = ancestors(graph, {unit.id for who in shared.values() for unit in who})
    found: list[Diagnostic] = []
    for path, who in shared.items():
        # In topological order, all are ordered exactly if each waits for the one before it.
        pair = next(((a, b) for a, b in pairwise(who) if not before[b.id] >> bits[a.id] & 1), None)
        if pair:
            found.append(_shared_file(path, *pair, others=len(who) - 2))
    return found


def _shared_file(path: str, a: Unit, b: Unit, *, others: int) -> Diagnostic:
    more = f" and {others} more" if others else ""
    return warning(
        "shared-file",
        f"'{a.id}' and '{b.id}'{more} touch '{path}', and neither of the two waits for the other.",
        line=b.pieces[0].line,
        hint=f"Let '{b.id}' depend on '{a.id}', or let one of them own the file.",
    )


def _duplicates(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    first: dict[TaskId, Task] = {}
    for task in tasks:
        known = first.setdefault(task.id, task)
        if known is not task:
            yield error(
                "duplicate-id",
                f"Task id '{task.id}' is used twice, in line {known.line} and in line {task.line}.",
                line=task.line,
                hint="Give one of the two another id.",
            )


def _unknown_dependencies(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    ids = dict.fromkeys(task.id for task in tasks)
    names = list(ids)
    hints: dict[TaskId, str] = {}
    for number, task in enumerate(tasks):
        for need in task.depends_on:
            if need in ids:
                continue
            if need not in hints and len(hints) < _HINTS:
                # Comparing spellings is slow, so only the first few are compared, with ids nearby.
                nearby = names[max(0, number - _CANDIDATES) : number + _CANDIDATES]
                hints[need] = _suggestion(need, nearby)
            yield error(
                "unknown-dependency",
                f"Task '{task.id}' depends on '{need}', which does not exist.",
                line=task.line,
                hint=hints.get(need, "Write the id of a task of this plan."),
            )


def _suggestion(need: str, candidates: Sequence[str]) -> str:
    close = get_close_matches(need[:_TITLE], candidates, n=1)
    return f"Did you mean '{close[0]}'?" if close else "Write the id of a task of this plan."


def _self_dependencies(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    for task in tasks:
        if task.id in task.depends_on:
            yield error(
                "self-dependency",
                f"Task '{task.id}' depends on itself.",
                line=task.line,
                hint="Remove the dependency.",
            )


def _cycles(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    found = detect_circular_dependencies(tasks)
    lines = {task.id: task.line for task in reversed(tasks)} if found else {}
    for cycle in found:
        shown: list[str] = list(cycle)
        if len(cycle) > _PATH_SHOWN:
            half = _PATH_SHOWN // 2
            shown = [*cycle[:half], f"({len(cycle) - _PATH_SHOWN} more)", *cycle[-half:]]
        yield error(
            "dependency-cycle",
            f"Tasks wait for each other: {' → '.join(shown)}.",
            line=lines[cycle[0]],
            hint="Remove one of these dependencies.",
        )


def _paths(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    for task in tasks:
        for path in task.files:
            if is_plain(path):
                continue
            if is_malformed(path):
                code, what, hint = (
                    "bad-path",
                    "names no file or holds control characters",
                    "Write a plain path.",
                )
            elif is_outside(path):
                code, what = "path-outside-repository", "leads out of the repository"
                hint = "Write the path relative to the top of the repository."
            elif is_in_git(path):
                code, what, hint = "path-in-git", "lies in git's own directory", "Let no task touch .git."
            else:
                continue
            yield error(code, f"Task '{task.id}': the path {path!r} {what}.", line=task.line, hint=hint)


def _demands(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    """Yields what is unusual about the files that tasks have to show."""
    for task in tasks:
        if task.status in DONE or all(map(is_plain_file, (*task.files_to_create, *task.test_files))):
            continue
        for found in required(task):
            if is_malformed(found.path) or is_outside(found.path):
                continue
            if found.asked is Asked.NOTHING:
                yield info(
                    "unclear-path",
                    f"Task '{task.id}': {found.path!r} names no file that could be looked for, "
                    "so nobody checks that it is there.",
                    line=task.line,
                    hint="Write the path from the top of the repository.",
                )
            elif found.asked is Asked.PATTERN:
                yield _pattern(task, found)


def _pattern(task: Task, found: Declared) -> Diagnostic:
    what = f"Task '{task.id}': '{found.path}' is a pattern"
    if found.is_loose:
        message = f"{what} that almost any file matches ('{found.pattern}'), so it demands next to nothing."
        return warning("loose-pattern", message, line=task.line, hint="Name a directory, or the file.")
    message = f"{what}: at least one file has to match '{found.pattern}'."
    return info("path-pattern", message, line=task.line, hint="Name the file if its name is known.")


def _undeclared_tests(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    """Yields the tasks that say to change tests, and do not declare which."""
    for task in tasks:
        if task.status in DONE or task.type is TaskType.TEST or not task.files:
            continue
        if _CHANGES_TESTS.search(task.section) and not any(is_test(path) for path in task.files):
            yield warning(
                "undeclared-tests",
                f"Task '{task.id}' says to change tests and declares no test file: a test that fails on its "
                "work as it was before sends it back.",
                line=task.line,
                hint="Name the test files that it changes among its files.",
            )


def _titles(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    for task in tasks:
        length = len(task.title)
        if not task.title.strip():
            yield warning(
                "empty-title", f"Task '{task.id}' has no title.", line=task.line, hint="Say what it is about."
            )
        elif length > _TITLE:
            yield warning(
                "long-title",
                f"The title of task '{task.id}' has {length} characters; the limit is {_TITLE}.",
                line=task.line,
                hint="Move the details into the section.",
            )
