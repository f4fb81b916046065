"""The modules that Python runs at its start, found outside of the tree in the current directory.

An environment may have the tree on its path, and then a `sitecustomize.py` of the tree would run before the
runner. The directory of this file comes first on that path, with modules of these names.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

TREE = os.path.realpath(os.getcwd())  # noqa: PTH109 - strings are what is on the path
INSTALLED = ("site-packages", "dist-packages")


def is_in_tree(place: str) -> bool:
    """Says whether a place belongs to the tree itself, and not to an environment that lies in it."""
    place = os.path.realpath(place)
    if place != TREE and not place.startswith(TREE + os.sep):
        return False
    return not any(f"{os.sep}{name}{os.sep}" in f"{place[len(TREE) :]}{os.sep}" for name in INSTALLED)


def run_real(name: str) -> None:
    """Runs the module of this name that lies outside of the tree; without one there is none."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    spec = PathFinder.find_spec(
        name, [place for place in sys.path if place != here and not is_in_tree(place)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no {name}", name=name)
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
