"""GitHub's own program, `gh`, if it is there: one typed function for each command that is used of it.

It is the user's program with the user's login; what it needs of the environment is passed to it and to
nobody else. Nothing is asked on a terminal, and it ends in bounded time.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import anyio

from amelia.system.environment import clean_environment
from amelia.system.process import run_supervised

_PATIENCE = timedelta(minutes=2)
_LONGEST = 4000
_OWN = (
    *("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
    *("GH_HOST", "GH_CONFIG_DIR", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSH"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended, and what it printed."""

    code: int | None
    text: str


def hub_environment() -> dict[str, str]:
    """Returns what is needed to reach a remote as the user does."""
    own = {name: os.environ[name] for name in _OWN if name in os.environ}
    return clean_environment({**own, "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"})


async def is_logged_in(directory: Path) -> bool:
    """Says whether `gh` is there, and somebody logged in to it."""
    return shutil.which("gh") is not None and (await _run(directory, "auth", "status")).code == 0


async def find_pull_request(directory: Path, branch: str) -> str | None:
    """Returns the address of the open pull request of a branch."""
    said = await _run(directory, "pr", "list", f"--head={branch}", "--state=open", "--json=url")
    try:
        return str(json.loads(said.text)[0]["url"]) if said.code == 0 else None
    except (ValueError, LookupError, TypeError):
        return None


def creation(branch: str, *, onto: str | None, title: str, body: Path) -> list[str]:
    """Returns the command that opens a pull request; texts of others are never an option of it."""
    target = [f"--base={onto}"] if onto is not None else []
    return ["gh", "pr", "create", *target, f"--head={branch}", f"--title={title}", f"--body-file={body}"]


async def create_pull_request(directory: Path, command: Sequence[str]) -> str | Said:
    """Opens a pull request and returns its address, or what went wrong."""
    said = await _run(directory, *command[1:])
    addresses = [line for line in said.text.splitlines() if line.startswith(("https://", "http://"))]
    return addresses[-1].strip() if said.code == 0 and addresses else said


async def _run(directory: Path, *arguments: str) -> Said:
    with tempfile.TemporaryDirectory(prefix="amelia-") as private:
        output = Path(private, "output")
        finished = await run_supervised(
            ["gh", *arguments], cwd=directory, env=hub_environment(), timeout=_PATIENCE, output=output
        )
        text = await anyio.Path(output).read_text(errors="replace")
        return Said(finished.exit_code, text[-_LONGEST:].strip())
