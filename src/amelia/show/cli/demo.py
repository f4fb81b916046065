"""`amelia demo`: a whole run in a temporary place, with recorded moves instead of a model."""

import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path

import click

from amelia.app.plans import compile_with
from amelia.app.runs import NewRun, begin_run
from amelia.model.settings import RunSettings, Settings
from amelia.show.cli.driving import drive
from amelia.workspace.sample import make_sample

_WORKERS = 2


@click.command("demo")
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
def command(*, as_json: bool) -> None:
    """Run a small plan on a small repository, in a temporary place: no key, no network, nothing of yours.

    The moves of the agent are recorded. Everything else is real: git, worktrees, tests, review, landing.
    """
    place = Path(tempfile.mkdtemp(prefix="amelia-demo-"))
    ours = files("amelia.show.demo")
    make_sample(place / "textkit", tomllib.loads(ours.joinpath("repository.toml").read_text())["files"])
    for name in ("textkit.md", "moves.toml"):
        (place / name).write_bytes(ours.joinpath(name).read_bytes())
    click.echo(
        f"A plan of five phases for the repository {place / 'textkit'}\n"
        "The agent's moves are recorded (no key, no network); git, tests, review and landing are real.\n",
        err=True,
    )
    data = (place / "textkit.md").read_bytes()
    new = NewRun(
        compiled=compile_with(data, Settings().plan),
        plan_path=place / "textkit.md",
        data=data,
        settings=_settings(place / "moves.toml"),
        repository=place / "textkit",
    )
    directory = begin_run(new, home=place / "state")
    code = drive(directory, as_json=as_json)
    click.echo(
        "\nWhere to look:\n"
        f"  cd {place / 'textkit'}\n"
        f"  git log --stat amelia/{directory.run}           what landed, a commit per phase\n"
        f"  AMELIA_HOME={place / 'state'} amelia log {directory.run} phase-4\n"
        "                                            how a claim of success was sent back\n"
        f"  {place / 'textkit.md'}, {place / 'moves.toml'}\n"
        "                                            the plan, and what the agent was scripted to do",
        err=True,
    )
    raise SystemExit(code)


def _settings(moves: Path) -> RunSettings:
    return RunSettings().with_agents(driver="script", script=str(moves)).with_workers(_WORKERS)
