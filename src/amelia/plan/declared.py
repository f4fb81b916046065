r"""Declared paths: how authors write them, and what each of them demands.

- `spelled_out` says what is certain: `tests/test_a.py::test_x` is a file, `src/{m,n}.py` and
  `src/m.py, src/n.py` are two, `src\app.py`, `src/app.py:10-20` and `src/app.py (new)` are one.
- `asked_for` says what a path demands: a file, a pattern that at least one file has to match
  (`migrations/XXXX_add.py`, `<name>.md`, `src/*.py`), or nothing, where nobody can tell which file is meant.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from amelia.model.plan import Task
from amelia.plan.paths import normal_path

_LONGEST = 500  # no path is longer, and the expressions below need not be linear
_MOST = 64  # files that one path with braces may name
_COMPOUND = re.compile(r"[{:#\\\s]")
_SEVERAL = re.compile(r"\s*[,;]\s+|\s+(?:[+&/]|and)\s+")
# a part of a file, its lines, or a remark, behind its name
_REMARKED = re.compile(
    r"(?P<file>[^\s{}]+\.\w{1,12})"
    r"(?:[:#][A-Za-z_][\w.-]*(?:\(\))?|\s+\([^()]*\)|\s+(?:L|lines?\s+)\d[\d\sL,–-]*)?"
)
_UNUSUAL = re.compile(r"[^\w./@+-]|X{2}|N{3}|YYYY|TIMESTAMP|\.{2}|[-_][NX](?![A-Za-z0-9])|^@?/")
_LINES = re.compile(r"(?::L?\d{1,9}(?:[-–:,]\s?L?\d{1,9}){0,20}|#L\d{1,9}(?:-L?\d{1,9})?)$")
_NODE = re.compile(r"(?P<file>[^:]*\.\w{1,12})::")
_ESCAPED = re.compile(r"\\([_*<>\[\]{}()#])")
_CHOICE = re.compile(r"\{(?P<options>[^{},]*(?:,[^{},]*)+)\}|\{(?P<low>\d{1,4})\.\.(?P<high>\d{1,4})\}")
_PLACEHOLDER = re.compile(
    r"<[^<>/]*>|\$?\{+[^{}/]*\}+|\$\([^()/]*\)"
    r"|\[(?:timestamp|date|datetime|time|hash|version|number|n+|x+)\]"
    r"|(?<![A-Za-z0-9])(?:\d*X{2,}|\d*N{3,}|#{2,}|YYYY[YMDHS_.T-]*|TIMESTAMP)(?![A-Za-z0-9])"
    r"|(?<=[-_])[NX](?![A-Za-z0-9])"
    r"|(?<!\[)(?:\.{3}|…)",
)
_WILD = re.compile(r"[*?]")
_UNCLEAR = re.compile(r"[\"|;→]|->|^@/|\s(?:or|and|oder|und|ou|et|o|y|или|и)\s|\)$", re.IGNORECASE)
_EXTENSION = re.compile(r"\.(?P<extension>\w+)$")
_SHORT = re.compile(r"[a-z0-9]{1,6}")
_NAMES = frozenset(
    """
    makefile dockerfile procfile license justfile gemfile rakefile jenkinsfile vagrantfile brewfile podfile
    changelog readme notice authors codeowners contributing copying version build workspace
    """.split()
)
_EXTENSIONS = frozenset(
    """
    adoc asm astro avif bash bat bazel bib bicep blade bmp bzl c cc cfg cfm cjs clj cljs cmake cmd conf
    cpp cr cs csh csproj css csv cts cu cue cxx d dart db def desktop diff dockerfile drawio ejs el elm
    env erb erl ex exs f f90 fish frag fs fsproj fsx gd gif gitignore glsl go gql gradle graphql groovy
    h haml hbs hcl heex hh hpp hrl hs htm html http hxx ico iml inc ini ino ipynb j2 jade java jinja
    jinja2 jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lhs liquid lisp lock lua m m4 map
    markdown md mdc mdx meta mjs mk ml mli mm mod mts mustache nim nix njk odt org otf pas patch pdf php
    pl plist pm png po pot pp prisma properties proto ps1 psd1 psm1 pug py pyi pyx qml r rake rb re rego
    resx rkt rmd rs rst rtf s sass scala scm scss service sh sln sol sql sqlite sum sv svelte svg swift
    tcl template tex tf tfvars thrift tmpl toml tpl ts tsv tsx ttf twig txt v vb vert vhd vim vue wasm
    wat webmanifest webp woff woff2 xcconfig xhtml xlsx xml xsd xsl yaml yml zig zsh
    """.split()
)


class Asked(StrEnum):
    """What becomes of a declared path when a unit is verified."""

    FILE = "file"
    PATTERN = "pattern"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Declared:
    """A path as an author wrote it, and the pattern it stands for; `is_loose` if almost any file matches."""

    path: str
    asked: Asked
    pattern: str
    is_loose: bool = False


def spelled_out(path: str) -> list[str]:
    """Returns the files that a path names, without line numbers, names of tests, and braces."""
    text = path.strip()
    if _COMPOUND.search(text) is None or len(text) > _LONGEST:
        return [text]
    pieces = _SEVERAL.split(text)
    if len(pieces) > 1 and all(map(_named_file, pieces)):
        return [path for piece in pieces for path in spelled_out(piece)]
    if node := _NODE.match(text):
        text = node["file"]
    text = _named_file(text) or text
    return list(dict.fromkeys(_expanded(_with_slashes(_LINES.sub("", text)))))


def _named_file(text: str) -> str:
    """Returns the file that a text certainly names, without a remark behind it; else nothing."""
    found = _REMARKED.fullmatch(_LINES.sub("", text))
    is_file = found is not None and found["file"].rpartition(".")[2].casefold() in _EXTENSIONS
    return found["file"] if found is not None and is_file else ""


def required(task: Task) -> Iterator[Declared]:
    """Yields what the declared files of a task demand: those to be created, and those that hold its tests."""
    paths = (one for path in (*task.files_to_create, *task.test_files) for one in spelled_out(path))
    for path in dict.fromkeys(paths):
        yield asked_for(path)


def is_plain_file(path: str) -> bool:
    """Says at a glance that a path demands exactly the file that it names."""
    return path.rpartition(".")[2] in _EXTENSIONS and _UNUSUAL.search(path) is None


def asked_for(path: str) -> Declared:
    """Returns what a path demands that is spelled out."""
    if is_plain_file(path):
        return Declared(path, Asked.FILE, path)
    pattern = normal_path(_as_pattern(path[:_LONGEST]))
    is_name = path.endswith("/") or _is_file(pattern)
    if len(path) > _LONGEST or not is_name or _UNCLEAR.search(path):
        return Declared(path, Asked.NOTHING, pattern)
    if _WILD.search(pattern) is None:
        return Declared(path, Asked.FILE, path)
    return Declared(path, Asked.PATTERN, pattern, is_loose=_is_loose(pattern))


def as_pattern(path: str) -> str:
    """Returns the pattern that a declared path stands for, or the path itself."""
    found = asked_for(path)
    return found.pattern if found.asked is Asked.PATTERN else path


def _as_pattern(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    return "/".join("**" if part in {"...", "…"} else _PLACEHOLDER.sub("*", part) for part in parts)


def _is_file(path: str) -> bool:
    """Tells whether a path can be the name of a file: `app.models.User` and `os.path` are none."""
    folder, slash, name = path.rpartition("/")
    if not name or name.startswith("."):
        return bool(folder or name)
    found = _EXTENSION.search(name)
    if found is None:
        return bool(slash) or name.casefold() in _NAMES or _WILD.search(name) is not None
    extension = found["extension"]
    return extension.casefold() in _EXTENSIONS or (bool(slash) and _SHORT.fullmatch(extension) is not None)


def _is_loose(pattern: str) -> bool:
    """Tells whether nothing in a pattern but the ending says which files are meant."""
    *folders, name = pattern.split("/")
    stem = _EXTENSION.sub("", name)
    return not any(char.isalnum() for part in (*folders, stem) for char in part)


def _with_slashes(text: str) -> str:
    """Turns the backslashes of Windows into slashes; before a sign of Markdown they are no separators."""
    if "\\" not in text:
        return text
    plain = _ESCAPED.sub(r"\1", text)
    return plain if "\\" not in plain else text.replace("\\", "/")


def _expanded(text: str) -> list[str]:
    """Writes out every choice between braces; too many of them stay as they are."""
    done: list[str] = []
    todo = [text]
    while todo:
        current = todo.pop(0)
        choice = _CHOICE.search(current)
        if choice is None:
            done.append(current)
            continue
        options = _options(choice)
        if len(done) + len(todo) + len(options) > _MOST:
            return [text]
        todo[:0] = [current[: choice.start()] + option + current[choice.end() :] for option in options]
    return done


def _options(choice: re.Match[str]) -> list[str]:
    if choice["options"] is not None:
        return [option.strip() for option in choice["options"].split(",")]
    low, high = int(choice["low"]), int(choice["high"])
    return [str(number).zfill(len(choice["low"])) for number in range(low, high + 1)][: _MOST + 1]
