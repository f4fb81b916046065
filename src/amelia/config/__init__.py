"""Settings files become frozen settings; the only reader of them.

- `amelia.toml` or `[tool.amelia]` of `pyproject.toml`, the nearest upwards from a directory, over the
  `task_size_limits` and `parallel_workers` of a `.project-config.json` beside it, over the user's own
  `config.toml`, over the defaults.
- A repository does not decide what is the user's to say: which programs are started, what they are trusted
  with, and how much may be spent at most.
- A wrong value is an error that names the file, the key and what is allowed.
"""

from dataclasses import replace
from pathlib import Path

from amelia.config.agents import budget_over, budget_within
from amelia.config.files import own_file, shared_file, users_file
from amelia.config.keys import KEYS, PROJECT, SHARED, overlay
from amelia.config.values import Found, mapping
from amelia.model.policy import Budget
from amelia.model.settings import Settings


def load_settings(directory: Path) -> Settings:
    """Reads the settings that hold in a directory, for this user."""
    users = users_file()
    if users is None:
        return load_project(directory)
    said = KEYS(users)
    settings = load_project(directory, overlay(Settings(), said))
    most = budget_over(Budget(), said.get("budget", {}))
    return replace(settings, run=replace(settings.run, budget=budget_within(settings.run.budget, most)))


def load_project(directory: Path, settings: Settings | None = None) -> Settings:
    """Reads what a project says, whoever works on it, over other settings or the defaults."""
    settings = settings or Settings()
    shared, own = _nearest(directory)
    if shared is not None:
        ours = {key: value for key, value in mapping(shared).items() if key in SHARED.readers}
        settings = overlay(settings, SHARED(replace(shared, value=ours)))
    if own is not None:
        settings = overlay(settings, PROJECT(own))
    return settings


def settings_files(directory: Path) -> list[Path]:
    """Returns the files that hold the settings of a directory; each outranks those before it."""
    return [found.source for found in (users_file(), *_nearest(directory)) if found is not None]


def _nearest(directory: Path) -> tuple[Found | None, Found | None]:
    """Returns what is shared with other tools and what is ours, of the first place upwards that has any."""
    for place in (directory, *directory.parents):
        shared, own = shared_file(place), own_file(place)
        if shared or own or (place / ".git").exists():
            return shared, own
    return None, None
