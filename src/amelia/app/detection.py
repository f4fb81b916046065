"""What a repository and this machine tell of themselves, for the first settings of a project.

Looks at names of files and at programs that are there; no model is asked, and nothing is changed.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import anyio
import msgspec

from amelia.app.agents import probe_agent
from amelia.judge.detect import find_command
from amelia.judge.surroundings import files_below, opening
from amelia.model.agents import AgentSettings
from amelia.model.errors import AmeliaError
from amelia.model.evidence import TestCommand, VerifySettings

_PATIENCE = timedelta(seconds=10)
_LONGEST_MANIFEST = 1_048_576
_ASKED: tuple[str, ...] = ("claude", "codex")
_LANGUAGES = {
    "pyproject.toml": "Python",
    "setup.py": "Python",
    "requirements.txt": "Python",
    "package.json": "",
    "deno.json": "",
    "deno.jsonc": "",
    "tsconfig.json": "",
    "go.mod": "Go",
    "Cargo.toml": "Rust",
}
"""Files at the top of a repository, and the language they tell; nothing if only its sources can tell it."""
_TYPESCRIPT = frozenset({".ts", ".tsx", ".mts", ".cts"})
_JAVASCRIPT = frozenset({".js", ".jsx", ".mjs", ".cjs"})
_NO_SOURCE = re.compile(r"\.d\.[cm]?ts$|\.config\.\w+$|^\.\w+rc\.\w+$|^\w+file\.\w+$", re.IGNORECASE)
_SETUPS: Mapping[str, tuple[str, ...]] = {
    "uv.lock": ("uv", "sync", "--frozen"),
    "pdm.lock": ("pdm", "sync"),
    "package-lock.json": ("npm", "ci"),
    "pnpm-lock.yaml": ("pnpm", "install", "--frozen-lockfile"),
    "yarn.lock": ("yarn", "install", "--frozen-lockfile"),
    "bun.lock": ("bun", "install", "--frozen-lockfile"),
}
"""What makes the environment that a lock file describes, inside the tree it lies in."""
_NODE = {"verify.command": ["npm", "test"], "verify.setup": ["npm", "ci"]}
_EXAMPLES: Mapping[str, Mapping[str, list[str]]] = {
    "JavaScript": _NODE,
    "TypeScript": _NODE,
    "Go": {"verify.command": ["go", "test", "./..."], "verify.setup": ["go", "mod", "download"]},
    "Rust": {"verify.command": ["cargo", "test"], "verify.setup": ["cargo", "fetch"]},
}
"""How a repository in a language is usually tested; the settings have an example in Python."""
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
    def examples(self) -> Mapping[str, list[str]]:
        """What could be said in the settings of such a project, by dotted key."""
        return _EXAMPLES.get(next(iter(self.languages), ""), {})

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
    return Detected(
        languages=languages_of(top),
        tests=find_command(top, VerifySettings()),
        setup=_setup(top),
        agents=await _agents(),
    )


def languages_of(top: Path) -> list[str]:
    """Returns the languages of a repository, as far as its files tell."""
    told = dict.fromkeys(word for name, word in _LANGUAGES.items() if (top / name).is_file())
    return [word or _script_language(top) for word in told]


def _script_language(top: Path) -> str:
    """Returns what a package for Node or Deno is written in: by its sources, else by what builds it."""
    sources = {path.suffix for path in files_below(top) if not _NO_SOURCE.search(path.name)}
    is_built = any(top.glob("tsconfig*.json")) or _needs_typescript(top)
    is_typescript = bool(sources & _TYPESCRIPT) or (is_built and not sources & _JAVASCRIPT)
    return "TypeScript" if is_typescript else "JavaScript"


class _Package(msgspec.Struct):
    dependencies: dict[str, object] = {}
    devDependencies: dict[str, object] = {}  # noqa: N815 - as the file calls them


def _needs_typescript(top: Path) -> bool:
    try:
        package = msgspec.json.decode(opening(top / "package.json", _LONGEST_MANIFEST), type=_Package)
    except (msgspec.DecodeError, RecursionError):
        return False
    return "typescript" in package.dependencies or "typescript" in package.devDependencies


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
