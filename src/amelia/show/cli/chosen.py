"""What a command line says of settings: options that commands share, and the settings that hold with them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict, TypeVar

import click

from amelia.config import Loaded, Options, load
from amelia.model.delivery import Finish
from amelia.model.settings import Settings
from amelia.show.cli.amounts import MONEY, TOKENS
from amelia.show.text import printable

_Command = TypeVar("_Command", bound=Callable[..., object])


class Chosen(TypedDict, total=False):
    """The options of `run_options`, by the names that click gives them; none is one that was not given."""

    profile: str | None
    driver: str | None
    model: str | None
    script: Path | None
    parallel: int | None
    max_cost: float | None
    max_tokens: int | None
    finish: Finish | None
    without_record: bool


def profile_option(command: _Command) -> _Command:
    """Lets a command take the name of a profile."""
    return click.option("--profile", metavar="NAME", help="Which profile of the settings counts.")(command)


def tracker_option(command: _Command) -> _Command:
    """Lets a command take the id that the work has in a tracker."""
    about = (
        "The id of the work in a tracker, for the name of its record; the plan's own unless told otherwise."
    )
    return click.option("--tracker", metavar="ID", help=about)(command)


def run_options(command: _Command) -> _Command:
    """Lets a command say who does the work of a run, and what that may take, instead of the settings."""
    options = (
        profile_option,
        click.option(
            "--driver",
            metavar="NAME",
            help="Which agent does the work: claude, codex, api, acp, command, script, or one by its name, "
            "like opencode; auto is the first one ready.",
        ),
        click.option("--model", metavar="NAME", help="The agent's model; provider:model for the api driver."),
        click.option(
            "--script",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="The moves of the script driver, a TOML file.",
        ),
        click.option(
            "--parallel", type=click.IntRange(1, 64), help="How many units may run at the same time."
        ),
        click.option("--max-cost", type=MONEY, metavar="USD", help="What the run may cost."),
        click.option(
            "--max-tokens",
            type=TOKENS,
            metavar="N",
            help="How many tokens of unknown cost the run may use.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def settings_here(chosen: Chosen) -> Settings:
    """Returns the settings that hold in this directory with what the command line says over them."""
    return load_here(chosen).settings


def load_here(chosen: Chosen) -> Loaded:
    """Returns the same, with where everything comes from; prints the remarks on them."""
    driver, script = chosen.get("driver"), chosen.get("script")
    if script is not None and driver not in {None, "script"}:
        raise click.UsageError(f"--script is for the script driver, not for {driver}")
    said = {
        "agents.driver": ("--driver", driver),
        "agents.model": ("--model", chosen.get("model")),
        "agents.script": ("--script", script and str(script)),
        "parallel_workers": ("--parallel", chosen.get("parallel")),
        "budget.run_cost": ("--max-cost", chosen.get("max_cost")),
        "budget.run_tokens": ("--max-tokens", chosen.get("max_tokens")),
        "commit_record": ("--without-record", False if chosen.get("without_record") else None),
        "finish": ("--pr" if chosen.get("finish") is Finish.PR else "--merge", chosen.get("finish")),
    }
    values = {key: (option, value) for key, (option, value) in said.items() if value is not None}
    loaded = load(Path.cwd(), Options(profile=chosen.get("profile"), values=values))
    for remark in loaded.remarks:
        click.echo(f"note: {printable(remark.text)}", err=True)
    return loaded
