"""`amelia init`: the first settings of a project, with what the repository tells of itself."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import click

from amelia.app.detection import Detected, detect
from amelia.config.files import new_place, write_new
from amelia.config.template import file_text, short_text
from amelia.show.text import fit, printable

_WORD = len("languages") + 1
_NEXT = """
Look at it, and commit it. Then:
  amelia doctor         is everything there that a run needs?
  amelia config show    what holds here, and with --origin why
  amelia run "GOAL"     have a plan written, approve it, and find a branch at the end
  amelia run PLAN       carry out a plan that you have"""


@click.command("init")
@click.option(
    "--all", "is_all", is_flag=True, help="Write every key, those that nothing is known of as comments."
)
@click.option("--force", is_flag=True, help="Write the file anew, though it is there.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def command(*, is_all: bool, force: bool, yes: bool, as_json: bool) -> None:
    """Write a short amelia.toml for this repository: how it is tested, and where the rest is described.

    With --all it holds every key with its default. Nothing is overwritten without --force. No model is asked.
    """
    file = new_place(Path.cwd(), may_replace=force)
    found = anyio.run(detect, file.parent)
    if not as_json:
        for name, text in _lines(found):
            click.echo(f"{fit(name, _WORD)} {printable(text)}")
        if not yes and sys.stdin.isatty() and sys.stdout.isatty():
            click.confirm(f"\nWrite {printable(str(file))}?", default=True, abort=True)
    write_new(file, _text(found, is_all=is_all), may_replace=force)
    click.echo(_json(file, found) if as_json else f"\nwrote {printable(str(file))}\n{_NEXT}")


def _text(found: Detected, *, is_all: bool) -> str:
    if is_all:
        return file_text(found.settings, _remarks(found))
    driver = {"agents.driver": found.ready[0]} if found.ready else {}
    return short_text(found.settings, {**found.examples, **driver}, _remarks(found))


def _lines(found: Detected) -> Iterator[tuple[str, str]]:
    yield "languages", ", ".join(found.languages) or "none that is known"
    yield "tests", _tests(found)
    yield "setup", " ".join(found.setup) if found.setup else "none found, or none needed"
    yield from found.agents.items()


def _tests(found: Detected) -> str:
    if found.tests is None:
        return "no way to run tests was found: say it as command in [verify]"
    others = f"; {', '.join(found.tests.others)} would be possible too" if found.tests.others else ""
    return " ".join(found.tests.argv) + others


def _remarks(found: Detected) -> dict[str, str]:
    """Returns what the file says of tables beside their keys."""
    ready = ", ".join(found.ready)
    return {
        "agents": f"ready where this file was written: {ready}" if ready else "",
        "verify": f"found: {', '.join(found.languages)}" if found.languages else "",
    }


def _json(file: Path, found: Detected) -> str:
    return json.dumps(
        {
            "file": str(file),
            "languages": found.languages,
            "tests": found.tests and found.tests.argv,
            "setup": found.setup,
            "agents": found.agents,
        }
    )
