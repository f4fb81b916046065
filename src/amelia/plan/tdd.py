"""Tests come before what they test.

An open implementation needs a test task among the tasks it depends on, directly or not, or in a phase that
its own phase waits for, or a waiver with a reason. Other types are exempt, and so are tasks without one.
Linear in tasks and dependencies; cycles do no harm.
"""

from collections.abc import Iterator, Mapping, Sequence

from amelia.model.diagnostics import Diagnostic, error, info, warning
from amelia.model.plan import Task, TaskId, TaskStatus, TaskType
from amelia.model.settings import TddRule
from amelia.plan.digraph import dependants, in_order
from amelia.plan.graph import DONE, Edges, dependency_graph
from amelia.plan.paths import stem_words
from amelia.plan.phases import Phase

_HINT = (
    "Add a task of type test for it and name that task under 'Depends on'; where it writes its own tests, "
    "or none make sense, write '- TDD waiver: reason'."
)


def validate_tdd_ordering(
    tasks: Sequence[Task], rule: TddRule, *, phases: Sequence[Phase] = ()
) -> list[Diagnostic]:
    """Returns what the rule says of the tasks: violations, waivers, and tests that fit nothing."""
    if rule is TddRule.OFF or all(task.type is not TaskType.IMPL for task in tasks):
        return []
    graph = dependency_graph(tasks)
    judge = error if rule is TddRule.STRICT else warning
    after_tests = _after_tests(phases)
    found = [
        judge("tdd-violation", _message(t), line=t.line, hint=_HINT)
        for t in _violations(tasks, graph)
        if t.id not in after_tests
    ]
    found.extend(
        info("tdd-waiver", f"Task '{t.id}' needs no test before it: {t.waiver}", line=t.line)
        for t in tasks
        if t.type is TaskType.IMPL and t.waiver is not None and t.status not in DONE
    )
    return [*found, *_unrelated(tasks, graph)]


def _message(task: Task) -> str:
    return f"Impl subtask '{task.id}' has no test dependency. TDD requires tests before implementation."


def _must_have_tests(tasks: Sequence[Task]) -> Iterator[Task]:
    return (t for t in tasks if t.type is TaskType.IMPL and t.waiver is None and t.status not in DONE)


def _violations(tasks: Sequence[Task], graph: Edges) -> Iterator[Task]:
    """Goes from the tests to everything behind them; the implementations it never meets have none."""
    turned = dependants(graph)
    behind: set[TaskId] = set()
    waiting = [task.id for task in tasks if _is_test(task)]
    while waiting:
        fresh = [node for node in turned[waiting.pop()] if node not in behind]
        behind.update(fresh)
        waiting.extend(fresh)
    return (task for task in _must_have_tests(tasks) if task.id not in behind)


def _is_test(task: Task) -> bool:
    return task.type is TaskType.TEST and task.status is not TaskStatus.SKIPPED


def _after_tests(phases: Sequence[Phase]) -> set[TaskId]:
    """Returns the tasks of phases that wait, directly or not, for a phase that holds a test."""
    graph = {phase.index: phase.depends_on for phase in phases}
    tested = {phase.index for phase in phases if any(map(_is_test, phase.tasks))}
    after: set[int] = set()
    for index in in_order(graph):
        if any(need in tested or need in after for need in graph[index]):
            after.add(index)
    return {task.id for phase in phases if phase.index in after for task in phase.tasks}


def _unrelated(tasks: Sequence[Task], graph: Edges) -> Iterator[Diagnostic]:
    """Warns of implementations none of whose tests shares a word of a file name with them.

    A test that declares no files may be about anything, so it silences the warning.
    """
    tests = {task.id: _stems(task) for task in tasks if task.type is TaskType.TEST}
    open_questions: list[tuple[Task, set[str]]] = []
    for task in _must_have_tests(tasks):
        mine = _stems(task)
        # Most implementations name their own test; only the others need a look at the whole graph.
        if mine and all(mine.isdisjoint(tests.get(need, ())) for need in task.depends_on):
            open_questions.append((task, mine))
    if not open_questions:
        return
    bits, inherited = _words_before(tests, graph)
    for task, mine in open_questions:
        known = inherited.get(task.id, 0)
        if known & ~1 and not known & 1 and not any(known >> bits.get(word, 0) & 1 for word in mine):
            yield warning(
                "tdd-unrelated-test",
                f"No test that '{task.id}' depends on shares a file name with it.",
                line=task.line,
                hint="Depend on the task that writes the tests of these files, or list its test files.",
            )


def _words_before(tests: Mapping[TaskId, set[str]], graph: Edges) -> tuple[dict[str, int], dict[TaskId, int]]:
    """Returns a bit for each word of a test's files, and the words before each task as one integer.

    Bit 0 stands for a test that declares no files. Tasks on a cycle, or behind one, have no integer.
    """
    bits: dict[str, int] = {}
    about: dict[TaskId, int] = {}
    for task_id, stems in tests.items():
        about[task_id] = sum(1 << bits.setdefault(word, len(bits) + 1) for word in stems) or 1
    inherited: dict[TaskId, int] = {}
    for node in in_order(graph):
        known = 0
        for need in graph[node]:
            known |= inherited[need] | about.get(need, 0)
        inherited[node] = known
    return bits, inherited


def _stems(task: Task) -> set[str]:
    """Returns the words of the files that a task is about: those it creates, or else all it touches."""
    return {word for path in task.files_to_create or task.files for word in stem_words(path)}
