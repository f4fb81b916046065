"""What a path in a plan means: its one spelling, what it is about, and whether it is safe.

A path is only text here; the disk is never asked.
"""

import re
from enum import StrEnum
from functools import lru_cache

_PLAIN = re.compile(r"(?:[\w@+-][\w.@+-]*/)*[\w@+-][\w.@+-]*")
_LINE_NUMBERS = re.compile(r":\d+(?:\s*[-–,:]\s*\d+)*\Z")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_OUTSIDE = re.compile(r"/|~|[A-Za-z]:|\.\.(?:/|\Z)")
# What git itself refuses: NTFS drops trailing dots and spaces and knows short names and streams,
# HFS+ ignores some code points (git: verify_path, is_ntfs_dotgit, is_hfs_dotgit).
_GIT = re.compile(r"(?:\.git|git~\d+)[ .]*(?::.*)?", re.IGNORECASE)
_IGNORED_BY_HFS = re.compile(r"[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")

_TEST_WORDS = frozenset({"test", "tests", "spec", "specs"})
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "e2e"})
_SPEC = re.compile(r"[._-]specs?\.\w+$")
_NAMELESS = frozenset({"index", "init", "main", "mod", "lib"})
_LOCK_FILES = frozenset(
    {
        "bun.lockb",
        "cargo.lock",
        "composer.lock",
        "gemfile.lock",
        "go.sum",
        "package-lock.json",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "yarn.lock",
    }
)


class Layer(StrEnum):
    """The architectural layer that a file belongs to, lowest first."""

    DATA = "data"
    BUSINESS = "business"
    PRESENTATION = "presentation"


_DATA = """
dao data database databases db entities entity migration migrations model models orm persistence queries query
record records repositories repository schema schemas sql storage store stores table tables
"""
_BUSINESS = """
business core domain domains engine handler handlers job jobs logic policies policy processor rule rules
service services usecase usecases validator validators worker workers workflow
"""
_PRESENTATION = """
api cli command commands component components controller controllers css endpoint endpoints form forms
frontend html jsx page pages presentation route router routers routes screen screens scss svelte template
templates tsx ui view views vue web widget widgets
"""
LAYER_WORDS = {
    Layer.DATA: frozenset(_DATA.split()),
    Layer.BUSINESS: frozenset(_BUSINESS.split()),
    Layer.PRESENTATION: frozenset(_PRESENTATION.split()),
}
_LAYER_OF = {
    spelling: layer
    for layer, members in LAYER_WORDS.items()
    for word in members
    for spelling in (word, word.capitalize(), word.upper())
}


def normal_path(path: str) -> str:
    """Returns the one spelling of a path: forward slashes, no idle steps, no line numbers."""
    if _PLAIN.fullmatch(path):
        return path
    text = _LINE_NUMBERS.sub("", path.strip().replace("\\", "/"))
    parts: list[str] = []
    for part in text.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return ("/" if text.startswith("/") else "") + "/".join(parts)


def folder(path: str) -> str:
    """Returns the directory of a path in its normal spelling, empty for the top of the repository."""
    return normal_path(path).rpartition("/")[0]


def words(text: str) -> list[str]:
    """Returns the words of a name in lower case: `UserTest`, `user_test` and `user-test` have two."""
    return [word.lower() for word in _WORD.findall(text)]


def stem_words(path: str) -> tuple[str, ...]:
    """Returns the words that say what a file is about: of `tests/test_user.py` only `user`.

    A file whose name says nothing, such as `index.ts`, is about its directory.
    """
    parent, _, name = normal_path(path).rpartition("/")
    base = name.rpartition(".")[0] or name
    found = [word for word in words(base) if word not in _TEST_WORDS]
    if parent and _NAMELESS.issuperset(found):
        found = [word for word in words(parent.rpartition("/")[2]) if word not in _TEST_WORDS]
    return tuple(found)


def is_test(path: str) -> bool:
    """Says whether a path names a test, by whole words: `latest.py`, `contest/` and `specs/a.md` do not."""
    *folders, name = normal_path(path).lower().split("/")
    by_name = not {"test", "tests"}.isdisjoint(words(name)) or _SPEC.search(name) is not None
    return by_name or not _TEST_FOLDERS.isdisjoint(folders)


def layer_of(path: str) -> Layer | None:
    """Returns the layer that the path speaks of, the word nearest to the end first."""
    parent, _, name = path.rpartition("/")
    return _named_layer(name) or _folder_layer(parent)


def _named_layer(text: str) -> Layer | None:
    for word in reversed(_WORD.findall(text)):
        if word in _LAYER_OF:
            return _LAYER_OF[word]
    return None


# Files share directories, and every file is asked for.
_folder_layer = lru_cache(maxsize=1024)(_named_layer)


def shared_kind(path: str) -> str | None:
    """Returns the kind of a file that work in parallel is known to fight over: a lock file, a migration."""
    *folders, name = normal_path(path).lower().split("/")
    if name in _LOCK_FILES:
        return name
    return "migrations" if "migrations" in folders else None


def is_plain(path: str) -> bool:
    """Says at a glance that a path is in its normal spelling and that nothing is wrong with it."""
    return _PLAIN.fullmatch(path) is not None


def is_malformed(path: str) -> bool:
    """Says whether a path names no file, or holds characters that no path should."""
    return _CONTROL.search(path) is not None or not normal_path(path)


def is_outside(path: str) -> bool:
    """Says whether a path leads out of the repository: absolute, of the home directory, or through `..`."""
    text = path.strip().replace("\\", "/")
    return _OUTSIDE.match(text) is not None or _OUTSIDE.match(normal_path(text)) is not None


def is_in_git(path: str) -> bool:
    """Says whether a path has a component that some file system takes for `.git`."""
    if "git" not in _IGNORED_BY_HFS.sub("", path).lower():
        return False
    parts = path.replace("\\", "/").split("/")
    return any(_GIT.fullmatch(_IGNORED_BY_HFS.sub("", part).strip()) for part in parts)
