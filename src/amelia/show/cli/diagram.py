"""The graph of units as a diagram, for mermaid and for Graphviz."""

from amelia.plan.compile import CompiledPlan
from amelia.show.text import printable


def draw_mermaid(compiled: CompiledPlan) -> str:
    """Draws the units as a mermaid flow chart."""
    names = {unit.id: f"u{number}" for number, unit in enumerate(compiled.units, start=1)}
    lines = ["flowchart LR"]
    lines += [f'  {names[unit.id]}["{_mermaid(unit.id)}: {_mermaid(unit.title)}"]' for unit in compiled.units]
    lines += [f"  {names[need]} --> {names[unit.id]}" for unit in compiled.units for need in unit.depends_on]
    return "\n".join(lines) + "\n"


def draw_dot(compiled: CompiledPlan) -> str:
    """Draws the units as a Graphviz digraph."""
    lines = ["digraph plan {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [
        f'  "{_dot(unit.id)}" [label="{_dot(unit.id)}: {_dot(unit.title)}"];' for unit in compiled.units
    ]
    lines += [
        f'  "{_dot(need)}" -> "{_dot(unit.id)}";' for unit in compiled.units for need in unit.depends_on
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _mermaid(text: str) -> str:
    # mermaid has no escape but entities; these are the characters that end a label or start markup
    return "".join(f"#{ord(char)};" if char in '"#;<>[]{}|`' else char for char in printable(text))


def _dot(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
