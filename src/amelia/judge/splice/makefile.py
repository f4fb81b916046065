"""Makefiles: rules that only tests reach are the judge's, and what bends every rule; building is the unit's.

Pure. A makefile is read as a list of pieces: rules, assignments, directives. A region between `ifdef` and
`endif` is one piece. Pieces of the judge's that are as they were stay in their place, so that a variable is
still set before it is read; others go, and those that are missing come back.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise

from amelia.plan.paths import words

_NAMES = ("Makefile", "makefile", "GNUmakefile", "*.mk")
_SPECIAL = re.compile(
    r"(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|MAKE|MAKEFILE_LIST|MAKECMDGOALS|VPATH|\.DEFAULT_GOAL|"
    r"\.RECIPEPREFIX|\.EXTRA_PREREQS|PATH|PYTEST_ADDOPTS|PYTHON\w*|NODE_OPTIONS|NODE_PATH|LD_\w+|GOFLAGS|"
    r"RUSTFLAGS|RUSTC\w*|CARGO_\w+|BASH_ENV|ENV)"
)
_DIRECTIVE = re.compile(r"(?:-?include|sinclude|export|unexport|override|undefine|vpath|load|-load)\b")
_ASSIGNMENT = re.compile(r"(?:(?:export|override|private)\s+)*(?P<name>[^\s:#=?+!$]+)\s*(?:::?:?|\?|\+|!)?=")
_DEFINE = re.compile(r"(?:(?:export|override)\s+)*define\s+(?P<name>\S+)")
_RULE = re.compile(r"(?P<targets>[^:=#]+)::?(?!=)(?P<rest>[^\n]*(?:\\\n[^\n]*)*)")
_OWN = re.compile(r"\s*(?:private\s+)?(?P<name>[\w.-]+)\s*(?:::?|\?|\+|!)?=")
_USED = re.compile(r"\$[({](?P<name>[^\s(){}:$]+)|\$(?P<short>\w)")
_IF = re.compile(r"(?:ifeq|ifneq|ifdef|ifndef)\b")
_CONDITION = re.compile(r"(?:ifeq|ifneq|ifdef|ifndef|else|endif)\b")
_HARMLESS = frozenset({".PHONY", ".PRECIOUS", ".INTERMEDIATE", ".SECONDARY", ".SUFFIXES"})
_WHERE = ("-I", "-L", "-l", "-isystem", "-std", "-pthread")
_TEST_WORDS = frozenset("test tests testing check checks spec specs ci verify unittest pytest".split())
_ASKED = "MAKECMDGOALS"
_TAKES_A_VALUE = frozenset({"-C", "-f", "-I", "-o", "-W", "--directory", "--file", "--makefile"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A part of a makefile. `names` are what it sets: variables or targets; `needs` are a rule's own."""

    text: str
    kind: str = "other"
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    rest: str = ""

    @property
    def uses(self) -> frozenset[str]:
        """The variables that it reads."""
        return frozenset(found["name"] or found["short"] for found in _USED.finditer(self.text))


def is_makefile(path: str) -> bool:
    """Says whether a path is that of a makefile."""
    return any(fnmatchcase(path.rpartition("/")[2], name) for name in _NAMES)


def is_apart(path: str) -> bool:
    """Says whether a new makefile can take the place of no other, and be read by none that was there."""
    return "/" in path and path.endswith("/Makefile")


def goals(argv: Sequence[str]) -> frozenset[str]:
    """Returns the targets that a command asks `make` for; an empty name is the first of a makefile."""
    if not argv or argv[0].rpartition("/")[2] not in {"make", "gmake"}:
        return frozenset()
    pairs = pairwise(argv)
    named = frozenset(
        word
        for before, word in pairs
        if not word.startswith("-") and "=" not in word and before not in _TAKES_A_VALUE
    )
    return named or frozenset({""})


def joined(before: str, after: str, *, goals: frozenset[str] = frozenset()) -> str:
    """Returns a makefile as it is now, with the judge's pieces as they were."""
    was, now = list(_pieces(before)), list(_pieces(after))
    default = next(_defaults(was), "")
    asked = {goal or default for goal in goals}
    whose = _of_tests(was, asked) | _of_tests(now, asked)
    mine = [piece for one in was if (piece := whose.divided(one)[1])]
    missing = Counter(_normal(piece) for piece in mine)
    kept: list[_Piece] = []
    for piece in now:
        rest, judged = whose.divided(piece)
        if judged is not None and missing[_normal(judged)] > 0:
            missing[_normal(judged)] -= 1
            kept.append(piece)
        elif rest is not None:
            kept.append(rest)
    lost: list[_Piece] = []
    for piece in mine:
        if missing[_normal(piece)] > 0:
            missing[_normal(piece)] -= 1
            lost.append(piece)
    if not lost and kept == now and "" not in goals:
        found = [piece.text for piece in _flags(was, now, whose)]
        return "\n".join((after.rstrip("\n"), *found)) + "\n" if found else after
    top = [piece for piece in lost if piece.kind not in {"rule", "assignment"} or _bends(piece)]
    end = [piece for piece in lost if piece.kind in {"rule", "assignment"} and not _bends(piece)]
    rows = [piece.text for piece in (*top, *kept, *end, *_flags(was, now, whose))]
    if "" in goals and default != next(_defaults([*top, *kept, *end]), ""):
        rows.append(f".DEFAULT_GOAL := {default}")
    return "\n".join(rows).rstrip("\n") + "\n"


@dataclass(frozen=True, slots=True)
class _Whose:
    """The targets that only tests reach, and the variables that only their rules read."""

    targets: frozenset[str]
    variables: frozenset[str]

    def __or__(self, other: "_Whose") -> "_Whose":
        return _Whose(self.targets | other.targets, self.variables | other.variables)

    def divided(self, piece: _Piece) -> tuple[_Piece | None, _Piece | None]:
        """Returns what of a piece is the unit's, and what is the judge's."""
        if piece.kind == "region":
            inside = [self.divided(one)[1] for one in _pieces(_inside(piece.text))]
            return (None, piece) if any(inside) or _ASKED in piece.text else (piece, None)
        if _bends(piece) or (piece.kind == "assignment" and piece.names[0] in self.variables):
            return None, piece
        if piece.kind != "rule":
            return piece, None
        if piece.names == (".PHONY",):
            return _parted(piece, piece.needs, self.targets)
        return _parted(piece, piece.names, self.targets)


def _parted(
    piece: _Piece, names: Sequence[str], targets: frozenset[str]
) -> tuple[_Piece | None, _Piece | None]:
    """Returns a rule without some targets, and with only those."""
    judged = tuple(name for name in names if name in targets)
    others = tuple(name for name in names if name not in targets)
    if not judged or not others:
        return (None, piece) if judged else (piece, None)
    return _with(piece, others), _with(piece, judged)


def _with(piece: _Piece, names: tuple[str, ...]) -> _Piece:
    if piece.names == (".PHONY",):
        return replace(piece, text=f".PHONY: {' '.join(names)}", needs=names)
    head = _RULE.match(piece.text)
    rest = piece.text[head.end("targets") :] if head else ""
    return replace(piece, text=f"{' '.join(names)}{rest}", names=names)


def _bends(piece: _Piece) -> bool:
    """Says whether a piece is about every rule, about what is asked for, or about what none can tell."""
    if _ASKED in piece.text and piece.kind != "other":
        return True
    match piece.kind:
        case "directive" | "expression":
            return True
        case "assignment":
            return _SPECIAL.fullmatch(piece.names[0]) is not None or "$(eval" in piece.text
        case "rule":
            own = _OWN.match(piece.rest)
            is_special = all(re.fullmatch(r"\.[A-Z_]+", name) for name in piece.names)
            is_for_all = any(name == "%" for name in piece.names)
            sets = own is not None and _SPECIAL.fullmatch(own["name"]) is not None
            return sets or is_for_all or (is_special and piece.names[0] not in _HARMLESS)
        case _:
            return False


def _of_tests(pieces: Sequence[_Piece], goals: Iterable[str]) -> _Whose:
    rules = [one for piece in pieces for one in _flat(piece) if one.kind == "rule"]
    values = _values(pieces)
    needs: dict[str, set[str]] = {}
    for rule in rules:
        for name in rule.names:
            needs.setdefault(name, set()).update(_expanded(rule.needs, values), _made(rule.text))
    phony = needs.pop(".PHONY", set[str]())
    roots = {name for name in needs if name in set(goals) or _is_test(name)}
    reached = _reach(needs, roots)
    others = {name for name in needs if name not in reached and not name.startswith(".")}
    built = _reach(needs, others, without=roots)
    only = {name for name in reached & needs.keys() if name not in built}
    mine = frozenset(name for name in only if name in roots or name in phony or _is_test(name))
    used: dict[bool, set[str]] = {True: set(), False: set()}
    setting = _setting(pieces)
    for rule in rules:
        used[not mine.isdisjoint(rule.names)] |= rule.uses
    used = {is_test: _reach(setting, names) for is_test, names in used.items()}
    return _Whose(mine, frozenset(used[True] - used[False]))


def _flat(piece: _Piece) -> Iterator[_Piece]:
    if piece.kind == "region":
        for one in _pieces(_inside(piece.text)):
            yield from _flat(one)
    else:
        yield piece


def _values(pieces: Iterable[_Piece]) -> dict[str, list[str]]:
    """Returns the words that each variable is set to, one way or another."""
    found: dict[str, list[str]] = {}
    for one in (one for piece in pieces for one in _flat(piece)):
        if one.kind == "assignment":
            value = one.text.partition("=")[2].replace("\\\n", " ")
            found.setdefault(one.names[0], []).extend(value.partition("#")[0].split())
    return found


def _expanded(names: Iterable[str], values: dict[str, list[str]]) -> Iterator[str]:
    for name in names:
        used = _USED.fullmatch(name.rstrip(")}"))
        yield from values.get(used["name"] or "", ()) if used else (name,)


def _made(text: str) -> list[str]:
    """Returns the targets that a recipe makes by calling `make` again."""
    return re.findall(r"\$[({]MAKE[)}]\s+([\w][\w.-]*)", text)


def _reach(needs: dict[str, set[str]], roots: set[str], *, without: Iterable[str] = ()) -> set[str]:
    found, waiting, closed = set[str](), [*roots], set(without)
    while waiting:
        name = waiting.pop()
        if name not in found and name not in closed:
            found.add(name)
            waiting += needs.get(name, ())
    return found


def _setting(pieces: Iterable[_Piece]) -> dict[str, set[str]]:
    """Returns the variables that each variable reads."""
    found: dict[str, set[str]] = {}
    for one in (one for piece in pieces for one in _flat(piece)):
        if one.kind == "assignment":
            found.setdefault(one.names[0], set()).update(one.uses)
    return found


def _flags(was: Sequence[_Piece], now: Sequence[_Piece], whose: _Whose) -> Iterator[_Piece]:
    """Yields flags as they were, for tests only, if tests and what is built share them."""
    old, new = _values(was), _values(now)
    targets = sorted(
        name for piece in was if piece.kind == "rule" for name in piece.names if name in whose.targets
    )
    for name, values in new.items():
        is_shared = name.endswith("FLAGS") and name not in whose.variables and not _SPECIAL.fullmatch(name)
        if is_shared and targets and values != old.get(name, []):
            places = [word for word in values if word.startswith(_WHERE) and word not in old.get(name, [])]
            text = f"{' '.join(targets)}: {name} = {' '.join((*old.get(name, []), *places))}"
            yield _Piece(text=text, kind="rule", names=tuple(targets))


def _defaults(pieces: Iterable[_Piece]) -> Iterator[str]:
    """Yields the targets that `make` may begin with, the first one first."""
    for one in (one for piece in pieces for one in _flat(piece)):
        if one.kind == "rule":
            yield from (name for name in one.names if not name.startswith(".") and "%" not in name)


def _is_test(name: str) -> bool:
    return not _TEST_WORDS.isdisjoint(words(name))


def _normal(piece: _Piece) -> str:
    return "\n".join(line.rstrip() for line in piece.text.splitlines() if line.strip())


def _inside(text: str) -> str:
    """Returns what stands between the lines of a condition."""
    return "\n".join(line for line in text.splitlines() if not _CONDITION.match(line.strip()))


def _pieces(text: str) -> Iterator[_Piece]:
    lines = _logical(text)
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        end = at + 1
        if _IF.match(line):
            end = _region_end(lines, at)
            kind = "region"
        elif _DEFINE.match(line):
            end = next((n for n in range(at, len(lines)) if lines[n].strip() == "endef"), at) + 1
            kind = "define"
        else:
            kind = _kind(lines[at])
            while kind == "rule" and end < len(lines) and lines[end].startswith("\t"):
                end += 1
        yield _piece(kind, "\n".join(lines[at:end]))
        at = end


def _kind(raw: str) -> str:
    line = raw.strip()
    if not line or line.startswith("#"):
        return "other"
    if _DIRECTIVE.match(line):
        return "directive"
    if _ASSIGNMENT.match(line):
        return "assignment"
    if line.startswith("$") and not _RULE.match(line):
        return "expression"
    return "rule" if _RULE.match(line) else "expression"


def _piece(kind: str, text: str) -> _Piece:
    line = text.lstrip()
    if kind == "define" and (found := _DEFINE.match(line)):
        return _Piece(text=text, kind="assignment", names=(found["name"],))
    if kind == "assignment" and (found := _ASSIGNMENT.match(line)):
        return _Piece(text=text, kind=kind, names=(found["name"],))
    if kind == "rule" and (found := _RULE.match(line)):
        rest = found["rest"].replace("\\\n", " ")
        needs = () if _OWN.match(rest) else tuple(rest.partition(";")[0].replace("|", " ").split())
        return _Piece(
            text=text,
            kind=kind,
            names=tuple(found["targets"].replace("&", " ").split()),
            needs=needs,
            rest=rest,
        )
    return _Piece(text=text, kind=kind)


def _logical(text: str) -> list[str]:
    """Returns the lines of a text, with those that go on in the next as one."""
    found: list[str] = []
    is_open = False
    for line in text.splitlines():
        if is_open:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
        is_open = line.endswith("\\")
    return found


def _region_end(lines: Sequence[str], at: int) -> int:
    depth = 0
    for place in range(at, len(lines)):
        line = lines[place].strip()
        depth += (_IF.match(line) is not None) - line.startswith("endif")
        if depth == 0:
            break
    else:
        return len(lines)
    end = place + 1
    while end < len(lines) and lines[end].startswith("\t"):
        end += 1  # the condition is inside a recipe
    return end
