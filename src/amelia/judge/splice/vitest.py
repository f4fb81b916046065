"""Tests inside JavaScript and TypeScript: blocks of `if (import.meta.vitest)` are the judge's.

Pure. A small lexer finds where a block ends: it knows strings, templates, comments and regular expressions.
"""

import re

_BLOCK = re.compile(r"^[ \t]*if\s*\(\s*import\.meta\.vitest\b[^)\n]*\)\s*\{", re.MULTILINE)
_TOKEN = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `(?:\\.|[^`\\])*`
    | (?P<regex>(?<=[(,=:\[!&|?{};\n])[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/)
    | (?P<brace>[{}])
    """,
    re.VERBOSE | re.DOTALL,
)


def joined(before: str, after: str) -> tuple[str, bool]:
    """Returns a module with the tests inside as they were, and whether they could be told from the rest."""
    was, now = _blocks(before), _blocks(after)
    tests = [before[start:end] for start, end in was]
    if not tests or tests == [after[start:end] for start, end in now]:
        return after, True
    pieces: list[str] = []
    last = 0
    in_place = tests if len(was) == len(now) else [""] * len(now)
    for (start, end), test in zip(now, in_place, strict=True):
        pieces += [after[last:start], test]
        last = end
    text = "".join((*pieces, after[last:]))
    if len(was) != len(now):
        text = "\n".join((text.rstrip("\n"), *tests)) + "\n"
    return text, [text[start:end] for start, end in _blocks(text)] == tests


def _blocks(text: str) -> list[tuple[int, int]]:
    """Returns where the blocks begin and end."""
    found: list[tuple[int, int]] = []
    if "import.meta.vitest" not in text:
        return found
    at = 0
    while block := _BLOCK.search(text, at):
        at = _end(text, block.end())
        found.append((block.start(), at))
    return found


def _end(text: str, start: int) -> int:
    """Returns the end of a block whose brace was opened before `start`."""
    depth = 1
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token["brace"] or "", 0)
        if depth == 0:
            return token.end()
    raise ValueError("a block has no end")
