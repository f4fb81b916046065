"""Keeps files that tools generate out of what is kept of a worktree, where nobody told git to ignore them.

- Names that mean nothing else are lines in the store's own `info/exclude`, so that git leaves such files out
  wherever it looks: in snapshots, in what a reviewer is shown, and in the repository that an agent sees.
- Names that may mean anything (`target`, `build`) count where something beside or inside them shows what they
  are, and never where git tracks a file there.
- What the base tracks and what a task declares is never left out. A `.gitignore` has the last word.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from threading import Lock

from amelia.model.git import Treeish
from amelia.system.git import Repository
from amelia.system.git_commands import list_paths, unignored, untracked
from amelia.system.git_places import Source, Store

_DIRECTORIES = (
    *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".pytype", ".hypothesis", ".tox", ".nox"),
    *(
        "*.egg-info",
        ".eggs",
        ".venv",
        ".ipynb_checkpoints",
        "htmlcov",
        "node_modules",
        ".nyc_output",
        ".next",
    ),
    *(".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".angular", ".sass-cache", ".gradle", ".dart_tool"),
    *(".terraform", ".stack-work", "dist-newstyle", ".zig-cache", "zig-cache", ".cache"),
)
_FILES = (
    *("*.pyc", "*.pyo", "*.class", "*.o", ".coverage", ".coverage.*", "coverage.xml", "*.gcda", "*.gcno"),
    *("*.profraw", ".eslintcache", "*.tsbuildinfo", "npm-debug.log*", "yarn-error.log", ".DS_Store"),
    *("Thumbs.db", "desktop.ini", "*.swp", "*.swo", "*.swn", "*~", ".#*", "*.orig", "*.rej"),
)
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt", "project.clj"),
    "build": ("build.gradle", "build.gradle.kts"),
    "bin": ("*.csproj", "*.fsproj", "*.vbproj"),
    "obj": ("*.csproj", "*.fsproj", "*.vbproj"),
    "_build": ("mix.exs", "dune-project"),
    "deps": ("mix.exs",),
    ".build": ("Package.swift",),
    "zig-out": ("build.zig",),
}
_INSIDE = ("pyvenv.cfg", "CMakeCache.txt", "meson-private")
_TAG, _SIGNATURE = "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55"
_AT_THE_TOP = frozenset({"target"})  # Rust, Java, Scala: nothing else is so common there
_BEGIN, _END = "# Generated files, by Amelia:", "# End of generated files."
_ESCAPED = frozenset("\\[] ")
_guard = Lock()


def exclude_generated(store: Store, base: Treeish | None, *, declared: Iterable[str] = ()) -> None:
    """Lets git leave generated files out in every lane of a store, but for what is tracked or declared.

    What a base tracks is looked up once for a store.
    """
    place = store.git_dir / "info" / "exclude"
    with _guard:
        known = place.read_text(encoding="utf-8", errors="surrogateescape") if place.is_file() else ""
        before, begins, rest = known.partition(f"{_BEGIN}\n")
        section, _, after = rest.partition(f"{_END}\n")
        lines = section.splitlines() if begins else list(_first_lines(store, base))
        lines += [line for line in _admitted(declared) if line not in set(lines)]
        text = "\n".join([*before.splitlines(), _BEGIN, *lines, _END, ""]) + after
        if text != known:
            place.parent.mkdir(exist_ok=True)
            fresh = place.with_name("exclude.new")
            fresh.write_text(text, encoding="utf-8", errors="surrogateescape")
            fresh.replace(place)  # at once: git may be reading in another lane


def find_generated(where: Repository, *, declared: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns the untracked directories of a worktree whose surroundings show that a tool made them."""
    assert where.work_tree is not None
    top, wanted = where.work_tree, [PurePosixPath(path) for path in declared]
    waiting = [path for path in untracked(where, "--directory") if path.endswith("/")]
    found: list[str] = []
    while waiting:
        path = PurePosixPath(waiting.pop())
        if (top / path).is_symlink() or not (top / path).is_dir():
            continue
        if _is_made_by_a_tool(top, path):
            is_declared = any(one == path or path in one.parents for one in wanted)
            if not is_declared:
                found.append(f"{path}/")
            continue
        with os.scandir(top / path) as entries:
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        waiting.extend(f"{path / name}" for name in folders if name != ".git" and not _is_excluded(name))
    return tuple(sorted(found))


def left_out(where: Repository, source: Source, *, but: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns what is still untracked once everything was staged, and the user's own rules do not ignore.

    Repositories inside, which are left out for another reason, are named by `but`.
    """
    assert where.work_tree is not None
    rules = [where.work_tree / rule for rule in _own_rules(source)]
    found = unignored(where, excludes=[rule for rule in rules if rule.is_file()])
    others = {f"{path}/" for path in but}
    return tuple(path for path in found if path not in others)


def _first_lines(store: Store, base: Treeish | None) -> Iterator[str]:
    yield from (f"{name}/" for name in _DIRECTORIES)
    yield from _FILES
    paths = list_paths(store.repository, base) if base is not None else ()
    tracked = {folder for path in paths for folder in _excluded_folders(PurePosixPath(path))}
    yield from (f"!/{_escaped(folder)}/" for folder in sorted(tracked))


def _excluded_folders(path: PurePosixPath) -> Iterator[str]:
    return (str(folder) for folder in path.parents if _is_excluded(folder.name))


def _admitted(declared: Iterable[str]) -> Iterator[str]:
    """Yields the lines that let declared files in, each alone: what is beside it stays out.

    Those of directories come first, so that the lines of one file never take another one out again.
    """
    paths = [path for path in map(PurePosixPath, sorted(set(declared))) if _may_be_admitted(path)]
    chains = [path for path in paths if any(_excluded_folders(path))]
    folders = {folder for path in chains for folder in _from_excluded(path)}
    for folder in sorted(folders, key=lambda folder: (len(folder.parts), folder)):
        yield f"!/{_escaped(str(folder))}/"
        yield f"/{_escaped(str(folder))}/*"
    for path in paths:
        if path in chains or _is_excluded(path.name) or _is_excluded_file(path.name):
            yield f"!/{_escaped(str(path))}"


def _may_be_admitted(path: PurePosixPath) -> bool:
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\n" not in str(path)


def _from_excluded(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yields the directories above a path from the first that is excluded."""
    above = [folder for folder in reversed(path.parents) if folder.name]
    first = next(n for n, folder in enumerate(above) if _is_excluded(folder.name))
    return iter(above[first:])


def _is_excluded(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _DIRECTORIES)


def _is_excluded_file(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _FILES)


def _is_made_by_a_tool(top: Path, path: PurePosixPath) -> bool:
    place = top / path
    if path.name in _AT_THE_TOP and len(path.parts) == 1:
        return True
    if any(next(place.parent.glob(sign), None) for sign in _BESIDE.get(path.name, ())):
        return True
    return any((place / sign).exists() for sign in _INSIDE) or _is_tagged(place / _TAG)


def _is_tagged(tag: Path) -> bool:
    """Says whether a directory is a cache by the convention that backup programs follow."""
    if tag.is_symlink() or not tag.is_file():
        return False
    with tag.open("rb") as file:
        return file.read(len(_SIGNATURE)) == _SIGNATURE


def _own_rules(source: Source) -> Iterator[Path]:
    """Yields the files with rules of the user's own, in which git looks besides those of the tree."""
    yield source.common_dir / "info" / "exclude"
    named = [entry.value for entry in source.config if entry.key == "core.excludesfile" and entry.value]
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    yield Path(named[-1] if named else f"{home}/git/ignore").expanduser()


def _escaped(path: str) -> str:
    return "".join(f"\\{char}" if char in _ESCAPED else char for char in path)
