"""What the environment says about places: where runs are kept, and which Python environment is active."""

import os
from pathlib import Path

import platformdirs


def state_home() -> Path:
    """Returns where everything is that Amelia remembers: `AMELIA_HOME`, or the platform's place."""
    own = os.environ.get("AMELIA_HOME")
    return Path(own).absolute() if own else Path(platformdirs.user_state_dir("amelia", appauthor=False))


def active_environment() -> Path | None:
    """Returns the virtual environment that the caller works in, if there is one."""
    active = os.environ.get("VIRTUAL_ENV")
    return Path(active) if active else None
