"""The rules of the house that no linter knows."""

import ast
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from amelia.show.cli import group

SOURCE = Path(__file__).parents[2] / "src" / "amelia"
MODULES = sorted(SOURCE.rglob("*.py"))
LONGEST_MODULE = 400
LONGEST_FUNCTION = 40
REMOVER = SOURCE / "workspace" / "removal.py"
ACTS_AS_AN_AGENT = SOURCE / "drive" / "script" / "player.py"
REMOVALS = {"rmtree", "removedirs", "rm", "-rf", "-fr"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "handler", "service", "misc"}


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_and_functions_fit_a_head_and_a_screen(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE
    long = [
        node.name for node in functions(path) if (node.end_lineno or 0) - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert not long


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not {path.stem for path in MODULES} & VAGUE


def test_every_module_is_imported_by_another() -> None:
    imported: set[str] = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    names = {".".join(("amelia", *path.relative_to(SOURCE).with_suffix("").parts)) for path in MODULES}
    # The entry point, packages, the commands, which are imported by name when asked for, fakes for tests, and
    # programs that are started by their path.
    named = {f"amelia.show.cli.{command}" for command in group.list_commands(click.Context(group))}
    orphans = {name for name in names - imported - named if not name.endswith(("__init__", "__main__"))}
    assert not {
        name for name in orphans if not name.startswith(("amelia.testing.", "amelia.judge.programs."))
    }


def words(path: Path) -> Iterator[str]:
    """Yields the names that a module uses, and its texts of one word."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
                yield name
            case ast.Constant(value=str(text)):
                yield text
            case _:
                pass


def test_directories_are_removed_in_one_place_which_looks_at_their_marks() -> None:
    found = {path: REMOVALS & set(words(path)) for path in MODULES}
    # A script plays an agent, which removes what it likes in its worktree.
    assert found.pop(REMOVER) == found.pop(ACTS_AS_AN_AGENT) == {"rmtree"}
    assert not {path for path, removals in found.items() if removals}


def test_git_cleans_only_where_real_directories_lead() -> None:
    importing = {
        path
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "amelia.system.git_commands"
        if "clean" in {alias.name for alias in node.names}
    }
    assert importing == {SOURCE / "workspace" / "fill.py"}


def ways_around(path: Path) -> Iterator[str]:
    """Yields what a module writes with, past the streams that are safe."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="print")):
                yield "print"
            case ast.Attribute(attr="style" | "secho" | "echo_via_pager", value=ast.Name(id="click")):
                yield "click"
            case ast.Attribute(attr="buffer", value=ast.Attribute(attr="stdin")):
                pass
            case ast.Attribute(attr="__stdout__" | "__stderr__" | "buffer"):
                yield node.attr
            case ast.Constant(value="/dev/tty"):
                yield "/dev/tty"
            case _:
                pass


def test_text_reaches_a_terminal_through_safe_streams_only() -> None:
    # Clients and players are programs of their own, whose output Amelia reads.
    programs = {SOURCE / "drive" / name for name in ("api/agent.py", "acp/client.py", "script/player.py")}
    found = {path for path in MODULES if any(ways_around(path))}
    assert found - programs == {SOURCE / "show" / "output.py"}
