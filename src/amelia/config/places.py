"""What the environment says: where runs and settings are, which Python is active, which values are keys.

And which directories are repositories.
"""

import os
from pathlib import Path

import platformdirs

from amelia.system.secrets import secrets_of


def state_home() -> Path:
    """Returns where everything is that Amelia remembers: `AMELIA_HOME`, or the platform's place."""
    own = os.environ.get("AMELIA_HOME")
    return Path(own).absolute() if own else Path(platformdirs.user_state_dir("amelia", appauthor=False))


def users_place() -> Path:
    """Returns where the user's own settings are: `AMELIA_CONFIG`, or the platform's place."""
    own = os.environ.get("AMELIA_CONFIG")
    if own:
        return Path(own).absolute()
    return Path(platformdirs.user_config_dir("amelia", appauthor=False), "config.toml")


def is_place_named() -> bool:
    """Says whether the caller names the place of the settings, so that they have to be there."""
    return bool(os.environ.get("AMELIA_CONFIG"))


def is_repository(place: Path) -> bool:
    """Says whether a directory is meant to be a repository, whatever is wrong with it.

    An empty `.git` is none: some programs leave one behind where they hid it.
    """
    return (place / ".git").is_file() or (place / ".git" / "HEAD").exists()


def repository_around(directory: Path) -> Path:
    """Returns the top of the repository that a directory lies in; the directory itself if it is in none."""
    places = (directory, *directory.parents)
    return next((place for place in places if is_repository(place)), directory)


def active_environment() -> Path | None:
    """Returns the virtual environment that the caller works in, if there is one."""
    active = os.environ.get("VIRTUAL_ENV")
    return Path(active) if active else None


def caller_secrets() -> list[str]:
    """Returns the values that must not be shown, of all variables that hold a secret."""
    return secrets_of(os.environ)
