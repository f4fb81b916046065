"""The caches of package managers and compilers: what a program behind the wall has of them.

- Everybody reads the user's caches; nobody but the user writes them. Where the kernel has layers, what a
  program writes to a cache that the repository uses goes to a directory of its own; where it has none, or
  the user has no such cache, a variable points at a directory of its own.
- An agent has its layer for the length of a run, and so has the setup of a lane. Tests see what the setup has
  put there, and what they write themselves is gone before the next check: what verification reads is never a
  cache that an agent could write.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from amelia.model.walls import Layer

_CACHE = "~cache"
_NODE = ("package.json",)
_PYTHON = ("pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", "Pipfile")
_JAVA = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
CACHES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "npm": ("npm_config_cache", ".npm", _NODE),
    "pnpm": ("npm_config_store_dir", ".local/share/pnpm/store", _NODE),
    "yarn": ("YARN_CACHE_FOLDER", f"{_CACHE}/yarn", _NODE),
    "berry": ("YARN_GLOBAL_FOLDER", ".yarn/berry", _NODE),
    "bun": ("BUN_INSTALL_CACHE_DIR", ".bun/install/cache", _NODE),
    "deno": ("DENO_DIR", f"{_CACHE}/deno", ("deno.json", "deno.jsonc")),
    "pip": ("PIP_CACHE_DIR", f"{_CACHE}/pip", _PYTHON),
    "uv": ("UV_CACHE_DIR", f"{_CACHE}/uv", _PYTHON),
    "poetry": ("POETRY_CACHE_DIR", f"{_CACHE}/pypoetry", _PYTHON),
    "pre-commit": ("PRE_COMMIT_HOME", f"{_CACHE}/pre-commit", (".pre-commit-config.yaml",)),
    "cargo": ("CARGO_HOME", ".cargo", ("Cargo.toml",)),
    "go": ("GOMODCACHE", "go/pkg/mod", ("go.mod",)),
    "go-build": ("GOCACHE", f"{_CACHE}/go-build", ("go.mod",)),
    "maven": ("MAVEN_ARGS", ".m2/repository", ("pom.xml",)),
    "gradle": ("GRADLE_USER_HOME", ".gradle", _JAVA),
    "composer": ("COMPOSER_CACHE_DIR", f"{_CACHE}/composer", ("composer.json",)),
    "nuget": ("NUGET_PACKAGES", ".nuget/packages", ("Directory.Build.props", "nuget.config")),
    "bundler": ("BUNDLE_USER_CACHE", ".bundle/cache", ("Gemfile",)),
    "ccache": ("CCACHE_DIR", f"{_CACHE}/ccache", ("CMakeLists.txt", "configure.ac", "meson.build")),
}
"""Each by its name: the variable that moves it, where it usually is below the home directory, and the files
by which a repository shows that it uses it."""
MANIFESTS = frozenset(name for _, _, names in CACHES.values() for name in names)
"""All of these files."""
_WORK = ".work"
_VALUES = {"MAVEN_ARGS": "-Dmaven.repo.local={}"}


@dataclass(frozen=True, slots=True)
class Cached:
    """The layers and the variables by which one program has caches; the variables point into a folder."""

    layers: tuple[Layer, ...]
    variables: Mapping[str, str]
    folder: Path


def give_caches(
    folder: Path, *, written: Iterable[Path], manifests: frozenset[str], over: Path | None = None
) -> Cached:
    """Returns caches whose writes go below a folder; those that the user lets be `written` stay the user's.

    The user's caches that go with some `manifests` get a layer; `over` is the folder of another program,
    whose writes are seen, too.
    """
    own = tuple(written)
    layers: list[Layer] = []
    variables: dict[str, str] = {}
    for name, (variable, place, names) in CACHES.items():
        usual = usual_place(place)
        if any(usual.is_relative_to(path) for path in own):
            continue
        if not manifests.isdisjoint(names) and usual.is_dir():
            layers.append(_layer(name, usual, folder=folder, over=over))
        else:
            variables[variable] = _VALUES.get(variable, "{}").format(folder / "own" / name)
    if variables:
        (folder / "own").mkdir(parents=True, exist_ok=True)
    return Cached(tuple(layers), variables, folder / "own")


def written_below(folder: Path) -> Iterator[Path]:
    """Yields what lies below a folder of caches because a program wrote to it."""
    places = [folder / "own"]
    if (folder / "layers").is_dir():
        places += (folder / "layers").iterdir()
    for place in places:
        if place.suffix != _WORK and place.is_dir() and any(place.iterdir()):
            yield place


def usual_place(place: str) -> Path:
    """Returns where a cache of the user is."""
    root, _, rest = place.partition("/")
    if root == _CACHE:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", rest)
    return Path.home() / place


def _layer(name: str, place: Path, *, folder: Path, over: Path | None) -> Layer:
    upper, work = _upper(folder, name), folder / "layers" / f"{name}{_WORK}"
    for each in (upper, work):
        if not each.is_dir():
            each.mkdir(parents=True)
    _take_mark(work)
    below = _upper(over, name) if over is not None else None
    return Layer(
        place=str(place),
        upper=str(upper),
        work=str(work),
        over=(str(below),) if below is not None and below.is_dir() else (),
    )


def _take_mark(work: Path) -> None:
    """Takes the mark away that a layer which is not written to disk at its end leaves for the next one."""
    mark = work / "work" / "incompat" / "volatile"
    with suppress(OSError):
        for folder in (mark.parent.parent, mark.parent, mark):
            folder.chmod(0o700)  # an ordinary user could not look into them
        (mark / "dirty").unlink()
        mark.rmdir()
        mark.parent.rmdir()


def _upper(folder: Path, name: str) -> Path:
    return folder / "layers" / name
