"""Order, levels and cycles of any directed graph.

A graph maps each node to what it depends on; every dependency is itself a node, and no node depends on
itself. The order of the nodes is the order of the document, and every result is determined by it.
Nothing here recurses, and everything is linear but for one logarithm.
"""

from collections import deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def union(graph: Mapping[N, Sequence[N]], extra: Mapping[N, Sequence[N]]) -> dict[N, tuple[N, ...]]:
    """Returns the graph with the extra edges added, each edge once."""
    return {
        node: tuple(dict.fromkeys((*needs, *extra[node]))) if node in extra else tuple(needs)
        for node, needs in graph.items()
    }


def dependants(graph: Mapping[N, Sequence[N]]) -> dict[N, list[N]]:
    """Returns the graph with every edge turned round."""
    turned: dict[N, list[N]] = {node: [] for node in graph}
    for node, needs in graph.items():
        for need in needs:
            turned[need].append(node)
    return turned


def in_order(
    graph: Mapping[N, Sequence[N]], rank: Mapping[N, tuple[int, ...]] | None = None
) -> tuple[N, ...]:
    """Returns the nodes, dependencies first, lowest rank and then document order where there is a choice.

    Nodes on a cycle, or behind one, are left out.
    """
    nodes = sorted(graph, key=rank.__getitem__) if rank else list(graph)
    place = {node: number for number, node in enumerate(nodes)}
    turned = dependants(graph)
    missing = [len(graph[node]) for node in nodes]
    ready = [number for number, count in enumerate(missing) if not count]
    found: list[N] = []
    while ready:
        node = nodes[heappop(ready)]
        found.append(node)
        for dependant in turned[node]:
            number = place[dependant]
            missing[number] -= 1
            if not missing[number]:
                heappush(ready, number)
    return tuple(found)


def levels_of(
    graph: Mapping[N, Sequence[N]], rank: Mapping[N, tuple[int, ...]] | None = None
) -> dict[N, int]:
    """Returns each node's level, from 1: one more than the highest among what it depends on.

    The nodes come in the order of `in_order`. Those on a cycle, or behind one, are left out.
    """
    levels: dict[N, int] = {}
    for node in in_order(graph, rank):
        highest = 0
        for need in graph[node]:
            highest = max(highest, levels[need])
        levels[node] = highest + 1
    return levels


def cycles_of(graph: Mapping[N, Sequence[N]]) -> list[tuple[N, ...]]:
    """Returns one cycle for each knot of nodes that need each other, as a path back to its first node."""
    return [_shortest_cycle(graph, knot) for knot in _knots(graph)]


def admissible(graph: Mapping[N, Sequence[N]], extra: Mapping[N, Sequence[N]]) -> dict[N, tuple[N, ...]]:
    """Returns the extra edges that may be added without closing a cycle.

    Where extra edges would close one, those along the order of the graph stay and those against it go.
    """
    merged = union(graph, extra)
    knot_of = {node: number for number, knot in enumerate(_knots(merged)) for node in knot}
    place = {node: number for number, node in enumerate(in_order(graph))} if knot_of else {}
    kept: dict[N, tuple[N, ...]] = {}
    for node, needs in extra.items():
        good = tuple(
            need
            for need in needs
            if node not in knot_of
            or knot_of[node] != knot_of.get(need)
            or place.get(need, len(graph)) < place.get(node, len(graph))
        )
        if good:
            kept[node] = good
    return kept


def ancestors(graph: Mapping[N, Sequence[N]], watched: Collection[N]) -> tuple[dict[N, int], dict[N, int]]:
    """Returns a bit for each watched node, and for every node the bits of those it waits for in the end."""
    bits: dict[N, int] = {}
    before: dict[N, int] = {}
    for node in in_order(graph):
        known = 0
        for need in graph[node]:
            known |= before[need]
            if need in bits:
                known |= 1 << bits[need]
        before[node] = known
        if node in watched:
            bits[node] = len(bits)
    return bits, before


def unimplied(graph: Mapping[N, Sequence[N]], extra: Mapping[N, Sequence[N]]) -> dict[N, tuple[N, ...]]:
    """Returns the extra edges that say something the graph does not say already, if only in steps."""
    bits, before = ancestors(graph, {need for needs in extra.values() for need in needs})
    return {
        node: tuple(need for need in extra[node] if not before[node] >> bits[need] & 1)
        for node in extra
        if node in before
    }


def _knots(graph: Mapping[N, Sequence[N]]) -> list[list[N]]:
    """Finds the strongly connected components of two nodes or more, in document order (Kosaraju)."""
    clear = set(in_order(graph))
    rest = {node: [n for n in needs if n not in clear] for node, needs in graph.items() if node not in clear}
    turned = dependants(rest)
    seen: set[N] = set()
    knots: list[set[N]] = []
    for node in reversed(_finished(rest)):
        if node not in seen:
            knot = _reached(turned, node, seen)
            if len(knot) > 1:
                knots.append(knot)
    home = {node: number for number, knot in enumerate(knots) for node in knot}
    ordered: dict[int, list[N]] = {}
    for node in rest:
        if node in home:
            ordered.setdefault(home[node], []).append(node)
    return list(ordered.values())


def _finished(graph: Mapping[N, Sequence[N]]) -> list[N]:
    """Lists the nodes in the order in which a depth-first search leaves them."""
    seen: set[N] = set()
    left: list[N] = []
    for root in graph:
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(graph[root]))]
        while path:
            node, needs = path[-1]
            fresh = next((need for need in needs if need not in seen), None)
            if fresh is None:
                left.append(node)
                path.pop()
            else:
                seen.add(fresh)
                path.append((fresh, iter(graph[fresh])))
    return left


def _reached(graph: Mapping[N, Iterable[N]], root: N, seen: set[N]) -> set[N]:
    """Collects what can be reached from the root without what was seen, and marks it as seen."""
    seen.add(root)
    found = {root}
    waiting = [root]
    while waiting:
        for node in graph[waiting.pop()]:
            if node not in seen:
                seen.add(node)
                found.add(node)
                waiting.append(node)
    return found


def _shortest_cycle(graph: Mapping[N, Sequence[N]], knot: Sequence[N]) -> tuple[N, ...]:
    """Finds the shortest way from the first node of a knot back to it."""
    start, inside = knot[0], set(knot)
    came_from: dict[N, N] = {}
    waiting = deque([start])
    while start not in came_from:
        node = waiting.popleft()
        for need in graph[node]:
            if need in inside and need not in came_from:
                came_from[need] = node
                waiting.append(need)
    path = [start]
    while len(path) == 1 or path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
