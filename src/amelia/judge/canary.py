"""Proves that the code of a tree is imported from that tree.

An interpreter may hold an installation of the same packages: of the caller's checkout, or a copy that a
setup command made earlier. Tests that import those prove the wrong code, and pass. So every package at the
top of the tree, and below `src/`, is looked up the way the runner would; found elsewhere, it is a problem.
A package that is not found at all is none: its tests fail by themselves.
"""

import keyword
import os
import sys
from datetime import timedelta
from pathlib import Path

import msgspec

from amelia.judge.errands import ask
from amelia.judge.runners import PYTHON_ENV, program
from amelia.model.walls import Wall

_PATIENCE = timedelta(seconds=120)
_NOT_OF_THE_TREE = {"test", "pytest", "_pytest"}
"""A package of Python that `stdlib_module_names` leaves out, and the runner, which is never the tree's."""

_MARK = "amelia-origins:"


def top_level_names(worktree: Path) -> tuple[str, ...]:
    """Returns the names under which the tree's own code can be imported."""
    places = [worktree]
    if not (worktree / "src" / "__init__.py").exists():
        places.append(worktree / "src")
    found = {
        path.stem for place in places if place.is_dir() for path in place.iterdir() if _is_importable(path)
    }
    return tuple(sorted(found - sys.stdlib_module_names - _NOT_OF_THE_TREE))


async def foreign_imports(
    python: str, worktree: Path, *, env: dict[str, str], as_pytest: bool, wall: Wall | None = None
) -> tuple[str, ...] | None:
    """Returns which packages would be imported from where else, by pytest or by Python alone.

    None is no answer: then the tests cannot be started either, and say so themselves.
    """
    names = top_level_names(worktree)
    if not names:
        return ()
    # Without its cache plugin, options of the repository that need it would be errors.
    options = ("-q", "--rootdir=.", "-o", f"cache_dir={os.devnull}/cache") if as_pytest else ()
    answer = await ask(
        (python, str(program("find_origins")), ",".join(names), *options),
        cwd=worktree,
        env={**env, **PYTHON_ENV},
        limit=_PATIENCE,
        wall=wall,
    )
    origins = _origins(answer.text)
    if origins is None:
        return None
    return tuple(
        f"{name} from {place}"
        for name, places in origins.items()
        for place in places
        if place is not None and not _is_inside(place, worktree)
    )


def _is_importable(path: Path) -> bool:
    if not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        return False
    return path.suffix == ".py" if path.is_file() else any(path.glob("*.py"))


def _origins(text: str) -> dict[str, list[str | None]] | None:
    for line in text.splitlines():
        if line.startswith(_MARK):
            try:
                return msgspec.json.decode(line.removeprefix(_MARK), type=dict[str, list[str | None]])
            except msgspec.DecodeError:
                return None  # something in the tree printed into the same line
    return None


def _is_inside(place: str, worktree: Path) -> bool:
    """Says whether code lies in the tree itself, and not in an environment that happens to lie there too."""
    path, root = Path(place).resolve(), worktree.resolve()
    return path.is_relative_to(root) and not {"site-packages", "dist-packages"} & {
        *path.relative_to(root).parts
    }
