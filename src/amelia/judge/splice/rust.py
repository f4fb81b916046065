"""Tests inside Rust: items that are compiled for tests only, and examples in documentation, are the judge's.

Pure. A small lexer tells strings, characters, lifetimes and comments from code, and items are found by their
brackets. Where an item stands makes no difference to Rust, so one that lost its place goes to the end of the
block it was in. The documentation of an item is taken as a whole: it does nothing but show and test.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<inner>//![^\n]*) | (?P<doc>///(?!/)[^\n]*) | (?P<comment>//[^\n]*|/\*)
    | (?P<raw>\b[bc]?r(?P<hashes>\#*)"(?:.*?"(?P=hashes)|.*))
    | (?P<string>[bc]?"(?:\\.|[^"\\])*(?:"|\Z))
    | (?P<char>b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])') | (?P<life>'\w+)
    | (?P<word>(?:r\#)?\w+) | (?P<mark>[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_COMMENT = re.compile(r"/\*|\*/")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())
_ENDS_WITH_SEMICOLON = frozenset({"use", "static", "type", "let"})
_BLOCKS = frozenset({"mod", "impl", "trait"})
_NOT = re.compile(r"\bnot\s*\(\s*(?:test|doctest)\s*\)")
_IS_CFG = re.compile(r"^cfg\s*\(.*\b(?:test|doctest)\b", re.DOTALL)
_IS_TEST = re.compile(r"^(?:\w+ : : )*(?:test|rstest|test_case|bench|quickcheck|wasm_bindgen_test)\b")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_MAY_ADD = frozenset({"mod", "use", "fn"})
_FOR_TESTS = "#[test] "
_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """An item: where its documentation, its attributes and itself begin, and what it is for."""

    key: _Key
    start: int
    code: int
    end: int
    is_test: bool
    is_plain: bool
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """The items of a file by their keys, how many have a name, and the ends of the blocks that hold items."""

    text: str
    items: dict[_Key, _Item]
    ends: dict[_Key, int]
    count: Counter[_Key]

    def of(self, item: _Item) -> str:
        """Returns the text of an item, with its documentation and its attributes."""
        return self.text[item.start : item.end]


def joined(before: str, after: str) -> tuple[str, bool]:
    """Returns a file with the tests inside as they were, and whether each of them found its place."""
    was, now = _read(before), _read(after)
    edits, homeless = _edits(was, now)
    if not edits:
        return after, not homeless
    text = after
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text, not homeless and _parts(_read(text), was) == _parts(was, was)


def _parts(file: _File, was: _File) -> object:
    """Returns the tests of a file, and the examples of those items that had examples."""
    tests = {key: file.of(item) for key, item in file.items.items() if item.is_test}
    shown = {key for key, item in was.items.items() if item.examples}
    return tests, {key: file.items[key].examples for key in shown if key in file.items}


def _edits(was: _File, now: _File) -> tuple[list[tuple[int, int, str]], bool]:
    """Returns what to put where, and whether something has no place."""
    edits: list[tuple[int, int, str]] = []
    homeless = False
    for key, item in was.items.items():
        mine = now.items.get(key)
        if item.is_test:
            if mine is not None and now.of(mine) != was.of(item):
                edits.append((mine.start, mine.end, was.of(item)))
            elif mine is None and key[:-1] in now.ends:
                end = now.ends[key[:-1]]
                edits.append((end, end, f"\n{was.of(item)}\n"))
            homeless = homeless or (mine is None and key[:-1] not in now.ends)
        elif item.examples and mine is not None and mine.examples != item.examples:
            text = was.text[item.start : item.code]
            edits.append((mine.start, mine.code, f"\n{text}\n" if mine.start == mine.end else text))
        elif item.examples and mine is None:
            homeless = True
    added = [item for key, item in now.items.items() if item.is_test and key not in was.items]
    if edits or _NOT.search(now.text) or not all(item.is_plain for item in added):
        edits += [(item.start, item.end, "") for item in added]
    return edits, homeless


def _read(text: str) -> _File:
    file = _File(text, {}, {(): len(text)}, Counter())
    tokens = list(_tokens(text))
    waiting: list[tuple[_Key, int, int]] = [((), 0, len(tokens))]
    while waiting:
        scope, start, end = waiting.pop()
        waiting += _read_block(file, tokens, (scope, start, end))
    return file


def _read_block(
    file: _File, tokens: Sequence[_Token], block: tuple[_Key, int, int]
) -> Iterator[tuple[_Key, int, int]]:
    """Reads the items of a block; yields the blocks inside that hold items themselves."""
    scope, at, end = block
    at = _read_inner(file, tokens, block)
    while at < end:
        first, attributes, at = _before_item(tokens, at, end)
        if at >= end:
            return
        last, brace = _item_end(tokens, at, end)
        head = " ".join(token.text for token in tokens[at : brace if brace is not None else last + 1])
        texts = [_attribute(tokens, place) for place in attributes]
        item = _item(tokens, (first, at, last), (_free(file, scope, _title(head, texts)), head))
        file.items[item.key] = item
        if brace is not None and not item.is_test and not _BLOCKS.isdisjoint(head.split()):
            file.ends[item.key] = tokens[last].start
            yield item.key, brace + 1, last
        at = last + 1


def _read_inner(file: _File, tokens: Sequence[_Token], block: tuple[_Key, int, int]) -> int:
    """Reads the documentation at the beginning of a block, which is that of the block itself."""
    scope, at, end = block
    start = at
    while at < end and tokens[at].kind == "inner":
        at += 1
    place = tokens[at - 1].end if at > 0 else 0
    key = (*scope, "//!")
    file.items[key] = _Item(
        key=key,
        start=tokens[start].start if at > start else place,
        code=place,
        end=place,
        is_test=False,
        is_plain=False,
        examples=_examples(tokens[start:at]),
    )
    return at


def _title(head: str, attributes: Iterable[str]) -> str:
    is_test = any(_is_for_tests(one) for one in attributes) or head.startswith("proptest !")
    return f"{_FOR_TESTS}{_name(head)}" if is_test else _name(head)


def _free(file: _File, scope: _Key, name: str) -> _Key:
    """Returns the key of an item; several with one name have numbers."""
    key = (*scope, name)
    file.count[key] += 1
    return key if file.count[key] == 1 else (*scope, f"{name} #{file.count[key]}")


def _item(tokens: Sequence[_Token], place: tuple[int, int, int], what: tuple[_Key, str]) -> _Item:
    (first, at, last), (key, head) = place, what
    documented = [token for token in tokens[first:at] if token.kind == "doc"]
    code = next(place for place in range(first, at + 1) if tokens[place].kind != "doc")
    return _Item(
        key=key,
        start=tokens[first].start,
        code=tokens[code].start,
        end=tokens[last].end,
        is_test=key[-1].startswith(_FOR_TESTS),
        is_plain=not _MAY_ADD.isdisjoint(head.split()[:4]),
        examples=_examples(documented),
    )


def _name(head: str) -> str:
    """Returns what an item is called: its kind and its name, without its parameters and who sees it."""
    found = re.search(
        r"\b(?:fn|mod|struct|enum|trait|const|static|type|union|macro_rules !)\s+(?:mut )?\S+", head
    )
    return found[0] if found and not head.startswith(("impl", "unsafe impl", "use", "pub use")) else head


def _is_for_tests(attribute: str) -> bool:
    text = _NOT.sub("", attribute)
    return _IS_CFG.match(text) is not None or _IS_TEST.match(text) is not None


def _examples(documentation: Sequence[_Token]) -> tuple[str, ...]:
    """Returns the lines of the examples in the documentation of an item."""
    found: list[str] = []
    is_inside = False
    for token in documentation:
        line = token.text[3:]
        if _FENCE.match(line):
            is_inside = not is_inside
            found.append(line.strip())
        elif is_inside:
            found.append(line.strip())
    return tuple(found)


def _before_item(tokens: Sequence[_Token], at: int, end: int) -> tuple[int, list[int], int]:
    """Returns where an item begins with all before it, its attributes, and where it begins itself."""
    first, attributes = at, list[int]()
    while at < end:
        token = tokens[at]
        if token.text == "#" and at + 1 < end and tokens[at + 1].text == "[":
            attributes.append(at + 2)
            at = _group_end(tokens, at + 1, end) + 1
        elif token.text == "#" and at + 2 < end and tokens[at + 2].text == "[":
            at = first = _group_end(tokens, at + 2, end) + 1
            attributes = []
        elif token.kind == "doc":
            at += 1
        elif token.text == ";":
            at = first = at + 1
        else:
            break
    return first, attributes, at


def _attribute(tokens: Sequence[_Token], at: int) -> str:
    end = _group_end(tokens, at - 1, len(tokens))
    return " ".join(token.text for token in tokens[at:end])


def _item_end(tokens: Sequence[_Token], at: int, end: int) -> tuple[int, int | None]:
    """Returns the last token of an item, and its opening brace if it ends with a block."""
    words = [token.text for token in tokens[at : min(at + 4, end)]]
    is_value = words[0] == "const" and "fn" not in words
    needs_semicolon = is_value or not _ENDS_WITH_SEMICOLON.isdisjoint(_leading(words))
    place = at
    while place < end:
        text = tokens[place].text if tokens[place].kind == "mark" else ""
        if text == ";":
            return place, None
        if text in _OPEN:
            last = _group_end(tokens, place, end)
            if text == "{" and not needs_semicolon:
                return last, place
            place = last
        place += 1
    return end - 1, None


def _leading(words: Sequence[str]) -> list[str]:
    """Returns the first word of an item that is not about who sees it."""
    found = [word for word in words if word not in {"pub", "(", ")", "crate", "super", "self", "unsafe"}]
    return found[:1]


def _group_end(tokens: Sequence[_Token], at: int, end: int) -> int:
    depth = 0
    for place in range(at, end):
        if tokens[place].kind == "mark":
            depth += (tokens[place].text in _OPEN) - (tokens[place].text in _CLOSE)
            if depth == 0:
                return place
    raise ValueError("brackets are not closed")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        kind = token.lastgroup or ""
        if kind == "comment":
            if token[0] == "/*":
                at = _comment_end(text, at)
            continue
        yield _Token(kind if kind != "hashes" else "raw", token[0], token.start(), at)


def _comment_end(text: str, at: int) -> int:
    depth = 1
    for mark in _BLOCK_COMMENT.finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise ValueError("a comment has no end")
