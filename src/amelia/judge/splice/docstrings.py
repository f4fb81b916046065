"""Tests inside Python: the examples in docstrings are the judge's, where doctests are collected.

Pure. A docstring changes nothing that a program does, but for programs that read their own. So the whole
docstring of a module, class or function is as it was, if its examples are not.
"""

import ast
import doctest
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# Lines as Python counts them: form feeds and the like end none.
_LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_Places = dict[tuple[str, ...], "_Place"]


@dataclass(frozen=True, slots=True)
class _Place:
    """What may have a docstring: its examples, and where the docstring is, or would be."""

    examples: tuple[tuple[str, str], ...]
    start: int
    end: int
    literal: str
    behind: str


def joined(before: str, after: str) -> tuple[str, bool]:
    """Returns a module with the examples as they were, and whether each of them has a place there."""
    if ">>>" not in before:
        return after, True
    was, now = _places(before), _places(after)
    changed = {
        name: place for name, place in was.items() if place.examples and not _is_same(place, now.get(name))
    }
    if not changed:
        return after, True
    text = after
    homes = sorted(
        ((now[name], place) for name, place in changed.items() if name in now), key=_start, reverse=True
    )
    for home, place in homes:
        text = text[: home.start] + place.literal + home.behind + text[home.end :]
    kept = _places(text)
    return text, all(_is_same(place, kept.get(name)) for name, place in changed.items())


def _start(pair: tuple[_Place, _Place]) -> int:
    return pair[0].start


def _is_same(place: _Place, other: _Place | None) -> bool:
    return other is not None and place.examples == other.examples


def _places(text: str) -> _Places:
    """Returns what may have a docstring, by its name; several with one name have numbers."""
    lines = [0]
    for line in _LINE_END.split(text):
        lines.append(lines[-1] + len(line))
    found: _Places = {}
    count: Counter[tuple[str, ...]] = Counter()
    for name, node in _documented(ast.parse(text)):
        count[name] += 1
        key = name if count[name] == 1 else (*name, f"#{count[name]}")
        found[key] = _place(text, node, lines)
    return found


def _documented(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], _Documented]]:
    waiting: list[tuple[tuple[str, ...], ast.AST]] = [((), tree)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, _Documented):
            yield name, node
        for child in reversed(list(ast.iter_child_nodes(node))):
            is_named = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            waiting.append(((*name, child.name) if is_named else name, child))


def _place(text: str, node: _Documented, lines: list[int]) -> _Place:
    if not node.body:
        return _Place((), 0, 0, "", "\n")
    first = node.body[0]
    at = first
    if isinstance(first, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and first.decorator_list:
        at = first.decorator_list[0]
    start = _offset(text, lines, (at.lineno, at.col_offset)) - (1 if at is not first else 0)
    if (docstring := ast.get_docstring(node, clean=False)) is not None and isinstance(first, ast.Expr):
        end = _offset(text, lines, (first.end_lineno or 0, first.end_col_offset or 0))
        return _Place(_examples(docstring), start, end, text[start:end], "")
    line = text[lines[at.lineno - 1] : start]
    return _Place((), start, start, "", f"\n{line}" if not line.strip() else "; ")


def _offset(text: str, lines: list[int], place: tuple[int, int]) -> int:
    """Returns where in a text a place is that `ast` names by its line and its bytes."""
    line, column = place
    start = lines[line - 1]
    whole = text[start : lines[line]]
    return start + len(whole.encode()[:column].decode())


def _examples(docstring: str) -> tuple[tuple[str, str], ...]:
    if ">>>" not in docstring:
        return ()
    found = doctest.DocTestParser().get_examples(docstring)
    return tuple((one.source, one.want) for one in found)
