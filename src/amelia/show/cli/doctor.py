"""`amelia doctor`: whether everything is there that a run needs, and what to do where it is not."""

import json
from pathlib import Path

import anyio
import click

from amelia.app.checkup import Check, Health, verdict
from amelia.app.doctor import examine
from amelia.app.installed import list_agents
from amelia.config import Options
from amelia.config.places import state_home
from amelia.show.cli.chosen import profile_option
from amelia.show.output import styled
from amelia.show.text import fit, printable

_COLOURS = {Health.OK: "green", Health.WARNING: "yellow", Health.FAILED: "red"}
_WORD = max(map(len, Health)) + 1
_NAME = len("repository") + 1


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option(
    "--agents", "only_agents", is_flag=True, help="List the agents that are installed, with their versions."
)
@profile_option
def command(*, as_json: bool, only_agents: bool, profile: str | None) -> None:
    """Look at git, this repository, its settings and tests, the state home, and the agents of a run.

    Those are really started and asked. Exits 1 if something has failed that a run needs.
    """
    checks: list[Check] = []

    def tell(check: Check) -> None:
        checks.append(check)
        if not as_json:
            _draw(check)

    if only_agents:
        anyio.run(list_agents, tell)
        if as_json:
            click.echo(_json(checks, is_ready=True))
        return
    options = Options(profile=profile, values={})
    anyio.run(lambda: examine(Path.cwd(), home=state_home(), tell=tell, options=options))
    count = sum(check.health is Health.FAILED for check in checks)
    if as_json:
        click.echo(_json(checks, is_ready=not count))
    else:
        click.echo(f"\n{printable(verdict(checks))}")
    raise SystemExit(1 if count else 0)


def _draw(check: Check) -> None:
    word = styled(fit(check.health, _WORD), _COLOURS[check.health], "bold")
    name = fit(printable(check.name), max(_NAME, len(check.name)))
    click.echo(f"{word}{name} {printable(check.text)}")
    if check.hint:
        click.echo(styled(f"{' ' * _WORD}hint: {printable(check.hint)}", "dim"))


def _json(checks: list[Check], *, is_ready: bool) -> str:
    told = [
        {"name": check.name, "health": check.health, "text": check.text, "hint": check.hint}
        for check in checks
    ]
    return json.dumps({"is_ready": is_ready, "checks": told}, indent=2)
