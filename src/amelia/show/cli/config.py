"""`amelia config`: which settings hold, where they come from, and which there are."""

import json
from collections.abc import Iterator
from typing import cast

import click

from amelia.config import Loaded
from amelia.config.environment import variable_of
from amelia.config.fields import SETTLED, default_of, written
from amelia.config.found import Entry
from amelia.config.keys import PROFILE
from amelia.config.places import caller_secrets
from amelia.config.schema import schema_text
from amelia.config.tables import Named
from amelia.config.template import toml_value
from amelia.show.cli.chosen import load_here, profile_option
from amelia.show.text import printable
from amelia.system.secrets import Redactor

_WIDEST = 60


@click.group("config")
def command() -> None:
    """Show which settings hold, where they come from, and which there are."""


@command.command("show", short_help="Print every setting that holds here.")
@click.option("--all", "is_all", is_flag=True, help="Print keys without a value, too, as comments.")
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def show(*, is_all: bool, origin: bool, profile: str | None, as_json: bool) -> None:
    """Print every setting that holds in this directory, as TOML; with --all, every key there is."""
    loaded = load_here({"profile": profile})
    settings = [(key, entry) for key, entry in _settings(loaded) if is_all or entry.value is not None]
    if as_json:
        click.echo(json.dumps(_json(loaded, settings)))
        return
    for key, entry in settings:
        line = f"# {key}" if entry.value is None else f"{key} = {toml_value(entry.value)}"
        click.echo(printable(f"{line:<{_WIDEST}}  # {entry.origin}" if origin else line))


@command.command("schema", short_help="Print the JSON schema of a settings file, for editors.")
def schema() -> None:
    """Print the JSON schema of a settings file, for editors and other programs."""
    click.echo(schema_text(), nl=False)


def _settings(loaded: Loaded) -> Iterator[tuple[str, Entry]]:
    """Yields every key with its value as it would be written, without anything that is a secret."""
    redactor = Redactor(caller_secrets())

    def clean(value: object) -> object:
        if isinstance(value, str):
            return redactor.redact(value.encode(errors="replace")).decode(errors="replace")
        return list(map(clean, cast("list[object]", value))) if isinstance(value, list) else value

    for key in (*SETTLED, *(key for key in loaded.held if key not in SETTLED)):
        entry = loaded.held[key] if key in loaded.held else Entry(default_of(key))
        yield key, Entry(clean(written(key, entry.value)), entry.origin)
    for name, table in PROFILE.readers.items():
        if not isinstance(table, Named) or not table.example:
            continue
        if not any(key.startswith(f"{name}.") for key in loaded.held):
            yield f"{name}.{table.example}", Entry(None)


def _json(loaded: Loaded, settings: list[tuple[str, Entry]]) -> dict[str, object]:
    return {
        "files": list(map(str, loaded.files)),
        "profile": loaded.profile.name if loaded.profile else None,
        "settings": {
            key: {
                "value": entry.value,
                "origin": {
                    "kind": entry.origin.kind,
                    "name": entry.origin.name or None,
                    "line": entry.origin.line,
                },
                "variable": variable_of(key) if key in SETTLED else None,
            }
            for key, entry in settings
        },
    }
