"""Tests of the graph algorithms."""

import pytest

from amelia.plan.digraph import admissible, cycles_of, dependants, in_order, levels_of, unimplied, union

Graph = dict[str, tuple[str, ...]]


def graph(text: str) -> Graph:
    """Reads `a:bc b: c:` as a needs b and c."""
    return {part[0]: tuple(part[2:]) for part in text.split()}


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("", ""),
        ("a: b: c:", "abc"),
        ("a:c b: c:", "bca"),
        ("a:b b:c c:", "cba"),
        ("a:bc b: c:b d:", "bcad"),
        ("a:b b:a c:", "c"),
        ("a:b b:a c:a d:", "d"),
    ],
)
def test_order_puts_dependencies_first_and_keeps_the_document_order_otherwise(text: str, order: str) -> None:
    assert "".join(in_order(graph(text))) == order


def test_rank_decides_where_dependencies_leave_a_choice() -> None:
    nodes = graph("a: b: c:d d:")
    assert "".join(in_order(nodes, {"a": (2,), "b": (1,), "c": (0,), "d": (3,)})) == "badc"


def test_a_level_is_one_more_than_the_highest_dependency() -> None:
    assert levels_of(graph("a: b:a c:ab d:")) == {"a": 1, "b": 2, "c": 3, "d": 1}


def test_levels_come_in_order_and_leave_cycles_out() -> None:
    assert list(levels_of(graph("a:c b: c: d:e e:d"))) == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("a: b:a", []),
        ("a:b b:a", ["aba"]),
        ("a:b b:c c:a d:a", ["abca"]),
        ("a:b b:c c:ad d:c", ["abca"]),
        ("a:b b:acd c:b d:", ["aba"]),
        ("x:a a:b b:a c:d d:e e:c", ["aba", "cdec"]),
        ("a:bc b:d c:a d:a", ["aca"]),
        ("a:cb b:d c:a d:a", ["aca"]),
    ],
)
def test_every_knot_yields_one_shortest_cycle_through_its_first_node(text: str, cycles: list[str]) -> None:
    assert ["".join(cycle) for cycle in cycles_of(graph(text))] == cycles


def test_a_chain_and_a_ring_of_ten_thousand_need_no_recursion() -> None:
    chain = {n: (n + 1,) if n < 9_999 else () for n in range(10_000)}
    assert in_order(chain) == tuple(range(9_999, -1, -1))
    ring = {n: ((n + 1) % 10_000,) for n in range(10_000)}
    assert [len(cycle) for cycle in cycles_of(ring)] == [10_001]


def test_union_keeps_each_edge_once() -> None:
    assert union(graph("a:b b: c:"), {"a": ("b", "c")}) == graph("a:bc b: c:")


def test_dependants_turn_every_edge() -> None:
    assert dependants(graph("a:b b: c:b")) == {"a": [], "b": ["a", "c"], "c": []}


@pytest.mark.parametrize(
    ("text", "extra", "kept"),
    [
        ("a: b:", "b:a", "b:a"),
        ("a: b:", "a:b", "a:b"),
        ("a: b:", "a:b b:a", "b:a"),
        ("a:b b:", "b:a", ""),
        ("a:b b:c c: d:", "c:ad", "c:d"),
        ("a: b: c:", "a:b b:c c:a", "c:a"),
        ("a:b b:a c:", "c:a a:c", "a:c"),
    ],
)
def test_extra_edges_never_close_a_cycle_and_document_order_decides(text: str, extra: str, kept: str) -> None:
    assert admissible(graph(text), graph(extra)) == graph(kept)


def test_edges_that_the_graph_implies_add_nothing() -> None:
    graph = {"A": (), "B": ("A",), "C": ("B",), "D": ()}
    assert unimplied(graph, {"C": ("A", "B", "D"), "D": ("A",)}) == {"C": ("D",), "D": ("A",)}
