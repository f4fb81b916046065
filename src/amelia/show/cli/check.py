"""`amelia check PLAN`: what a plan is made of, and what is wrong with it, before anything is spent."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

import click

from amelia.app.plans import compile_with
from amelia.model.plan import Mode
from amelia.plan.compile import CompiledPlan
from amelia.plan.source import LARGEST
from amelia.show.cli.chosen import profile_option, settings_here
from amelia.show.cli.diagram import draw_dot, draw_mermaid
from amelia.show.cli.tree import draw_errors, draw_plan
from amelia.show.json import plan_json
from amelia.show.output import hand_on
from amelia.show.text import printable
from amelia.system.regular import open_regular

_DRAWINGS = {"mermaid": draw_mermaid, "dot": draw_dot}


class PlanFile(click.File):
    """A plan that is a regular file, or comes by standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Opens the plan, which keeps nobody waiting."""
        if value == "-" or not isinstance(value, str):
            return super().convert(value, param, ctx)
        try:
            return open_regular(Path(value))
        except OSError as problem:
            self.fail(f"{printable(value)!r}: {problem.strerror}", param, ctx)


@click.command("check")
@click.argument("plan", type=PlanFile("rb"))
@click.option(
    "--mode",
    type=click.Choice(["auto", *(mode.value for mode in Mode)]),
    default="auto",
    show_default=True,
    help="How the plan is cut into units of work.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--section", metavar="ID", help="Print the exact text of one task.")
@click.option("--graph", type=click.Choice(list(_DRAWINGS)), help="Print the graph of units as a diagram.")
@profile_option
def command(
    *,
    plan: BinaryIO,
    mode: str,
    as_json: bool,
    section: str | None,
    graph: str | None,
    profile: str | None,
) -> None:
    """Read PLAN (a file, or - for standard input), check it, and show the graph of tasks it is.

    Understands task headings, check lists (spec-kit, Kiro, OpenSpec, BMAD), bold tasks, tables, task-master's
    tasks.json, prd.json, GSD and Cursor plans, and Amelia's own format.

    Exits 0 when the plan can run, 5 when it cannot, 3 when a setting is wrong, 2 on wrong usage.
    """
    if sum([as_json, section is not None, graph is not None]) > 1:
        raise click.UsageError("--json, --section and --graph exclude each other")
    name = "standard input" if plan.name in {"-", "<stdin>"} else printable(plan.name)
    settings = settings_here({"profile": profile})
    data = plan.read(LARGEST + 1)
    asked = None if mode == "auto" else Mode(mode)
    compiled = compile_with(data, settings.plan, mode=asked, near=Path.cwd())
    if section is not None and compiled.plan.tasks:
        _print_section(compiled, section)
    elif graph is not None:
        click.echo(_DRAWINGS[graph](compiled), nl=False)
        draw_errors(compiled, name=name)
    elif as_json:
        click.echo(plan_json(compiled, stem="" if plan.name in {"-", "<stdin>"} else Path(plan.name).stem))
    else:
        draw_plan(compiled, name=name)
    raise SystemExit(0 if compiled.can_run else 5)


def _print_section(compiled: CompiledPlan, wanted: str) -> None:
    tasks = compiled.plan.tasks
    exact = [task for task in tasks if task.id == wanted]
    folded = [task for task in tasks if task.id.casefold() == wanted.casefold()]
    task = next(iter(exact or folded), None)
    if task is None:
        near = get_close_matches(wanted, [found.id for found in tasks], n=1, cutoff=0.5)
        listed = ", ".join(found.id for found in tasks[:8])
        known = f"did you mean {near[0]}?" if near else f"the plan has {len(tasks)} tasks: {listed}"
        raise click.BadParameter(f"no task {wanted!r}: {known}", param_hint="--section")
    hand_on(task.section.encode(errors="replace"))
    raise SystemExit(0)
