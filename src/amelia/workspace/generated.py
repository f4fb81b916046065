"""Keeps files that tools generate out of what is kept of a worktree, where nobody told git to ignore them.

- Their names are lines in the store's own `info/exclude`, so that git leaves them out wherever it looks: in
  snapshots, in what a reviewer is shown, and in the repository that an agent sees. Like all ignored files
  they stay where they are.
- Names that may mean anything (`target`, `build`) become such a line when a directory of that name is found,
  if something beside or inside it shows what it is, and git tracks no file there.
- What the base tracks and what a task declares is never left out. A `.gitignore` has the last word.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import dropwhile
from pathlib import Path, PurePosixPath

from amelia.model.git import Treeish
from amelia.system.git import Repository
from amelia.system.git_commands import list_paths, unignored, untracked
from amelia.system.git_places import Source, Store
from amelia.system.regular import read_regular

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
_BEGIN, _END = "# Generated files, by Amelia:", "# End of generated files."
_ESCAPED = frozenset("\\[] ")


def exclude_generated(
    store: Store, base: Treeish | None, *, declared: Iterable[str] = (), found: Iterable[str] = ()
) -> None:
    """Lets git leave generated files out in every lane of a store, but for what is tracked or declared.

    What a base tracks is looked up once for a store; directories that were `found` are left out from now on.
    """
    info = store.git_dir / "info"
    info.mkdir(exist_ok=True)
    with (info / "exclude.guard").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other lanes, and a person who mends a unit
        known = _read(info / "exclude")
        before, begins, rest = known.partition(f"{_BEGIN}\n")
        section, _, after = rest.partition(f"{_END}\n")
        lines = section.splitlines() if begins else list(_first_lines(store, base))
        lines = list(dict.fromkeys([*lines, *(f"/{_escaped(path)}" for path in found)]))
        lines = list(dict.fromkeys([*lines, *_admitted(declared, out=lines)]))
        text = "\n".join([*before.splitlines(), _BEGIN, *lines, _END, ""]) + after
        if text != known:
            fresh = info / "exclude.new"
            fresh.write_text(text, encoding="utf-8", errors="surrogateescape")
            fresh.replace(info / "exclude")  # at once: git may be reading in another lane


def find_generated(where: Repository, *, declared: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns the untracked directories of a worktree whose surroundings show that a tool made them."""
    assert where.work_tree is not None
    top = where.work_tree
    wanted = {folder for path in map(PurePosixPath, declared) for folder in (path, *path.parents)}
    waiting = [path for path in untracked(where, "--directory") if path.endswith("/")]
    found: list[str] = []
    while waiting:
        path = PurePosixPath(waiting.pop())
        if not _is_directory(top / path):
            continue
        if path not in wanted and _is_made_by_a_tool(top, path):
            found.append(f"{path}/")
            continue
        folders = _folders(top / path)
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
    above = {folder for path in paths for folder in PurePosixPath(path).parents}
    tracked = sorted(str(folder) for folder in above if _is_excluded(folder.name))
    yield from (f"!/{_escaped(folder)}/" for folder in tracked)


def _admitted(declared: Iterable[str], *, out: Iterable[str]) -> Iterator[str]:
    """Yields the lines that let declared files in, each alone: what is beside it stays out.

    Those of directories come first, so that the lines of one file never take another one out again.
    """
    lines = set(out)

    def is_out(folder: PurePosixPath) -> bool:
        return _is_excluded(folder.name) or f"/{_escaped(str(folder))}/" in lines

    paths = [path for path in map(PurePosixPath, sorted(set(declared))) if _may_be_admitted(path)]
    chains = {path: _from_first(path, is_out) for path in paths}
    folders = {folder for chain in chains.values() for folder in chain}
    for folder in sorted(folders, key=lambda folder: (len(folder.parts), folder)):
        yield f"!/{_escaped(str(folder))}/"
        yield f"/{_escaped(str(folder))}/*"
    for path, chain in chains.items():
        if chain or is_out(path) or any(fnmatchcase(path.name, pattern) for pattern in _FILES):
            yield f"!/{_escaped(str(path))}"


def _may_be_admitted(path: PurePosixPath) -> bool:
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\n" not in str(path)


def _from_first(path: PurePosixPath, is_out: Callable[[PurePosixPath], bool]) -> list[PurePosixPath]:
    """Returns the directories above a path from the first that is left out, outer ones first."""
    above = [folder for folder in reversed(path.parents) if folder.name]
    return list(dropwhile(lambda folder: not is_out(folder), above))


def _is_excluded(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _DIRECTORIES)


def _is_directory(place: Path) -> bool:
    """Says whether this is a directory that can be looked at, and no link to one."""
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except OSError:  # for one, a path that is longer than the system allows
        return False


def _is_made_by_a_tool(top: Path, path: PurePosixPath) -> bool:
    place = top / path
    try:
        if any(next(place.parent.glob(sign), None) for sign in _BESIDE.get(path.name, ())):
            return True
        return any((place / sign).exists() for sign in _INSIDE) or _is_tagged(place / _TAG)
    except PermissionError:
        raise
    except OSError:
        return False  # what cannot be looked at is for git to speak of


def _folders(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except PermissionError:
        raise  # access is taken back, and this is asked again
    except OSError:
        return []


def _is_tagged(tag: Path) -> bool:
    """Says whether a directory is a cache by the convention that backup programs follow."""
    if tag.is_symlink() or not tag.is_file():
        return False
    return read_regular(tag, len(_SIGNATURE)) == _SIGNATURE


def _own_rules(source: Source) -> Iterator[Path]:
    """Yields the files with rules of the user's own, in which git looks besides those of the tree."""
    yield source.common_dir / "info" / "exclude"
    named = [entry.value for entry in source.config if entry.key == "core.excludesfile" and entry.value]
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    yield Path(named[-1] if named else f"{home}/git/ignore").expanduser()


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else ""


def _escaped(path: str) -> str:
    return "".join(f"\\{char}" if char in _ESCAPED else char for char in path)
