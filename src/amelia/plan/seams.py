"""Where a task can be cut: between layers, between directories, between acceptance criteria.

A cut puts every file and every criterion into exactly one part, in its order. A test stays with the file that
it tests. No part is without criteria where there are enough.

Layers are cut apart all at once, lowest first. Directories and criteria are halved, and halved again while a
part is too hard: that gives the fewest parts, and a part is a whole agent session.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from amelia.model.plan import Task
from amelia.plan.paths import LAYER_WORDS, Layer, folder, is_test, layer_of, normal_path, stem_words, words
from amelia.plan.size import Strategy, dominant

H = TypeVar("H", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that stay together, and the words by which a criterion is recognised as theirs."""

    files: frozenset[str]
    words: frozenset[str]


def cut(task: Task) -> list[Task]:
    """Returns the parts of a task, cut by its dominant part or else where it can be; none if nowhere."""
    first = dominant(task.complexity)
    for strategy in dict.fromkeys((first, Strategy.LAYERS, Strategy.FILES, Strategy.CRITERIA)):
        if parts := _STRATEGIES[strategy](task):
            return parts
    return []


def _by_layers(task: Task) -> list[Task]:
    """Separates data, business and presentation; a file of no layer is business, a lone test comes last."""
    layers = {path: layer_of(path) or Layer.BUSINESS for path in _files(task) if not is_test(path)}
    present = [layer for layer in Layer if layer in layers.values()]
    if len(present) < 2:  # noqa: PLR2004 - one part is no cut
        return []
    homes = _with_tests(task, layers, lambda _: present[-1])
    groups = [_group((p for p in homes if homes[p] is layer), LAYER_WORDS[layer]) for layer in present]
    return _parts(task, groups, _owners(task.acceptance_criteria, groups))


def _by_files(task: Task) -> list[Task]:
    """Halves the files along directories, or within one directory along names."""
    for key in (folder, stem_words):
        bodies: dict[str, Hashable] = {path: key(path) for path in _files(task) if not is_test(path)}
        clusters: dict[Hashable, list[str]] = {}
        for path, home in _with_tests(task, bodies, key).items():
            clusters.setdefault(home, []).append(path)
        if len(clusters) > 1:
            groups = [_group(half) for half in _halves(list(clusters.values()))]
            return _parts(task, groups, _owners(task.acceptance_criteria, groups))
    return []


def _by_criteria(task: Task) -> list[Task]:
    """Halves the criteria; a file goes where it is mentioned, else by its position."""
    criteria = task.acceptance_criteria
    if len(criteria) < 2:  # noqa: PLR2004 - one part is no cut
        return []
    middle = (len(criteria) + 1) // 2
    mentioned = [_mentions(" ".join(half)) for half in (criteria[:middle], criteria[middle:])]
    files = [path for path in _files(task) if not is_test(path)]
    bodies: dict[str, int] = {}
    for number, path in enumerate(files):
        first, second = (len(found.intersection(stem_words(path))) for found in mentioned)
        bodies[path] = int(second > first) if first != second else number * 2 // len(files)
    homes = _with_tests(task, bodies, lambda _: 1)
    groups = [_group(path for path in homes if homes[path] == half) for half in (0, 1)]
    return _parts(task, groups, [int(number >= middle) for number in range(len(criteria))])


_STRATEGIES: Mapping[Strategy, Callable[[Task], list[Task]]] = {
    Strategy.LAYERS: _by_layers,
    Strategy.FILES: _by_files,
    Strategy.CRITERIA: _by_criteria,
}


def _files(task: Task) -> list[str]:
    return list(dict.fromkeys(map(normal_path, task.files)))


def _with_tests(task: Task, bodies: Mapping[str, H], alone: Callable[[str], H]) -> dict[str, H]:
    """Puts every test where the file of the same name is, or where it belongs alone."""
    home_of: dict[tuple[str, ...], H] = {}
    for path, home in bodies.items():
        home_of.setdefault(stem_words(path), home)
    homes: dict[str, H] = {}
    for path in _files(task):
        if path in bodies:
            homes[path] = bodies[path]
        else:
            stem = stem_words(path)
            homes[path] = home_of[stem] if stem in home_of else alone(path)
    return homes


def _group(files: Iterable[str], more: frozenset[str] = frozenset()) -> _Group:
    members = frozenset(files)
    return _Group(members, more.union(*(stem_words(path) for path in members)))


def _halves(clusters: Sequence[list[str]]) -> list[list[str]]:
    """Divides the clusters in two, in their order, as evenly by files as whole clusters allow."""
    total = sum(map(len, clusters))
    before, best, at = 0, total, 1
    for number, cluster in enumerate(clusters[:-1], start=1):
        before += len(cluster)
        if abs(total - 2 * before) < best:
            best, at = abs(total - 2 * before), number
    return [sum(half, start=list[str]()) for half in (clusters[:at], clusters[at:])]


def _mentions(text: str) -> set[str]:
    found = set(words(text))
    return found | {word.removesuffix("s") for word in found}


def _owners(criteria: Sequence[str], groups: Sequence[_Group]) -> list[int]:
    """Gives each criterion to the group whose words it has most of, the others in turn, none to spare."""
    owners: list[int] = []
    for text in criteria:
        hits = [len(group.words & _mentions(text)) for group in groups]
        best = max(hits)
        owners.append(hits.index(best) if hits.count(best) == 1 else -1)
    unclaimed = [number for number, owner in enumerate(owners) if owner < 0]
    poor = [group for group in range(len(groups)) if group not in owners]
    for number, group in zip(unclaimed, poor, strict=False):
        owners[number] = group
    rest = unclaimed[len(poor) :]
    for turn, number in enumerate(rest):
        owners[number] = turn * len(groups) // len(rest)
    if len(criteria) >= len(groups):
        for group in poor[len(unclaimed) :]:
            rich = max(range(len(groups)), key=owners.count)
            owners[len(owners) - 1 - owners[::-1].index(rich)] = group
    return owners


def _parts(task: Task, groups: Sequence[_Group], owners: Sequence[int]) -> list[Task]:
    """Makes a part of each group of files and the criteria that it owns."""

    def own(paths: Iterable[str], group: _Group) -> tuple[str, ...]:
        return tuple(path for path in paths if normal_path(path) in group.files)

    return [
        replace(
            task,
            files_to_create=own(task.files_to_create, group),
            files_to_modify=own(task.files_to_modify, group),
            test_files=own(task.test_files, group),
            acceptance_criteria=tuple(
                text for text, owner in zip(task.acceptance_criteria, owners, strict=True) if owner == number
            ),
        )
        for number, group in enumerate(groups)
    ]
