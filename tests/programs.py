"""The machine of a person: few programs on it, for what must be said where something is missing, and settings."""

import shutil
from pathlib import Path

from repositories import executable


def few_programs(folder: Path, *names: str) -> dict[str, str]:
    """Returns an environment whose PATH holds a shell and the programs that are named, and nothing else."""
    folder.mkdir(exist_ok=True)
    for name in ("sh", *names):
        link = folder / name
        if not link.exists():
            link.symlink_to(shutil.which(name) or f"/bin/{name}")
    return {"PATH": str(folder)}


def with_claude(folder: Path) -> dict[str, str]:
    """Returns such an environment with git, a program that answers like Claude Code to a handshake, and a key."""
    executable(Path(few_programs(folder, "git")["PATH"], "claude"), "echo '2.1.119 (Claude Code)'")
    return {"PATH": str(folder), "ANTHROPIC_API_KEY": "made-up-for-tests"}


def users_settings(room: Path, text: str) -> dict[str, str]:
    """Writes the settings of a person; returns the environment in which they hold."""
    file = room / "config.toml"
    file.write_text(text, encoding="utf-8")
    return {"AMELIA_CONFIG": str(file)}
