"""Settings files become frozen settings; the only reader of either.

`amelia.toml` or `[tool.amelia]` of `pyproject.toml`, the nearest upwards from a directory, over the
`task_size_limits` and `parallel_workers` of a `.project-config.json` beside it, over the defaults. A wrong
value is an error that names the file, the key and what is allowed.
"""

from dataclasses import replace
from pathlib import Path

from amelia.config.files import own_file, shared_file
from amelia.config.keys import KEYS, SHARED, overlay
from amelia.config.values import Found, mapping
from amelia.model.settings import Settings


def load_settings(directory: Path) -> Settings:
    """Reads the settings that hold in a directory."""
    settings = Settings()
    shared, own = _nearest(directory)
    if shared is not None:
        ours = {key: value for key, value in mapping(shared).items() if key in SHARED.readers}
        settings = overlay(settings, SHARED(replace(shared, value=ours)))
    if own is not None:
        settings = overlay(settings, KEYS(own))
    return settings


def settings_files(directory: Path) -> list[Path]:
    """Returns the files that hold the settings of a directory."""
    return [found.source for found in _nearest(directory) if found is not None]


def _nearest(directory: Path) -> tuple[Found | None, Found | None]:
    """Returns what is shared with other tools and what is ours, of the first place upwards that has any."""
    for place in (directory, *directory.parents):
        shared, own = shared_file(place), own_file(place)
        if shared or own or (place / ".git").exists():
            return shared, own
    return None, None
