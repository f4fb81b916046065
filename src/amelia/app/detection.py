"""What a repository and this machine tell of themselves, for the first settings of a project.

Looks at names of files and at programs that are there; no model is asked, and nothing is changed.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import anyio

from amelia.app.agents import probe_agent
from amelia.judge.detect import find_command
from amelia.model.agents import AgentSettings
from amelia.model.errors import AmeliaError
from amelia.model.evidence import TestCommand, VerifySettings

_PATIENCE = timedelta(seconds=10)
_ASKED: tuple[str, ...] = ("claude", "codex")
_LANGUAGES = {
    "pyproject.toml": "Python",
    "setup.py": "Python",
    "requirements.txt": "Python",
    "package.json": "JavaScript",
    "go.mod": "Go",
    "Cargo.toml": "Rust",
}
_SETUPS: Mapping[str, tuple[str, ...]] = {
    "uv.lock": ("uv", "sync", "--frozen"),
    "pdm.lock": ("pdm", "sync"),
    "package-lock.json": ("npm", "ci"),
    "pnpm-lock.yaml": ("pnpm", "install", "--frozen-lockfile"),
    "yarn.lock": ("yarn", "install", "--frozen-lockfile"),
    "bun.lock": ("bun", "install", "--frozen-lockfile"),
}
"""What makes the environment that a lock file describes, inside the tree it lies in."""
READY = "ready"
"""What is said of an agent that could start at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """Languages, how the tests run, what prepares them, and what each agent says of itself."""

    languages: Sequence[str]
    tests: TestCommand | None
    setup: tuple[str, ...] | None
    agents: Mapping[str, str]

    @property
    def ready(self) -> Sequence[str]:
        """The agents that could start at once."""
        return [name for name, said in self.agents.items() if said == READY]

    @property
    def settings(self) -> dict[str, object]:
        """What follows from it for the settings of the project, by dotted key."""
        said: dict[str, object] = {}
        if self.tests is not None:
            said["verify.command"] = list(self.tests.argv)
        if self.setup is not None:
            said["verify.setup"] = list(self.setup)
        return said


async def detect(top: Path) -> Detected:
    """Looks at the top of a repository, and asks the agents whether they are there, all at once."""
    languages = dict.fromkeys(word for name, word in _LANGUAGES.items() if (top / name).is_file())
    return Detected(
        languages=list(languages),
        tests=find_command(top, VerifySettings()),
        setup=_setup(top),
        agents=await _agents(),
    )


def _setup(top: Path) -> tuple[str, ...] | None:
    """Returns what prepares the tests, if it is plain: one lock file, and a program that understands it."""
    found = [argv for name, argv in _SETUPS.items() if (top / name).is_file() and shutil.which(argv[0])]
    return found[0] if len(found) == 1 else None


async def _agents() -> Mapping[str, str]:
    said = dict.fromkeys(_ASKED, "does not answer")

    async def ask(name: str) -> None:
        with anyio.move_on_after(_PATIENCE.total_seconds()):
            try:
                info = await probe_agent(AgentSettings(driver=name))
            except (AmeliaError, OSError) as problem:
                said[name] = str(problem)
            else:
                said[name] = READY if info.is_ready else "; ".join(info.notes)

    async with anyio.create_task_group() as tasks:
        for name in _ASKED:
            tasks.start_soon(ask, name)
    return said
